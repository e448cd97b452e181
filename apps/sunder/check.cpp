// sunder check SCENE [--deep] [--memory SIZE] [--set k=v ...]
#include "sunder/world/check/check.h"

#include "sunder/base/memory_limit.h"
#include "sunder/base/work.h"

#include "command.h"

#include <memory>
#include <optional>

#include <fmt/core.h>

namespace sunder::cli {

namespace {

struct CheckCommand {
  std::string input, memory;
  std::vector<std::string> set;
  bool deep = false;
};

// "12 s", or "3 to 40 s" where the two differ.
std::string rangeText(double low, double high) {
  const std::string first = durationText(low), last = durationText(high);
  return first == last ? first : fmt::format("{} to {}", first, last);
}

// "120 MB of memory", and what it is if nothing and if everything breaks where these differ.
std::string memoryText(const world::Cost& cost) {
  std::string text = fmt::format("{} of memory", bytesWords(cost.memoryBytes));
  if (cost.memoryBroken < 1.2 * cost.memoryUnbroken) return text;
  return text + fmt::format(" ({} if nothing breaks, {} if all breaks that can)",
                            bytesWords(cost.memoryUnbroken), bytesWords(cost.memoryBroken));
}

// ", 2 deformable of about 400 tetrahedra"; empty where there are none.
std::string softText(const world::Cost& cost) {
  if (cost.softBodies == 0) return "";
  return fmt::format(", {} deformable of about {} tetrahedra", cost.softBodies,
                     world::countWords(cost.softTets));
}

std::string costText(const world::CheckReport& report) {
  const world::Cost& cost = report.cost;
  std::string text =
      fmt::format("  {}, {} to build, {} for {} frames, at most {} recorded", memoryText(cost),
                  durationText(cost.buildSeconds), rangeText(cost.stepSecondsLow, cost.stepSecondsHigh),
                  report.frames, bytesWords(cost.recordingBytes));
  if (report.built) {
    text += fmt::format("\n  about {} at the pace of the first frames", durationText(report.seconds));
    if (report.breakable > 0)
      text += fmt::format(
          " and with a few impacts on {} that may break",
          report.breakable == 1 ? "the body" : fmt::format("each of {} bodies", report.breakable));
  } else {
    text += "\n  not built: --deep looks for overlaps, thin walls and the pace as well";
  }
  return text;
}

int check(const CheckCommand& command, const Settings& settings) {
  const MemoryBudget budget(command.memory.empty() ? 0 : parseBytes(command.memory));
  world::SceneDocument document = world::SceneDocument::read(command.input, command.set);
  world::Scene scene = command.deep ? world::readScene(std::move(document))
                                    : world::sampleScene(std::move(document), world::kMostSampled);
  std::optional<Work> line;
  world::CheckOptions options;
  if (command.deep) options.depth = world::CheckDepth::Built;
  options.progress = [&](size_t done, size_t of, const std::string& what) {
    if (!line) line.emplace("building", of, "shapes");
    line->note(what);
    line->set(done);
  };
  const world::CheckReport report = world::checkScene(std::move(scene), options);
  line.reset();
  if (report.refusal) throw *report.refusal;
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
               {"particles", report.particles},
               {"particles_later", report.cost.particlesLater},
               {"tetrahedra", report.cost.tetrahedra},
               {"soft_bodies", report.cost.softBodies},
               {"soft_tetrahedra", report.cost.softTets},
               {"pairs", report.cost.pairs},
               {"memory_bytes", report.cost.memoryBytes},
               {"memory_range", {report.cost.memoryUnbroken, report.cost.memoryBroken}},
               {"memory_limit", memoryLimit()},
               {"recording_bytes", report.cost.recordingBytes},
               {"build_seconds", report.cost.buildSeconds},
               {"step_seconds", {report.cost.stepSecondsLow, report.cost.stepSecondsHigh}},
               {"built", report.built},
               {"contacts", report.contacts},
               {"seconds", report.seconds},
               {"breaking_seconds", report.breakingSeconds}});
  for (const world::Finding& f : report.findings)
    say(settings, fmt::format("{}: {}{}", f.error ? "error" : "warning",
                              f.where.empty() ? "" : f.where + ": ", f.text));
  say(settings,
      fmt::format("{}: {} bodies ({} dynamic){}, {} shapes, {} joints{}; {} error{}, {} warning{}",
                  command.input, report.bodies, report.dynamicBodies, softText(report.cost), report.shapes,
                  report.joints, report.particles > 0 ? fmt::format(", {} particles", report.particles) : "",
                  errors, errors == 1 ? "" : "s", report.findings.size() - errors,
                  report.findings.size() - errors == 1 ? "" : "s"));
  say(settings, costText(report));
  return errors > 0 ? 2 : 0;
}

}  // namespace

Verb addCheck(App& root) {
  auto command = std::make_shared<CheckCommand>();
  App* app = root.addVerb("check", "Look at a scene before it runs: overlaps, meshes, time and memory");
  app->addOption("SCENE", command->input, "The scene file")->required();
  app->addFlag("--deep", command->deep, "Build the world and take the first steps, whatever that costs");
  app->addOption("--memory", command->memory,
                 "Refuse a scene that takes more, such as 2GB [80 % of the memory there is]")
      ->typeName("SIZE");
  app->addOption("--set", command->set, "Change the scene: bodies.ball.mass=2; may be repeated")
      ->typeName("A.B=C")
      ->oneValueEach();
  app->footer(
      "Ends with 2 when there are errors, with 0 for warnings only.\n"
      "Examples:\n"
      "  sunder check scenes/stack.json\n"
      "  sunder check scenes/temple.json --memory 2GB\n"
      "  sunder check scenes/pile.json --deep\n"
      "  sunder check scenes/pile.json --json");
  return {app, [command](const Settings& settings) { return check(*command, settings); }};
}

}  // namespace sunder::cli
