#include "sunder/fem/motion/step_response.h"

#include "sunder/base/random.h"

#include "motion_cases.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace sunder::fem {

namespace {

std::vector<Vec3> someImpulses(size_t count, uint64_t seed) {
  RandomStream random(seed, 5);
  std::vector<Vec3> impulses(count);
  for (Vec3& j : impulses)
    for (double& x : j) x = random.uniform(-1, 1);
  return impulses;
}

}  // namespace

// For linear elasticity a step is linear in its loads: what impulses add to it is known exactly.
TEST(StepResponse, IsWhatImpulsesAddToAStep) {
  const double h = 1.0 / 60;
  for (const double poisson : {0.3, 0.48})  // the second has averaged volumes, outside the pattern
    for (const bool held : {false, true}) {
      const SolidMaterial material = soft(1e5, poisson, ElasticModel::Linear);
      MovingSolid plain(blockMesh({3, 2, 2}, {1, 1, 1}, 0.2, 1), material, exactly());
      MovingSolid pushed(plain.mesh, material, exactly());
      const std::vector<Vec3> impulses = someImpulses(plain.motion.vertices(), 3);
      Loads loads;
      std::vector<Pin> pins;
      if (held) pins = plain.pins([](const Vec3& x) { return x.x() == 0; });
      loads.pins = pins;
      StepResponse response;
      response.begin(plain.motion, h, loads);
      std::vector<Vec3> changes(impulses.size());
      response.velocities(impulses, changes);
      plain.motion.step(h, {}, loads);
      std::vector<NodalForce> forces;
      for (uint32_t v = 0; v < impulses.size(); ++v) forces.push_back({v, impulses[v] / h});
      loads.forces = forces;
      pushed.motion.step(h, {}, loads);
      double most = 0, error = 0;
      for (size_t v = 0; v < impulses.size(); ++v) {
        const Vec3 gained = pushed.motion.velocities()[v] - plain.motion.velocities()[v];
        most = std::max(most, gained.norm());
        error = std::max(error, (gained - changes[v]).norm());
      }
      EXPECT_LT(error, 1e-4 * most) << poisson << held;
    }
}

TEST(StepResponse, KeepsMomentumAndWhatIsHeld) {
  MovingSolid body(blockMesh({3, 3, 3}, {1, 1, 1}, 0.2, 1), soft(1e5, 0.48));
  const std::vector<Vec3> impulses = someImpulses(body.motion.vertices(), 4);
  std::vector<Vec3> changes(impulses.size());
  StepResponse response;
  response.begin(body.motion, 0.01, {});
  response.velocities(impulses, changes);
  Vec3 given = Vec3::Zero(), gained = Vec3::Zero();
  double scale = 0;
  for (size_t v = 0; v < impulses.size(); ++v) {
    given += impulses[v];
    gained += body.solid.masses()[v] * changes[v];
    scale += impulses[v].norm();
  }
  EXPECT_LT((given - gained).norm(), 1e-12 * scale);

  const std::vector<Pin> pins = body.pins([](const Vec3& x) { return x.y() == 0; }, {false, true, false});
  Loads loads;
  loads.pins = pins;
  response.begin(body.motion, 0.01, loads);
  response.velocities(impulses, changes);
  for (const Pin& pin : pins) EXPECT_EQ(changes[pin.vertex].y(), 0);
}

// The bound that liquids take their steps by: elasticity only makes the response smaller.
TEST(StepResponse, IsSymmetricAndLessThanThatOfTheMasses) {
  MovingSolid body(blockMesh({2, 2, 2}, {1, 1, 1}, 0.2, 1), soft(1e6, 0.4));
  const std::vector<Vec3> a = someImpulses(body.motion.vertices(), 5),
                          b = someImpulses(body.motion.vertices(), 6);
  std::vector<Vec3> ra(a.size()), rb(a.size());
  StepResponse response;
  response.begin(body.motion, 0.01, {});
  response.velocities(a, ra);
  response.velocities(b, rb);
  double ab = 0, ba = 0, aa = 0, free = 0;
  for (size_t v = 0; v < a.size(); ++v) {
    ab += b[v].dot(ra[v]);
    ba += a[v].dot(rb[v]);
    aa += a[v].dot(ra[v]);
    free += a[v].squaredNorm() / body.solid.masses()[v];
  }
  EXPECT_NEAR(ab, ba, 1e-4 * aa);
  EXPECT_GT(aa, 0);
  EXPECT_LT(aa, free);
}

}  // namespace sunder::fem
