#include "sunder/record/losses.h"

#include "sunder/base/error.h"
#include "sunder/base/stop.h"
#include "sunder/record/body_meshes.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

namespace sunder::record {

namespace {

constexpr size_t kMostNamed = 10;

template <class Read>
bool reads(Read&& read) {
  try {
    read();
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

void addNumber(std::vector<NumberRange>& ranges, uint64_t number) {
  if (!ranges.empty() && number >= ranges.back().first && number <= ranges.back().second) return;
  if (!ranges.empty() && number == ranges.back().second + 1)
    ranges.back().second = number;
  else
    ranges.emplace_back(number, number);
}

std::string rangesText(const std::vector<NumberRange>& ranges) {
  std::string out;
  const size_t named = std::min(ranges.size(), kMostNamed);
  for (size_t i = 0; i < named; ++i) {
    if (i > 0) out += i + 1 == ranges.size() ? " and " : ", ";
    const auto& [first, last] = ranges[i];
    out += first == last ? fmt::format("{}", first) : fmt::format("{} to {}", first, last);
  }
  if (named < ranges.size()) out += fmt::format(" and {} more places", ranges.size() - named);
  return out;
}

bool Losses::any() const { return !problems.empty() || !names().empty(); }

std::vector<std::string> Losses::names() const {
  struct Kind {
    const char *one, *several;
    const std::vector<NumberRange>* ranges;
  };
  const std::array<Kind, 12> kinds{{{"frame", "frames", &frames},
                                    {"body", "bodies", &bodies},
                                    {"mesh", "meshes", &meshes},
                                    {"material", "materials", &materials},
                                    {"change of a mesh", "changes of meshes", &changes},
                                    {"embedding", "embeddings", &embeddings},
                                    {"the changed mesh of body", "the changed meshes of bodies", &shapes},
                                    {"the inputs of frame", "the inputs of frames", &inputs},
                                    {"the crack fronts of frame", "the crack fronts of frames", &fronts},
                                    {"the events of frame", "the events of frames", &events},
                                    {"the statistics of frame", "the statistics of frames", &statistics},
                                    {"the checkpoint of frame", "the checkpoints of frames", &checkpoints}}};
  std::vector<std::string> out;
  for (const Kind& kind : kinds) {
    if (kind.ranges->empty()) continue;
    const bool one = kind.ranges->size() == 1 && kind.ranges->front().first == kind.ranges->front().second;
    out.push_back(fmt::format("{} {}", one ? kind.one : kind.several, rangesText(*kind.ranges)));
  }
  return out;
}

Losses findLosses(const RunReader& run) {
  Losses losses;
  losses.problems = run.verify();
  size_t named = 0;  // bodies that frames name
  auto missing = run.missingFrames().begin();
  const auto skipMissing = [&](uint64_t before) {
    for (; missing != run.missingFrames().end() && missing->first < before; ++missing)
      losses.frames.push_back(*missing);
  };
  for (size_t i = 0; i < run.frameCount(); ++i) {
    checkStop();
    const uint64_t number = run.frameNumber(i);
    skipMissing(number);
    if (reads([&] { named = std::max(named, run.readQuantised(i).states.size()); })) {
      if (!reads([&] { run.events(i); })) addNumber(losses.events, number);
      if (!reads([&] { run.statistics(i); })) addNumber(losses.statistics, number);
      if (!reads([&] { run.inputs(i); })) addNumber(losses.inputs, number);
      if (!reads([&] { run.fronts(i); })) addNumber(losses.fronts, number);
    } else {
      addNumber(losses.frames, number);
    }
  }
  skipMissing(UINT64_MAX);
  for (size_t i = 0; i < run.checkpointCount(); ++i)
    if (!reads([&] { run.checkpoint(i); })) addNumber(losses.checkpoints, run.checkpointFrame(i));
  for (size_t b = 0; b < run.bodies().size(); ++b)
    if (run.bodyLost(b)) addNumber(losses.bodies, b);
  if (named > run.bodies().size()) losses.bodies.emplace_back(run.bodies().size(), named - 1);
  for (size_t m = 0; m < run.materials().size(); ++m)
    if (run.materialLost(m)) addNumber(losses.materials, m);
  for (size_t m = 0; m < run.meshCount(); ++m)
    if (!reads([&] { run.mesh(m); })) addNumber(losses.meshes, m);
  for (size_t c = 0; c < run.changeCount(); ++c)
    if (run.changeLost(c)) addNumber(losses.changes, c);
  for (size_t e = 0; e < run.embeddingCount(); ++e)
    if (!reads([&] { run.embedding(e); })) addNumber(losses.embeddings, e);
  BodyMeshes meshes(run);
  for (uint32_t b = 0; b < run.bodies().size() && run.frameCount() > 0; ++b) {
    checkStop();
    // A mesh that is lost by itself is named above.
    const auto fits = [&](size_t frame) {
      const MeshVersion version = run.meshVersion(b, frame);
      if (version.changes == 0 && run.embeddingOf(version.mesh) == kNoIndex) return true;
      return reads([&] { meshes.mesh(b, frame); });
    };
    // The last version of each mesh has all the changes of those before it.
    bool whole = fits(0);
    const auto versions = run.meshVersions(b);
    for (size_t v = 0; v < versions.size(); ++v) {
      const auto& [frame, version] = versions[v];
      const bool last = v + 1 == versions.size() || versions[v + 1].second.mesh != version.mesh ||
                        versions[v + 1].second.changes <= version.changes;
      if (last) whole = whole && fits(frame);
    }
    if (!whole) addNumber(losses.shapes, b);
  }
  return losses;
}

}  // namespace sunder::record
