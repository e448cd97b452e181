#include "sunder/world/run/runner.h"

#include "sunder/base/error.h"
#include "sunder/base/json_parse.h"
#include "sunder/base/memory_limit.h"
#include "sunder/base/profiler.h"
#include "sunder/base/stop.h"
#include "sunder/base/stopwatch.h"
#include "sunder/record/run_writer.h"
#include "sunder/world/build/cost.h"
#include "sunder/world/build/ready_scene.h"
#include "sunder/world/run/inputs.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <numeric>

#include <fmt/core.h>

namespace sunder::world {

namespace {

// Bytes where a file is to be, or in the nearest folder that is there already.
double freeDisk(const std::filesystem::path& file) {
  std::error_code code;
  std::filesystem::path folder = std::filesystem::absolute(file, code).parent_path();
  while (!std::filesystem::exists(folder, code) && folder.has_relative_path()) folder = folder.parent_path();
  const std::filesystem::space_info space = std::filesystem::space(folder, code);
  return code ? std::numeric_limits<double>::infinity() : static_cast<double>(space.available);
}

// How long the run is may change when it goes on; nothing else.
std::string comparable(const std::string& scene) {
  Json json = readJson(scene);
  if (json.contains("world")) {
    json["world"].erase("frames");
    json["world"].erase("duration");
    if (json["world"].empty()) json.erase("world");
  }
  json.erase("recording");
  json.erase("title");
  return json.text({.strict = true});
}

// Seconds of each stage since the last call, as statistics.
class StageTimes {
 public:
  void add(std::vector<record::Statistic>& out) {
    const Profiler* profiler = Profiler::active();
    if (!profiler) return;
    const auto& stages = profiler->stages();
    for (size_t i = 1; i < stages.size(); ++i) {
      std::string name = stages[i].name;
      for (uint32_t p = stages[i].parent; p != 0; p = stages[p].parent) name = stages[p].name + "." + name;
      if (name.starts_with("build") || name.starts_with("record")) continue;
      out.push_back({"seconds." + name, stages[i].total - last_[name]});
      last_[name] = stages[i].total;
    }
  }

 private:
  std::map<std::string, double> last_;
};

RunStatus statusOf(const World& world) {
  RunStatus status;
  status.frame = world.frame();
  status.frames = world.scene().world.frames;
  status.time = world.time();
  status.bodies = world.bodyCount();
  const Totals totals = world.totals();
  status.awake = totals.awake;
  status.contacts = totals.contacts;
  status.energy = totals.energy;
  return status;
}

constexpr double kSavingShare = 0.02;  // of the time of a frame, which saving the state before it may take

// What a run has come to at the end of a frame, for a stop in the middle of the next one.
struct FrameEnd {
  uint64_t frame = 0;
  double time = 0;
  uint64_t bodies = 0, contacts = 0;
  std::vector<Degradation> degradations;
  std::optional<record::Checkpoint> state;  // where saving takes little against a frame
};

class Run {
 public:
  Run(World& world, const RunOptions& options) : world_(world), options_(options) {}

  void start(const std::vector<Input>& inputs) {
    give(inputs);
    const StopDeferral whole;
    record::RunInfo info;
    info.program = options_.program;
    info.sceneName = world_.scene().document.name();
    info.scene = world_.resolvedScene();
    info.frameRate = world_.scene().world.frameRate;
    for (const Input& input : world_.waitingInputs()) {
      info.inputs.push_back(recorded(input));
      info.inputs.back().sequence = info.inputs.size();
    }
    const std::filesystem::path folder = options_.file.parent_path();
    std::error_code code;
    if (!folder.empty()) std::filesystem::create_directories(folder, code);
    if (code)
      throw Error(ErrorKind::Write, fmt::format("cannot make the folder: {}", code.message()))
          .inFile(folder.string());
    writer_ = std::make_unique<record::RunWriter>(
        options_.file, info, options_.replace ? record::Existing::Replace : record::Existing::KeepAside);
    prepare();
    addMaterials();
    world_.noteOverlaps();
    makeMeshes();
    recordFrame();
    checkpoint();
    if (options_.kept && !writer_->kept().empty()) options_.kept(writer_->kept());
  }

