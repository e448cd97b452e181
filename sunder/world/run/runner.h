// Runs a scene into a recording: new, or going on from the last committed checkpoint, before any damage, of
// one that was interrupted (record/commit.h). The first frame and a checkpoint are written before anything
// moves, a checkpoint every so many frames or seconds, and one at the end, however the run ends short of a
// crash. A request to stop (base/stop.h) ends it within a second: after the frame, or before it where the
// frame takes longer.
//
// Guarantee: the final state's hash, and all that is recorded but times, are the same however often the run
// was interrupted. Errors: Error (Write) when the recording cannot be written (it is whole up to the last
// frame), Error (Numerical) when a step is not finite, naming body, frame and the last checkpoint; with
// `strict`, Error (Numerical) for the first thing that degrades.
#pragma once

#include "sunder/record/run_reader.h"
#include "sunder/world/world.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sunder::world {

struct RunStatus {
  uint64_t frame = 0, frames = 0;
  double time = 0;  // simulated, s
  uint64_t bodies = 0, awake = 0, contacts = 0;
  rigid::Energy energy;
};

struct RunOptions {
  std::filesystem::path file;  // run.sunder
  std::string program;         // name and version, for the recording
  bool resume = false;
  // With resume: goes on from the last checkpoint at or before this frame. What was recorded behind it stays
  // in the file (record/commit.h), but the recording is what the new run makes of it. Throws Error (Usage)
  // where there is no such checkpoint.
  std::optional<uint64_t> from;
  // For a new run: what is done to the world while it runs. A run that goes on has those of its recording,
  // and so has one that begins again since it was ended before its first checkpoint, where none are given.
  std::vector<Input> inputs;
  std::filesystem::path inputsFile;  // where they stand, for messages; may be empty
  bool strict = false;
  uint64_t memory = 0;   // bytes the run may take; 0: as memoryLimit() of base says
  bool replace = false;  // an earlier recording; else it is kept beside the new one (record::Existing)
  // Called where it was, with its new name, at the first checkpoint of the new one.
  std::function<void(const std::filesystem::path&)> kept;
  World::Progress building;
  std::function<void(const RunStatus&)> progress;  // after each frame
  std::function<bool()> stop;                      // asked after each frame; true: end the run
  // s: a frame that ends so soon after a request to stop is finished; another is given up.
  double patience = 0.5;
};

struct RunResult {
  uint64_t frames = 0;              // recorded, the start not counted
  std::optional<uint64_t> resumed;  // frame it went on from
  bool finished = false;            // all frames done; else stopped
  uint64_t bodies = 0, contacts = 0;
  std::optional<uint64_t> hash;  // of the last state; none where a quick run was stopped inside a slow frame
  uint64_t bytes = 0;
  double simulatedSeconds = 0;
  std::vector<Degradation> degradations;
  std::vector<std::string> notes;  // what was found damaged on resuming, and inputs that did not act
};

// Before anything is built, throws Error (Limit) for a scene that costs more memory than there may be
// (requireAffordable of cost.h). Throws Error (Usage) on resuming with a scene that is not the one of the
// recording (its length may differ).
RunResult runScene(Scene scene, const RunOptions& options);

// The scene inside a recording.
Scene recordedScene(const record::RunReader& run, const std::vector<std::string>& sets = {});

// Simulates a recording again and compares each frame as recorded: poses, velocities, points with their
// fields; and the states of checkpoints. The first difference, or none.
struct ReplayDifference {
  uint64_t frame = 0;
  uint32_t bodyNumber = kNoIndex;
  std::string body;  // empty: the state's hash alone
  double distance = 0;
  std::string what;
};
struct ReplayResult {
  uint64_t frames = 0;  // compared
  uint64_t checkpoints = 0;
  uint64_t lost = 0;  // frames and checkpoints that are damaged and were not compared
  std::optional<ReplayDifference> difference;
};
ReplayResult replay(const record::RunReader& run, const World::Progress& building = {},
                    const std::function<void(const RunStatus&)>& progress = {});

}  // namespace sunder::world
