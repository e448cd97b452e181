// sunder info RUN
#include "info_run.h"

#include "sunder/base/error.h"
#include "sunder/record/run_reader.h"

#include "command.h"
#include "run_input.h"

#include <filesystem>

#include <fmt/core.h>

namespace sunder::cli {

namespace {

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
  const auto problems = run.verify();
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
  for (const auto& chunk : run.chunks()) events += chunk.head.type == record::ChunkType::Events;
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
                 {"triangles", triangles},
                 {"frames_with_events", events},
                 {"checkpoints", run.checkpointCount()},
                 {"last_checkpoint", nullptr},
                 {"hash", nullptr},
                 {"message", run.end() ? run.end()->message : ""},
                 {"problems", problems}};
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
    return 0;
  }
  const std::string head =
      fmt::format("{}: {} of {}, {} frames, {:.4g} s, {} bodies", run.path().string(), stateName(run),
                  run.info().sceneName, frames, seconds, run.bodies().size());
  if (brief) {
    say(settings, head);
    return 0;
  }
  std::string text = head + "\n";
  text += fmt::format("  written by {}, {} frames a second\n", run.info().program, run.info().frameRate);
  text += fmt::format("  {} meshes with {} triangles, {} frames with events\n", run.meshCount(), triangles,
                      events);
  if (good)
    text += fmt::format("  {} checkpoints, the last of frame {}, hash {:016x}\n", run.checkpointCount(),
                        run.checkpointFrame(*good), run.checkpoint(*good).hash);
  if (run.end() && !run.end()->message.empty()) text += "  " + run.end()->message + "\n";
  if (!run.end()) text += fmt::format("  go on with: sunder run --resume {}\n", run.path().string());
  for (const std::string& problem : problems) text += "  damaged: " + problem + "\n";
  text.pop_back();
  say(settings, text);
  return 0;
}

}  // namespace sunder::cli
