// Bodies that lie flat on others, under water.
#include "sunder/fluid/boundary/density_map.h"
#include "sunder/fluid/boundary/surface_samples.h"
#include "sunder/fluid/fill.h"
#include "sunder/fluid/solver/fluid.h"
#include "sunder/sdf/analytic_field.h"
#include "sunder/shapes/wall.h"

#include "fluid_setting.h"

#include <cmath>

#include <gtest/gtest.h>

namespace sunder::fluid {
namespace {

constexpr double kHeld = 1e-9;  // 1/kg: nothing moves it

BoundaryBody boxBody(const Vec3& size, const Vec3& position) {
  const Box3 box{-0.5 * size, 0.5 * size};
  Box3 domain = box;
  domain.lower.array() -= 3 * kSupport;
  domain.upper.array() += 3 * kSupport;
  BoundaryBody body = fixed(std::make_shared<const DensityMap>(
      *sdf::makeBoxField(box), domain,
      DensityMapSettings{.support = kSupport, .cell = 0, .offset = 0.5, .outside = false}));
  body.position = body.centre = position;
  body.inverseMass = kHeld;
  body.inverseInertia = kHeld * Mat3::Identity();
  body.samples = makeSurfaceSamples(shapes::makeBox({.size = size}), kDiameter);
  return body;
}

// A box held so far above the floor of a tank, under water.
Fluid sunken(const Vec3& size, double gap, double depth, double width, double height = 2) {
  const Box3 box{Vec3(-0.5 * width, 0, -0.5 * width), Vec3(0.5 * width, height, 0.5 * width)};
  Fluid fluid(settingsOf());
  fluid.addPhase({1000, 1e-6, 0.05, 0});
  fluid.addBody(fixed(settingTank(box)));
  fluid.addBody(boxBody(size, Vec3(0, 0.5 * size.y() + gap, 0)));
  fluid.add(free(fluid, fillBox({box.lower, Vec3(0.5 * width, depth, 0.5 * width)}, kDiameter)),
            Vec3::Zero());
  fluid.relax();
  return fluid;
}

// Below a diameter no particle fits in, or one that is squeezed; up to two, one layer.
TEST(FilmsFull, BuoyancyHardlyKnowsHowNearTheFloorIs) {
  const Vec3 size(0.4, 0.2, 0.4);
  for (const double gap : {0.0, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07}) {
    Fluid fluid = sunken(size, gap, 0.5, 1);
    const double lift = liftOnceCalm(fluid, 1) / (1000 * kGravity * size.prod());
    EXPECT_NEAR(lift, 1.1, 0.25) << gap;
  }
}

// The part of its buoyancy that lifts the box, after so many seconds and over so many steps.
double liftOfABox(const Vec3& size, double water, double tank, double height, double seconds, int steps) {
  Fluid fluid = sunken(size, 0, water, tank, height);
  run(fluid, seconds, 3e-3);
  const double mass = fluid.mass(0);
  const auto momentum = [&] {
    Vec3 sum = Vec3::Zero();
    for (size_t i = 0; i < fluid.size(); ++i) sum += mass * fluid.velocity(i);
    return sum;
  };
  const double weight = mass * double(fluid.size()) * kGravity;
  double lift = 0;
  for (int k = 0; k < steps; ++k) {
    const Vec3 before = momentum();
    fluid.step(3e-3);
    const Vec3 given = fluid.impulses()[0].linear + fluid.impulses()[1].linear;
    const Vec3 kept = momentum() - before + given + 3e-3 * Vec3(0, weight, 0);
    EXPECT_LT(kept.norm(), 1e-4 * 3e-3 * weight);
    lift += fluid.impulses()[1].linear.y() / (3e-3 * steps);
  }
  return lift / (1000 * kGravity * size.prod());
}
TEST(Films, LiftABoxFromTheFloorAndKeepMomentum) {
  EXPECT_NEAR(liftOfABox(Vec3(0.32, 0.16, 0.32), 0.36, 0.88, 2, 0.5, 60), 1, 0.2);
}
TEST(Films, LiftASmallBoxAndKeepMomentum) {
  EXPECT_GT(liftOfABox(Vec3(0.16, 0.08, 0.16), 0.2, 0.4, 0.4, 0.03, 4), 0);
}

// Water on a box that stands on a dry floor does not lift it.
TEST(Films, ADryRimHasNoFilm) {
  Fluid fluid(settingsOf());
  fluid.addPhase({1000, 1e-6, 0.05, 0});
  fluid.addBody(fixed(planeMap(Vec3::UnitY())));
  fluid.addBody(boxBody(Vec3(0.4, 0.2, 0.4), Vec3(0, 0.1, 0)));
  fluid.add(fillBox({Vec3(-0.16, 0.2, -0.16), Vec3(0.16, 0.36, 0.16)}, kDiameter), Vec3::Zero());
  double pushed = 0;
  for (int k = 0; k < 30; ++k) {
    fluid.step(2e-3);
    EXPECT_LE(fluid.impulses()[1].linear.y(), 0);
    pushed += fluid.impulses()[1].linear.y();
  }
  EXPECT_LT(pushed, 0);
}

}  // namespace
}  // namespace sunder::fluid