  void resume(const record::RunReader& run, const record::ResumePoint& at) {
    const record::Checkpoint checkpoint = run.checkpoint(at.checkpoint);
    world_.load(checkpoint.state, run.path().string());
    if (world_.frame() != checkpoint.frame || world_.hash() != checkpoint.hash)
      throw Error(ErrorKind::Format,
                  fmt::format("the checkpoint of frame {} gives another state than the one "
                              "that was saved",
                              checkpoint.frame))
          .inFile(run.path().string())
          .hint("it may be of another program, or a mesh file has changed; start the run again");
    const StopDeferral whole;
    writer_ = std::make_unique<record::RunWriter>(run, at);
    prepare();
    if (writer_->materialCount() == 0) addMaterials();  // recorded by a program that wrote no table
    lastCheckpoint_ = checkpoint.frame;
    checkpointHash_ = checkpoint.hash;
  }

  // Whether all frames are done; else it was stopped. A request to stop ends a frame that takes long in its
  // middle, and the run then ends at the frame before.
  bool loop() {
    const WorldSettings& settings = world_.scene().world;
    checkStrict();
    while (world_.frame() < settings.frames) {
      here_ = frameEnd();
      if (lastCheckpoint_ != here_.frame && saveSeconds_ <= kSavingShare * frameSeconds_) saveHere();
      const Stopwatch watch;
      try {
        const StopGrace patience(options_.patience);
        world_.advance();
        makeMeshes();
      } catch (const Error& error) {
        const StopDeferral whole;
        if (error.kind() == ErrorKind::Numerical) diverged(error);
        throw;
      } catch (const Interrupted&) {
        const StopDeferral whole;
        endBeforeThisFrame();
        return false;
      }
      frameSeconds_ = watch.seconds();
      const StopDeferral whole;
      recordFrame();
      const bool due = (world_.frame() - lastCheckpoint_) >= world_.scene().recording.checkpointFrames ||
                       sinceCheckpoint_.seconds() >= world_.scene().recording.checkpointSeconds;
      if (due) checkpoint();
      if (options_.progress) options_.progress(statusOf(world_));
      checkStrict();
      if (options_.stop && options_.stop() && world_.frame() < settings.frames) {
        finish(record::EndKind::Stopped, "stopped by the user");
        return false;
      }
    }
    const StopDeferral whole;
    finish(record::EndKind::Finished, "");
    return true;
  }

  // What the run came to. After loop().
  void tell(RunResult& result) const {
    result.frames = here_.frame;
    result.simulatedSeconds = here_.time;
    result.bodies = here_.bodies;
    result.contacts = here_.contacts;
    result.hash = hash_;
    result.degradations = here_.degradations;
    result.bytes = writer_->size();
  }

 private:
  // Those of one step in the order in which they are given.
  void give(const std::vector<Input>& inputs) {
    std::vector<size_t> order(inputs.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return inputs[a].step < inputs[b].step; });
    for (const size_t i : order) {
      checkStop();
      try {
        world_.input(inputs[i]);
      } catch (const Error& error) {
        throw Error(error.kind(), fmt::format("input {}: {}", i, error.message()))
            .inFile(options_.inputsFile.string());
      }
    }
  }

  void prepare() {
    writer_->setKeyInterval(world_.scene().recording.keyEvery);
    sinceCheckpoint_ = {};
  }

  void addMaterials() {
    const Scene& scene = world_.scene();
    for (const uint32_t i : scene.usedMaterials()) writer_->addMaterial(scene.materials[i]);
  }

  FrameEnd frameEnd() const {
    return {world_.frame(),        world_.time(),         world_.bodyCount(),
            world_.mostContacts(), world_.degradations(), {}};
  }

  void saveHere() {
    const ProfileScope scope("checkpoint");
    const StopDeferral whole;
    const Stopwatch watch;
    here_.state = record::Checkpoint{world_.frame(), world_.hash(), world_.save()};
    saveSeconds_ = watch.seconds();
  }

  // Of pieces that were born in this frame: making them may take longer than the frame.
  void makeMeshes() {
    const ProfileScope scope("record");
    for (uint32_t i = writer_->meshCount() + uint32_t(newMeshes_.size()); i < world_.meshCount(); ++i)
      newMeshes_.push_back(world_.mesh(i));
  }

