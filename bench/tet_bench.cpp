// The room tet: filling fields with tetrahedra, refining, finding the tetrahedron of a point.
#include "sunder/base/parallel.h"
#include "sunder/base/random.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/sdf/hp/hp_build.h"
#include "sunder/sdf/hp/hp_field.h"
#include "sunder/sdf/mesh_field.h"
#include "sunder/tet/point_location.h"
#include "sunder/tet/refinement.h"
#include "sunder/tet/stuffing.h"

#include "bench/bench.h"

#include <cmath>
#include <optional>

namespace sunder::bench {

namespace {

// A unit sphere with ripples of 5 %: a grid of n x 2n quads.
geometry::TriMesh rippledSphere(uint32_t n) {
  geometry::TriMesh mesh;
  const auto at = [](double theta, double phi) {
    const double r = 1 + 0.05 * std::sin(8 * theta) * std::sin(8 * phi);
    return Vec3(r * std::sin(theta) * std::cos(phi), r * std::cos(theta),
                -r * std::sin(theta) * std::sin(phi));
  };
  mesh.positions.push_back(at(0, 0));
  for (uint32_t i = 1; i < n; ++i)
    for (uint32_t j = 0; j < 2 * n; ++j) mesh.positions.push_back(at(kPi * i / n, kPi * j / n));
  mesh.positions.push_back(at(kPi, 0));
  const auto last = static_cast<uint32_t>(mesh.positions.size() - 1);
  const auto id = [&](uint32_t i, uint32_t j) { return 1 + (i - 1) * 2 * n + j % (2 * n); };
  for (uint32_t j = 0; j < 2 * n; ++j) {
    mesh.triangles.push_back({0, id(1, j), id(1, j + 1)});
    for (uint32_t i = 1; i + 1 < n; ++i) {
      mesh.triangles.push_back({id(i, j), id(i + 1, j), id(i + 1, j + 1)});
      mesh.triangles.push_back({id(i, j), id(i + 1, j + 1), id(i, j + 1)});
    }
    mesh.triangles.push_back({id(n - 1, j), last, id(n - 1, j + 1)});
  }
  return mesh;
}

class BallField : public sdf::Field {
 public:
  void values(std::span<const Vec3> points, std::span<double> out) const override {
    for (size_t i = 0; i < points.size(); ++i) out[i] = points[i].norm() - 1;
  }
  void samples(std::span<const Vec3> points, std::span<sdf::FieldSample> out) const override {
    for (size_t i = 0; i < points.size(); ++i) out[i] = {points[i].norm() - 1, points[i].normalized()};
  }
  Box3 bounds() const override { return {Vec3::Constant(-1), Vec3::Constant(1)}; }
};

void measureFill(Report& report, const Options& options, const sdf::Field& field, const std::string& source) {
  for (const int levels : {0, 4}) {
    const std::string name = "tet/fill/" + source + (levels == 0 ? "/uniform" : "/graded");
    if (!options.wants(name)) continue;
    for (const unsigned threads : options.threadCounts()) {
      const ThreadLimit limit(threads);
      tet::FillReport filled;
      const tet::FillSettings settings{.edge = 0.04, .levels = levels};
      const double seconds =
          bestSeconds(options, [&] { keep(tet::fill(field, settings, filled).tets.size()); });
      report.add({.name = name,
                  .size = filled.tets,
                  .threads = threads,
                  .value = double(filled.tets) / seconds,
                  .unit = "tets/s"});
    }
  }
}

}  // namespace

SUNDER_BENCH("tet", tetFill) {
  measureFill(report, options, BallField(), "ball");
  if (!options.wants("tet/fill/mesh") && !options.wants("tet/fill/hp")) return;
  const sdf::MeshField mesh(rippledSphere(79));
  measureFill(report, options, mesh, "mesh");
  if (!options.wants("tet/fill/hp")) return;
  sdf::HpReport made;
  sdf::HpSettings settings;
  settings.error = 1e-3;
  const sdf::HpForest forest = sdf::buildHp(mesh, settings, made);
  measureFill(report, options, sdf::HpField(forest, mesh.bounds()), "hp");
}

// One full cycle of everything, then undoing it.
SUNDER_BENCH("tet", tetRefine) {
  if (!options.wants("tet/refine") && !options.wants("tet/coarsen")) return;
  tet::FillReport filled;
  const geometry::TetMesh mesh = tet::fill(BallField(), {.edge = 0.25}, filled);
  size_t operations = 0, tets = 0;
  std::optional<tet::Refinement> refinement;
  const double up = bestSeconds(
      options, [&] { refinement->refineAll(5); }, [&] { refinement.emplace(mesh); });
  for (size_t k = 0; k < tet::kRefineKinds; ++k) operations += refinement->opCount(tet::RefineKind(k));
  tets = refinement->tetCount();
  report.add({.name = "tet/refine", .size = tets, .value = double(operations) / up, .unit = "operations/s"});
  const double down = bestSeconds(
      options, [&] { refinement->coarsenAll(); },
      [&] {
        refinement.emplace(mesh);
        refinement->refineAll(5);
      });
  report.add(
      {.name = "tet/coarsen", .size = tets, .value = double(operations) / down, .unit = "operations/s"});
}

SUNDER_BENCH("tet", tetLocate) {
  if (!options.wants("tet/locate")) return;
  tet::FillReport filled;
  const geometry::TetMesh mesh = tet::fill(BallField(), {.edge = 0.04}, filled);
  const tet::PointLocator locator(mesh);
  RandomStream random(1);
  std::vector<Vec3> points(100'000);
  for (Vec3& p : points) {
    p = random.unitVector();
    p *= random.uniform(0, 0.98);
  }
  std::vector<tet::TetLocation> found(points.size());
  for (const unsigned threads : options.threadCounts()) {
    const ThreadLimit limit(threads);
    const double seconds = bestSeconds(options, [&] { locator.locate(points, found); });
    report.add({.name = "tet/locate",
                .size = mesh.tets.size(),
                .threads = threads,
                .value = double(points.size()) / seconds,
                .unit = "points/s"});
  }
}

}  // namespace sunder::bench
