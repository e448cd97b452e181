// sunder check SCENE [--set k=v ...]
#include "sunder/world/check.h"

#include "sunder/base/progress.h"

#include "command.h"

#include <memory>
#include <optional>

#include <fmt/core.h>

namespace sunder::cli {

namespace {

struct CheckCommand {
  std::string input;
  std::vector<std::string> set;
};

int check(const CheckCommand& command, const Settings& settings) {
  world::Scene scene = world::readScene(command.input, command.set);
  ProgressOutput output = ProgressOutput::standardError();
  if (settings.quiet || settings.json) output.terminal = false;
  std::optional<Progress> line;
  const world::CheckReport report =
      world::checkScene(std::move(scene), [&](size_t done, size_t of, const std::string& what) {
        if (!line) line.emplace("shapes", of, "shapes", output);
        line->note(what);
        line->set(done);
      });
  line.reset();
  size_t errors = 0;
  Json findings = Json::array();
  for (const world::Finding& f : report.findings) {
    errors += f.error;
    findings.push_back({{"error", f.error}, {"where", f.where}, {"text", f.text}});
  }
  if (settings.json)
    printJson({{"scene", command.input},
               {"errors", errors},
               {"warnings", report.findings.size() - errors},
               {"findings", findings},
               {"bodies", report.bodies},
               {"dynamic", report.dynamicBodies},
               {"breakable", report.breakable},
               {"shapes", report.shapes},
               {"triangles", report.triangles},
               {"joints", report.joints},
               {"frames", report.frames},
               {"contacts", report.contacts},
               {"particles", report.particles},
               {"memory_bytes", report.memoryBytes},
               {"recording_bytes", report.recordingBytes},
               {"seconds", report.seconds},
               {"breaking_seconds", report.breakingSeconds}});
  for (const world::Finding& f : report.findings)
    say(settings, fmt::format("{}: {}{}", f.error ? "error" : "warning",
                              f.where.empty() ? "" : f.where + ": ", f.text));
  say(settings, fmt::format("{}: {} bodies ({} dynamic), {} shapes, {} joints{}; {} error{}, {} warning{}",
                            command.input, report.bodies, report.dynamicBodies, report.shapes, report.joints,
                            report.particles > 0 ? fmt::format(", {} particles", report.particles) : "",
                            errors, errors == 1 ? "" : "s", report.findings.size() - errors,
                            report.findings.size() - errors == 1 ? "" : "s"));
  say(settings,
      fmt::format(
          "  about {} for {} frames at the pace of the first ones{}, {:.1f} MB of memory, at most {:.1f} "
          "MB recorded",
          durationText(report.seconds), report.frames,
          report.breakable == 0
              ? std::string()
              : fmt::format(
                    " and a few blows on {} that may break",
                    report.breakable == 1 ? "the body" : fmt::format("each of {} bodies", report.breakable)),
          report.memoryBytes / 1e6, report.recordingBytes / 1e6));
  return errors > 0 ? 2 : 0;
}

}  // namespace

Verb addCheck(CLI::App& root) {
  auto command = std::make_shared<CheckCommand>();
  CLI::App* app =
      root.add_subcommand("check", "Look at a scene before it runs: overlaps, meshes, time and memory");
  app->add_option("SCENE", command->input, "The scene file")->required();
  app->add_option("--set", command->set, "Change the scene: bodies.ball.mass=2; may be repeated")
      ->type_name("A.B=C")
      ->allow_extra_args(false);
  app->footer(
      "Ends with 2 when there are errors, with 0 for warnings only.\n"
      "Examples:\n"
      "  sunder check scenes/pile.json\n"
      "  sunder check scenes/pile.json --json");
  return {app, [command](const Settings& settings) { return check(*command, settings); }};
}

}  // namespace sunder::cli
