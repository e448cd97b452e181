#include "sunder/fem/point_force.h"

#include "sunder/base/error.h"

#include "fem_cases.h"

#include <cmath>

#include <gtest/gtest.h>

namespace sunder::fem {

TEST(PointForce, KeepsForceAndTorque) {
  const geometry::TetMesh mesh = blockMesh({3, 2, 4}, {0.3, 0.2, 0.4}, 0.2, 1);
  const SurfaceForces surface(mesh);
  RandomStream random(1);
  const geometry::TriMesh& boundary = surface.boundary().surface;
  for (int trial = 0; trial < 1000; ++trial) {
    const auto t = static_cast<size_t>(random.uniform(0, double(boundary.triangles.size())));
    double a = random.uniform(), b = random.uniform();
    if (a + b > 1) a = 1 - a, b = 1 - b;
    const auto at = [&](size_t k) { return boundary.positions[boundary.triangles[t][k]]; };
    const Vec3 point = (1 - a - b) * at(0) + a * at(1) + b * at(2), force = 1e4 * random.unitVector();
    std::vector<NodalForce> forces;
    EXPECT_LT(surface.add(point, force, forces), 1e-15);
    ASSERT_LE(forces.size(), 3);
    Vec3 sum = Vec3::Zero(), torque = Vec3::Zero();
    for (const NodalForce& f : forces) sum += f.force, torque += mesh.positions[f.vertex].cross(f.force);
    EXPECT_LT((sum - force).norm(), 1e-12 * force.norm());
    EXPECT_LT((torque - point.cross(force)).norm(), 1e-12 * force.norm());
  }
}

TEST(PointForce, AtVerticesAndBesideTheSurface) {
  const geometry::TetMesh mesh = blockMesh({2, 2, 2}, {1, 1, 1});
  const SurfaceForces surface(mesh);
  std::vector<NodalForce> forces;
  EXPECT_EQ(surface.add(mesh.positions[8], Vec3(1, 2, 3), forces), 0);
  ASSERT_EQ(forces.size(), 1);
  EXPECT_EQ(forces[0].vertex, 8);
  EXPECT_EQ(forces[0].force, Vec3(1, 2, 3));
  forces.clear();
  EXPECT_NEAR(surface.add(Vec3(0.3, 0.4, 1.25), Vec3(1, 2, 3), forces), 0.25, 1e-15);
  Vec3 sum = Vec3::Zero(), torque = Vec3::Zero();
  for (const NodalForce& f : forces) sum += f.force, torque += mesh.positions[f.vertex].cross(f.force);
  EXPECT_LT((sum - Vec3(1, 2, 3)).norm(), 1e-15);
  EXPECT_LT((torque - Vec3(0.3, 0.4, 1).cross(Vec3(1, 2, 3))).norm(), 1e-14);
  EXPECT_THROW(surface.add(Vec3(std::nan(""), 0, 0), Vec3::UnitX(), forces), Error);
  EXPECT_THROW(surface.add(Vec3::Zero(), Vec3(0, std::nan(""), 0), forces), Error);
}

}  // namespace sunder::fem