  void recordFrame() {
    const ProfileScope scope("record");
    auto statistics = world_.statistics();
    stages_.add(statistics);
    std::vector<record::Input> inputs;
    for (const Input& input : world_.appliedInputs()) inputs.push_back(recorded(input));
    writer_->addInputs(inputs);
    for (const record::MeshEntry& mesh : newMeshes_) {
      const uint32_t index = writer_->addMesh(mesh);
      if (const auto embedding = world_.embedding(index)) writer_->addEmbedding(*embedding);
    }
    newMeshes_.clear();
    while (writer_->bodyCount() < world_.bodyCount()) writer_->addBody(world_.body(writer_->bodyCount()));
    for (const record::MeshChange& change : world_.meshChanges()) writer_->changeMesh(change);
    writer_->frame(world_.frame(), world_.time(), world_.states(), world_.fields(), statistics,
                   world_.events(), world_.points());
  }

  void checkpoint() {
    const ProfileScope scope("checkpoint");
    const Stopwatch watch;
    write({world_.frame(), world_.hash(), world_.save()}, world_.time());
    saveSeconds_ = watch.seconds();
    sinceCheckpoint_ = {};
  }

  void write(const record::Checkpoint& state, double time) {
    writer_->checkpoint(state, time);
    lastCheckpoint_ = state.frame;
    checkpointHash_ = state.hash;
  }

  void finish(record::EndKind kind, const std::string& message) {
    if (lastCheckpoint_ != world_.frame()) checkpoint();
    here_ = frameEnd();
    end(kind, message);
  }

  // The frame that was begun is lost, and where its start was not saved all since the last checkpoint is
  // simulated again on resuming.
  void endBeforeThisFrame() {
    if (here_.state) write(*here_.state, here_.time);
    end(record::EndKind::Stopped, "stopped by the user");
  }

  void end(record::EndKind kind, const std::string& message) {
    if (lastCheckpoint_ == here_.frame) hash_ = checkpointHash_;
    writer_->finish({kind, message, hash_.value_or(0), report()});
  }

  std::string report() const {
    Json degraded = Json::array();
    for (const Degradation& d : here_.degradations)
      degraded.push_back(
          {{"what", d.what}, {"count", d.count}, {"first_frame", d.firstFrame}, {"example", d.example}});
    return Json{{"degraded", degraded}, {"contacts", here_.contacts}}.text();
  }

  void checkStrict() {
    if (!options_.strict || world_.degradations().empty()) return;
    const Degradation& d = world_.degradations().front();
    const std::string message =
        fmt::format("{}: {}{}", d.what, d.count, d.example.empty() ? "" : " (" + d.example + ")");
    finish(record::EndKind::Stopped, "--strict: " + message);
    throw Error(ErrorKind::Numerical,
                fmt::format("stopped at frame {} because of --strict: {}", world_.frame(), message));
  }

  [[noreturn]] void diverged(const Error& error) {
    here_ = frameEnd();
    writer_->finish({record::EndKind::Diverged, error.message(), 0, report()});
    throw Error(ErrorKind::Numerical,
                fmt::format("{}; the last checkpoint is of frame {}", error.message(), lastCheckpoint_))
        .inFile(writer_->path().string())
        .hint(error.hint().empty()
                  ? "a smaller time step or more substeps may help; what was recorded is whole"
                  : error.hint());
  }

  World& world_;
  const RunOptions& options_;
  std::unique_ptr<record::RunWriter> writer_;
  StageTimes stages_;
  uint64_t lastCheckpoint_ = UINT64_MAX, checkpointHash_ = 0;
  Stopwatch sinceCheckpoint_;
  std::vector<record::MeshEntry> newMeshes_;  // not written yet
  FrameEnd here_;
  std::optional<uint64_t> hash_;               // of the state in which the run ended, where it is saved
  double frameSeconds_ = 0, saveSeconds_ = 0;  // the last frame took, and the last saving
};

// What a recording without a checkpoint says that its run was given.
std::vector<Input> recordedInputs(const record::RunReader& run, const World& world,
                                  std::vector<std::string>& notes) {
  std::vector<Input> inputs;
  if (run.info().inputs.empty()) return inputs;
  if (comparable(world.resolvedScene()) != comparable(run.info().scene)) {
    notes.push_back(fmt::format("{}: the scene is not the one that was recorded, so its inputs are left out",
                                run.path().string()));
    return inputs;
  }
  for (const record::Input& input : run.info().inputs)
    inputs.push_back(fromRecord(input, run.path().string()));
  return inputs;
}

}  // namespace

