// What recording costs: frames written and read, bytes of a frame, seeking, opening with and without the
// index, checkpoints, and the share of a run that goes into its file. Sizes are bodies. Every body moves and
// is hit in every frame, unless a case says otherwise: the worst that a frame can hold.
#include "sunder/base/parallel.h"
#include "sunder/base/profiler.h"
#include "sunder/base/random.h"
#include "sunder/record/run_reader.h"
#include "sunder/record/run_writer.h"
#include "sunder/world/run/runner.h"

#include "bench/bench.h"
#include "bench/scratch_folder.h"

#include <cmath>

#include <fmt/core.h>

namespace sunder::bench {

namespace {

using namespace sunder::record;

constexpr size_t kFrames = 120;
constexpr double kPlainBytes = 13 * sizeof(float);  // position, rotation and velocities of a body

// Bodies that fly, turn and are hit; the first `resting` parts of a hundred lie still.
class Motion {
 public:
  Motion(size_t bodies, size_t resting) : first_(bodies * resting / 100), states_(bodies) {
    for (BodyState& s : states_) {
      s.present = true;
      s.position = random_.pointIn({Vec3(-1, 0, -1), Vec3(1, 2, 1)}).cast<float>();
      s.velocity = 3 * random_.unitVector().cast<float>();
      s.angularVelocity = 5 * random_.unitVector().cast<float>();
      s.rotation = Quatf(Eigen::AngleAxisf{float(random_.uniform(0, 3)), random_.unitVector().cast<float>()});
    }
  }
  const std::vector<BodyState>& next() {
    for (size_t i = first_; i < states_.size(); ++i) {
      BodyState& s = states_[i];
      s.position += s.velocity / 60;
      s.velocity += 0.5f * random_.unitVector().cast<float>();
      s.angularVelocity += 0.5f * random_.unitVector().cast<float>();
      const Vec3f turn = s.angularVelocity / 60;
      s.rotation = (Quatf(Eigen::AngleAxisf(turn.norm(), turn.normalized())) * s.rotation).normalized();
    }
    return states_;
  }

 private:
  RandomStream random_{4, 1};
  size_t first_;
  std::vector<BodyState> states_;
};

struct Frames {
  std::vector<std::vector<BodyState>> states;
  Frames(size_t bodies, size_t resting) {
    Motion motion(bodies, resting);
    for (size_t f = 0; f < kFrames; ++f) states.push_back(motion.next());
  }
};

// The file's bytes that the frames took.
double writeRun(const std::filesystem::path& path, const Frames& frames, bool finish) {
  RunWriter writer(path, {"sunder bench", "frames", "{}", 60});
  for (size_t b = 0; b < frames.states[0].size(); ++b)
    writer.addBody({"body", kNoIndex, "steel", kNoIndex, 1, BodyKind::Dynamic, 0});
  const uint64_t start = writer.size();
  for (size_t f = 0; f < kFrames; ++f)
    writer.frame(f, static_cast<double>(f) / 60, frames.states[f], {}, {}, {});
  const auto bytes = static_cast<double>(writer.size() - start);
  if (finish) writer.finish({EndKind::Finished, "", 1, "{}"});
  return bytes;
}

void readAll(const RunReader& run) {
  Frame frame;
  for (size_t i = 0; i < run.frameCount(); ++i) run.readFrame(i, frame);
  keep(frame.bodies.data());
}

// A heap of boxes and balls that falls on the ground.
world::Scene heap(size_t bodies, size_t frames) {
  const auto side = static_cast<size_t>(std::ceil(std::cbrt(static_cast<double>(bodies))));
  const double wide = 0.14 * static_cast<double>(side);
  return world::readScene(
      world::SceneDocument::parse(fmt::format(R"({{"world": {{"frames": {}, "sleep": false}},
  "bodies": [{{"id": "ground", "shape": {{"plane": {{}}}}, "kind": "static"}}],
  "arrays": [{{"id": "heap", "body": {{}}, "shapes": [{{"box": {{"size": [0.1, 0.08, 0.12]}}}}, {{"sphere": {{"radius": 0.05}}}}],
    "grid": {{"count": [{}, {}, {}], "spacing": [0.14, 0.14, 0.14]}}, "position": [0, {}, 0],
    "jitter": {{"position": [0.01, 0.01, 0.01], "angle": "20 deg"}}}}],
  "recording": {{"checkpointFrames": 1000000, "checkpointSeconds": 1000000}}}})",
                                              frames, side, side, side, 0.5 * wide + 0.05),
                                  "heap.json", "."));
}

