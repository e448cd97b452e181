// sunder view RUN|SCENE [--port N] [--open]
#include "sunder/base/error.h"
#include "sunder/base/log.h"
#include "sunder/show/view/view_server.h"

#include "command.h"
#include "run_command.h"
#include "run_input.h"
#include "stop_signal.h"

#include <cstdlib>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

namespace sunder::cli {

namespace {

struct ViewOptions {
  std::string input;
  int port = 8321;
  bool open = false;
};

int runView(const ViewOptions& options, const Settings& settings) {
  // A scene is simulated first, and shown while it is.
  if (std::filesystem::path(options.input).extension() == ".json") {
    RunCommand command;
    command.input = options.input;
    command.view = true;
    command.port = options.port;
    return runScene(command, settings);
  }
  show::ViewServer server(runPath(options.input));
  const int port = server.listen(options.port);
  if (options.port != 0 && port != options.port)
    logWarn("port {} is taken, {} is used instead", options.port, port);
  if (settings.json) printJson({{"url", server.url()}, {"port", port}});
  say(settings, fmt::format("{} shows {}; Ctrl-C ends it", server.url(), options.input));
  std::fflush(stdout);
  if (options.open && std::system(fmt::format("xdg-open {} >/dev/null 2>&1 &", server.url()).c_str()) != 0)
    logWarn("no browser could be opened: open {} yourself", server.url());
  server.wait(stopAsked());
  return 0;
}

}  // namespace

Verb addView(App& root) {
  auto options = std::make_shared<ViewOptions>();
  App* app = root.addVerb("view", "Show a run in the browser, finished or still being written");
  app->addOption("INPUT", options->input,
                 "run.sunder, or the folder it is in; or a scene, which is simulated and shown meanwhile")
      ->required();
  app->addOption("--port", options->port, "Port on 127.0.0.1; the next free one is taken; 0: any")
      ->check(inRange(0, 65535))
      ->showDefault();
  app->addFlag("--open", options->open, "Open the browser");
  app->footer(
      "Examples:\n"
      "  sunder view out/pile\n"
      "  sunder view out/pile/run.sunder --port 9000 --open\n"
      "  sunder view scenes/dominoes.json");
  return {app, [options](const Settings& settings) { return runView(*options, settings); }};
}

}  // namespace sunder::cli
