// sunder run SCENE|RUN [-o DIR] [--frames N] [--resume [--from FRAME]] [--force] [--hash] [--strict]
// [--memory SIZE]
// [--view]
// [--set k=v ...]
#include "sunder/base/error.h"
#include "sunder/base/log.h"
#include "sunder/base/memory_limit.h"
#include "sunder/base/profiler.h"
#include "sunder/base/progress.h"
#include "sunder/base/stopwatch.h"
#include "sunder/show/view/view_server.h"
#include "sunder/world/build/ready_scene.h"
#include "sunder/world/run/inputs.h"
#include "sunder/world/run/runner.h"

#include "command.h"
#include "run_command.h"
#include "run_input.h"
#include "run_report.h"
#include "stop_signal.h"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/core.h>

namespace sunder::cli {

namespace {

bool isRecording(const std::filesystem::path& path) {
  std::error_code ignored;
  return path.extension() == ".sunder" || std::filesystem::is_directory(path, ignored);
}

std::vector<std::string> assignments(const RunCommand& command) {
  std::vector<std::string> sets = command.set;
  if (command.framesGiven) sets.push_back(fmt::format("world.frames={}", command.frames));
  return sets;
}

// --frames takes the place of a duration.
void dropDuration(world::SceneDocument& document, const RunCommand& command) {
  Json& json = document.json();
  if (command.framesGiven && json.contains("world")) json["world"].erase("duration");
}

world::Scene sceneOf(const RunCommand& command, std::filesystem::path& file) {
  const std::filesystem::path input = command.input;
  if (command.resume && isRecording(input)) {
    file = runFileIn(input);
    const record::RunReader run(file);
    if (run.info().scene.empty()) world::recordedScene(run);  // throws
    world::SceneDocument document = world::SceneDocument::parse(
        run.info().scene, run.info().sceneName + ".json", file.parent_path(), assignments(command));
    dropDuration(document, command);
    return world::readScene(std::move(document));
  }
  if (isRecording(input))
    throw Error(ErrorKind::Usage, "is a recording, not a scene")
        .inFile(command.input)
        .hint("go on with it by --resume, or look at it with 'sunder info'");
  world::SceneDocument document = world::SceneDocument::read(input, assignments(command));
  dropDuration(document, command);
  const std::filesystem::path folder = command.output.empty() ? std::filesystem::path("out") / document.name()
                                                              : std::filesystem::path(command.output);
  file = folder / "run.sunder";
  return world::readScene(std::move(document));
}

Json degradedJson(const std::vector<world::Degradation>& list) {
  Json json = Json::array();
  for (const world::Degradation& d : list)
    json.push_back(
        {{"what", d.what}, {"count", d.count}, {"first_frame", d.firstFrame}, {"example", d.example}});
  return json;
}

// The page beside the run, from the moment on that there is something to read.
class LiveView {
 public:
  explicit LiveView(const RunCommand& command) : port_(command.view ? command.port : -1) {
    if (command.view) show::ViewServer::requirePage();
  }
  void start(const std::filesystem::path& file) {
    if (port_ < 0 || server_) return;
    server_ = std::make_unique<show::ViewServer>(file);
    const int port = server_->listen(port_);
    if (port_ != 0 && port != port_) logWarn("port {} is taken, {} is used instead", port_, port);
    std::fputs((server_->url() + " shows the run\n").c_str(), stderr);
  }
  // Ctrl-C that ended the run ends the page as well.
  void wait() {
    if (!server_ || stopAsked()) return;
    std::fputs((server_->url() + " goes on showing it; Ctrl-C ends it\n").c_str(), stderr);
    server_->wait(stopAsked());
  }

