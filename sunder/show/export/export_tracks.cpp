#include "sunder/show/export/export_tracks.h"

#include "sunder/base/error.h"

#include <algorithm>

#include <fmt/format.h>

namespace sunder::show {

namespace {

// Frames without the body get a pose, and rotations the sign that turns the short way.
void fillGaps(BodyTrack& track) {
  const size_t count = track.present.size();
  size_t first = 0;
  while (!track.present[first]) ++first;
  for (size_t i = 0; i < first; ++i) {
    track.positions[i] = track.positions[first];
    track.rotations[i] = track.rotations[first];
  }
  for (size_t i = first + 1; i < count; ++i) {
    if (!track.present[i]) {
      track.positions[i] = track.positions[i - 1];
      track.rotations[i] = track.rotations[i - 1];
    } else if (track.rotations[i].dot(track.rotations[i - 1]) < 0) {
      track.rotations[i].coeffs() = -track.rotations[i].coeffs();
    }
  }
}

}  // namespace

Tracks readTracks(const ExportScene& scene, const ExportProgress& progress, size_t steps) {
  const size_t count = scene.frames.size();
  Tracks tracks;
  tracks.bodies.resize(scene.bodies.size());
  ExportFrame frame;
  for (size_t f = 0; f < count; ++f) {
    scene.readFrame(scene.frames[f], frame);
    if (f > 0 && !(frame.state.time > tracks.times.back() && frame.state.number > tracks.numbers.back()))
      throw Error(ErrorKind::Format,
                  fmt::format("frame {} is not later than the one before it", scene.frames[f]));
    tracks.times.push_back(frame.state.time);
    tracks.numbers.push_back(frame.state.number);
    const size_t bodies = std::min(frame.state.bodies.size(), tracks.bodies.size());
    for (size_t b = 0; b < bodies; ++b) {
      const record::BodyState& state = frame.state.bodies[b];
      if (!state.present) continue;
      BodyTrack& track = tracks.bodies[b];
      if (!track.shown) {
        track.shown = true;
        track.positions.resize(count, Vec3f::Zero());
        track.rotations.resize(count, record::Quatf::Identity());
        track.present.resize(count, 0);
      }
      track.positions[f] = state.position;
      track.rotations[f] = state.rotation.cast<double>().normalized().cast<float>();
      track.present[f] = 1;
    }
    progress(f + 1, steps);
  }
  for (BodyTrack& track : tracks.bodies)
    if (track.shown) fillGaps(track);
  return tracks;
}

}  // namespace sunder::show
