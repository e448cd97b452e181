// sunder sdf MESH -o FIELD.sdf; sunder sdf FIELD.sdf [--query POINTS | --slice z=0]
#include "sunder/base/error.h"
#include "sunder/base/log.h"
#include "sunder/base/profiler.h"
#include "sunder/base/stop.h"
#include "sunder/geometry/far_vertex.h"
#include "sunder/meshio/mesh_file.h"
#include "sunder/sdf/field_combine.h"
#include "sunder/sdf/hp/hp_build.h"
#include "sunder/sdf/hp/hp_continuity.h"
#include "sunder/sdf/hp/hp_field.h"
#include "sunder/sdf/mesh_field.h"

#include "answer_rows.h"
#include "command.h"
#include "query_input.h"
#include "sdf_slice.h"
#include "stop_signal.h"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>

#include <fmt/format.h>

namespace sunder::cli {

namespace {

using namespace sdf;

struct SdfOptions {
  std::string input, output, sign = "auto", nearness = "none", slice;
  std::vector<std::string> points, pointFiles;
  std::vector<double> domain, keep;
  HpSettings build;
  double theta = 20, beta = 0, memory = 400, budget = double(HpSettings{}.mostValues);
  size_t rows = 20, pictureHeight = 512;
  unsigned base = 0;
  Option* errorOption = nullptr;
};

SignRule signRule(const std::string& name) {
  if (name == "normals") return SignRule::PseudoNormal;
  return name == "winding" ? SignRule::Winding : SignRule::Automatic;
}

const char* ruleName(SignRule rule) {
  return rule == SignRule::PseudoNormal ? "pseudo-normals" : "winding number";
}

// What ended the fit where that was not the target.
const char* limitName(HpEnd end) {
  switch (end) {
    case HpEnd::Memory:
      return "memory limit";
    case HpEnd::Budget:
      return "budget";
    case HpEnd::Exhausted:
      return "limits of level and degree";
    case HpEnd::Stopped:
      return "interrupt";
    case HpEnd::Target:
      break;
  }
  return "smoothing";  // the cells met it, and were made continuous
}

// The field is written either way; what it lacks is said.
void sayWhatIsMissing(const std::string& output, const HpReport& report, double target, size_t cells) {
  if (report.lostPlaces > 0)
    logWarn("{}: {} of {} points in thin walls or gaps have the wrong sign: parts of the surface are lost",
            output, report.lostPlaces, report.thinPlaces);
  if (report.measured > target)
    logWarn("{}: target {:.3g} not met: error {:.3g} after {} cells, ended by the {}{}", output, target,
            report.measured, cells, limitName(report.end),
            report.end == HpEnd::Memory   ? " (--memory)"
            : report.end == HpEnd::Budget ? " (--budget)"
                                          : "");
  else if (report.end != HpEnd::Target && report.end != HpEnd::Exhausted)
    logWarn("{}: the target is met, but thin walls and gaps were left as they are: ended by the {}", output,
            limitName(report.end));
}

Json cellsJson(const HpField& field) {
  const HpForest& cells = field.cells();
  Json degrees = Json::object(), levels = Json::object();
  std::vector<size_t> byDegree(kLargestDegree + 1, 0), byLevel(32, 0);
  for (const uint8_t d : cells.degree) ++byDegree[d];
  for (const HpCell& cell : leafCells(cells)) ++byLevel[cell.level];
  for (size_t d = 0; d < byDegree.size(); ++d)
    if (byDegree[d]) degrees[std::to_string(d)] = byDegree[d];
  for (size_t l = 0; l < byLevel.size(); ++l)
    if (byLevel[l]) levels[std::to_string(l)] = byLevel[l];
  const auto point = [](const Vec3& p) { return Json{p.x(), p.y(), p.z()}; };
  return {{"domain", {{"lower", point(field.domain().lower)}, {"upper", point(field.domain().upper)}}},
          {"base", cells.base},
          {"cells", field.leafCount()},
          {"coefficients", field.coefficientTotal()},
          {"bytes", field.bytes()},
          {"cells_by_degree", degrees},
          {"cells_by_level", levels}};
}

std::string cellsText(const HpField& field) {
  const Json json = cellsJson(field);
  const auto list = [](const Json& counts) {
    std::string text;
    for (const auto* count : counts.membersAsCame())
      text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", count->first, count->second.whole());
    return text;
  };
  return fmt::format("  {} cells, {} coefficients, {:.3g} MB\n  cells by degree {}\n  cells by level  {}",
                     field.leafCount(), field.coefficientTotal(), double(field.bytes()) * 1e-6,
                     list(json["cells_by_degree"]), list(json["cells_by_level"]));
}

HpSettings buildSettings(const SdfOptions& options) {
  HpSettings s = options.build;
  s.base = {options.base, options.base, options.base};
  if (options.nearness == "polynomial") s.nearness = Nearness::Polynomial;
  if (options.nearness == "exponential") s.nearness = Nearness::Exponential;
  s.theta = options.theta;
  s.mostValues = static_cast<uint64_t>(std::min(options.budget, 1e18));
  s.keepOnStop = true;
  s.mostCoefficients = static_cast<uint64_t>(options.memory * 1e6 / sizeof(double));
  if (!options.domain.empty()) {
    s.domain.lower = {options.domain[0], options.domain[1], options.domain[2]};
    s.domain.upper = {options.domain[3], options.domain[4], options.domain[5]};
  }
  return s;
}

int makeField(const SdfOptions& options, const Settings& settings) {
  if (std::filesystem::path(options.output).extension() != ".sdf")
    throw Error(ErrorKind::Unsupported, "fields are written as .sdf files").inFile(options.output);
  Profiler profiler;
  const Profiler::Activation active(profiler);
  geometry::TriMesh mesh;
  {
    const ProfileScope scope("read");
    mesh = geometry::toTriMesh(readSurface(options.input, settings));
  }
  // The default error is a share of the diagonal, which says nothing about such a mesh.
  const bool ownError = options.errorOption->count() > 0;
  if (const auto far = geometry::farVertex(mesh.positions); far && !ownError)
    throw Error(ErrorKind::Geometry,
                fmt::format("an error of a thousandth of the diagonal is larger than the "
                            "mesh: {}",
                            far->text()))
        .inFile(options.input)
        .hint("mend that vertex, or give --error and --domain");
  if (!ownError && geometry::bounds(mesh.positions).diagonal() == 0)
    throw Error(ErrorKind::Geometry, "all vertices are in one place").inFile(options.input);
  std::unique_ptr<MeshField> exact;
  {
    const ProfileScope scope("tree");
    exact = std::make_unique<MeshField>(mesh, signRule(options.sign));
  }
  const std::vector<std::string> problems = exact->sign().problems();
  for (const std::string& problem : problems) logWarn("{}: {}", options.input, problem);

  HpSettings s = buildSettings(options);
  if (!ownError) s.error = 1e-3 * exact->bounds().diagonal();
  HpReport report;
  HpForest forest;
  {
    const ProfileScope scope("fit");
    forest = buildHp(*exact, s, report);
  }
  // There is a field: from here on one is written, whatever comes.
  ContinuityReport continuity;
  if (options.beta > 0 && report.end != HpEnd::Stopped) {
    const ProfileScope scope("continuity");
    const HpForest plain = forest;
    try {
      continuity =
          makeContinuous(forest, {.beta = options.beta / (0.5 * exact->bounds().extent().maxCoeff())});
      const HpError error = measureHp(forest, *exact, 20'000, 2, forest.domain.diagonal() / 40);
      report.measured = error.rms;
      report.measuredMax = error.largest;
      report.measuredNear = error.largestNear;
    } catch (const Interrupted&) {
      forest = plain;
      report.end = HpEnd::Stopped;
    }
  }
  const StopDeferral whole;
  HpField field(forest, exact->bounds());
  field.targetError = s.error;
  field.measuredError = report.measured;
  field.measuredMax = report.measuredMax;
  field.write(options.output);
  sayWhatIsMissing(options.output, report, s.error, field.leafCount());

  if (settings.json) {
    Json json = {{"input", options.input},
                 {"output", options.output},
                 {"triangles", mesh.triangles.size()},
                 {"sign_rule", ruleName(exact->sign().rule)},
                 {"problems", problems},
                 {"target_error", s.error},
                 {"measured_error", report.measured},
                 {"measured_max", report.measuredMax},
                 {"measured_max_near", report.measuredNear},
                 {"estimated_error", report.estimate},
                 {"met", report.measured <= s.error},
                 {"end", report.end == HpEnd::Target && report.measured <= s.error ? "target met"
                                                                                   : limitName(report.end)},
                 {"thin_places", report.thinPlaces},
                 {"lost_places", report.lostPlaces},
                 {"samples", report.samples},
                 {"split", report.refinedH},
                 {"raised", report.refinedP}};
    json.update(cellsJson(field));
    if (options.beta > 0)
      json["continuity"] = {
          {"iterations", continuity.iterations},
          {"converged", continuity.converged},
          {"jump_energy_ratio",
           continuity.energyBefore > 0 ? continuity.energyAfter / continuity.energyBefore : 0}};
    json["seconds"] = stagesJson(profiler);
    printJson(json);
  }
  say(settings, fmt::format("{} -> {}: error {:.3g} (target {:.3g}, largest {:.3g}), sign by {}\n{}",
                            options.input, options.output, report.measured, s.error, report.measuredMax,
                            ruleName(exact->sign().rule), cellsText(field)));
  if (settings.verbose) std::fputs(profiler.table().c_str(), stderr);
  return report.end == HpEnd::Stopped ? interruptedCode() : 0;
}

int queryField(const SdfOptions& options, const HpField& field, const Settings& settings) {
  const std::vector<Vec3> points = readPoints(options.points, options.pointFiles);
  if (!options.output.empty() && std::filesystem::path(options.output).extension() != ".csv")
    throw Error(ErrorKind::Unsupported, "answers are written as CSV only")
        .inFile(options.output)
        .hint("give a name that ends in .csv");
  std::vector<FieldSample> samples(points.size());
  samplesOf(field, points, samples);
  const auto kind = !options.output.empty() ? AnswerRows::Kind::Csv
                    : settings.json         ? AnswerRows::Kind::Json
                                            : AnswerRows::Kind::Table;
  AnswerRows rows(kind, "point,x,y,z,distance,gradient_x,gradient_y,gradient_z", options.output,
                  options.rows);
  size_t inside = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    const Vec3 &p = points[i], &g = samples[i].gradient;
    inside += samples[i].value < 0;
    rows.add({uint64_t(i), p.x(), p.y(), p.z(), samples[i].value, g.x(), g.y(), g.z()});
  }
  rows.finish();
  if (settings.json) {
    Json json = {{"field", options.input}, {"points", points.size()}, {"inside", inside}};
    if (kind == AnswerRows::Kind::Csv) {
      json["output"] = options.output;
      printJson(json);
    } else {
      const std::string text = jsonText(json);
      std::cout << std::string_view(text).substr(0, text.size() - 2) << ",\n  \"results\": ";
      rows.printArray(std::cout);
      std::cout << "\n}\n";
    }
  }
  std::string text = kind == AnswerRows::Kind::Table && rows.count() > 0 ? rows.table() + "\n" : "";
  text += fmt::format("{}: {} points, {} inside", options.input, points.size(), inside);
  if (kind == AnswerRows::Kind::Csv) text += "; wrote " + options.output;
  say(settings, text);
  return 0;
}

// What the plane leaves of a field, fitted again only where that differs.
int cutField(const SdfOptions& options, const std::shared_ptr<const HpField>& field,
             const Settings& settings) {
  if (options.output.empty())
    throw Error(ErrorKind::Usage, "--keep makes a new field, but where should it go?")
        .hint("add -o REST.sdf");
  if (std::filesystem::path(options.output).extension() != ".sdf")
    throw Error(ErrorKind::Unsupported, "fields are written as .sdf files").inFile(options.output);
  const Vec3 normal(options.keep[0], options.keep[1], options.keep[2]);
  const FieldPtr plane = makePlaneField(normal, options.keep[3]);
  const FieldPtr whole = makeIntersection({field, plane});
  if (whole->bounds().empty())
    throw Error(ErrorKind::Geometry, "nothing of the field is on that side of the plane")
        .inFile(options.input)
        .hint("turn the plane around: negate all four numbers");
  HpSettings s = buildSettings(options);
  s.error = options.errorOption->count() > 0 ? options.build.error : field->targetError;
  HpReport report;
  Profiler profiler;
  HpForest forest;
  {
    const Profiler::Activation active(profiler);
    const ProfileScope scope("fit");
    forest = refitAfterCut(field->forest(), *whole, *plane, s, report);
  }
  const StopDeferral writing;
  HpField rest(forest, whole->bounds());
  rest.targetError = s.error;
  // Of the field that was cut, and of the new cells beside it: together they are no more than their sum.
  rest.measuredError = field->measuredError + report.measured;
  rest.measuredMax = field->measuredMax + report.measuredMax;
  rest.write(options.output);
  sayWhatIsMissing(options.output, report, s.error, rest.leafCount());
  if (settings.json) {
    Json json = {{"input", options.input},
                 {"output", options.output},
                 {"target_error", s.error},
                 {"measured_error", rest.measuredError},
                 {"added_error", report.measured},
                 {"changed_share", report.measuredShare},
                 {"met", report.measured <= s.error},
                 {"samples", report.samples}};
    json.update(cellsJson(rest));
    json["seconds"] = stagesJson(profiler);
    printJson(json);
  }
  say(settings,
      fmt::format("{} -> {}: {:.0f} % of the domain fitted again, error {:.3g} beside the old field\n{}",
                  options.input, options.output, 100 * report.measuredShare, report.measured,
                  cellsText(rest)));
  return report.end == HpEnd::Stopped ? interruptedCode() : 0;
}

int useField(const SdfOptions& options, const Settings& settings) {
  const auto read = std::make_shared<const HpField>(HpField::read(options.input));
  const HpField& field = *read;
  if (!options.keep.empty()) return cutField(options, read, settings);
  const bool query = !options.points.empty() || !options.pointFiles.empty();
  if (query && !options.slice.empty())
    throw Error(ErrorKind::Usage, "--slice and --query are two jobs: give one of them");
  if (query) return queryField(options, field, settings);
  if (!options.slice.empty()) {
    if (options.output.empty())
      throw Error(ErrorKind::Usage, "--slice wants a picture to write").hint("add -o slice.png");
    if (std::filesystem::path(options.output).extension() != ".png")
      throw Error(ErrorKind::Unsupported, "slices are written as .png").inFile(options.output);
    const Image image = drawSlice(field, parseSlice(options.slice), options.pictureHeight);
    writePng(options.output, image);
    if (settings.json)
      printJson({{"field", options.input},
                 {"output", options.output},
                 {"width", image.width},
                 {"height", image.height}});
    say(settings,
        fmt::format("{} -> {}: {} x {} pixels", options.input, options.output, image.width, image.height));
    return 0;
  }
  if (!options.output.empty())
    throw Error(ErrorKind::Usage, "nothing to write: a field is there already")
        .hint("--slice z=0 -o slice.png, or --query points.csv");
  if (settings.json) {
    Json json = {{"field", options.input},
                 {"target_error", field.targetError},
                 {"measured_error", field.measuredError},
                 {"measured_max", field.measuredMax}};
    json.update(cellsJson(field));
    printJson(json);
  }
  say(settings, fmt::format("{}: error {:.3g} when made (target {:.3g}, largest {:.3g})\n{}", options.input,
                            field.measuredError, field.targetError, field.measuredMax, cellsText(field)));
  return 0;
}

int runSdf(const SdfOptions& options, const Settings& settings) {
  const bool field = std::filesystem::path(options.input).extension() == ".sdf";
  if (field) return useField(options, settings);
  if (options.output.empty())
    throw Error(ErrorKind::Usage, "a field is made of a mesh, but where should it go?")
        .hint("add -o FIELD.sdf");
  if (!options.slice.empty() || !options.points.empty() || !options.pointFiles.empty() ||
      !options.keep.empty())
    throw Error(ErrorKind::Usage, "--slice, --query and --keep are asked of a field, not of a mesh")
        .hint("make the field first: sunder sdf MESH -o FIELD.sdf");
  return makeField(options, settings);
}

}  // namespace

Verb addSdf(App& root) {
  auto options = std::make_shared<SdfOptions>();
  App* app = root.addVerb("sdf", "Make a distance field of a mesh; ask or draw a field");
  app->addOption("INPUT", options->input, "A mesh file, or a field (.sdf)")->required();
  app->addOption("-o,--output", options->output,
                 "The field (.sdf), picture (.png) or answers (.csv) to write")
      ->typeName("FILE");
  options->errorOption =
      app->addOption("--error", options->build.error,
                     "Target error in metres, root mean square [a thousandth of the diagonal]")
          ->check(positiveCheck())
          ->typeName("D");
  const char* fit = "Making a field";
  options->errorOption->group(fit);
  app->addOption("--sign", options->sign, "auto, normals or winding")
      ->check(oneOf({"auto", "normals", "winding"}))
      ->group(fit);
  app->addOption("--nearness", options->nearness,
                 "Errors far from the surface count less: none, polynomial, exponential")
      ->check(oneOf({"none", "polynomial", "exponential"}))
      ->group(fit);
  app->addOption("--theta", options->theta, "How much less [20]")->check(notNegativeCheck())->group(fit);
  app->addOption("--continuity", options->beta,
                 "Smooth the jumps between cells: 3 strong, 30 weak, 0 off [0]")
      ->check(notNegativeCheck())
      ->typeName("BETA")
      ->group(fit);
  app->addOption("--base", options->base, "Cells along each axis of the coarsest grid; 0 chooses")
      ->check(inRange(0u, 512u))
      ->group(fit);
  app->addOption("--max-degree", options->build.maxDegree, "Largest degree of a cell [30]")
      ->check(inRange(1, kLargestDegree))
      ->group(fit);
  app->addOption("--max-level", options->build.maxLevel, "Most splits of a cell [10]")
      ->check(inRange(0, 20))
      ->group(fit);
  app->addOption("--memory", options->memory, "Megabytes that coefficients may take [400]")
      ->check(positiveCheck())
      ->group(fit);
  app->addOption("--budget", options->budget,
                 "Most distances to compute for the fit, of which quick ones count a tenth [5e7]")
      ->check(positiveCheck())
      ->typeName("N")
      ->group(fit);
  app->addOption("--domain", options->domain, "Box of the field: x0 y0 z0 x1 y1 z1")->expected(6)->group(fit);
  const char* use = "Using a field";
  app->addOption("--keep", options->keep,
                 "Cut the field by a plane: keep NX x + NY y + NZ z <= D, fit again only what changes")
      ->expected(4)
      ->typeName("NX NY NZ D")
      ->group(use);
  app->addOption("--query", options->pointFiles, "Points to ask for: CSV or text, or a mesh's vertices")
      ->typeName("FILE")
      ->oneValueEach()
      ->group(use);
  app->addOption("--point", options->points, "A point; may be repeated")
      ->typeName("X,Y,Z")
      ->oneValueEach()
      ->group(use);
  app->addOption("--rows", options->rows, "Rows to show as text; 0 shows all [20]")
      ->typeName("N")
      ->group(use);
  app->addOption("--slice", options->slice, "Draw the plane x, y or z = a number")
      ->typeName("z=0")
      ->group(use);
  app->addOption("--height", options->pictureHeight, "Pixels of the picture [512]")
      ->check(inRange(16u, 8192u))
      ->group(use);
  app->footer(
      "A fit that ends before the target (budget, memory, Ctrl-C) writes the best field so far and says its "
      "error.\n"
      "Distances are negative inside. The picture shows distances with contour lines on the left, the cells "
      "with\n"
      "their degree on the right.\n"
      "Examples:\n"
      "  sunder sdf cup.obj --error 1e-4 -o cup.sdf\n"
      "  sunder sdf cup.sdf\n"
      "  sunder sdf cup.sdf --query probes.csv -o distances.csv\n"
      "  sunder sdf cup.sdf --slice z=0 -o slice.png\n"
      "  sunder sdf cup.sdf --keep 0 0 1 0.05 -o lower.sdf");
  return {app, [options](const Settings& settings) { return runSdf(*options, settings); }};
}

}  // namespace sunder::cli