Scene recordedScene(const record::RunReader& run, const std::vector<std::string>& sets) {
  if (run.info().scene.empty())
    throw Error(ErrorKind::Format, "the recording has no scene: it was cut off before anything was written")
        .inFile(run.path().string())
        .hint("start the run again");
  return readScene(
      SceneDocument::parse(run.info().scene, run.info().sceneName + ".json", run.path().parent_path(), sets));
}

RunResult runScene(Scene scene, const RunOptions& options) {
  RunResult result;
  std::optional<record::RunReader> old;
  std::optional<record::ResumePoint> at;
  std::error_code ignored;
  // A run that was killed before its first write left a file without even a header.
  if (options.resume && std::filesystem::file_size(options.file, ignored) >= record::kFileHeaderSize) {
    old.emplace(options.file);
    result.notes = old->problems();
    at = old->resumePoint(options.from.value_or(UINT64_MAX));
    if (old->info().scene.empty()) at.reset();
    if (options.from && !at)
      throw Error(ErrorKind::Usage,
                  fmt::format("there is no whole checkpoint at frame {} or before it", *options.from))
          .inFile(options.file.string())
          .hint("'sunder info' names what is damaged; a new run begins without --resume");
    // What is damaged is simulated again.
    const auto last = old->lastGoodCheckpoint();
    if (at && last && *last > at->checkpoint && !options.from)
      result.notes.push_back(
          fmt::format("{}: something behind frame {} is damaged, so the run goes on from there",
                      options.file.string(), old->checkpointFrame(at->checkpoint)));
    if (!at && old->frameCount() > 1)
      result.notes.push_back(fmt::format("{}: there is no whole checkpoint to go on from; a new run begins",
                                         options.file.string()));
  }
  const MemoryBudget budget(options.memory);
  scene = readyScene(std::move(scene));
  const Cost cost = estimateCost(scene, memoryLimit());
  requireAffordable(scene, cost, memoryLimit());
  requireDiskSpace(scene, cost, freeDisk(options.file));
  World world(std::move(scene), options.building);
  if (at && comparable(world.resolvedScene()) != comparable(old->info().scene))
    throw Error(ErrorKind::Usage, "the scene is not the one that was recorded")
        .inFile(options.file.string())
        .hint(
            "go on with 'sunder run --resume' and the recording alone, or start a new run without --resume");
  Run run(world, options);
  if (at) {
    run.resume(*old, *at);
    result.resumed = world.frame();
  } else {
    run.start(options.inputs.empty() && old ? recordedInputs(*old, world, result.notes) : options.inputs);
  }
  result.finished = run.loop();
  if (const auto& waiting = world.waitingInputs(); result.finished && !waiting.empty())
    result.notes.push_back(
        fmt::format("{} of the inputs are for later than the end of the run, the first for {:.6g} s",
                    waiting.size(), double(waiting.front().step) * world.scene().world.simulation.timeStep));
  run.tell(result);
  return result;
}

namespace {

// The first body whose points or values at vertices are not those that were recorded. Bodies in both lists
// ascend.
std::optional<ReplayDifference> comparePoints(std::span<const record::BodyPoints> is,
                                              std::span<const record::QuantisedPoints> was) {
  auto now = is.begin();
  auto then = was.begin();
  while (now != is.end() || then != was.end()) {
    ReplayDifference difference;
    const bool isThere = now != is.end() && (then == was.end() || now->body <= then->body);
    const bool wasThere = then != was.end() && (now == is.end() || then->body <= now->body);
    difference.bodyNumber = isThere ? now->body : then->body;
    if (!isThere || !wasThere) {
      difference.what = "has points in one of the two only";
      return difference;
    }
    const record::QuantisedPoints quantised = record::quantise(*now);
    if (!(quantised == *then)) {
      const size_t count = std::min(quantised.positions.size(), then->positions.size());
      size_t p = 0;
      while (p < count && quantised.positions[p] == then->positions[p]) ++p;
      if (quantised.positions.size() != then->positions.size()) {
        difference.what =
            fmt::format("has {} points instead of {}", quantised.positions.size(), then->positions.size());
      } else if (p < count) {
        const record::BodyPoints before = record::restore(*then), after = record::restore(quantised);
        difference.distance = double((before.positions[p] - after.positions[p]).norm());
        difference.what = fmt::format("has point {} at another place", p);
      } else {
        difference.what = "has other values at its points";
        for (size_t f = 0; f < std::min(quantised.fields.size(), then->fields.size()); ++f)
          if (!(quantised.fields[f] == then->fields[f])) {
            difference.what = fmt::format("has other values of '{}'", quantised.fields[f].name);
            break;
          }
      }
      return difference;
    }
    ++now;
    ++then;
  }
  return std::nullopt;
}

}  // namespace

