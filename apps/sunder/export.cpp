// sunder export RUN --to FORMAT [-o PATH]
#include "sunder/show/export/export.h"

#include "sunder/base/error.h"
#include "sunder/base/log.h"
#include "sunder/base/memory_limit.h"
#include "sunder/base/profiler.h"
#include "sunder/base/stop.h"
#include "sunder/base/work.h"

#include "command.h"
#include "run_input.h"
#include "stop_signal.h"

#include <memory>
#include <optional>

#include <fmt/format.h>

namespace sunder::cli {

namespace {

struct ExportOptions {
  std::string input, format, output, frames;
  size_t every = 1;
  bool surface = false;
};

std::vector<size_t> chosenFrames(const ExportOptions& options, const record::RunReader& run) {
  size_t first = 0, last = run.frameCount();
  if (run.frameCount() == 0) return {};
  if (options.frames.empty())
    --last;
  else
    std::tie(first, last) = parseFrameRange(options.frames, run.frameCount());
  std::vector<size_t> frames;
  for (size_t f = first; f <= last; f += options.every) frames.push_back(f);
  return frames;
}

// In the folder "export" beside the run: vtk/, obj/, ... or pile.glb.
std::filesystem::path defaultOutput(const record::RunReader& run, const show::ExportFormatInfo& format) {
  const std::filesystem::path folder = run.path().parent_path() / "export";
  if (format.folder) return folder / format.name;
  // The scene's name is the run's own word, which may be anything: only its last part is taken.
  std::string name = std::filesystem::path(run.info().sceneName).filename().string();
  if (name.empty() || name == "." || name == "..") name = "run";
  return folder / (name + "." + format.name);
}

int runExport(const ExportOptions& options, const Settings& settings) {
  const show::ExportFormat format = show::exportFormatNamed(options.format);
  Profiler profiler;
  const Profiler::Activation active(profiler);
  std::optional<record::RunReader> run;
  show::ExportSettings choice;
  {
    const ProfileScope scope("open");
    run.emplace(runPath(options.input));
    choice.frames = chosenFrames(options, *run);
    choice.liquids.surfaces = options.surface;
  }
  choice.output = options.output.empty() ? defaultOutput(*run, show::info(format))
                                         : std::filesystem::path(options.output);
  show::ExportResult result;
  {
    const ProfileScope scope("export");
    std::optional<Work> work;
    choice.progress = [&](size_t done, size_t of) {
      if (!work) work.emplace("exporting", of, of == choice.frames.size() ? "frames" : "steps");
      work->set(done);
    };
    try {
      result = show::exportRun(*run, format, choice);
    } catch (const Interrupted&) {
      work.reset();
      logWarn("stopped; what was written of the export has been removed");
      return interruptedCode();
    }
  }
  for (const std::string& note : result.notes) logWarn("{}", note);
  for (const std::string& sentence : result.lost) logError("{}: {}", run->path().string(), sentence);
  if (result.files == 0) {
    logError("{}: none of the frames can be read: nothing is written", run->path().string());
    if (settings.json) printJson({{"format", options.format}, {"files", 0}, {"lost", result.lost}});
    return 1;
  }
  if (!run->end()) logWarn("the run did not end by itself: what was recorded so far is exported");
  if (settings.json)
    printJson({{"output", result.output.string()},
               {"open", result.openThis.string()},
               {"format", options.format},
               {"frames", result.frames},
               {"bodies", run->bodies().size()},
               {"files", result.files},
               {"bytes", result.bytes},
               {"notes", result.notes},
               {"lost", result.lost},
               {"seconds", stagesJson(profiler)}});
  say(settings, fmt::format("{}: {} frame{} of {} bodies, {} file{}, {}", result.openThis.string(),
                            result.frames, result.frames == 1 ? "" : "s", run->bodies().size(), result.files,
                            result.files == 1 ? "" : "s", bytesWords(double(result.bytes))));
  return result.lost.empty() ? 0 : 1;
}

}  // namespace

Verb addExport(App& root) {
  auto options = std::make_shared<ExportOptions>();
  App* app = root.addVerb("export", "Write a run as files of other programs");
  app->addOption("RUN", options->input, "run.sunder, or the folder it is in")->required();
  std::string formats;
  for (const show::ExportFormatInfo& format : show::exportFormats())
    formats += fmt::format("{}{}", formats.empty() ? "" : ", ", format.name);
  app->addOption("--to", options->format, "The format: " + formats)->required();
  app->addOption("-o,--output", options->output,
                 "The file (glb, usda, html) or folder (the others); else 'export' beside the run");
  app->addOption("--frames", options->frames, "Frames A:B, from 0; else all");
  app->addOption("--every", options->every, "Only every so many of the frames")
      ->check(inRange(1, 1000000))
      ->showDefault();
  app->addFlag("--surface", options->surface,
               "Liquids as meshes of their surfaces, not as points: vtk, glb, usda, obj, ply");
  std::string footer = "Formats:\n";
  for (const show::ExportFormatInfo& format : show::exportFormats())
    footer += fmt::format("  {:<6} {}\n", format.name, format.remark);
  app->footer(footer +
              "Examples:\n"
              "  sunder export out/pile --to glb\n"
              "  sunder export out/pile --to vtk --frames 100:200 --every 2 -o shots/pile\n"
              "  sunder export out/dam-break --to glb --surface\n"
              "  sunder export out/pile --to html -o pile.html");
  return {app, [options](const Settings& settings) { return runExport(*options, settings); }};
}

}  // namespace sunder::cli
