// sunder repair RUN [-o FILE]
#include "sunder/record/repair.h"

#include "sunder/base/error.h"
#include "sunder/base/log.h"
#include "sunder/base/memory_limit.h"

#include "command.h"
#include "run_input.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>

namespace sunder::cli {

namespace {

struct RepairOptions {
  std::string input, output;
  std::optional<size_t> before, branch;
};

// run.sunder becomes run.repaired.sunder beside it.
std::filesystem::path repairedName(std::filesystem::path path) {
  return path.replace_filename(path.stem().string() + ".repaired" + path.extension().string());
}

int runRepair(const RepairOptions& options, const Settings& settings) {
  const std::filesystem::path input = runPath(options.input);
  const std::filesystem::path output =
      options.output.empty() ? repairedName(input) : std::filesystem::path(options.output);
  std::optional<uint64_t> limit;
  if (options.before) {
    const auto resumed = record::RunReader(input).resumed();
    if (*options.before == 0 || *options.before > resumed.size())
      throw Error(ErrorKind::Usage, fmt::format("the run was resumed {} times", resumed.size()))
          .inFile(input.string())
          .hint("--before-resume counts from 1");
    limit = resumed[*options.before - 1].epochAt;
  }
  if (options.branch) {
    const auto branches = record::RunReader(input).branches();
    const auto found = std::find_if(branches.begin(), branches.end(),
                                    [&](const auto& branch) { return branch.epoch == *options.branch; });
    if (found == branches.end())
      throw Error(ErrorKind::Usage, fmt::format("there is no branch {}", *options.branch))
          .inFile(input.string())
          .hint("'sunder info' lists the branches");
    limit = std::min(found->end, limit.value_or(found->end));
  }
  const record::Repaired result = record::repairRun(input, output, limit);
  const std::vector<std::string> lost = result.losses.names();
  if (settings.json)
    printJson({{"input", input.string()},
               {"output", result.output.string()},
               {"frames", result.frames},
               {"bodies", result.bodies},
               {"meshes", result.meshes},
               {"checkpoints", result.checkpoints},
               {"bytes", result.bytes},
               {"lost", lost},
               {"problems", result.losses.problems},
               {"notes", result.remarks}});
  for (const std::string& problem : result.losses.problems) logInfo("{}", problem);
  if (result.output.empty()) {
    logError("{}: no frame can be read: nothing is written", input.string());
    return 1;
  }
  std::string text = fmt::format("{}: {} frames, {} bodies, {} meshes and {} checkpoints, {}",
                                 result.output.string(), result.frames, result.bodies, result.meshes,
                                 result.checkpoints, bytesWords(double(result.bytes)));
  for (const std::string& name : lost) text += "\n  lost: " + name;
  for (const std::string& remark : result.remarks) text += "\n  " + remark;
  if (lost.empty()) text += "\n  nothing is lost";
  say(settings, text);
  return 0;
}

}  // namespace

Verb addRepair(App& root) {
  auto options = std::make_shared<RepairOptions>();
  App* app = root.addVerb("repair", "Save what can be read of a damaged recording");
  app->addOption("RUN", options->input, "run.sunder, or the folder it is in")->required();
  app->addOption("-o,--output", options->output, "The file to write; else run.repaired.sunder beside it")
      ->typeName("FILE");
  app->addOption("--before-resume", options->before,
                 "The recording as it was before it was resumed for the N-th time")
      ->typeName("N");
  app->addOption("--branch", options->branch, "The recording as the N-th branch left it")->typeName("N");
  app->footer(
      "The recording itself is not touched, and no file is replaced.\n"
      "Ends with 0 where something was saved, with 1 where no frame can be read.\n"
      "Examples:\n"
      "  sunder repair out/pile\n"
      "  sunder repair out/pile/run.sunder -o saved.sunder\n"
      "  sunder repair out/pile --before-resume 1 -o first.sunder");
  return {app, [options](const Settings& settings) { return runRepair(*options, settings); }};
}

}  // namespace sunder::cli