 private:
  int port_;  // -1: no page
  std::unique_ptr<show::ViewServer> server_;
};

}  // namespace

int runScene(const RunCommand& command, const Settings& settings) {
  const MemoryBudget budget(command.memory.empty() ? 0 : parseBytes(command.memory));
  std::filesystem::path file;
  world::Scene scene = sceneOf(command, file);
  const uint64_t frames = scene.world.frames;
  world::RunOptions options;
  options.file = file;
  options.program = fmt::format("sunder {}", SUNDER_VERSION);
  options.resume = command.resume;
  if (command.fromGiven && !command.resume)
    throw Error(ErrorKind::Usage, "--from needs --resume").hint("sunder run --resume RUN --from FRAME");
  if (command.fromGiven) options.from = command.from;
  options.strict = command.strict;
  options.replace = command.force;
  std::error_code ignored;
  if (command.resume && !std::filesystem::exists(file, ignored)) {
    if (command.fromGiven)
      throw Error(ErrorKind::Missing, "there is no recording to go on with").inFile(file.string());
    if (!settings.quiet) logInfo("{}: there is nothing to go on with; a new run begins", file.string());
    options.resume = false;
  }
  if (command.inputsGiven) {
    if (options.resume)
      throw Error(ErrorKind::Usage, "--inputs is for a new run: one that goes on has its inputs already");
    scene = world::readyScene(std::move(scene));  // inputs name pieces of bodies that are cut
    options.inputs = world::readInputs(command.inputs, scene);
    options.inputsFile = command.inputs;
  }

  // Quiet and machine-readable runs draw nothing.
  ProgressOutput output = ProgressOutput::standardError();
  if (settings.quiet || settings.json) output.terminal = false;
  std::optional<Progress> line;
  options.building = [&](size_t done, size_t of, const std::string& what) {
    if (!line) line.emplace("shapes", of, "shapes", output);
    line->note(what);
    line->set(done);
  };
  std::string kept;
  options.kept = [&](const std::filesystem::path& path) {
    line.reset();
    kept = path.string();
    logInfo("{}: the earlier recording is now {} (--force replaces it)", file.string(), kept);
  };
  bool running = false;
  RunLine text;
  LiveView page(command);
  options.progress = [&](const world::RunStatus& status) {
    if (!running) {
      page.start(file);
      line.emplace("run", status.frames, "frames", output);
      running = true;
    }
    if (output.terminal) line->show(text.text(status, output.seconds(), output.columns));
  };
  // The first Ctrl-C asks the run to end with a checkpoint, within a second; a second one ends it at once:
  // what is recorded is whole either way.
  options.stop = [] { return stopAsked().load(); };

  Profiler profiler;
  const Stopwatch watch;
  world::RunResult result;
  {
    const Profiler::Activation active(profiler);
    try {
      result = world::runScene(std::move(scene), options);
    } catch (Error& e) {
      throw std::move(e.inFile(command.input));  // where the error does not name a file itself
    }
  }
  line.reset();
  const double seconds = watch.seconds();
  for (const std::string& note : result.notes) logWarn("{}", note);

  if (settings.json) {
    Json json = {{"file", file.string()},
                 {"frames", result.frames},
                 {"state", result.finished ? "finished" : "stopped"},
                 {"bodies", result.bodies},
                 {"contacts", result.contacts},
                 {"simulated", result.simulatedSeconds},
                 {"seconds", seconds},
                 {"hash", result.hash ? Json(fmt::format("{:016x}", *result.hash)) : Json()},
                 {"bytes", result.bytes},
                 {"degraded", degradedJson(result.degradations)},
                 {"stages", stagesJson(profiler)}};
    if (result.resumed) json["resumed"] = *result.resumed;
    if (!kept.empty()) json["kept"] = kept;
    printJson(json);
  } else if (!settings.quiet) {
    const std::string table = settings.verbose ? profiler.table() : stageTable(profiler, seconds);
    std::fputs((table + degradedText(result.degradations)).c_str(), stderr);  // fmt::print would throw
  }
  if (result.resumed && command.fromGiven)
    say(settings, fmt::format("branched off at frame {}, the last checkpoint at or before frame {}; what was "
                              "recorded behind it stays in the file",
                              *result.resumed, command.from));
  else if (result.resumed)
    say(settings, fmt::format("went on from frame {}", *result.resumed));
  say(settings,
      fmt::format("{}: {} of {} frames, {:.4g} s simulated in {}, {} bodies, {} contacts at most, {}",
                  file.string(), result.frames, frames, result.simulatedSeconds, durationText(seconds),
                  result.bodies, result.contacts, bytesWords(double(result.bytes))));
  if (!result.finished)
    say(settings, fmt::format("stopped; go on with: sunder run --resume {}", file.string()));
  if (command.hash && result.hash) say(settings, fmt::format("hash {:016x}", *result.hash));
  std::fflush(stdout);
  page.wait();
  return result.finished ? 0 : interruptedCode();
}

Verb addRun(App& root) {
  auto command = std::make_shared<RunCommand>();
  App* app = root.addVerb("run", "Simulate a scene and record it");
  app->addOption("SCENE", command->input, "The scene file; with --resume also a recording or its folder")
      ->required();
  app->addOption("-o,--output", command->output, "Folder of run.sunder [out/NAME]")->typeName("DIR");
  Option* frames =
      app->addOption("--frames", command->frames, "Frames to simulate, instead of the scene's length")
          ->typeName("N")
          ->check(inRange(uint64_t(0), uint64_t(1000000000)));
  app->addFlag("--resume", command->resume, "Go on from the last checkpoint of an interrupted run");
  Option* from = app->addOption("--from", command->from,
                                "With --resume: go on from the last checkpoint at or before this frame")
                     ->typeName("FRAME");
  Option* inputs = app->addOption("--inputs", command->inputs,
                                  "What is done to bodies while it runs: a JSON list of inputs")
                       ->typeName("FILE");
  app->addFlag("--force", command->force, "Replace an earlier recording instead of keeping it aside");
  app->addFlag("--hash", command->hash, "Print the hash of the final state");
  app->addFlag("--strict", command->strict, "Stop at the first thing that degrades");
  app->addOption("--memory", command->memory,
                 "Refuse a scene that takes more, such as 2GB [80 % of the memory there is]")
      ->typeName("SIZE");
  app->addFlag("--view", command->view, "Show the run in the browser while it goes on, and after");
  app->addOption("--port", command->port, "Port of --view on 127.0.0.1; the next free one is taken; 0: any")
      ->check(inRange(0, 65535))
      ->showDefault();
  app->addOption("--set", command->set, "Change the scene: bodies.ball.mass=2; may be repeated")
      ->typeName("A.B=C")
      ->oneValueEach();
  app->footer(
      "Ctrl-C and SIGTERM end the run with a checkpoint, and exit code 130 and 143.\n"
      "Examples:\n"
      "  sunder run scenes/stack.json\n"
      "  sunder run scenes/dominoes.json --view\n"
      "  sunder run scenes/pile.json -o out/small --set world.duration=2 --hash\n"
      "  sunder run scenes/stack.json --inputs pushes.json\n"
      "  sunder run --resume out/pile/run.sunder\n"
      "  sunder run --resume out/pile/run.sunder --from 60");
  return {app, [command, frames, from, inputs](const Settings& settings) {
            command->framesGiven = frames->count() > 0;
            command->fromGiven = from->count() > 0;
            command->inputsGiven = inputs->count() > 0;
            return runScene(*command, settings);
          }};
}

}  // namespace sunder::cli
