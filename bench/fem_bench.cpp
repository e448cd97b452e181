// The room fem: assembly, factorisation, substitution and recovery for bodies of growing size, every solver
// beside the others, and the analysis of a whole impact.
#include "sunder/base/parallel.h"
#include "sunder/fem/block_cholesky.h"
#include "sunder/fem/dynamics.h"
#include "sunder/fem/recovery.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/sdf/field.h"
#include "sunder/tet/stuffing.h"

#include "bench/bench.h"
#include "bench/cholmod_peer.h"

#include <cmath>
#include <utility>

namespace sunder::bench {

namespace {

using namespace fem;

const ElasticMaterial kGlass{7e10, 0.22, 2500};

// A ring of radius 0.1, which is what falls and breaks in the scenes; edges that give about 200, 2,000 and
// 20,000 tetrahedra.
class RingField : public sdf::Field {
 public:
  void values(std::span<const Vec3> points, std::span<double> out) const override {
    for (size_t i = 0; i < points.size(); ++i)
      out[i] = std::hypot(std::hypot(points[i].x(), points[i].z()) - 0.07, points[i].y()) - 0.03;
  }
  void samples(std::span<const Vec3> points, std::span<sdf::FieldSample> out) const override {
    for (size_t i = 0; i < points.size(); ++i) {
      const Vec3& p = points[i];
      const double around = std::hypot(p.x(), p.z());
      const Vec3 middle =
          around > 0 ? Vec3(0.07 * p.x() / around, 0, 0.07 * p.z() / around) : Vec3(0.07, 0, 0);
      out[i] = {(p - middle).norm() - 0.03, (p - middle).normalized()};
    }
  }
  Box3 bounds() const override { return {Vec3(-0.1, -0.03, -0.1), Vec3(0.1, 0.03, 0.1)}; }
};

geometry::TetMesh ring(double edge) {
  tet::FillReport filled;
  return tet::fill(RingField(), {.edge = edge}, filled);
}

std::vector<geometry::TetMesh> bodies(const Options& options) {
  std::vector<geometry::TetMesh> meshes;
  for (const double edge : {0.0405, 0.0205, 0.0093}) {
    meshes.push_back(ring(edge));
    if (meshes.back().tets.size() > options.largest) meshes.pop_back();
  }
  return meshes;
}

BlockMatrix dynamicMatrix(const ElasticBody& body) {
  BlockMatrix matrix;
  matrix.setPattern(body.pattern());
  constexpr double kStep = 4e-6;
  assemble(body.elements(), body.material(), 1, kStep * kStep, MassKind::Lumped, matrix);
  return matrix;
}

void addTime(Report& report, const std::string& name, size_t tets, unsigned threads, double seconds) {
  report.add({.name = name,
              .size = tets,
              .threads = threads,
              .metric = "time",
              .value = 1e6 * seconds,
              .unit = "us"});
}

}  // namespace

SUNDER_BENCH("fem", femAssembly) {
  if (!options.wants("fem/body") && !options.wants("fem/assembly")) return;
  for (const geometry::TetMesh& mesh : bodies(options))
    for (const unsigned threads : options.threadCounts()) {
      const ThreadLimit limit(threads);
      ElasticBody body(mesh, kGlass);
      BlockMatrix matrix = dynamicMatrix(body);
      addTime(report, "fem/body", mesh.tets.size(), threads,
              bestSeconds(options, [&] { body.set(mesh, kGlass); }));
      matrix.setPattern(body.pattern());
      addTime(report, "fem/assembly", mesh.tets.size(), threads, bestSeconds(options, [&] {
                assemble(body.elements(), kGlass, 1, 1e-11, MassKind::Lumped, matrix);
              }));
    }
}

SUNDER_BENCH("fem", femSolvers) {
  for (const geometry::TetMesh& mesh : bodies(options)) {
    const ElasticBody body(mesh, kGlass);
    const BlockMatrix matrix = dynamicMatrix(body);
    const std::vector<Vec3> b(body.vertices(), Vec3(1, 2, 3));
    std::vector<Vec3> x(b.size());
    for (const std::string name : {"block", "ldlt", "dense", "pcg"}) {
      const bool wanted = options.wants("fem/analyse+factor/" + name) ||
                          options.wants("fem/factor/" + name) || options.wants("fem/solve/" + name);
      if (!wanted) continue;
      if (name == "dense" && mesh.tets.size() > 5000) continue;
      for (const unsigned threads : options.threadCounts()) {
        const ThreadLimit limit(threads);
        const auto solver = makeSolver({name});
        if (name == "block" || name == "ldlt")
          addTime(report, "fem/analyse+factor/" + name, mesh.tets.size(), threads,
                  bestSeconds(options, [&] { makeSolver({name})->factor(matrix); }));
        addTime(report, "fem/factor/" + name, mesh.tets.size(), threads,
                bestSeconds(options, [&] { solver->factor(matrix); }));
        addTime(report, "fem/solve/" + name, mesh.tets.size(), threads,
                bestSeconds(options, [&] { solver->solve(b, x); }));
        if (name != "block" && name != "pcg") break;
      }
    }
    if (options.wants("fem/solve/cholmod simplicial") || options.wants("fem/factor/cholmod supernodal"))
      addCholmodRows(report, options, matrix, mesh.tets.size());
  }
}

SUNDER_BENCH("fem", femRecovery) {
  if (!options.wants("fem/recovery/lumped") && !options.wants("fem/recovery/patch") &&
      !options.wants("fem/patches"))
    return;
  for (const geometry::TetMesh& mesh : bodies(options)) {
    const ElasticBody body(mesh, kGlass);
    std::vector<Vec3> u(mesh.positions), v(mesh.positions);
    for (size_t i = 0; i < u.size(); ++i) u[i] = 1e-4 * u[i].cwiseProduct(u[i]);
    for (const unsigned threads : options.threadCounts()) {
      const ThreadLimit limit(threads);
      for (const auto& [kind, name] :
           {std::pair(Recovery::Lumped, "lumped"), std::pair(Recovery::Patch, "patch")}) {
        StressRecovery recovery;
        recovery.setBody(body, kind);
        addTime(report, std::string("fem/recovery/") + name, mesh.tets.size(), threads,
                bestSeconds(options, [&] { recovery.update(u, v); }));
      }
    }
    PatchRecovery patches;
    addTime(report, "fem/patches", mesh.tets.size(), 1, bestSeconds(options, [&] { patches.build(body); }));
  }
}

// A hit from the mesh to principal stresses: elements, pattern, assembly, analysis, factor, twenty steps,
// recovery after the last of them, or after each.
SUNDER_BENCH("fem", femAnalysis) {
  if (!options.wants("fem/analysis/once") && !options.wants("fem/analysis/each step")) return;
  for (const geometry::TetMesh& mesh : bodies(options))
    for (const unsigned threads : options.threadCounts()) {
      const ThreadLimit limit(threads);
      ElasticDynamics dynamics;
      StressRecovery recovery;
      std::vector<NodalForce> forces{{geometry::boundarySurface(mesh).vertexSource[0], Vec3(0, 1000, 0)}};
      for (const bool each : {false, true}) {
        const double seconds = bestSeconds(options, [&] {
          dynamics.setBody(mesh, kGlass);
          dynamics.prepare({.step = 4e-6, .beta = 2.5e-6});
          recovery.setBody(dynamics.body());
          for (int k = 0; k < 20; ++k) {
            dynamics.step(forces);
            if (each) recovery.update(dynamics.displacements(), dynamics.velocities());
          }
          if (!each) recovery.update(dynamics.displacements(), dynamics.velocities());
        });
        Row row{.name = each ? "fem/analysis/each step" : "fem/analysis/once",
                .size = mesh.tets.size(),
                .threads = threads,
                .metric = "time",
                .value = 1e6 * seconds,
                .unit = "us"};
        if (mesh.tets.size() < 400) row.bar = 1000;
        report.add(row);
      }
    }
}

}  // namespace sunder::bench
