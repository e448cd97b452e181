// Poses of bodies over the exported frames, body by body: what formats with animation curves need. 29 bytes a
// body and frame.
#pragma once

#include "sunder/show/export/export.h"

#include <vector>

namespace sunder::show {

struct BodyTrack {
  bool shown = false;  // in any of the frames; else the rest is empty
  // By frame. Unit quaternions, each on the side of the one before. Where a body is absent it has the pose it
  // is born with, or had last.
  std::vector<Vec3f> positions;
  std::vector<record::Quatf> rotations;
  std::vector<uint8_t> present;
};

struct Tracks {
  std::vector<double> times;      // s, increasing
  std::vector<uint64_t> numbers;  // of the frames, increasing
  std::vector<BodyTrack> bodies;
};

// Reports one step a frame, of `steps`. Throws Error (Format) where times do not increase.
Tracks readTracks(const ExportScene& scene, const ExportProgress& progress, size_t steps);

// Which keys a curve needs so that straight lines between them give every value: those that differ from one
// of their neighbours, the first and the last. One key: the value never changes.
template <class Value>
std::vector<uint32_t> neededKeys(const std::vector<Value>& values) {
  std::vector<uint32_t> keys;
  for (size_t i = 0; i < values.size(); ++i)
    if (i == 0 || values[i] != values[i - 1] || (i + 1 < values.size() && values[i] != values[i + 1]))
      keys.push_back(static_cast<uint32_t>(i));
  if (keys.size() > 1 && keys.back() + 1 < values.size())
    keys.push_back(static_cast<uint32_t>(values.size() - 1));
  return keys;
}

// The same for values that hold until the next key: those that differ from the one before, and the first.
template <class Value>
std::vector<uint32_t> heldKeys(const std::vector<Value>& values) {
  std::vector<uint32_t> keys;
  for (size_t i = 0; i < values.size(); ++i)
    if (i == 0 || values[i] != values[i - 1]) keys.push_back(static_cast<uint32_t>(i));
  return keys;
}

}  // namespace sunder::show
