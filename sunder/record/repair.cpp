#include "sunder/record/repair.h"

#include "sunder/base/error.h"
#include "sunder/base/stop.h"
#include "sunder/record/body_meshes.h"
#include "sunder/record/run_writer.h"

#include <algorithm>
#include <limits>

#include <fmt/core.h>

namespace sunder::record {

namespace {

template <class Read, class Value>
bool saved(Read&& read, Value& value) {
  try {
    value = read();
    return true;
  } catch (const Error&) {
    return false;
  }
}

// The first frame that is lost, or that something lost belongs to: checkpoints before it are sound.
uint64_t firstDamage(const RunReader& run, const Losses& losses) {
  if (!losses.any()) return std::numeric_limits<uint64_t>::max();
  uint64_t first = std::numeric_limits<uint64_t>::max();
  if (!losses.changes.empty() || !losses.embeddings.empty() || !losses.shapes.empty()) return 0;
  for (const auto* ranges : {&losses.frames, &losses.events, &losses.statistics, &losses.checkpoints,
                             &losses.inputs, &losses.fronts})
    if (!ranges->empty()) first = std::min(first, ranges->front().first);
  // Bodies are born in the order of their numbers, and their meshes with them.
  const auto bornBefore = [&](auto&& isBefore) {
    uint64_t born = 0;
    for (size_t b = 0; b < run.bodies().size(); ++b)
      if (!run.bodyLost(b) && isBefore(b)) born = std::max(born, run.bodies()[b].born);
    return born;
  };
  if (!losses.bodies.empty())
    first = std::min(first, bornBefore([&](size_t b) { return b < losses.bodies.front().first; }));
  if (!losses.meshes.empty())
    first = std::min(
        first, bornBefore([&](size_t b) { return run.bodies()[b].mesh < losses.meshes.front().first; }));
  // Damage that no item explains counts from the start.
  return first == std::numeric_limits<uint64_t>::max() && !losses.problems.empty() ? 0 : first;
}

void addInputs(const RunReader& run, size_t frame, RunWriter& writer) {
  try {
    writer.addInputs(run.inputs(frame));
  } catch (const Error&) {  // lost
  }
}

void addFronts(const RunReader& run, size_t frame, RunWriter& writer) {
  try {
    writer.addFronts(run.fronts(frame));
  } catch (const Error&) {  // lost
  }
}

}  // namespace

Repaired repairRun(const std::filesystem::path& input, const std::filesystem::path& output,
                   std::optional<uint64_t> limit) {
  const RunReader run(input, limit.value_or(std::numeric_limits<uint64_t>::max()));
  Repaired result;
  result.losses = findLosses(run);
  std::error_code ignored;
  if (std::filesystem::exists(std::filesystem::symlink_status(output, ignored)))
    throw Error(ErrorKind::Usage, "is already there, and repairing replaces nothing")
        .inFile(output.string())
        .hint("name another file with -o");
  if (run.info().scene.empty())
    result.remarks.emplace_back("the scene is lost: the recording cannot be resumed");
  uint64_t damage = firstDamage(run, result.losses);
  if (run.version() == 1) {
    damage = 0;
    result.remarks.emplace_back("checkpoints of format 1 are left out: the recording cannot be resumed");
  }

  const auto savable = [&](size_t i) {
    try {
      run.readQuantised(i);
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  bool any = false;
  for (size_t i = 0; i < run.frameCount() && !any; ++i) any = savable(i);
  if (!any) return result;

  struct Removal {
    const std::filesystem::path* path;
    ~Removal() {
      std::error_code failed;
      if (path) std::filesystem::remove(*path, failed);
    }
  } unfinished{&output};  // half a recording is none
  RunWriter writer(output, run.info());
  std::vector<std::string> lost = run.lostBefore();
  for (const std::string& name : result.losses.names()) lost.push_back(name);
  for (const std::string& remark : result.remarks) lost.push_back(remark);
  if (!lost.empty()) writer.lost(lost);
  for (size_t m = 0; m < run.materials().size(); ++m)
    if (!run.materialLost(m)) writer.addMaterial(run.materials()[m]);
  size_t checkpoint = 0;
  Frame frame;
  const auto addMeshes = [&](size_t count) {
    while (writer.meshCount() < std::min(count, run.meshCount())) {
      MeshEntry mesh;
      result.meshes += saved([&] { return run.mesh(writer.meshCount()); }, mesh);
      writer.addMesh(mesh);
    }
  };
  // Meshes come before the bodies that use them, both before the first frame that names them.
  const auto addBodies = [&](size_t count) {
    while (writer.bodyCount() < std::min(count, run.bodies().size())) {
      const size_t b = writer.bodyCount();
      const BodyEntry& body = run.bodies()[b];
      if (body.mesh != kNoIndex) addMeshes(size_t(body.mesh) + 1);
      result.bodies += !run.bodyLost(b);
      writer.addBody(body);
    }
  };
  for (size_t e = 0; e < run.embeddingCount(); ++e) {
    Embedding embedding;
    if (!saved([&] { return run.embedding(e); }, embedding)) continue;
    MeshEntry surface, cage;  // a lost one would be empty in the new recording
    if (!saved([&] { return run.mesh(embedding.surface); }, surface) ||
        !saved([&] { return run.mesh(embedding.cage); }, cage) || !fits(embedding, surface, cage))
      continue;
    addMeshes(size_t(lastMesh(embedding)) + 1);
    writer.addEmbedding(embedding);
  }
  // A change that builds on a lost one, or does not fit its mesh, is lost too.
  BodyMeshes meshes(run);
  std::vector<uint32_t> changesDone(run.bodies().size());
  const auto addChanges = [&](size_t i, uint64_t number, uint64_t earliest) {
    for (uint32_t b = 0; b < writer.bodyCount(); ++b)
      for (uint32_t& k = changesDone[b]; k < run.changeCount(b) && run.changeFrame(b, k) <= number; ++k) {
        MeshChange change;
        std::shared_ptr<const MeshEntry> unused;
        if (!saved([&] { return run.changeOf(b, k); }, change)) continue;
        if (!saved([&] { return meshes.mesh(b, i); }, unused)) {
          if (change.mesh == kNoIndex) continue;
          change = {change.body, change.frame, change.mesh};  // what it edits is lost
        }
        if (change.mesh != kNoIndex) addMeshes(size_t(change.mesh) + 1);
        change.frame = std::max(change.frame, earliest);  // frames between may be lost
        writer.changeMesh(change);
      }
  };
  uint64_t next = 0;  // number that the next frame has at least
  for (size_t i = 0; i < run.frameCount(); ++i) {
    checkStop();
    addInputs(run, i, writer);  // of a lost frame too: with the next one they give the same run
    if (!savable(i)) continue;
    run.readFrame(i, frame);
    addBodies(frame.bodies.size());
    addChanges(i, frame.number, next);
    next = frame.number + 1;
    addFronts(run, i, writer);
    std::vector<Statistic> statistics;
    std::vector<Event> events;
    saved([&] { return run.statistics(i); }, statistics);
    saved([&] { return run.events(i); }, events);
    writer.frame(frame.number, frame.time, frame.bodies, frame.fields, statistics, events, frame.points);
    ++result.frames;
    for (; checkpoint < run.checkpointCount() && run.checkpointFrame(checkpoint) <= frame.number;
         ++checkpoint) {
      Checkpoint state;
      if (run.checkpointFrame(checkpoint) != frame.number || frame.number >= damage) continue;
      if (!saved([&] { return run.checkpoint(checkpoint); }, state)) continue;
      writer.checkpoint(state, frame.time);
      ++result.checkpoints;
    }
  }
  addBodies(run.bodies().size());
  addMeshes(run.meshCount());
  RunEnd end{EndKind::Stopped, "repaired: the end of the run is not recorded", 0, "{}"};
  if (run.end()) end = *run.end();
  writer.finish(end);
  unfinished.path = nullptr;
  result.output = writer.path();
  result.bytes = writer.size();
  return result;
}

}  // namespace sunder::record
