#include "sunder/fem/probe.h"

#include "sunder/base/error.h"

#include "fem_cases.h"

#include <limits>

#include <gtest/gtest.h>

namespace sunder::fem {

// An affine displacement has one stress everywhere, and linear interpolation repeats both exactly.
TEST(Probe, AffineDisplacementIsExactBetweenVertices) {
  const geometry::TetMesh mesh = blockMesh({4, 3, 2}, {0.4, 0.3, 0.2}, 0.25, 3);
  const ElasticBody body(mesh, kGlass);
  RandomStream random(5);
  const Mat3 gradient = 1e-3 * randomMatrix(random);
  const Vec3 shift(1e-4, 2e-4, -1e-4);
  const std::vector<Vec3> displacements = affine(mesh, gradient, shift);
  StressRecovery recovery;
  recovery.setBody(body, Recovery::Patch);
  recovery.update(displacements);
  const Stress expected = hooke(kGlass, gradient);
  std::vector<Vec3> points;
  for (int i = 0; i < 200; ++i) points.push_back(random.pointIn({Vec3::Zero(), Vec3(0.4, 0.3, 0.2)}));
  const std::vector<ProbeValue> values = probe(body, displacements, recovery, points);
  ASSERT_EQ(values.size(), points.size());
  for (size_t i = 0; i < points.size(); ++i) {
    EXPECT_EQ(values[i].distance, 0);
    EXPECT_LT((values[i].displacement - (gradient * points[i] + shift)).norm(), 1e-15);
    EXPECT_LT((values[i].stress - expected).norm(), 1e-11 * expected.norm());
    EXPECT_NEAR(values[i].principal.value, symmetricEigen(expected).values[0], 1e-10 * expected.norm());
  }
}

TEST(Probe, OutsideTheNearestPointOfTheSurfaceAnswers) {
  const geometry::TetMesh mesh = blockMesh({2, 2, 2}, {0.2, 0.2, 0.2});
  const ElasticBody body(mesh, kGlass);
  const std::vector<Vec3> displacements = affine(mesh, 1e-3 * Mat3::Identity(), Vec3::Zero());
  StressRecovery recovery;
  recovery.setBody(body);
  recovery.update(displacements);
  const std::vector<Vec3> points{{0.5, 0.1, 0.1}};
  const ProbeValue value = probe(body, displacements, recovery, points)[0];
  EXPECT_NEAR(value.distance, 0.3, 1e-12);
  EXPECT_LT((value.displacement - Vec3(2e-4, 1e-4, 1e-4)).norm(), 1e-12);
  const std::vector<Vec3> nowhere{Vec3::Constant(std::numeric_limits<double>::quiet_NaN())};
  EXPECT_THROW(probe(body, displacements, recovery, nowhere), Error);
}

}  // namespace sunder::fem
