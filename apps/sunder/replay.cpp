// sunder replay RUN
#include "sunder/base/log.h"
#include "sunder/base/work.h"
#include "sunder/world/run/runner.h"

#include "command.h"
#include "run_input.h"

#include <memory>
#include <optional>

#include <fmt/core.h>

namespace sunder::cli {

namespace {

int replayRun(const std::string& input, const Settings& settings) {
  const record::RunReader run(runFileIn(input));
  std::optional<Work> line;
  bool running = false;
  const world::ReplayResult result = world::replay(
      run,
      [&](size_t done, size_t of, const std::string& what) {
        if (!line) line.emplace("building", of, "shapes");
        line->note(what);
        line->set(done);
      },
      [&](const world::RunStatus& status) {
        if (!running) line.emplace("replaying", run.frameCount(), "frames");
        running = true;
        line->set(status.frame);
      });
  line.reset();
  const auto& d = result.difference;
  if (settings.json) {
    Json json = {
        {"file", run.path().string()}, {"frames", result.frames}, {"checkpoints", result.checkpoints},
        {"lost", result.lost},         {"same", !d.has_value()},  {"difference", nullptr}};
    if (d)
      json["difference"] = {
          {"frame", d->frame}, {"body", d->body}, {"distance", d->distance}, {"what", d->what}};
    printJson(json);
  }
  if (d)
    say(settings,
        fmt::format("{}: the first difference is in frame {}: {} {}{}", run.path().string(), d->frame,
                    d->body, d->what, d->distance > 0 ? fmt::format(", {:.3g} m away", d->distance) : ""));
  else
    say(settings, fmt::format("{}: {} frames and {} checkpoints are the same", run.path().string(),
                              result.frames, result.checkpoints));
  if (result.lost > 0)
    logError("{}: {} frames and checkpoints are damaged and were not compared ('sunder info' names them)",
             run.path().string(), result.lost);
  return d || result.lost > 0 ? 1 : 0;
}

}  // namespace

Verb addReplay(App& root) {
  auto input = std::make_shared<std::string>();
  App* app = root.addVerb("replay", "Simulate a recording again and report the first difference");
  app->addOption("RUN", *input, "The recording, or its folder")->required();
  app->footer(
      "Ends with 1 where the two differ, or part of the recording is damaged.\n"
      "Examples:\n"
      "  sunder replay out/pile\n"
      "  sunder replay out/pile/run.sunder --json");
  return {app, [input](const Settings& settings) { return replayRun(*input, settings); }};
}

}  // namespace sunder::cli
