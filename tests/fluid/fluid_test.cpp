#include "sunder/fluid/solver/fluid.h"

#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/random.h"
#include "sunder/fluid/fill.h"
#include "sunder/spatial/points/point_grid.h"

#include "same_bits.h"
#include "wall_map.h"

#include <limits>

#include <gtest/gtest.h>

namespace sunder::fluid {
namespace {

constexpr double kFluidRadius = 0.02, kFluidDiameter = 0.04, kFluidSupport = 0.08;

struct Momentum {
  Vec3 linear = Vec3::Zero(), angular = Vec3::Zero(), centre = Vec3::Zero();
  double size = 0, kinetic = 0;  // sum of m |v|
};
Momentum momentumOf(const Fluid& fluid) {
  Momentum out;
  double mass = 0;
  for (size_t i = 0; i < fluid.size(); ++i) {
    const Vec3 p = fluid.mass(i) * fluid.velocity(i);
    out.linear += p;
    out.angular += fluid.positions()[i].cross(p);
    out.centre += fluid.mass(i) * fluid.positions()[i];
    out.size += p.norm();
    out.kinetic += 0.5 * p.dot(fluid.velocity(i));
    mass += fluid.mass(i);
  }
  out.centre /= mass;
  return out;
}

FluidSettings weightless() {
  FluidSettings settings;
  settings.radius = kFluidRadius;
  settings.gravity = Vec3::Zero();
  return settings;
}

std::vector<Vec3> randomPoints(size_t n, double edge) {
  RandomStream random(11);
  std::vector<Vec3> points(n);
  for (Vec3& p : points) p = random.pointIn({Vec3::Zero(), Vec3::Constant(edge)});
  return points;
}

Fluid dam(uint32_t side, const FluidSettings& settings) {
  Fluid fluid(settings);
  fluid.addPhase({});
  const double edge = side * kFluidDiameter, gap = kFluidRadius;
  fluid.add(fillBox({Vec3::Constant(gap), Vec3::Constant(gap + edge + 1e-9)}, kFluidDiameter), Vec3::Zero());
  BoundaryBody tank;
  tank.map = tankMap({Vec3::Zero(), Vec3(2.5 * edge, 2 * edge, edge + 2 * gap)}, kFluidSupport);
  fluid.addBody(tank);
  return fluid;
}

// Specification 10, check 4: the factor of one particle cancels its own rate; the gradient the other way
// round doubles it.
TEST(Fluid, OneFactorCancelsTheRateOfItsParticle) {
  const std::vector<Vec3> points = randomPoints(400, 0.25);
  std::vector<Vec4f> place, motion, density(points.size()), gradient(points.size());
  std::vector<float> squares(points.size()), rate(points.size()), after(points.size());
  RandomStream random(2);
  for (const Vec3& p : points) {
    place.push_back(withFourth(p.cast<float>(), 0));
    motion.push_back(withFourth(random.pointIn({-Vec3::Ones(), Vec3::Ones()}).cast<float>(), 1));
  }
  spatial::NeighbourRows rows;
  spatial::pointNeighbours(points, kFluidSupport, rows);
  PairBlocks blocks;
  const PairSums pairs{place, motion, float(kFluidSupport),
                       float(kFluidDiameter * kFluidDiameter * kFluidDiameter), &blocks};
  sumDensity(pairs, rows, blocks, density, squares);
  sumRate(pairs, rate);
  const double dt = 1e-3;
  for (const size_t i : {size_t(3), size_t(77), size_t(200)}) {
    ASSERT_GT(rows.row(i).size(), 4u);
    std::vector<float> stiffness(points.size(), 0);
    stiffness[i] = rate[i] / float(dt) / (density[i].head<3>().squaredNorm() + squares[i]);
    sumPressure(pairs, stiffness, gradient);
    for (const double sign : {-1.0, 1.0}) {
      std::vector<Vec4f> changed = motion;
      for (size_t j = 0; j < changed.size(); ++j)
        changed[j].head<3>() += float(sign * dt) * gradient[j].head<3>();
      PairSums moved = pairs;
      moved.motion = changed;
      sumRate(moved, after);
      EXPECT_NEAR(double(after[i]), sign < 0 ? 0 : 2 * double(rate[i]), 2e-5 * std::abs(double(rate[i])));
    }
  }
}

// Check 5, without a wall to push against.
TEST(Fluid, KeepsMomentumAndAngularMomentum) {
  Fluid fluid(weightless());
  fluid.addPhase({1000, 1e-3, 0.05, 0.3});
  fluid.addPhase({300, 1e-6, 0, 0});
  const std::vector<Vec3> points = randomPoints(10000, 0.85);
  for (size_t i = 0; i < points.size(); ++i)
    fluid.add({&points[i], 1}, Vec3(std::sin(double(i)), std::cos(3.0 * double(i)), 0.3), i % 3 == 0);
  Momentum before = momentumOf(fluid);
  for (int k = 0; k < 3; ++k) {
    fluid.step(1e-4);
    const Momentum now = momentumOf(fluid);
    EXPECT_LT((now.linear - before.linear).norm() / now.size, 1e-6);
    EXPECT_LT((now.angular - before.angular).norm() / now.size, 1e-5);
    before = now;
  }
}

// Check 6.
TEST(Fluid, TheDivergenceSolverLeavesRotationAndStopsCompression) {
  FluidSettings settings = weightless();
  settings.density.enabled = false;
  settings.divergence.least = 20;
  settings.divergence.most = 20;
  const std::vector<Vec3> points = fillBox({Vec3::Constant(-0.4), Vec3::Constant(0.4)}, kFluidDiameter);
  const double dt = 1e-5;
  for (const bool turning : {true, false}) {
    Fluid fluid(settings);
    fluid.addPhase({1000, 0, 0});
    for (const Vec3& p : points) fluid.add({&p, 1}, turning ? Vec3(-p.y(), p.x(), 0) : Vec3(-p));
    const double before = momentumOf(fluid).kinetic;
    settings.divergence.most = settings.divergence.least = 1;
    const double first = [&] {
      Fluid once(settings);
      once.addPhase({1000, 0, 0});
      for (const Vec3& p : points) once.add({&p, 1}, turning ? Vec3(-p.y(), p.x(), 0) : Vec3(-p));
      return once.step(dt).divergenceError;
    }();
    settings.divergence.most = settings.divergence.least = 20;
    const double last = fluid.step(dt).divergenceError;
    if (turning) {
      EXPECT_LT(last / dt, 1e-3 / kFluidDiameter);
      EXPECT_NEAR(momentumOf(fluid).kinetic, before, 0.02 * before);
    } else {
      EXPECT_LT(last, 0.1 * first);
    }
  }
}

// Check 11: a droplet falls as one, as far as steps of that length take it.
TEST(Fluid, ADropletFallsAsOne) {
  FluidSettings settings = weightless();
  settings.gravity = {0, -9.81, 0};
  Fluid fluid(settings);
  fluid.addPhase({});
  fluid.add(fillBox({Vec3::Zero(), Vec3::Constant(0.2)}, kFluidDiameter), Vec3(1, 0, 0));
  const double dt = 1e-3, start = momentumOf(fluid).centre.y();
  for (int k = 0; k < 300; ++k) fluid.step(dt);
  const double t = 0.3, fallen = 0.5 * 9.81 * t * t + 0.5 * 9.81 * t * dt;
  EXPECT_NEAR(start - momentumOf(fluid).centre.y(), fallen, 1e-4 * fallen);
}

// Check 12.
TEST(Fluid, DoesNotKnowHowFastItTravels) {
  const auto run = [](const Vec3& velocity) {
    Fluid fluid(weightless());
    fluid.addPhase({});
    const std::vector<Vec3> points = fillBox({Vec3::Constant(-0.2), Vec3::Constant(0.2)}, kFluidDiameter);
    for (const Vec3& p : points) fluid.add({&p, 1}, Vec3(-p.x(), 0.5 * p.y(), 0.5 * p.z()) + velocity);
    fluid.step(1e-3);
    std::vector<Vec3> at(fluid.size());
    for (size_t i = 0; i < fluid.size(); ++i) at[fluid.ids()[i]] = fluid.positions()[i] - 1e-3 * velocity;
    return at;
  };
  const std::vector<Vec3> rest = run(Vec3::Zero()), moving = run(Vec3(3, -2, 1));
  for (size_t i = 0; i < rest.size(); ++i) EXPECT_LT((rest[i] - moving[i]).norm(), 1e-5 * kFluidDiameter);
}

// A long step makes thick fluids implicit: the same motion as many short explicit ones, and even exchange.
TEST(Fluid, ThickFluidsStopAlikeInLongAndShortSteps) {
  const auto speeds = [](double dt, uint32_t& iterations) {
    FluidSettings settings = weightless();
    settings.density.enabled = settings.divergence.enabled = false;
    Fluid fluid(settings);
    fluid.addPhase({1000, 2, 0, 0});
    for (const Vec3& p : fillBox({Vec3::Constant(-0.3), Vec3::Constant(0.3)}, kFluidDiameter))
      fluid.add({&p, 1}, Vec3(1e-3 * std::sin(10 * p.y()), 0, 0));
    const Momentum before = momentumOf(fluid);
    for (double t = 0; t < 0.0079; t += dt)
      iterations = std::max(iterations, fluid.step(dt).viscosityIterations);
    const Momentum after = momentumOf(fluid);
    EXPECT_LT((after.linear - before.linear).norm(), 1e-6 * before.size);
    return after.kinetic / before.kinetic;
  };
  uint32_t few = 0, many = 0;
  const double fine = speeds(5e-5, few), coarse = speeds(8e-4, many);
  EXPECT_EQ(few, 0u);
  EXPECT_GT(many, 1u);
  EXPECT_LT(fine, 0.7);
  EXPECT_NEAR(coarse, fine, 0.05);
}

// A fifth too dense, as where bodies have pushed the fluid together: it makes room in its own time, however
// short the steps are.
TEST(Fluid, OverCompressedParticlesMakeRoomGently) {
  for (const double dt : {2e-3, 2e-4, 2e-5}) {
    Fluid fluid(weightless());
    fluid.addPhase({1000, 1e-6, 0, 0});
    std::vector<Vec3> points = fillBox({Vec3::Zero(), Vec3::Constant(0.4)}, kFluidDiameter);
    for (Vec3& p : points) p *= 0.94;
    fluid.add(points, Vec3::Zero());
    double fastest = 0;
    const auto largest = [&] {
      double most = 0;
      for (size_t i = 0; i < fluid.size(); ++i) most = std::max(most, fluid.density(i));
      return most;
    };
    fluid.prepare();
    EXPECT_GT(largest(), 1.18);
    for (int k = 0; k < 50; ++k) fastest = std::max(fastest, fluid.step(dt).fastest);
    EXPECT_LT(fastest, 2.5) << dt;  // a fall over a support gives 1.3
    if (dt == 2e-3) {
      EXPECT_LT(largest(), 1.08);
    }
  }
}

// A cube of liquid under surface tension becomes round, and stays where it is.
TEST(Fluid, TensionMakesDropsRound) {
  FluidSettings settings = weightless();
  Fluid fluid(settings);
  fluid.addPhase({1000, 0.05, 0, 1});
  fluid.add(fillBox({Vec3::Constant(-0.2), Vec3::Constant(0.2)}, kFluidDiameter), Vec3::Zero());
  const auto spread = [&] {  // of the distance of corners and of faces
    double far = 0, along = 0;
    for (const Vec3& p : fluid.positions()) {
      far = std::max(far, p.norm());
      if (std::max(std::abs(p.y()), std::abs(p.z())) < kFluidDiameter)
        along = std::max(along, std::abs(p.x()));
    }
    return far / along;
  };
  const double before = spread();
  for (int k = 0; k < 250; ++k) fluid.step(2e-3);
  EXPECT_GT(before, 1.6);
  EXPECT_LT(spread(), 1.25);
  EXPECT_LT(momentumOf(fluid).centre.norm(), 1e-4);
}

// Mean iterations of a dam break; every step within its tolerances.
double damIterations(uint32_t side, WarmStart warm, int steps) {
  FluidSettings settings;
  settings.radius = kFluidRadius;
  settings.warmStart = warm;
  Fluid fluid = dam(side, settings);
  double iterations = 0, densest = 0;
  for (int k = 0; k < steps; ++k) {
    const FluidStep step = fluid.step(2e-3);
    iterations += double(step.densityIterations) / steps;
    EXPECT_LE(step.densityError, 1e-4);
    EXPECT_LE(step.divergenceError, 1e-3);
  }
  for (size_t i = 0; i < fluid.size(); ++i) densest = std::max(densest, fluid.density(i));
  EXPECT_LT(densest, 1.03);
  for (const Vec3& p : fluid.positions()) EXPECT_GT(p.minCoeff(), -0.5 * kFluidDiameter);
  return iterations;
}

// Checks 8 and 9.
TEST(Fluid, ASmallDamBreaksWithinItsTolerances) {
  for (const WarmStart start : {WarmStart::None, WarmStart::Half, WarmStart::Increments})
    EXPECT_GT(damIterations(6, start, 8), 0);
}
TEST(Fluid, ADamBreaksWithinItsTolerances) {
  const double none = damIterations(12, WarmStart::None, 100);
  EXPECT_LT(damIterations(12, WarmStart::Half, 100), none);
  EXPECT_LT(2 * damIterations(12, WarmStart::Increments, 100), none);
}
TEST(FluidFull, WarmStartsSaveIterations) {
  const double none = damIterations(20, WarmStart::None, 200), half = damIterations(20, WarmStart::Half, 200),
               increments = damIterations(20, WarmStart::Increments, 200);
  RecordProperty("none", std::to_string(none));
  RecordProperty("half", std::to_string(half));
  RecordProperty("increments", std::to_string(increments));
  // The specification has 3, with pressures that also throw particles which have come free.
  EXPECT_LT(2 * increments, none);
  EXPECT_LT(1.2 * half, none);
}

TEST(Fluid, SameBitsForAnyNumberOfThreadsAndAfterResuming) {
  FluidSettings settings;
  settings.radius = kFluidRadius;
  expectSameBits([&] { return dam(10, settings); }, 40, 21);
}

// Whichever of the particles it is.
TEST(Fluid, AVelocityThatIsNotFiniteStopsTheStep) {
  for (const size_t bad : {size_t(0), size_t(7)}) {
    Fluid fluid(weightless());
    fluid.addPhase({});
    fluid.add(fillBox({Vec3::Zero(), Vec3::Constant(2 * kFluidDiameter)}, kFluidDiameter), Vec3::UnitX());
    ASSERT_EQ(fluid.size(), 8u);
    fluid.setVelocity(bad, Vec3(0, std::numeric_limits<double>::quiet_NaN(), 0));
    EXPECT_THROW(fluid.step(1e-3), Error);
  }
}

TEST(Fluid, WrongSettingsAreRefused) {
  FluidSettings settings;
  settings.radius = -1;
  EXPECT_THROW(Fluid{settings}, Error);
  settings.radius = 0.02;
  settings.support = 1;
  EXPECT_THROW(Fluid{settings}, Error);
  Fluid fluid{FluidSettings{}};
  EXPECT_THROW(fluid.addPhase({-1, 0, 0}), Error);
  EXPECT_THROW(fluid.addPhase({1000, -1, 0}), Error);
  EXPECT_THROW(fluid.addPhase({1000, 0, 0, 0, -1}), Error);
  EXPECT_THROW(fluid.addPhase({1000, 0, 0, 0, 0, -1}), Error);
  settings.support = 0;
  settings.airDensity = -1;
  EXPECT_THROW(Fluid{settings}, Error);
  const Vec3 nowhere(0, std::numeric_limits<double>::quiet_NaN(), 0), here = Vec3::Zero();
  EXPECT_THROW(fluid.add({&here, 1}, Vec3::Zero()), Error);  // of no fluid
  fluid.addPhase({});
  EXPECT_THROW(fluid.add({&nowhere, 1}, Vec3::Zero()), Error);
  EXPECT_THROW(fluid.add({&here, 1}, nowhere), Error);
  EXPECT_THROW(fluid.step(0), Error);
  fluid.step(1e-3);  // nothing is in it: nothing happens
  fluid.add({&here, 1}, Vec3::Zero());
  fluid.step(1e-3);
  EXPECT_LT(fluid.positions()[0].y(), 0);
}

}  // namespace
}  // namespace sunder::fluid
