// Coefficients and true error of distance fields: `hp/SHAPE/METHOD/error`, root mean square over the domain
// at 200,000 random points, with the number of coefficients as size; `.../near` is the largest error near the
// surface, `.../seconds` the time of construction. Methods: hp, octrees of fixed degree 2 and 1 (h2, h1) and
// uniform grids of cells of degree 3, best fits all of them. Shapes: a torus, smooth but for its axis and its
// circle; a box, full of kinks; a rippled sphere of 50,000 triangles; the public mesh `spot`, where it is.
#include "sunder/base/parallel.h"
#include "sunder/base/stopwatch.h"
#include "sunder/meshio/mesh_file.h"
#include "sunder/sdf/analytic_field.h"
#include "sunder/sdf/hp/hp_build.h"
#include "sunder/sdf/mesh_field.h"
#include "sunder/shapes/round.h"

#include "bench.h"

#include <filesystem>
#include <string>
#include <vector>

namespace sunder::bench {
namespace {

using namespace sdf;

constexpr size_t kSamples = 200'000;
constexpr uint64_t kSeed = 9;

void curve(Report& report, const Options& options, const std::string& name, const Field& field,
           const Box3& domain, const std::vector<HpSettings>& runs) {
  if (!options.wants(name)) return;
  for (HpSettings s : runs) {
    s.domain = domain;
    s.thinReach = 0;
    HpReport built;
    const Stopwatch watch;
    const HpForest forest = buildHp(field, s, built);
    const double seconds = watch.seconds();
    const size_t size = forest.coefficients.size();
    if (size > options.largest) continue;
    const HpError error = measureHp(forest, field, kSamples, kSeed, domain.diagonal() / 40);
    report.add({.name = name + "/error", .size = size, .metric = "count", .value = error.rms, .unit = "m"});
    report.add(
        {.name = name + "/near", .size = size, .metric = "count", .value = error.largestNear, .unit = "m"});
    report.add({.name = name + "/seconds",
                .size = size,
                .threads = threadCount(),
                .metric = "time",
                .value = seconds,
                .unit = "s"});
  }
}

std::vector<HpSettings> adaptive(const std::vector<double>& errors) {
  std::vector<HpSettings> runs(errors.size());
  for (size_t i = 0; i < errors.size(); ++i) runs[i].error = errors[i];
  return runs;
}

std::vector<HpSettings> fixedDegree(int degree, const std::vector<double>& errors) {
  std::vector<HpSettings> runs = adaptive(errors);
  for (HpSettings& s : runs) {
    s.firstDegree = s.maxDegree = degree;
    // As published: at degree 2 the guard would take the slope of the distance for an error and refine
    // everywhere alike.
    s.guard = 0;
  }
  return runs;
}

std::vector<HpSettings> uniform(const std::vector<uint32_t>& cells) {
  std::vector<HpSettings> runs(cells.size());
  for (size_t i = 0; i < cells.size(); ++i) {
    runs[i].error = 1e9;
    runs[i].base = {cells[i], cells[i], cells[i]};
    runs[i].firstDegree = 3;
  }
  return runs;
}

bool wantsAny(const Options& options, const std::string& shape) {
  for (const char* method : {"/hp", "/h2", "/h1", "/uniform"})
    if (options.wants(shape + method)) return true;
  return false;
}

Box3 cubeAround(const Box3& box, double scale) {
  const Vec3 half = Vec3::Constant(0.5 * scale * box.extent().maxCoeff());
  return {box.center() - half, box.center() + half};
}

}  // namespace

SUNDER_BENCH("sdf", hpConvergence) {
  const Box3 domain{Vec3::Constant(-1.1), Vec3::Constant(1.1)};
  const FieldPtr torus = makeTorusField(Vec3::Zero(), Vec3::UnitY(), 0.7, 0.3);
  curve(report, options, "hp/torus/hp", *torus, domain,
        adaptive({1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 1e-6}));
  curve(report, options, "hp/torus/h2", *torus, domain, fixedDegree(2, {1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5}));
  curve(report, options, "hp/torus/h1", *torus, domain, fixedDegree(1, {1e-2, 3e-3, 1e-3}));
  curve(report, options, "hp/torus/uniform", *torus, domain, uniform({5, 10, 20, 40}));

  const FieldPtr box = makeBoxField({Vec3(-0.7, -0.5, -0.9), Vec3(0.7, 0.5, 0.9)});
  curve(report, options, "hp/box/hp", *box, domain, adaptive({1e-2, 3e-3, 1e-3, 3e-4, 1e-4}));
  curve(report, options, "hp/box/h2", *box, domain, fixedDegree(2, {1e-2, 3e-3, 1e-3, 3e-4, 1e-4}));
  curve(report, options, "hp/box/h1", *box, domain, fixedDegree(1, {1e-2, 3e-3, 1e-3}));
  curve(report, options, "hp/box/uniform", *box, domain, uniform({5, 10, 20, 40}));

  if (wantsAny(options, "hp/rippled")) {
    const MeshField ripples(shapes::makeRippledSphere({79, 0.1}));
    const Box3 around{Vec3::Constant(-1.25), Vec3::Constant(1.25)};
    curve(report, options, "hp/rippled/hp", ripples, around, adaptive({1e-2, 5e-3, 2.5e-3}));
    curve(report, options, "hp/rippled/h2", ripples, around, fixedDegree(2, {1e-2, 5e-3, 2.5e-3}));
    curve(report, options, "hp/rippled/uniform", ripples, around, uniform({5, 10, 20}));
  }

  if (!wantsAny(options, "hp/spot")) return;
  const std::filesystem::path file = SUNDER_SHARED_DATA "/meshes/spot.obj";
  if (!std::filesystem::exists(file)) return report.missingPeer("mesh spot");
  const MeshField spot(geometry::toTriMesh(meshio::readMesh(file).surface));
  const Box3 around = cubeAround(spot.bounds(), 1.1);
  curve(report, options, "hp/spot/hp", spot, around, adaptive({2e-2, 1e-2, 5e-3, 2.5e-3, 1.2e-3, 6e-4}));
  curve(report, options, "hp/spot/h2", spot, around,
        fixedDegree(2, {2e-2, 1e-2, 5e-3, 2.5e-3, 1.2e-3, 6e-4}));
  curve(report, options, "hp/spot/h1", spot, around, fixedDegree(1, {2e-2, 1e-2, 5e-3, 2.5e-3}));
  curve(report, options, "hp/spot/uniform", spot, around, uniform({5, 10, 20, 40}));
}

}  // namespace sunder::bench
