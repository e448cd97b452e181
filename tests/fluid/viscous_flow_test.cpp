// Flows of viscous fluid with known solutions: specification 10, check 27.
#include "sunder/base/random.h"
#include "sunder/fluid/boundary/density_map.h"
#include "sunder/fluid/coupling/wall_viscosity.h"
#include "sunder/fluid/fill.h"
#include "sunder/fluid/solver/fluid.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include <gtest/gtest.h>

namespace sunder::fluid {
namespace {

// Particles that lie in no order but fill the box. They are smaller than their share of it by `slack`: where
// there is no room at all, no arrangement but the lattice is right, and the solver never rests.
std::vector<Vec3> disordered(const Vec3& size, double spacing, double jitter) {
  std::vector<Vec3> points = fillBox({Vec3::Zero(), (1 + 1e-9) * size}, spacing);
  RandomStream random(1);
  for (Vec3& p : points) p += jitter * spacing * random.pointIn({-Vec3::Ones(), Vec3::Ones()});
  return points;
}

// The Laplacian of a shear flow on a lattice. Forces along the lines between particles see only those on
// diagonals.
TEST(ViscousFlow, FullForcesAreTheLaplacianOnLatticesToo) {
  for (const auto& [forces, part] :
       {std::pair{ViscousForces::Central, 0.698}, std::pair{ViscousForces::Full, 0.991}}) {
    FluidSettings settings;
    settings.radius = 0.02;
    settings.gravity = Vec3::Zero();
    settings.density.enabled = settings.divergence.enabled = false;
    settings.periodic.lengths = Vec3(0.4, 0, 0.4);
    settings.viscousForces = forces;
    Fluid fluid(settings);
    fluid.addPhase({1000, 1e-3, 0, 0});
    for (const Vec3& p : fillBox({Vec3(0, -0.4, 0), Vec3(0.4, 0.4, 0.4)}, 0.04))
      fluid.add({&p, 1}, Vec3(p.y() * p.y(), 0, 0));
    const double dt = 1e-2;
    fluid.step(dt);
    for (size_t i = 0; i < fluid.size(); ++i) {
      const double y = fluid.positions()[i].y();
      if (std::abs(y) > 0.3) continue;
      EXPECT_NEAR((fluid.velocity(i).x() - y * y) / (2e-3 * dt), part, 0.002);
    }
  }
}

// Velocities that change sign from particle to particle are the first to grow where a step is too long.
TEST(ViscousFlow, NoStepIsTooLong) {
  for (const ViscousForces forces : {ViscousForces::Central, ViscousForces::Full})
    for (const double part : {0.5, 0.99, 1.01, 20.0}) {
      FluidSettings settings;
      settings.radius = 0.02;
      settings.gravity = Vec3::Zero();
      settings.density.enabled = settings.divergence.enabled = false;
      settings.periodic.lengths = Vec3::Constant(0.32);
      settings.viscousForces = forces;
      Fluid fluid(settings);
      const double dt = 1e-6;  // nothing moves
      fluid.addPhase({1000, part * 0.02 * 0.0064 / dt, 0, 0});
      std::vector<Vec3> points = disordered(Vec3::Constant(0.32), 0.04, 0.3);
      for (size_t i = 0; i < points.size(); ++i)
        fluid.add({&points[i], 1}, (i % 2 ? 1 : -1) * Vec3(i / 8 % 2 ? 1 : -1, 0, 0));
      double last = 1;
      for (int k = 0; k < 6; ++k) {
        fluid.step(dt);
        double sum = 0;
        for (size_t i = 0; i < fluid.size(); ++i)
          sum += fluid.velocity(i).squaredNorm() / double(fluid.size());
        EXPECT_LE(sum, last);
        last = sum;
      }
    }
}

// Between plates, driven along them: the parabola of Poiseuille. Starts from it and has to stay. The profile
// is right to 3 % on average; next to the walls fluid slips by 4 % of the fastest, as it thins there.
TEST(ViscousFlow, BetweenPlatesVelocitiesAreAParabola) {
  constexpr int kLayers = 20;
  constexpr double kSlack = 1.005;
  const double spacing = 0.04 * kSlack, height = kLayers * spacing, viscosity = 0.05, fastest = 0.2;
  FluidSettings settings;
  settings.radius = 0.02;
  settings.gravity = Vec3(8 * viscosity * fastest / (height * height), 0, 0);
  settings.periodic.lengths = Vec3(8 * spacing, 0, 8 * spacing);
  settings.viscousForces = ViscousForces::Full;
  Fluid fluid(settings);
  fluid.addPhase({1000, viscosity, 0, 0});
  for (const double side : {1.0, -1.0}) {
    BoundaryBody plate;
    plate.map = std::make_shared<const PlaneMap>(Vec3(0, side, 0), side > 0 ? 0 : -height,
                                                 DensityMapSettings{.support = 0.08});
    plate.noSlip = true;
    fluid.addBody(plate);
  }
  const auto expected = [&](double y) { return 4 * fastest * y * (height - y) / (height * height); };
  for (const Vec3& p : disordered(Vec3(8 * spacing, height, 8 * spacing), spacing, 0.2))
    fluid.add({&p, 1}, Vec3(expected(std::clamp(p.y(), 0.0, height)), 0, 0));
  fluid.relax();
  const double dt = 2e-3;
  double drag = 0;
  for (int k = 0; k < 1000; ++k) {
    fluid.step(dt);
    if (k >= 500) drag += (fluid.impulses()[0].linear.x() + fluid.impulses()[1].linear.x()) / (500 * dt);
  }
  double sum[kLayers] = {}, wanted[kLayers] = {}, squares = 0;
  int count[kLayers] = {};
  for (size_t i = 0; i < fluid.size(); ++i) {
    const double y = fluid.positions()[i].y(), error = fluid.velocity(i).x() - expected(y);
    const int layer = std::clamp(int(y / spacing), 0, kLayers - 1);
    sum[layer] += fluid.velocity(i).x();
    wanted[layer] += expected(y);
    ++count[layer];
    squares += error * error / double(fluid.size());
  }
  EXPECT_LT(std::sqrt(squares), 0.03 * fastest);
  for (int layer = 0; layer < kLayers; ++layer) {
    ASSERT_GT(count[layer], 0);
    EXPECT_NEAR(sum[layer] / count[layer], wanted[layer] / count[layer], 0.05 * fastest) << layer;
  }
  // What drives the fluid, the plates take up.
  const double driven = double(fluid.size()) * fluid.mass(0) * settings.gravity.x();
  EXPECT_NEAR(drag, driven, 0.05 * driven);
}

// Eddies of Taylor and Green decay at 2 nu k^2.
double eddyDecay(uint32_t side, double reynolds, ViscousForces forces, double until) {
  const double spacing = 1.0 / side, viscosity = 1 / reynolds, k = 2 * kPi;
  FluidSettings settings;
  settings.radius = 0.5 * spacing / 1.005;
  settings.gravity = Vec3::Zero();
  settings.periodic.lengths = Vec3(1, 1, 4 * spacing);
  settings.viscousForces = forces;
  Fluid fluid(settings);
  fluid.addPhase({1000, viscosity, 0, 0});
  const auto flow = [&](const Vec3& p) {
    return Vec3(std::sin(k * p.x()) * std::cos(k * p.y()), -std::cos(k * p.x()) * std::sin(k * p.y()), 0);
  };
  for (const Vec3& p : disordered(settings.periodic.lengths, spacing, 0.2)) fluid.add({&p, 1}, flow(p));
  fluid.relax();
  const auto strength = [&] {
    double along = 0, square = 0;
    for (size_t i = 0; i < fluid.size(); ++i) {
      const Vec3 shape = flow(fluid.positions()[i]);
      along += shape.dot(fluid.velocity(i));
      square += shape.squaredNorm();
    }
    return along / square;
  };
  const double dt = std::min(0.2 * spacing, 0.019 * fluid.support() * fluid.support() / viscosity);
  const double before = strength(), rate = 2 * viscosity * k * k;
  double t = 0;
  for (; rate * t < until; t += dt) fluid.step(dt);
  return std::log(before / strength()) / (rate * t);
}
TEST(ViscousFlow, EddiesDecayAtTheirRate) {
  EXPECT_NEAR(eddyDecay(50, 1, ViscousForces::Full, 0.4), 1, 0.05);
}
// Eddies stretch the fluid along the axes of the lattice they start from: forces along the lines between
// particles are too strong there (1.44 on the lattice itself), as they are too weak in shear.
TEST(ViscousFlowFull, EddiesOfAllForcesAndSpeeds) {
  EXPECT_NEAR(eddyDecay(50, 1, ViscousForces::Full, 1), 1, 0.05);
  EXPECT_NEAR(eddyDecay(50, 10, ViscousForces::Full, 0.4), 1, 0.05);
  EXPECT_NEAR(eddyDecay(50, 1, ViscousForces::Central, 0.4), 1.24, 0.05);
}

TEST(ViscousFlow, WallsHoldTheMoreTheNearer) {
  double last = 1e9;
  for (double t = 0.6; t < 2; t += 0.05) {
    const double now = wallFrictionAt(ViscousForces::Full, t);
    EXPECT_LT(now, last);
    last = now;
  }
  EXPECT_EQ(wallFriction(ViscousForces::Full, 0), 0);
  EXPECT_LT(last, 1e-3);
}

}  // namespace
}  // namespace sunder::fluid
