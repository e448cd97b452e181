// Soft bodies: assembly of the tangent of deformed solids, by model and kind of tangent, and what the solver
// asks for beside it. A ball filled with tetrahedra, stretched, turned and shaken.
#include "sunder/base/parallel.h"
#include "sunder/base/random.h"
#include "sunder/fem/solid/solid.h"
#include "sunder/sdf/analytic_field.h"
#include "sunder/tet/stuffing.h"

#include "bench/bench.h"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace sunder::bench {

namespace {

using namespace fem;

geometry::TetMesh ball(double edge) {
  tet::FillReport filled;
  return tet::fill(*sdf::makeSphereField(Vec3::Zero(), 1), {.edge = edge}, filled);
}

struct Kind {
  const char* name;
  ElasticModel model;
  double poisson;
  Tangent tangent;
  double bar;  // tetrahedra a second with two threads
};
constexpr Kind kKinds[] = {
    {"frozen corotated", ElasticModel::Corotated, 0.3, Tangent::Frozen, 8e6},
    {"positive corotated", ElasticModel::Corotated, 0.3, Tangent::Positive, 4e6},
    {"positive neo-Hookean", ElasticModel::NeoHookean, 0.3, Tangent::Positive, 4e6},
    {"positive Saint Venant-Kirchhoff", ElasticModel::SaintVenantKirchhoff, 0.3, Tangent::Positive, 0},
    {"positive neo-Hookean averaged", ElasticModel::NeoHookean, 0.49, Tangent::Positive, 0},
};

}  // namespace

SUNDER_BENCH("soft", softAssembly) {
  for (const double edge : {0.4, 0.185, 0.086, 0.04}) {
    const geometry::TetMesh mesh = ball(edge);
    const size_t tets = mesh.tets.size();
    if (tets > options.largest) continue;
    RandomStream random(1);
    const Mat3 f = Eigen::AngleAxisd(1, Vec3(1, 2, 3).normalized()).toRotationMatrix() *
                   Vec3(1.2, 0.9, 0.95).asDiagonal();
    std::vector<Vec3> x;
    for (const Vec3& p : mesh.positions)
      x.push_back(f * p + 0.1 * edge * random.pointIn({Vec3::Constant(-1), Vec3::Constant(1)}));
    for (const Kind& kind : kKinds) {
      const std::string name = kind.name;
      const bool wanted = options.wants("assembly/" + name) || options.wants("forces/" + name) ||
                          options.wants("energy/" + name);
      if (!wanted) continue;
      const SolidMaterial material{{1e5, kind.poisson, 1000}, kind.model};
      Solid solid;
      solid.set(mesh, {&material, 1});
      BlockMatrix matrix;
      matrix.setPattern(solid.pattern());
      OuterTerms outer;
      std::vector<Vec3> forces(x.size(), Vec3::Zero());
      for (const unsigned threads : options.threadCounts()) {
        const ThreadLimit limit(threads);
        const auto add = [&](const std::string& what, double bar, const std::function<void()>& work) {
          if (!options.wants(what + name)) return;
          Row row{.name = what + name,
                  .size = tets,
                  .threads = threads,
                  .value = static_cast<double>(tets) / bestSeconds(options, work),
                  .unit = "tets/s"};
          if (threads == 2 && bar > 0 && tets > 5000) row.bar = bar;
          report.add(row);
        };
        add("assembly/", kind.bar, [&] {
          outer.clear();
          solid.addTangent(x, kind.tangent, 1, matrix, outer);
        });
        add("forces/", 0, [&] { solid.addForces(x, forces); });
        add("energy/", 0, [&] { keep(solid.energy(x)); });
      }
    }
  }
}

// What a change of topology costs.
SUNDER_BENCH("soft", softCorners) {
  if (!options.wants("corners")) return;
  for (const double edge : {0.4, 0.185, 0.086}) {
    const geometry::TetMesh mesh = ball(edge);
    if (mesh.tets.size() > options.largest) continue;
    const SolidMaterial material{{1e5, 0.3, 1000}, ElasticModel::NeoHookean};
    Solid solid;
    solid.set(mesh, {&material, 1});
    const double seconds = bestSeconds(options, [&] { solid.setCorners(mesh.tets, mesh.positions.size()); });
    report.add({.name = "corners",
                .size = mesh.tets.size(),
                .metric = "time",
                .value = 1e6 * seconds,
                .unit = "us"});
  }
}

}  // namespace sunder::bench