// A thousand cups, rings, knots and letters in a bowl, ten seconds long: as in scenes/pile.json.
world::Scene pile() {
  constexpr const char* kText = R"({"world": {"duration": "10 s", "seed": 11},
  "shapes": {
    "basin": {"make": "bowl", "with": {"radius": 2.6, "height": 1.7, "foot": 1.2, "wall": 0.15}, "solid": {"error": 0.002, "points": 1500}},
    "cup": {"make": "bowl", "with": {"radius": 0.1, "height": 0.1, "foot": 0.05, "wall": 0.014}, "solid": {"error": 0.006, "points": 250, "insidePoints": 20}},
    "ring": {"make": "torus", "with": {"radius": 0.085, "tube": 0.03}, "solid": {"error": 0.006, "points": 250, "insidePoints": 20}},
    "knot": {"make": "trefoil", "with": {"radius": 0.09, "tube": 0.017, "steps": 96, "sides": 10}, "solid": {"error": 0.006, "points": 300, "insidePoints": 20}},
    "letter": {"make": "letters", "with": {"text": "S", "height": 0.18, "depth": 0.06}, "solid": {"error": 0.006, "points": 250, "insidePoints": 20}}},
  "bodies": [{"id": "ground", "shape": {"plane": {}}, "kind": "static"},
    {"id": "basin", "shape": "basin", "kind": "static"}],
  "arrays": [{"id": "pile", "body": {}, "shapes": ["cup", "ring", "knot", "letter"], "turned": true,
    "fill": {"count": 1000, "box": {"lower": [-1.67, 1.3, -1.67], "upper": [1.67, 6.2, 1.67]}, "spacing": 0.37}}]})";
  return world::readScene(world::SceneDocument::parse(kText, "pile.json", "."));
}

struct RunTimes {
  double recording = 0, stepping = 0, checkpoints = 0, checkpointCount = 0;
  double share() const { return 100 * recording / (recording + stepping); }
};

// Runs the scene into the file with the threads that are allowed.
RunTimes timedRun(world::Scene scene, const std::filesystem::path& file) {
  Profiler profiler;
  world::RunOptions run;
  run.file = file;
  run.program = "sunder bench";
  run.replace = true;
  {
    const Profiler::Activation active(profiler);
    world::runScene(std::move(scene), run);
  }
  RunTimes times;
  for (const uint32_t child : profiler.stages()[0].children) {
    const Profiler::Stage& stage = profiler.stages()[child];
    if (stage.name == "record") times.recording = stage.total;
    if (stage.name == "checkpoint") {
      times.checkpoints = stage.total;
      times.checkpointCount = static_cast<double>(stage.calls);
    }
    if (stage.name == "step" || stage.name == "forces") times.stepping += stage.total;
  }
  return times;
}

// Any frame after any other: the frames since its key frame have to be read.
double seekMilliseconds(const std::filesystem::path& path, const Options& options) {
  const RunReader run(path);
  RandomStream random(8, 1);
  Frame frame;
  constexpr size_t kSeeks = 50;
  const double seconds = bestSeconds(options, [&] {
    for (size_t i = 0; i < kSeeks; ++i)
      run.readFrame(random.below(static_cast<uint32_t>(run.frameCount())), frame);
  });
  return 1e3 * seconds / kSeeks;
}

}  // namespace

