// sunder bench [ROOM]: hands over to the program sunder-bench beside this one, which alone links the peers
// that the benchmarks compare with.
#include "sunder/base/error.h"

#include "command.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>

#include <fmt/core.h>
#include <unistd.h>

namespace sunder::cli {

namespace {

struct BenchOptions {
  std::vector<std::string> rooms;
  std::string filter;
  double seconds = 0;
  size_t largest = 0;
};

int runBench(const BenchOptions& options, const Settings& settings) {
  std::error_code ignored;
  const std::filesystem::path program =
      std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / "sunder-bench";
  if (!std::filesystem::exists(program, ignored))
    throw Error(ErrorKind::Missing, "the benchmark program is not built")
        .inFile(program.string())
        .hint("configure with -DSUNDER_BENCH=ON, or use ./run bench");
  std::vector<std::string> arguments{program.string()};
  arguments.insert(arguments.end(), options.rooms.begin(), options.rooms.end());
  if (!options.filter.empty()) arguments.insert(arguments.end(), {"--case", options.filter});
  if (options.seconds > 0)
    arguments.insert(arguments.end(), {"--seconds", fmt::format("{}", options.seconds)});
  if (options.largest > 0)
    arguments.insert(arguments.end(), {"--largest", fmt::format("{}", options.largest)});
  if (settings.threads > 0)
    arguments.insert(arguments.end(), {"--threads", fmt::format("{}", settings.threads)});
  if (settings.json) arguments.emplace_back("--json");
  std::vector<char*> raw;
  for (std::string& argument : arguments) raw.push_back(argument.data());
  raw.push_back(nullptr);
  std::cout.flush();
  ::execv(raw[0], raw.data());
  throw Error(ErrorKind::Missing, fmt::format("cannot start: {}", std::strerror(errno)))
      .inFile(program.string());
}

}  // namespace

Verb addBench(App& root) {
  auto options = std::make_shared<BenchOptions>();
  App* app = root.addVerb("bench", "Measure speed and memory, side by side with packaged peers");
  app->addOption("ROOM", options->rooms, "base, geometry, ...; all when none is given");
  app->addOption("--case", options->filter, "Only cases whose name contains this");
  app->addOption("--seconds", options->seconds, "How long one measurement may be repeated; the best counts")
      ->check(positiveCheck());
  app->addOption("--largest", options->largest, "Leave out larger sizes")->check(positiveCheck());
  app->footer(
      "A ratio above 1 means ours is better. './run bench' also installs the peers.\n"
      "Examples:\n"
      "  sunder bench base\n"
      "  sunder bench geometry --json > geometry.json\n"
      "  sunder bench base --case sort --largest 1000000");
  return {app, [options](const Settings& settings) { return runBench(*options, settings); }};
}

}  // namespace sunder::cli
