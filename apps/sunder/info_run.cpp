// sunder info RUN
#include "info_run.h"

#include "sunder/base/error.h"
#include "sunder/record/losses.h"
#include "sunder/record/run_reader.h"

#include "command.h"
#include "material_table.h"
#include "run_input.h"

#include <algorithm>
#include <filesystem>

#include <fmt/core.h>

namespace sunder::cli {

namespace {

Json rangesJson(const std::vector<record::NumberRange>& ranges) {
  Json list = Json::array();
  for (const auto& [first, last] : ranges) list.push_back({first, last});
  return list;
}

// What a resumed run wrote again, which is still in the file.
struct Superseded {
  uint64_t from = 0;    // frame it went on from
  uint64_t frames = 0;  // behind that, before it was resumed
};

std::vector<Superseded> supersededIn(const record::RunReader& run) {
  std::vector<Superseded> list;
  constexpr size_t kMostNamed = 20;
  const auto all = run.resumed();
  for (size_t k = all.size() - std::min(all.size(), kMostNamed); k < all.size(); ++k) {
    const record::RunReader::Resumed& resumed = all[k];
    const record::RunReader before(run.path(), resumed.epochAt);
    Superseded entry{resumed.frame, 0};
    for (size_t i = before.frameCount(); i-- > 0 && before.frameNumber(i) > resumed.frame;) ++entry.frames;
    list.push_back(entry);
  }
  return list;
}

const char* stateName(const record::RunReader& run) {
  return run.end() ? record::name(run.end()->kind) : "unfinished";
}

}  // namespace

bool isRunFile(const std::string& path) {
  const std::filesystem::path file = path;
  std::error_code ignored;
  return file.extension() == ".sunder" || (std::filesystem::is_directory(file, ignored) &&
                                           std::filesystem::exists(file / "run.sunder", ignored));
}

int showRun(const std::string& input, bool brief, const Settings& settings) {
  const record::RunReader run(runFileIn(input));
  const record::Losses losses = record::findLosses(run);
  const auto& problems = losses.problems;
  const auto superseded = supersededIn(run);
  const auto branches = run.branches();
  const size_t frames = run.frameCount();
  const double seconds = frames > 0 ? run.frameTime(frames - 1) : 0;
  uint64_t triangles = 0, events = 0;
  for (size_t i = 0; i < run.meshCount(); ++i) {
    try {
      triangles += run.mesh(i).triangles.size();
    } catch (const Error&) {
      continue;  // named in the problems
    }
  }
  uint64_t inputs = 0, fronts = 0;  // frames that have some
  for (const auto& chunk : run.chunks()) {
    events += chunk.head.type == record::ChunkType::Events;
    inputs += chunk.head.type == record::ChunkType::Inputs;
    fronts += chunk.head.type == record::ChunkType::Fronts;
  }
  const auto good = run.lastGoodCheckpoint();
  if (settings.json) {
    std::error_code ignored;
    Json json = {{"file", run.path().string()},
                 {"format", "run"},
                 {"bytes", std::filesystem::file_size(run.path(), ignored)},
                 {"program", run.info().program},
                 {"scene", run.info().sceneName},
                 {"state", stateName(run)},
                 {"frames", frames},
                 {"frame_rate", run.info().frameRate},
                 {"simulated", seconds},
                 {"bodies", run.bodies().size()},
                 {"meshes", run.meshCount()},
                 {"materials", Json::array()},
                 {"triangles", triangles},
                 {"frames_with_events", events},
                 {"mesh_changes", run.changeCount()},
                 {"embeddings", run.embeddingCount()},
                 {"frames_with_inputs", inputs},
                 {"frames_with_crack_fronts", fronts},
                 {"checkpoints", run.checkpointCount()},
                 {"last_checkpoint", nullptr},
                 {"hash", nullptr},
                 {"message", run.end() ? run.end()->message : ""},
                 {"version", run.version()},
                 {"problems", problems},
                 {"lost",
                  {{"frames", rangesJson(losses.frames)},
                   {"bodies", rangesJson(losses.bodies)},
                   {"meshes", rangesJson(losses.meshes)},
                   {"materials", rangesJson(losses.materials)},
                   {"mesh_changes", rangesJson(losses.changes)},
                   {"embeddings", rangesJson(losses.embeddings)},
                   {"changed_meshes", rangesJson(losses.shapes)},
                   {"inputs", rangesJson(losses.inputs)},
                   {"crack_fronts", rangesJson(losses.fronts)},
                   {"events", rangesJson(losses.events)},
                   {"statistics", rangesJson(losses.statistics)},
                   {"checkpoints", rangesJson(losses.checkpoints)}}},
                 {"lost_before_repair", run.lostBefore()},
                 {"resumed", Json::array()},
                 {"branches", Json::array()}};
    for (size_t m = 0; m < run.materials().size(); ++m)
      if (!run.materialLost(m)) json["materials"].push_back(materialJson(run.materials()[m]));
    for (const record::RunReader::Branch& branch : branches)
      json["branches"].push_back({{"epoch", branch.epoch},
                                  {"from", branch.from},
                                  {"last", branch.last},
                                  {"current", branch.current}});
    for (const Superseded& entry : superseded)
      json["resumed"].push_back({{"frame", entry.from}, {"superseded_frames", entry.frames}});
    if (good) {
      json["last_checkpoint"] = run.checkpointFrame(*good);
      json["hash"] = fmt::format("{:016x}", run.checkpoint(*good).hash);
    }
    if (frames > 0) {
      try {
        Json statistics = Json::object();
        for (const auto& s : run.statistics(frames - 1)) statistics[s.name] = s.value;
        json["statistics"] = statistics;
      } catch (const Error&) {
        json["statistics"] = nullptr;
      }
    }
    printJson(json);
    return losses.any() ? 1 : 0;
  }
  const std::string head =
      fmt::format("{}: {} of {}, {} frames, {:.4g} s, {} bodies", run.path().string(), stateName(run),
                  run.info().sceneName, frames, seconds, run.bodies().size());
  if (brief) {
    say(settings, losses.any() ? head + ", damaged" : head);
    return losses.any() ? 1 : 0;
  }
  std::string text = head + "\n";
  text += fmt::format("  written by {}, {} frames a second\n", run.info().program, run.info().frameRate);
  text += fmt::format("  {} meshes with {} triangles, {} frames with events\n", run.meshCount(), triangles,
                      events);
  const auto tell = [&](uint64_t count, const char* what) {
    if (count > 0) text += fmt::format("  {} {}\n", count, what);
  };
  tell(run.changeCount(), "changes of meshes");
  tell(run.embeddingCount(), "surfaces embedded in cages");
  tell(inputs, "frames with inputs");
  tell(fronts, "frames with crack fronts");
  std::string made;
  for (size_t m = 0; m < run.materials().size(); ++m)
    if (!run.materialLost(m)) made += (made.empty() ? "" : ", ") + run.materials()[m].name;
  if (!made.empty()) text += fmt::format("  materials: {}\n", made);
  if (good)
    text += fmt::format("  {} checkpoints, the last of frame {}, hash {:016x}\n", run.checkpointCount(),
                        run.checkpointFrame(*good), run.checkpoint(*good).hash);
  if (run.end() && !run.end()->message.empty()) text += "  " + run.end()->message + "\n";
  if (!run.end() && run.version() > 1)
    text += fmt::format("  go on with: sunder run --resume {}\n", run.path().string());
  for (const Superseded& entry : superseded)
    text += fmt::format("  resumed from frame {}: {} frames behind it were written again\n", entry.from,
                        entry.frames);
  if (branches.size() > 1)
    for (const record::RunReader::Branch& branch : branches)
      text += branch.epoch == 0
                  ? fmt::format("  branch 0: from the start to frame {}{}\n", branch.last,
                                branch.current ? ", in the recording" : "")
                  : fmt::format("  branch {}: from frame {} to frame {}{}\n", branch.epoch, branch.from,
                                branch.last, branch.current ? ", in the recording" : "");
  for (const std::string& sentence : run.lostBefore())
    text += "  lost before it was repaired: " + sentence + "\n";
  for (const std::string& problem : problems) text += "  damaged: " + problem + "\n";
  for (const std::string& name : losses.names()) text += "  lost: " + name + "\n";
  if (losses.any()) text += fmt::format("  save the rest with: sunder repair {}\n", run.path().string());
  text.pop_back();
  say(settings, text);
  return losses.any() ? 1 : 0;
}

}  // namespace sunder::cli