SUNDER_BENCH("record", frames) {
  bool wanted = options.wants("seek/any-frame");
  for (const char* what : {"write/", "read/", "bytes/"})
    for (const char* kind : {"moving", "90%-resting"})
      wanted = wanted || options.wants(std::string(what) + kind);
  if (!wanted) return;
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "run.sunder";
  const ThreadLimit single(1);
  for (const size_t size : options.sizes(10, 100'000)) {
    const double plain = kPlainBytes * static_cast<double>(size * kFrames);
    for (const size_t resting : {size_t(0), size_t(90)}) {
      const Frames frames(size, resting);
      const std::string kind = resting == 0 ? "moving" : "90%-resting";
      double bytes = 0;
      const double written = bestSeconds(options, [&] { bytes = writeRun(path, frames, true); });
      const double read = bestSeconds(options, [&] { readAll(RunReader(path)); });
      report.add({.name = "write/" + kind, .size = size, .value = plain / written / 1e6, .unit = "MB/s"});
      report.add({.name = "write/" + kind, .size = size, .value = kFrames / written, .unit = "frames/s"});
      report.add({.name = "read/" + kind, .size = size, .value = plain / read / 1e6, .unit = "MB/s"});
      report.add({.name = "read/" + kind, .size = size, .value = kFrames / read, .unit = "frames/s"});
      report.add({.name = "bytes/" + kind,
                  .size = size,
                  .metric = "memory",
                  .value = bytes / kFrames,
                  .unit = "bytes/frame",
                  .peer = "plain floats",
                  .peerValue = plain / kFrames});
      if (resting != 0) continue;

      report.add({.name = "seek/any-frame",
                  .size = size,
                  .metric = "time",
                  .value = seekMilliseconds(path, options),
                  .unit = "ms"});
    }
  }
}

// Opening depends on the number of chunks: a long run of few bodies, whole and without its index.
SUNDER_BENCH("record", opening) {
  if (!options.wants("open/with-index") && !options.wants("open/rebuilt-index")) return;
  const ScratchFolder folder;
  for (const size_t size : options.sizes(1000, 100'000)) {
    const std::filesystem::path path = folder / "long.sunder";
    Motion motion(10, 0);
    for (const bool finish : {true, false}) {
      {
        RunWriter writer(path, {"sunder bench", "long", "{}", 60});
        for (int b = 0; b < 10; ++b)
          writer.addBody({"body", kNoIndex, "steel", kNoIndex, 1, BodyKind::Dynamic, 0});
        for (size_t f = 0; f < size; ++f)
          writer.frame(f, static_cast<double>(f) / 60, motion.next(), {}, {}, {});
        if (finish) writer.finish({EndKind::Finished, "", 1, "{}"});
      }
      const double seconds = bestSeconds(options, [&] { keep(RunReader(path).frameCount()); });
      report.add({.name = finish ? "open/with-index" : "open/rebuilt-index",
                  .size = size,
                  .metric = "time",
                  .value = 1e3 * seconds,
                  .unit = "ms"});
    }
  }
}

// A real run: how much of its time goes into the file, and what a checkpoint costs.
SUNDER_BENCH("record", runs) {
  if (!options.wants("run/share-of-frames") && !options.wants("run/checkpoint")) return;
  const ScratchFolder folder;
  for (const size_t size : options.sizes(100, 10'000)) {
    for (const unsigned threads : options.threadCounts()) {
      const ThreadLimit limit(threads);
      world::Scene scene = heap(size, size > 1000 ? 20 : 60);
      const size_t bodies = scene.bodies.size() - 1;
      const std::filesystem::path path = folder / "run.sunder";
      const RunTimes times = timedRun(std::move(scene), path);
      report.add({.name = "run/share-of-frames",
                  .size = bodies,
                  .threads = threads,
                  .metric = "count",
                  .value = times.share(),
                  .unit = "%"});
      report.add({.name = "run/checkpoint",
                  .size = bodies,
                  .threads = threads,
                  .metric = "time",
                  .value = 1e3 * times.checkpoints / times.checkpointCount,
                  .unit = "ms"});
      const RunReader file(path);
      uint64_t bytes = 0;
      for (const RunReader::Chunk& chunk : file.chunks())
        if (chunk.head.type == ChunkType::Checkpoint) bytes = chunk.head.storedBytes;
      report.add({.name = "run/checkpoint",
                  .size = bodies,
                  .threads = threads,
                  .metric = "memory",
                  .value = static_cast<double>(bytes),
                  .unit = "bytes"});
    }
  }
}

// The run that people look at: what its recording takes of its time, how large it gets, how fast it seeks.
SUNDER_BENCH("record", piles) {
  if (!options.wants("pile/share-of-steps") && !options.wants("pile/bytes") && !options.wants("pile/seek"))
    return;
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "pile.sunder";
  const unsigned threads = options.threadCounts().back();
  const ThreadLimit limit(threads);
  const RunTimes times = timedRun(pile(), path);
  report.add({.name = "pile/share-of-steps",
              .size = 1000,
              .threads = threads,
              .metric = "count",
              .value = 100 * times.recording / times.stepping,
              .unit = "%",
              .bar = 5});
  report.add({.name = "pile/bytes",
              .size = 1000,
              .threads = threads,
              .metric = "memory",
              .value = static_cast<double>(std::filesystem::file_size(path)) / 1e6,
              .unit = "MB",
              .bar = 20});
  report.add({.name = "pile/seek",
              .size = 1000,
              .metric = "time",
              .value = seekMilliseconds(path, options),
              .unit = "ms",
              .bar = 50});
}

}  // namespace sunder::bench
