#include "sunder/base/error.h"
#include "sunder/base/log.h"
#include "sunder/base/memory_limit.h"
#include "sunder/base/parallel.h"
#include "sunder/base/simd.h"
#include "sunder/base/stop.h"
#include "sunder/base/text.h"
#include "sunder/base/work.h"
#include "sunder/geometry/far_vertex.h"
#include "sunder/meshio/mesh_file.h"

#include "command.h"
#include "net.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <optional>

#include <fmt/core.h>

namespace sunder::cli {

std::string jsonText(const Json& object) { return object.text({.indent = 2, .asCame = true}); }

void printJson(const Json& object) { std::cout << jsonText(object) << '\n'; }

void say(const Settings& settings, const std::string& text) {
  if (settings.quiet || settings.json) return;
  WorkWatch::erase();  // both may be on one terminal
  std::cout << text << '\n';
}

void reportNotes(const Settings& settings, const std::string& file, const std::vector<std::string>& notes) {
  if (settings.quiet) return;
  for (const std::string& note : notes) logInfo("{}: {}", file, note);
}

geometry::PolygonSoup readSurface(const std::string& path, const Settings& settings) {
  meshio::MeshFile file = meshio::readMesh(path);
  reportNotes(settings, path, file.notes);
  const std::vector<Vec3>& positions = file.surface.positions;
  for (size_t i = 0; i < positions.size(); ++i)
    if (!(positions[i].cwiseAbs().maxCoeff() <= 1e37))
      throw Error(ErrorKind::Geometry, fmt::format("vertex {} has a coordinate larger than 1e37", i))
          .inFile(path)
          .hint("trees hold boxes of floats; scale the mesh");
  if (const auto far = geometry::farVertex(positions)) logWarn("{}: {}", path, far->text());
  if (file.surface.faceCount() > 0) return std::move(file.surface);
  Error error(ErrorKind::Geometry, "has no faces");
  if (!file.volume.tets.empty())
    error.hint("it holds tetrahedra only; 'sunder convert' to a surface format takes their boundary");
  throw std::move(error.inFile(path));
}

Json stagesJson(const Profiler& profiler) {
  Json stages = Json::object();
  for (size_t i = 1; i < profiler.stages().size(); ++i)
    stages[profiler.stages()[i].name] = profiler.stages()[i].total;
  return stages;
}

uint64_t affordable(double budget, double bytesEach) {
  return static_cast<uint64_t>(std::min({budget, static_cast<double>(memoryLimit()) / bytesEach, 1e18}));
}

namespace {

std::string versionText() { return fmt::format("sunder {} (SIMD: {})", SUNDER_VERSION, simdTarget()); }

void addSettings(App& app, Settings& settings) {
  app.addFlag("--json", settings.json, "One JSON object on standard output")->group("Everywhere");
  app.addOption("--threads", settings.threads, "Threads to use; 0 means all cores")
      ->check(inRange(0u, 1024u))
      ->group("Everywhere");
  app.addFlag("-q,--quiet", settings.quiet, "Only errors")->group("Everywhere");
  app.addFlag("-v,--verbose", settings.verbose, "Say more, with times")->group("Everywhere");
  app.addVersionFlag("--version", versionText)->group("Everywhere");
}

// The vector target that the environment variable SUNDER_SIMD names, in place of the best one: for tests of
// equal results, and for measuring what a target brings.
void chooseTarget(std::optional<SimdTargetOverride>& target) {
  const char* name = std::getenv("SUNDER_SIMD");
  if (!name) return;
  try {
    target.emplace(name);
  } catch (const Error& e) {
    throw Error(e.kind(), "environment variable SUNDER_SIMD: " + e.message()).hint(e.hint());
  }
}

// The word where a verb should stand, when it is none we know.
void checkVerb(const App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  const std::vector<std::string> names = app.verbNames();
  if (std::find(names.begin(), names.end(), argv[1]) != names.end()) return;
  const std::vector<std::string_view> known(names.begin(), names.end());
  throw Error(ErrorKind::Usage, fmt::format("unknown verb '{}'", argv[1])).hint(suggestion(argv[1], known));
}

int run(int argc, char** argv) {
  App app("Sunder simulates what happens when things touch, break, get cut and splash.", "sunder");
  Settings settings;
  addSettings(app, settings);
  std::vector<Verb> verbs{addRun(app),      addImport(app), addCheck(app),    addReplay(app),
                          addShape(app),    addInfo(app),   addConvert(app),  addClean(app),
                          addCollide(app),  addQuery(app),  addSdf(app),      addSurface(app),
                          addVoxelize(app), addTet(app),    addStress(app),   addFracture(app),
                          addCut(app),      addSlice(app),  addRender(app),   addView(app),
                          addExport(app),   addBench(app),  addDescribe(app), addCompletion(app),
                          addRepair(app),   addEmbed(app)};
  for (Verb& verb : verbs) addSettings(*verb.app, settings);
  app.footer(
      "Examples:\n"
      "  sunder run scenes/stack.json             simulate a scene\n"
      "  sunder shape wine-glass -o glass.glb     make a shape\n"
      "  sunder info glass.glb                    measure and check a mesh\n"
      "  sunder convert scan.ply scan.obj         change the format\n"
      "  sunder VERB --help                       options and examples of a verb\n"
      "Exit codes: 0 done, 1 the job failed, 2 bad input or usage, 130 and 143 stopped by a signal.");

  settings.json = jsonAsked();
  std::optional<SimdTargetOverride> target;
  chooseTarget(target);
  if (argc < 2) {
    std::cout << app.help();
    return 2;
  }
  checkVerb(app, argc, argv);
  if (const std::optional<int> code = app.parse(argc, argv)) return *code;
  setLogLevel(settings.quiet ? LogLevel::Error : settings.verbose ? LogLevel::Debug : LogLevel::Info);
  // Never destroyed: after a worker that could not be started, oneTBB would wait for it without end.
  static const ThreadLimit& limit = *new ThreadLimit(settings.threads);
  (void)limit;
  if (threadCount() < settings.threads)
    logWarn("only {} of the {} threads asked for can be started here", threadCount(), settings.threads);
  ProgressOutput output = ProgressOutput::standardError();
  if (settings.quiet || settings.json) output.terminal = false;
  const WorkWatch watch(output);
  checkStop();  // asked for while the program started
  for (const Verb& verb : verbs)
    if (verb.app->parsed()) return verb.job(settings);
  return 2;
}

}  // namespace
}  // namespace sunder::cli

int main(int argc, char** argv) {
  using namespace sunder::cli;
  prepareProcess(argc, argv);
  int code = 0;
  try {
    code = run(argc, argv);
  } catch (...) {
    code = reportException();
  }
  return finishOutput(code);
}
