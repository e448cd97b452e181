#include "sunder/fem/statics.h"

#include "sunder/base/error.h"
#include "sunder/fem/recovery.h"

#include "fem_cases.h"

#include <cmath>

#include <gtest/gtest.h>

namespace sunder::fem {

// Displacements that are affine on the boundary are affine inside.
TEST(Statics, PatchTest) {
  RandomStream random(1);
  for (const uint64_t seed : {1, 2, 3}) {
    const geometry::TetMesh mesh = blockMesh({4, 4, 4}, {1, 1, 1}, 0.25, seed);
    const ElasticBody body(mesh, kGlass);
    const std::vector<Vec3> exact = affine(mesh, 1e-3 * randomMatrix(random), Vec3(1e-3, 0, 0));
    std::vector<Support> supports;
    for (const uint32_t v : geometry::boundarySurface(mesh).vertexSource)
      supports.push_back({.vertex = v, .displacement = exact[v]});
    const StaticSolution solution = solveStatic(body, supports, {});
    for (size_t i = 0; i < exact.size(); ++i) EXPECT_LT((solution.displacements[i] - exact[i]).norm(), 1e-15);
  }
}

// Pulled bar on rollers: stress F/S, stretch F L/(E S), sides drawn in by Poisson's ratio.
TEST(Statics, PulledBar) {
  const double length = 1, side = 0.2, pull = 1e4;
  const geometry::TetMesh mesh = blockMesh({8, 2, 2}, {length, side, side}, 0.2, 2);
  const ElasticBody body(mesh, kGlass);
  std::vector<Support> supports;
  for (uint32_t v = 0; v < mesh.positions.size(); ++v) {
    const Vec3& x = mesh.positions[v];
    if (x.x() == 0) supports.push_back({.vertex = v, .held = {true, false, false}});
    if (x.y() == 0) supports.push_back({.vertex = v, .held = {false, true, false}});
    if (x.z() == 0) supports.push_back({.vertex = v, .held = {false, false, true}});
  }
  const auto forces = spread(mesh, Vec3(pull, 0, 0), [&](const Vec3& x) { return x.x() == length; });
  for (const char* name : {"block", "ldlt", "dense", "pcg"}) {
    const StaticSolution solution = solveStatic(body, supports, forces, Vec3::Zero(), {name});
    EXPECT_EQ(solution.solver, name);
    const double strain = pull / (side * side * kGlass.young);
    Vec3 reaction = Vec3::Zero();
    for (size_t i = 0; i < mesh.positions.size(); ++i) {
      const Vec3 exact = strain * mesh.positions[i].cwiseProduct(Vec3(1, -kGlass.poisson, -kGlass.poisson));
      EXPECT_LT((solution.displacements[i] - exact).norm(), 1e-9 * strain) << name;
      reaction += solution.reactions[i];
    }
    EXPECT_LT((reaction + Vec3(pull, 0, 0)).norm(), 1e-9 * pull) << name;
  }
}

// A hanging bar: the stretch of its own weight is rho g L^2 / (2 E).
TEST(Statics, OwnWeight) {
  ElasticMaterial material = kGlass;
  material.poisson = 0;
  const geometry::TetMesh mesh = blockMesh({2, 40, 2}, {0.05, 1, 0.05});
  const ElasticBody body(mesh, material);
  std::vector<Support> supports;
  for (uint32_t v = 0; v < mesh.positions.size(); ++v)
    if (mesh.positions[v].y() == 1) supports.push_back({.vertex = v});
  const StaticSolution solution = solveStatic(body, supports, {}, Vec3(0, -9.81, 0));
  const double expected = material.density * 9.81 / (2 * material.young);
  Vec3 reaction = Vec3::Zero();
  for (size_t i = 0; i < mesh.positions.size(); ++i) {
    if (mesh.positions[i].y() == 0) {
      EXPECT_NEAR(solution.displacements[i].y(), -expected, 0.002 * expected);
    }
    reaction += solution.reactions[i];
  }
  EXPECT_NEAR(reaction.y(), material.density * 9.81 * 0.05 * 0.05, 1e-8);
}

// Cantilever against Timoshenko's beam: the error falls with the square of the edge.
TEST(Statics, CantileverTendsToTimoshenko) {
  const double length = 1, width = 0.1, height = 0.1, force = 1000;
  ElasticMaterial material = kGlass;
  const double inertia = width * height * height * height / 12;
  const double shear =
      10 * (1 + material.poisson) / (12 + 11 * material.poisson) * material.mu() * width * height;
  const double expected =
      force * std::pow(length, 3) / (3 * material.young * inertia) + force * length / shear;
  std::vector<double> errors;
  for (const uint32_t layers : {2u, 4u, 8u}) {
    const geometry::TetMesh mesh = blockMesh({10 * layers, layers, layers}, {length, height, width});
    const ElasticBody body(mesh, material);
    std::vector<Support> supports;
    for (uint32_t v = 0; v < mesh.positions.size(); ++v)
      if (mesh.positions[v].x() == 0) supports.push_back({.vertex = v});
    const auto forces = spread(mesh, Vec3(0, -force, 0), [&](const Vec3& x) { return x.x() == length; });
    const StaticSolution solution = solveStatic(body, supports, forces);
    double tip = 0, count = 0;
    for (size_t i = 0; i < mesh.positions.size(); ++i)
      if (mesh.positions[i].x() == length) tip -= solution.displacements[i].y(), ++count;
    errors.push_back(1 - tip / count / expected);
    RecordProperty("error_" + std::to_string(layers), std::to_string(errors.back()));
  }
  EXPECT_LT(errors[2], 0.05);
  EXPECT_GT(errors[0] / errors[1], 2.5);
  EXPECT_GT(errors[1] / errors[2], 2.5);
  // Extrapolated with the order two.
  EXPECT_NEAR((4 * errors[2] - errors[1]) / 3, 0, 0.01);
}

TEST(Statics, RefusesBodiesThatAreNotHeld) {
  const geometry::TetMesh mesh = blockMesh({2, 2, 2}, {1, 1, 1}, 0.2);
  const ElasticBody body(mesh, kGlass);
  const std::vector<NodalForce> forces{{0, Vec3(1, 0, 0)}};
  for (const char* name : {"block", "dense", "ldlt"}) {
    EXPECT_THROW(solveStatic(body, {}, forces, Vec3::Zero(), {name}), Error) << name;
    const std::vector<Support> hinge{{.vertex = 0}, {.vertex = 26}};
    EXPECT_THROW(solveStatic(body, hinge, forces, Vec3::Zero(), {name}), Error) << name;
  }
  const std::vector<Support> wrong{{.vertex = 99}};
  EXPECT_THROW(solveStatic(body, wrong, forces), Error);
  const std::vector<NodalForce> wrongForce{{99, Vec3::UnitX()}};
  EXPECT_THROW(solveStatic(body, {}, wrongForce), Error);
}

}  // namespace sunder::fem
