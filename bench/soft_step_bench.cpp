// Steps of a soft body: a cube with a hundred spheres in the tetrahedra of its bottom, which press on a
// compliant floor, at 1/60 s, to a Newton residual of 1e-3; with the vertices of a surface in it placed after
// each step. The cube is twisted by half a radian when it meets the floor, so that it swings and turns; mean
// of twenty steps from the second on.
#include "sunder/base/parallel.h"
#include "sunder/base/random.h"
#include "sunder/fem/motion/motion.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/shapes/round.h"
#include "sunder/soft/embed/embedded_surface.h"
#include "sunder/soft/embed/skin.h"

#include "bench/bench.h"

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace sunder::bench {

namespace {

using namespace fem;

// Boxes of six tetrahedra over the unit cube.
geometry::TetMesh cube(std::array<uint32_t, 3> boxes) {
  geometry::TetMesh mesh;
  const auto id = [&](uint32_t x, uint32_t y, uint32_t z) {
    return x + (boxes[0] + 1) * (y + (boxes[1] + 1) * z);
  };
  for (uint32_t z = 0; z <= boxes[2]; ++z)
    for (uint32_t y = 0; y <= boxes[1]; ++y)
      for (uint32_t x = 0; x <= boxes[0]; ++x)
        mesh.positions.push_back(Vec3(double(x) / boxes[0], double(y) / boxes[1], double(z) / boxes[2]));
  constexpr std::array<std::array<size_t, 3>, 6> kOrders{
      {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};
  for (uint32_t z = 0; z < boxes[2]; ++z)
    for (uint32_t y = 0; y < boxes[1]; ++y)
      for (uint32_t x = 0; x < boxes[0]; ++x)
        for (const auto& order : kOrders) {
          std::array<uint32_t, 3> at{x, y, z};
          geometry::Tetrahedron tet{};
          for (size_t k = 0; k < 4; ++k) {
            tet[k] = id(at[0], at[1], at[2]);
            if (k < 3) ++at[order[k]];
          }
          mesh.tets.push_back(tet);
        }
  geometry::flipInverted(mesh);
  return mesh;
}

// Spheres in tetrahedra against the plane y = 0, with stiffness.
class FloorContacts final : public StepTerm {
 public:
  FloorContacts(const geometry::TetMesh& mesh, size_t count, double stiffness) : stiffness_(stiffness) {
    RandomStream random(1);
    std::vector<uint32_t> bottom;
    for (uint32_t t = 0; t < mesh.tets.size(); ++t) {
      size_t low = 0;
      for (const uint32_t v : mesh.tets[t]) low += mesh.positions[v].y() == 0;
      if (low == 3) bottom.push_back(t);
    }
    for (size_t k = 0; k < count; ++k) {
      const geometry::Tetrahedron& tet = mesh.tets[bottom[k * bottom.size() / count]];
      Contact contact{tet, {}, 0};
      double sum = 0;
      for (double& w : contact.weights) sum += w = random.uniform(0.1, 1);
      for (size_t a = 0; a < 4; ++a) {
        contact.weights[a] /= sum;
        contact.radius += contact.weights[a] * mesh.positions[tet[a]].y();
      }
      contacts_.push_back(contact);
    }
  }

  double energy(std::span<const Vec3> x) const override {
    double sum = 0;
    for (const Contact& c : contacts_) {
      const double depth = std::max(0.0, -gap(c, x));
      sum += 0.5 * stiffness_ * depth * depth;
    }
    return sum;
  }
  void addGradient(std::span<const Vec3> x, std::span<Vec3> gradient) const override {
    for (const Contact& c : contacts_) {
      const double depth = std::max(0.0, -gap(c, x));
      for (size_t a = 0; a < 4; ++a) gradient[c.corners[a]].y() -= stiffness_ * depth * c.weights[a];
    }
  }
  void addCurvature(std::span<const Vec3> x, BlockMatrix& matrix, std::span<Mat3>,
                    OuterTerms&) const override {
    for (const Contact& c : contacts_) {
      if (gap(c, x) >= 0) continue;
      for (size_t a = 0; a < 4; ++a)
        for (size_t b = 0; b < 4; ++b)
          if (c.corners[b] <= c.corners[a])
            matrix.block(matrix.pattern().slot(c.corners[a], c.corners[b]))(1, 1) +=
                stiffness_ * c.weights[a] * c.weights[b];
    }
  }
  size_t active(std::span<const Vec3> x) const {
    size_t count = 0;
    for (const Contact& c : contacts_) count += gap(c, x) < 0;
    return count;
  }

 private:
  struct Contact {
    geometry::Tetrahedron corners;
    std::array<double, 4> weights;
    double radius;
  };
  static double gap(const Contact& c, std::span<const Vec3> x) {
    double y = -c.radius;
    for (size_t a = 0; a < 4; ++a) y += c.weights[a] * x[c.corners[a]].y();
    return y;
  }

  double stiffness_;
  std::vector<Contact> contacts_;
};

// A surface within the cube.
soft::Skin skinIn(const geometry::TetMesh& mesh) {
  geometry::TriMesh surface = shapes::makeRippledSphere({.n = 42});
  const Box3 box = geometry::bounds(surface.positions);
  for (Vec3& p : surface.positions)
    p = Vec3::Constant(0.5) + 0.9 / (box.upper - box.lower).maxCoeff() * (p - box.center());
  const soft::Cage cage = soft::makeCage(mesh);
  return {soft::embedSurface(surface, cage, soft::EmbedMode::Copies), cage};
}

struct Case {
  const char* name;
  std::array<uint32_t, 3> boxes;
  double bar;  // ms; 0: none
};
constexpr std::array<Case, 3> kCases{
    {{"1k", {6, 5, 6}, 3}, {"10k", {12, 12, 12}, 25}, {"100k", {26, 25, 26}, 0}}};

void addSteps(Report& report, const Options& options, const Case& c, double young, MotionSolver solver) {
  std::string name = fmt::format("step/{}/{:.0e} Pa", c.name, young);
  if (solver != MotionSolver::Auto) name += fmt::format(" {}", fem::name(solver));
  if (!options.wants(name)) return;
  const geometry::TetMesh mesh = cube(c.boxes);
  SolidMaterial material;
  material.elastic = {young, 0.3, 1000};
  Solid solid;
  solid.set(mesh, std::span(&material, 1));
  const soft::Skin skin = skinIn(mesh);
  std::vector<Vec3f> shown(skin.vertexCount());
  for (const unsigned threads : options.threadCounts()) {
    const ThreadLimit limit(threads);
    MotionSettings settings;
    settings.solver = solver;
    Motion motion;
    motion.set(solid, mesh.positions, settings);
    FloorContacts contacts(mesh, 100, 0.1 * young);
    StepTerm* const terms[]{&contacts};
    Loads loads;
    loads.gravity = Vec3(0, -9.81, 0);
    constexpr double kStep = 1.0 / 60;
    std::vector<Vec3> x, v;
    for (const Vec3& p : mesh.positions) {
      const Vec3 arm = p - Vec3(0.5, 0, 0.5);
      x.push_back(Vec3(0.5, -0.01, 0.5) + Eigen::AngleAxisd(0.5 * p.y(), Vec3::UnitY()) * arm);
      v.push_back(Vec3(0, -1, 0) + Vec3(0, 2, 0).cross(arm));
    }
    motion.setState(x, v);
    motion.step(kStep, terms, loads);
    x.assign(motion.positions().begin(), motion.positions().end());
    v.assign(motion.velocities().begin(), motion.velocities().end());
    constexpr int kSteps = 20;
    double newton = 0, cg = 0, active = 0, unmet = 0;
    const double seconds = bestSeconds(
        options,
        [&] {
          newton = cg = active = unmet = 0;
          for (int k = 0; k < kSteps; ++k) {
            const StepReport step = motion.step(kStep, terms, loads);
            newton += step.iterations;
            cg += step.solverIterations;
            unmet += !step.converged;
            active += double(contacts.active(motion.positions()));
            skin.place(motion.positions(), mesh.tets, Vec3::Zero(), shown);
          }
        },
        [&] { motion.setState(x, v); });
    Row row{.name = name,
            .size = mesh.tets.size(),
            .threads = threads,
            .metric = "time",
            .value = 1e3 * seconds / kSteps,
            .unit = "ms"};
    if (c.bar > 0 && solver == MotionSolver::Auto) row.bar = c.bar;
    report.add(row);
    const auto addCount = [&](const char* what, double value) {
      report.add({.name = name + " " + what,
                  .size = mesh.tets.size(),
                  .threads = threads,
                  .metric = "count",
                  .value = value / kSteps,
                  .unit = "a step"});
    };
    addCount("Newton iterations", newton);
    addCount("solver iterations", cg);
    addCount("active contacts", active);
    addCount("not converged", unmet);
    addCount("embedded vertices", double(kSteps * shown.size()));
  }
}

}  // namespace

SUNDER_BENCH("soft", softSteps) {
  for (const Case& c : kCases) {
    if (6 * size_t(c.boxes[0]) * c.boxes[1] * c.boxes[2] > options.largest) continue;
    for (const double young : {1e5, 1e7}) {
      addSteps(report, options, c, young, MotionSolver::Auto);
      if (options.filter.empty()) continue;  // by name, for comparison
      for (const MotionSolver solver :
           {MotionSolver::Cholesky, MotionSolver::BlockJacobi, MotionSolver::IncompleteCholesky})
        if (solver != MotionSolver::Cholesky || c.bar > 0) addSteps(report, options, c, young, solver);
    }
  }
}

}  // namespace sunder::bench
