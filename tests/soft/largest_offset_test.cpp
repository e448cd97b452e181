#include "sunder/soft/contact/largest_offset.h"

#include "sunder/base/random.h"
#include "sunder/soft/contact/embedding_error.h"

#include "contact_cases.h"

#include <limits>

#include <gtest/gtest.h>

namespace sunder::soft {

namespace {

const geometry::TetMesh kOne{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {{0, 1, 2, 3}}, {}};

}  // namespace

TEST(LargestOffset, MovesASphereByItsDepthAndChangesTheMomentumOfItsMass) {
  RandomStream random(5, 0);
  for (int trial = 0; trial < 100; ++trial) {
    ContactSphere sphere{0, {}, 0.1, 0};
    double sum = 0;
    for (double& w : sphere.weights) sum += w = random.uniform(0.02, 1);
    for (double& w : sphere.weights) w /= sum;
    std::vector<double> masses;
    for (int k = 0; k < 4; ++k) masses.push_back(random.uniform(0.1, 10));
    std::vector<Vec3> positions = kOne.positions, velocities(4);
    for (Vec3& v : velocities) v = random.pointIn({Vec3::Constant(-3), Vec3::Constant(3)}) - Vec3(0, 4, 0);
    const Vec3 centre = blended(kOne.tets[0], sphere.weights, positions);
    const Vec3 speed = blended(kOne.tets[0], sphere.weights, velocities);
    const double depth = random.uniform(0.01, 0.2);
    const ObstacleBody floor = ground(centre.y() - sphere.radius + depth, 0.3);
    const ContactBody body{0.3, 0.4, 1e5};
    const OffsetOutcome outcome = applyLargestOffset(kOne.tets, std::span(&sphere, 1), std::span(&body, 1),
                                                     std::span(&floor, 1), masses, positions, velocities);
    EXPECT_EQ(outcome.hits, 1u);
    EXPECT_NEAR(outcome.deepest, depth, 1e-12);
    const Vec3 now = blended(kOne.tets[0], sphere.weights, positions);
    EXPECT_LT((now - centre - Vec3(0, depth, 0)).norm(), 1e-6);
    EXPECT_LT((now - centre - Vec3(0, depth, 0)).norm(), 1e-13);
    // Velocity: as Coulomb and restitution say; momentum: that of the effective mass.
    const Vec3 after = blended(kOne.tets[0], sphere.weights, velocities);
    EXPECT_NEAR(after.y(), -0.4 * speed.y(), 1e-12);
    double inverse = 0;
    for (size_t k = 0; k < 4; ++k) inverse += sphere.weights[k] * sphere.weights[k] / masses[k];
    EXPECT_LT((outcome.momentum - (after - speed) / inverse).norm(), 1e-12 * outcome.momentum.norm());
  }
}

TEST(LargestOffset, TakesTheLargestAndNotTheSum) {
  std::vector<ContactSphere> spheres;
  for (int k = 0; k < 5; ++k) spheres.push_back({0, {0.4, 0.2, 0.2, 0.2}, 0.1 + 0.01 * k, 0});
  std::vector<Vec3> positions = kOne.positions, velocities(4, Vec3::Zero());
  const std::vector<double> masses(4, 1);
  const ContactBody body;
  const ObstacleBody floor = ground(0.15);
  const OffsetOutcome outcome = applyLargestOffset(kOne.tets, spheres, std::span(&body, 1),
                                                   std::span(&floor, 1), masses, positions, velocities);
  EXPECT_EQ(outcome.hits, 5u);
  const Vec3 moved = blended(kOne.tets[0], spheres[4].weights, positions) -
                     blended(kOne.tets[0], spheres[4].weights, kOne.positions);
  EXPECT_NEAR(moved.y(), 0.15 + 0.14 - 0.2, 1e-13);  // the deepest one's
  for (const Vec3& v : velocities) EXPECT_EQ(v, Vec3::Zero());
}

TEST(LargestOffset, LeavesHeldVerticesAlone) {
  const double held = std::numeric_limits<double>::infinity();
  const OffsetShares shares = offsetShares({0.25, 0.25, 0.25, 0.25}, {held, 1, 1, 2});
  EXPECT_EQ(shares.weights[0], 0);
  EXPECT_NEAR(0.25 * (shares.weights[1] + shares.weights[2] + shares.weights[3]), 1, 1e-14);
}

TEST(LargestOffset, ResponseIsRestitutionAndCoulomb) {
  const Vec3 n = Vec3::UnitY();
  EXPECT_EQ(respond({1, 2, 0}, n, 0.5, 0.5), Vec3(1, 2, 0));  // parts already
  EXPECT_LT((respond({3, -2, 0}, n, 0.5, 0.1) - Vec3(3 - 0.1 * 1.5 * 2, 1, 0)).norm(), 1e-14);
  EXPECT_LT((respond({0.1, -2, 0}, n, 0, 0.5) - Vec3::Zero()).norm(), 1e-14);  // sticks
}

TEST(EmbeddingError, BestIsLeastSquares) {
  // Targets that an affine motion of the tetrahedra reaches are reached; others no better than by any other
  // displacement.
  const geometry::TetMesh mesh = fem::blockMesh({2, 2, 2}, Vec3::Constant(1));
  RandomStream random(9, 4);
  std::vector<SurfacePoint> surface;
  for (uint32_t t = 0; t < mesh.tets.size(); ++t)
    for (int k = 0; k < 4; ++k) {
      SurfacePoint p{{t, {}}, random.uniform(0.1, 1)};
      double sum = 0;
      for (double& w : p.place.weights) sum += w = random.uniform(0, 1);
      for (double& w : p.place.weights) w /= sum;
      surface.push_back(p);
    }
  std::vector<Vec3> u(mesh.positions.size()), targets;
  for (Vec3& d : u) d = random.pointIn({Vec3::Constant(-1), Vec3::Constant(1)});
  for (const SurfacePoint& p : surface)
    targets.push_back(blended(mesh.tets[p.place.tet], p.place.weights, u));
  BestOffsets best = bestOffsets(mesh.tets, surface, targets, u.size());
  EXPECT_LT(best.error, 1e-16);
  for (Vec3& t : targets) t += random.pointIn({Vec3::Constant(-1), Vec3::Constant(1)});
  best = bestOffsets(mesh.tets, surface, targets, u.size());
  EXPECT_GT(best.error, 0.1);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<Vec3> other = best.displacements;
    for (Vec3& d : other) d += 0.01 * random.pointIn({Vec3::Constant(-1), Vec3::Constant(1)});
    EXPECT_GE(offsetError(mesh.tets, surface, targets, other), best.error);
  }
}

}  // namespace sunder::soft