ReplayResult replay(const record::RunReader& run, const World::Progress& building,
                    const std::function<void(const RunStatus&)>& progress) {
  Scene scene = readyScene(recordedScene(run));
  requireAffordable(scene, estimateCost(scene, memoryLimit()), memoryLimit());
  World world(std::move(scene), building);
  ReplayResult result;
  size_t checkpoint = 0;
  const auto nameOf = [&](uint32_t b) {
    return b < world.bodyCount()     ? world.body(b).name
           : b < run.bodies().size() ? run.bodies()[b].name
                                     : fmt::format("body {}", b);
  };
  // Numbers that neither the scene nor the file explains would be simulated for ever.
  uint64_t reach = std::max<uint64_t>(world.scene().world.frames, run.frameCount());
  for (const auto& [first, last] : run.missingFrames())
    reach += std::min<uint64_t>(last - first + 1, run.fileSize() / record::kChunkHeadSize);
  for (size_t i = 0; i < run.frameCount(); ++i) {
    const uint64_t number = run.frameNumber(i);
    if (number > reach)
      throw Error(ErrorKind::Format,
                  fmt::format("frame {} cannot be reached: the scene has {} frames and the "
                              "recording {}",
                              number, world.scene().world.frames, run.frameCount()))
          .inFile(run.path().string());
    for (const record::Input& input : run.inputs(i)) {
      try {
        world.input(fromRecord(input, run.path().string()));
      } catch (Error& error) {
        throw Error(ErrorKind::Format, fmt::format("input {}: {}", input.sequence, error.message()))
            .inFile(run.path().string());
      }
    }
    try {
      run.readQuantised(i);
    } catch (const Error&) {
      ++result.lost;
      continue;
    }
    while (world.frame() < number) world.advance();
    const auto& recorded = run.readQuantised(i).states;
    const auto states = world.states();
    for (uint32_t b = 0; b < std::max(states.size(), recorded.size()); ++b) {
      const record::BodyState is = b < states.size() ? states[b] : record::BodyState{};
      const record::QuantisedState now = record::quantise(is);
      const record::QuantisedState then = b < recorded.size() ? recorded[b] : record::QuantisedState{};
      if (now == then) continue;
      ReplayDifference difference{number, b, nameOf(b), 0, ""};
      const record::BodyState was = record::restore(then);
      difference.distance = static_cast<double>((was.position - is.position).norm());
      difference.what = was.present != is.present ? "is there in one of the two only"
                        : difference.distance > 0 ? "is at another place"
                                                  : "turns or moves differently";
      result.difference = difference;
      return result;
    }
    const auto points = world.points();
    if (auto difference = comparePoints(points, run.readQuantised(i).points)) {
      difference->frame = number;
      difference->body = nameOf(difference->bodyNumber);
      result.difference = difference;
      return result;
    }
    ++result.frames;
    for (; checkpoint < run.checkpointCount() && run.checkpointFrame(checkpoint) <= number; ++checkpoint) {
      if (run.checkpointFrame(checkpoint) != number) continue;
      std::optional<uint64_t> hash;
      try {
        const record::Checkpoint saved = run.checkpoint(checkpoint);
        // Other programs hashed other things.
        if (!World::savedByThisVersion(saved.state)) continue;
        hash = saved.hash;
      } catch (const Error&) {
        ++result.lost;
        continue;
      }
      if (*hash != world.hash()) {
        result.difference = ReplayDifference{number, kNoIndex, "", 0, "the hash of the state differs"};
        return result;
      }
      ++result.checkpoints;
    }
    if (progress) progress(statusOf(world));
  }
  return result;
}

}  // namespace sunder::world
