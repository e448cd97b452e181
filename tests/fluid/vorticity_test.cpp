// Eddies that last, and drag of the air.
#include "sunder/base/error.h"
#include "sunder/base/random.h"
#include "sunder/fluid/fill.h"
#include "sunder/fluid/kernel.h"
#include "sunder/fluid/solver/fluid.h"

#include "wall_map.h"

#include <cmath>

#include <gtest/gtest.h>

namespace sunder::fluid {
namespace {

constexpr double kVortexDiameter = 0.04, kVortexSupport = 0.08;

FluidSettings weightlessVortex() {
  FluidSettings settings;
  settings.radius = 0.5 * kVortexDiameter;
  settings.gravity = Vec3::Zero();
  return settings;
}

double vortexEnergy(const Fluid& fluid) {
  double sum = 0;
  for (size_t i = 0; i < fluid.size(); ++i) sum += 0.5 * fluid.mass(i) * fluid.velocity(i).squaredNorm();
  return sum;
}

struct Vortex {
  // Parts of what was there after some steps; resolved: of the smoothed velocity, without what is noise.
  double energy = 0, turning = 0, resolved = 0;
};
// A vortex in a box, which would turn forever without friction.
Vortex spin(const FluidPhase& phase) {
  const double edge = 0.6, speed = 0.5;
  const auto flow = [&](const Vec3& p) {
    const double x = kPi * p.x() / edge, y = kPi * p.y() / edge;
    return Vec3(std::sin(x) * std::cos(y), -std::cos(x) * std::sin(y), 0);
  };
  Fluid fluid(weightlessVortex());
  fluid.addPhase(phase);
  BoundaryBody tank;
  const Vec3 upper(edge, edge, 0.2), gap = Vec3::Constant(0.5 * kVortexDiameter);  // room for a lattice
  tank.map = tankMap({-gap, upper + gap}, kVortexSupport);
  fluid.addBody(tank);
  for (const Vec3& p : fillBox({Vec3::Zero(), upper}, kVortexDiameter)) fluid.add({&p, 1}, speed * flow(p));
  fluid.relax(0.01);
  const auto resolved = [&] {
    const CubicKernel kernel(kVortexSupport);
    double sum = 0;
    for (size_t i = 0; i < fluid.size(); ++i) {
      Vec3 v = Vec3::Zero();
      double w = 0;
      for (size_t j = 0; j < fluid.size(); ++j) {
        const double k = kernel.value((fluid.positions()[i] - fluid.positions()[j]).norm());
        v += k * fluid.velocity(j);
        w += k;
      }
      sum += 0.5 * (v / w).squaredNorm();
    }
    return sum;
  };
  const auto turning = [&] {
    double sum = 0;
    for (size_t i = 0; i < fluid.size(); ++i) sum += fluid.velocity(i).dot(flow(fluid.positions()[i]));
    return sum;
  };
  Vortex start;
  for (int k = 0; k < 350; ++k) {
    fluid.step(2e-3);
    if (k < 50) {
      if (k == 49) start = {vortexEnergy(fluid), turning(), resolved()};
    } else {
      EXPECT_LT(vortexEnergy(fluid), 1.01 * start.energy);
    }
  }
  return {vortexEnergy(fluid) / start.energy, turning() / start.turning, resolved() / start.resolved};
}

TEST(Vorticity, KeepsAVortexTurning) {
  const Vortex plain = spin({1000, 1e-6, 0.02, 0, 0, 0}), kept = spin({1000, 1e-6, 0.02, 0, 0.01, 0});
  EXPECT_LT(plain.energy, 0.65);
  EXPECT_GT(kept.energy, plain.energy + 0.15);
  EXPECT_GT(kept.resolved, plain.resolved + 0.1);
  EXPECT_GT(kept.turning, plain.turning);
}

// Without smoothing, which does not keep angular momentum.
TEST(Vorticity, KeepsMomentumAndAngularMomentum) {
  Fluid fluid(weightlessVortex());
  fluid.addPhase({1000, 1e-3, 0, 0, 0.1, 0});
  fluid.addPhase({300, 1e-4, 0, 0, 0.05, 0});
  RandomStream random(11);
  for (int i = 0; i < 6000; ++i) {
    const Vec3 p = random.pointIn({Vec3::Zero(), Vec3::Constant(0.7)});
    fluid.add({&p, 1}, Vec3(-p.y(), p.x(), 0.2 * std::sin(double(i))), uint32_t(i % 3 == 0));
  }
  const auto momentum = [&] {
    std::pair<Vec3, Vec3> sum{Vec3::Zero(), Vec3::Zero()};
    for (size_t i = 0; i < fluid.size(); ++i) {
      const Vec3 p = fluid.mass(i) * fluid.velocity(i);
      sum.first += p;
      sum.second += fluid.positions()[i].cross(p);
    }
    return sum;
  };
  for (int k = 0; k < 3; ++k) {
    const auto before = momentum();
    fluid.step(1e-4);
    const auto after = momentum();
    double size = 0;
    for (size_t i = 0; i < fluid.size(); ++i) size += fluid.mass(i) * fluid.velocity(i).norm();
    EXPECT_LT((after.first - before.first).norm(), 1e-6 * size);
    EXPECT_LT((after.second - before.second).norm(), 1e-5 * size);
  }
}

TEST(AirDrag, ALoneDropReachesItsTerminalVelocity) {
  FluidSettings settings;
  settings.radius = 2e-3;
  Fluid fluid(settings);
  fluid.addPhase({1000, 1e-6, 0, 0, 0, 0.47});
  const Vec3 start = Vec3::Zero();
  fluid.add({&start, 1}, Vec3::Zero());
  for (int k = 0; k < 3000; ++k) fluid.step(2e-3);
  const double radius = std::cbrt(0.75 / kPi * fluid.particleVolume());
  const double terminal = std::sqrt(8.0 / 3 * radius * 1000 / 1.2 * 9.81 / 0.47);
  EXPECT_NEAR(-fluid.velocity(0).y(), terminal, 2e-3 * terminal);
}

TEST(AirDrag, ActsOnlyWhereTheWindMeetsTheFluid) {
  FluidSettings settings = weightlessVortex();
  settings.wind = Vec3(20, 0, 0);
  settings.density.enabled = settings.divergence.enabled = false;
  Fluid fluid(settings);
  fluid.addPhase({1000, 0, 0, 0, 0, 1});
  fluid.add(fillBox({Vec3::Zero(), Vec3::Constant(7 * kVortexDiameter)}, kVortexDiameter), Vec3::Zero());
  fluid.step(1e-3);
  for (size_t i = 0; i < fluid.size(); ++i) {
    const bool first = fluid.positions()[i].x() < kVortexDiameter;
    if (first)
      EXPECT_GT(fluid.velocity(i).x(), 1e-3);
    else
      EXPECT_EQ(fluid.velocity(i).x(), 0);
    EXPECT_EQ(fluid.velocity(i).y(), 0);
  }
}

}  // namespace
}  // namespace sunder::fluid
