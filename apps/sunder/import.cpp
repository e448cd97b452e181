// sunder import SCENE -o SCENE
#include "sunder/base/error.h"
#include "sunder/base/file.h"
#include "sunder/world/scene/import_splish.h"
#include "sunder/world/scene/scene.h"

#include "command.h"

#include <filesystem>
#include <memory>

#include <fmt/core.h>

namespace sunder::cli {

namespace {

struct ImportCommand {
  std::string input, output;
};

// What is written can be read. An error names the file that there is, not the one that is not written.
world::Scene readBack(const std::string& text, const ImportCommand& command,
                      const std::filesystem::path& folder) {
  try {
    return world::readScene(world::SceneDocument::parse(text, command.output, folder));
  } catch (const Error& e) {
    throw Error(e.kind(), "cannot become a scene of ours: " + e.message())
        .inFile(command.input)
        .hint(e.hint());
  }
}

int import(const ImportCommand& command, const Settings& settings) {
  std::filesystem::path folder = std::filesystem::path(command.output).parent_path();
  if (folder.empty()) folder = ".";
  const world::ImportedScene made = world::importSplish(command.input, folder);
  const world::Scene scene = readBack(made.text, command, folder);
  writeFile(command.output, made.text);
  if (settings.json)
    printJson({{"input", command.input},
               {"output", command.output},
               {"bodies", scene.bodies.size()},
               {"liquids", scene.fluid->liquids.size()},
               {"notes", made.notes}});
  for (const std::string& note : made.notes) say(settings, "note: " + note);
  say(settings, fmt::format("{}: {} bodies, {} liquids; run it with 'sunder run {}'", command.output,
                            scene.bodies.size(), scene.fluid->liquids.size(), command.output));
  return 0;
}

}  // namespace

Verb addImport(App& root) {
  auto command = std::make_shared<ImportCommand>();
  App* app = root.addVerb("import", "Make a scene of a scene of SPlisHSPlasH");
  app->addOption("SCENE", command->input, "The scene of SPlisHSPlasH, JSON")->required();
  app->addOption("-o,--output", command->output, "The scene to write")->required();
  app->footer(
      "Boxes, fluid blocks, rigid bodies and emitters are taken over; what is left out is named.\n"
      "Examples:\n"
      "  sunder import DamBreakModel.json -o dam.json\n"
      "  sunder import DamBreakModel.json -o dam.json --json");
  return {app, [command](const Settings& settings) { return import(*command, settings); }};
}

}  // namespace sunder::cli
