#include "sunder/show/readable.h"

#include "sunder/base/error.h"
#include "sunder/record/losses.h"

#include <fmt/format.h>

namespace sunder::show {

using record::NumberRange;

namespace {

record::MeshEntry finiteMesh(const record::RunReader& run, size_t index) {
  record::MeshEntry mesh = run.mesh(index);
  for (const Vec3f& p : mesh.positions)
    if (!p.allFinite())
      throw Error(ErrorKind::Format, fmt::format("mesh {} has a vertex that is not finite", index))
          .inFile(run.path().string());
  return mesh;
}

}  // namespace

Readable readableOf(const record::RunReader& run, std::span<const size_t> frames) {
  Readable readable;
  std::vector<NumberRange> lost, events, statistics, inputs, fronts;
  std::vector<bool> shown(run.bodies().size()), unshaped(run.bodies().size());
  record::BodyMeshes changed(run);
  std::string reason;
  record::Frame frame;
  const auto reads = [](std::vector<NumberRange>& failed, uint64_t number, auto&& read) {
    try {
      read();
    } catch (const Error&) {
      record::addNumber(failed, number);
    }
  };
  for (const size_t f : frames) {
    try {
      run.readFrame(f, frame);
    } catch (const Error& error) {
      if (lost.empty()) reason = error.message();
      record::addNumber(lost, run.frameNumber(f));
      continue;
    }
    readable.frames.push_back(f);
    for (size_t b = 0; b < frame.bodies.size(); ++b)
      if (frame.bodies[b].present) shown[b] = true;
    reads(events, frame.number, [&] { run.events(f); });
    reads(statistics, frame.number, [&] { run.statistics(f); });
    reads(inputs, frame.number, [&] { run.inputs(f); });
    reads(fronts, frame.number, [&] { run.fronts(f); });
    for (uint32_t b = 0; b < frame.bodies.size(); ++b) {
      if (!frame.bodies[b].present || run.bodyLost(b)) continue;
      const record::MeshVersion version = run.meshVersion(b, f);
      if (version.changes == 0 && version.mesh == run.bodies()[b].mesh &&
          run.embeddingOf(version.mesh) == kNoIndex)
        continue;  // looked at below, once
      try {
        changed.mesh(b, f);
      } catch (const Error&) {
        unshaped[b] = true;
      }
    }
  }
  std::vector<NumberRange> bodies, meshless;
  std::vector<char> known(run.meshCount(), 0);  // 1: whole, 2: lost
  for (size_t b = 0; b < shown.size(); ++b) {
    if (!shown[b]) continue;
    if (run.bodyLost(b)) {
      record::addNumber(bodies, b);
    } else if (const uint32_t mesh = run.bodies()[b].mesh; mesh < run.meshCount()) {
      if (known[mesh] == 0) {
        try {
          finiteMesh(run, mesh);
          known[mesh] = 1;
        } catch (const Error&) {
          known[mesh] = 2;
        }
      }
      if (known[mesh] == 2 || unshaped[b]) record::addNumber(meshless, b);
    }
  }
  const auto say = [&](const char* what, const std::vector<NumberRange>& ranges, const std::string& more) {
    if (!ranges.empty())
      readable.lost.push_back(fmt::format("{} {}{}", what, record::rangesText(ranges), more));
  };
  say("lost: frames", lost, ": " + reason);
  say("lost: bodies", bodies, "");
  say("lost: the meshes of bodies", meshless, "");
  say("lost: the events of frames", events, "");
  say("lost: the statistics of frames", statistics, "");
  say("lost: the inputs of frames", inputs, "");
  say("lost: the crack fronts of frames", fronts, "");
  return readable;
}

std::string damageNote(const record::RunReader& run) {
  const size_t count = run.problems().size();
  if (count == 0) return {};
  return fmt::format("the recording is damaged in {} place{}: 'sunder info' names what is lost", count,
                     count == 1 ? "" : "s");
}

record::MeshEntry meshOrNone(const record::RunReader& run, size_t index) {
  try {
    return finiteMesh(run, index);
  } catch (const Error&) {
    return {};
  }
}

record::BodyShape shapeOrNone(record::BodyMeshes& meshes, const record::Frame& state, size_t frame,
                              uint32_t body) {
  static const auto kNone = std::make_shared<const record::MeshEntry>();
  try {
    record::BodyShape shape = meshes.shape(state, frame, body);
    for (const Vec3f& p : shape.mesh->positions)
      if (!p.allFinite()) return {.mesh = kNone, .positions = {}, .fields = {}};
    return shape;
  } catch (const Error&) {
    return {.mesh = kNone, .positions = {}, .fields = {}};
  }
}

bool hasOwnShape(const record::RunReader& run, const record::Frame& state, size_t frame, uint32_t body) {
  const record::MeshVersion version = run.meshVersion(body, frame);
  if (version.changes > 0 || run.embeddingOf(version.mesh) != kNoIndex) return true;
  const record::BodyPoints* points = record::pointsOf(state.points, body);
  return points && !(points->radius > 0);
}

bool showable(const record::BodyState& state) {
  return state.present && state.position.allFinite() && state.rotation.coeffs().allFinite() &&
         state.velocity.allFinite() && state.angularVelocity.allFinite();
}

bool drawable(const Vec3f& place) {
  constexpr float kFarthest = 1e12f;  // m
  return place.allFinite() && place.cwiseAbs().maxCoeff() <= kFarthest;
}

}  // namespace sunder::show
