// Boundaries of particles: their sampling, their sums, and how rough they are against maps.
#include "sunder/fluid/boundary/sampled_map.h"

#include "sunder/base/error.h"
#include "sunder/base/random.h"
#include "sunder/base/simd.h"
#include "sunder/fluid/boundary/density_map.h"
#include "sunder/fluid/boundary/poisson_disk.h"
#include "sunder/fluid/kernel.h"
#include "sunder/fluid/solver/fluid.h"
#include "sunder/shapes/round.h"
#include "sunder/shapes/wall.h"
#include "sunder/spatial/points/point_grid.h"

#include "fluid_setting.h"

#include <cmath>
#include <cstring>
#include <memory>

#include <gtest/gtest.h>

namespace sunder::fluid {
namespace {

std::vector<Vec3> ballParticles(double spacing) {
  return poissonDisk(shapes::makeIcosphere({.radius = 0.3, .frequency = 16}), spacing);
}

TEST(PoissonDisk, NoTwoAreNearAndNoHoleIsLarge) {
  const double spacing = 0.04;
  const geometry::TriMesh mesh = shapes::makeIcosphere({.radius = 0.3, .frequency = 16});
  const std::vector<Vec3> points = poissonDisk(mesh, spacing);
  EXPECT_EQ(points, poissonDisk(mesh, spacing));
  EXPECT_NE(points, poissonDisk(mesh, spacing, 2));
  spatial::NeighbourRows rows;
  spatial::pointNeighbours(points, spacing * (1 - 1e-12), rows);
  EXPECT_EQ(rows.total(), 0u);
  // Darts thrown until none sticks cover 0.69 to 0.70 by discs of half the spacing at the most.
  const double perSquare = double(points.size()) * spacing * spacing / (4 * kPi * 0.09);
  EXPECT_GT(perSquare, 0.6);
  EXPECT_LT(perSquare, 0.9);
  // Another dart would hardly find room.
  RandomStream random(5);
  int free = 0;
  for (int k = 0; k < 2000; ++k) {
    const Vec3 dart = 0.3 * random.unitVector();
    bool room = true;
    for (const Vec3& p : points) room = room && (p - dart).norm() >= spacing;
    free += room;
  }
  EXPECT_LT(free, 100);
}

TEST(PoissonDisk, WrongSurfacesAreRefused) {
  const geometry::TriMesh mesh = shapes::makeIcosphere({.radius = 0.3, .frequency = 2});
  EXPECT_THROW(poissonDisk(mesh, 0), Error);
  EXPECT_THROW(poissonDisk(mesh, 1e-6), Error);
  EXPECT_THROW(poissonDisk({}, 0.1), Error);
  EXPECT_THROW(SampledMap({}, 0.1), Error);
  EXPECT_THROW(SampledMap(ballParticles(0.1), -1), Error);
  EXPECT_THROW(SampledMap(ballParticles(0.1), 1e-5), Error);
}

TEST(SampledMap, EqualsTheSumOverAllParticlesOnEveryTarget) {
  const std::vector<Vec3> particles = ballParticles(kRadius);
  const SampledMap map(particles, kSupport);
  EXPECT_EQ(map.size(), particles.size());
  EXPECT_FALSE(map.exact());
  const CubicKernel kernel(kSupport);
  std::vector<double> volume;
  for (const Vec3& p : particles) {
    double sum = 0;
    for (const Vec3& other : particles) sum += kernel.value((p - other).norm());
    volume.push_back(1 / sum);
  }
  RandomStream random(8);
  std::vector<Vec4f> points, out;
  for (int k = 0; k < 300; ++k)
    points.push_back(
        withFourth(random.pointIn({-Vec3::Constant(0.42), Vec3::Constant(0.42)}).cast<float>(), 0));
  out.resize(points.size());
  map.samples(points, out);
  int near = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    Vec4 expected = Vec4::Zero();
    for (size_t b = 0; b < particles.size(); ++b) {
      const Vec3 x = points[i].head<3>().cast<double>() - particles[b];
      expected.head<3>() += volume[b] * kernel.gradientFactor(x.norm()) * x;
      expected.w() += volume[b] * kernel.value(x.norm());
    }
    near += expected.w() > 0;
    EXPECT_NEAR(double(out[i].w()), expected.w(), 2e-5);
    EXPECT_LT((out[i].head<3>().cast<double>() - expected.head<3>()).norm() * kSupport, 1e-4);
  }
  EXPECT_GT(near, 50);
  for (const std::string& target : simdTargets()) {
    const SimdTargetOverride chosen(target);
    std::vector<Vec4f> again(points.size());
    map.samples(points, again);
    EXPECT_EQ(std::memcmp(out.data(), again.data(), out.size() * sizeof(Vec4f)), 0) << target;
  }
  std::vector<float> values(points.size());
  map.values(points, values);
  for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], out[i].w());
}

// The upper side of a plate.
BoundaryMapPtr particlePlane(double spacing) {
  const Vec3 size(2.4, 0.1, 0.8);
  std::vector<Vec3> points = poissonDisk(shapes::makeBox({.size = size}), spacing), top;
  for (const Vec3& p : points)
    if (p.y() > 0.5 * size.y() - 1e-9) top.push_back(Vec3(p.x() - 1, 0, p.z()));
  return std::make_shared<const SampledMap>(top, kSupport);
}

constexpr double kSlope = 30 * kPi / 180;

FluidSettings downhill() { return settingsOf(kGravity * Vec3(std::sin(kSlope), -std::cos(kSlope), 0)); }

// Check 21, second half: how much a grid of lone particles is out of shape after 0.7 s down a slope.
double driftOf(const BoundaryMapPtr& map, double height) {
  Fluid fluid(downhill());
  fluid.addPhase({});
  fluid.addBody(fixed(map));
  std::vector<Vec3> points;
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j)
      points.push_back(Vec3(-2 + 1.2 * kSupport * i, height, 1.2 * kSupport * (j - 2.5)));
  fluid.add(points, Vec3::Zero());
  for (int k = 0; k < 700; ++k) fluid.step(1e-3);
  std::vector<Vec3> at(points.size());
  for (size_t i = 0; i < at.size(); ++i) at[fluid.ids()[i]] = fluid.positions()[i];
  double worst = 0;
  for (size_t i = 0; i < at.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      worst = std::max(worst, std::abs((at[i] - at[j]).norm() - (points[i] - points[j]).norm()));
  return worst;
}
TEST(SampledMap, ParticlesOnParticlesDriftApart) {
  const double map = driftOf(planeMap(Vec3::UnitY(), 0), 0.3185 * kSupport);
  EXPECT_LT(map, 1e-3);
  for (const double spacing : {kDiameter, kRadius})
    EXPECT_GT(driftOf(particlePlane(spacing), 0.3 * kSupport), 10 * std::max(map, 1e-3)) << spacing;
}

// What a lone particle that slides feels: on a map its weight; on particles, blows and free flight.
TEST(SampledMap, ALoneParticleBumpsOverParticles) {
  const auto slide = [](const BoundaryMapPtr& map, double height, double& least, double& most) {
    Fluid fluid(downhill());
    fluid.addPhase({});
    fluid.addBody(fixed(map));
    const Vec3 start(-1.9, height, 0.01);
    fluid.add({&start, 1}, Vec3::Zero());
    least = 1e9;
    most = 0;
    for (int k = 0; k < 700; ++k) {
      fluid.step(1e-3);
      if (k < 50) continue;
      const double weight = fluid.mass(0) * kGravity * std::cos(kSlope);
      const double force = -fluid.impulses()[0].linear.y() / (1e-3 * weight);
      least = std::min(least, force);
      most = std::max(most, force);
    }
  };
  double least, most;
  slide(planeMap(Vec3::UnitY(), 0), 0.3185 * kSupport, least, most);
  EXPECT_NEAR(least, 1, 0.01);
  EXPECT_NEAR(most, 1, 0.01);
  slide(particlePlane(kRadius), 0.3 * kSupport, least, most);
  EXPECT_LT(least, 0.1);
  EXPECT_GT(most, 3);
}

// A column over particles comes to rest on them and weighs what it weighs: the forces are consistent.
TEST(SampledMap, AColumnStandsOnParticles) {
  FluidSettings settings = settingsOf();
  settings.periodic.lengths = Vec3(0.32, 0, 0.32);
  Fluid fluid(settings);
  fluid.addPhase({1000, 1e-6, 0.05, 0});
  std::vector<Vec3> points;
  for (int i = 0; i < 24; ++i)  // beyond the sides, which do not repeat bodies
    for (int j = 0; j < 24; ++j) points.push_back(Vec3((i - 3.5) * kRadius, 0, (j - 3.5) * kRadius));
  fluid.addBody(fixed(std::make_shared<const SampledMap>(points, kSupport)));
  std::vector<Vec3> water;
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j)
      for (int k = 0; k < 8; ++k) water.push_back(kDiameter * Vec3(i + 0.5, k + 1, j + 0.5));
  fluid.add(water, Vec3::Zero());
  fluid.relax();
  run(fluid, 1);
  double pushed = 0;
  for (int k = 0; k < 100; ++k) {
    fluid.step(2e-3);
    pushed -= fluid.impulses()[0].linear.y() / 0.2;
  }
  const double weight = double(fluid.size()) * fluid.mass(0) * kGravity;
  EXPECT_NEAR(pushed, weight, 0.02 * weight);
  for (const Vec3& p : fluid.positions()) EXPECT_GT(p.y(), 0.3 * kDiameter);
}

}  // namespace
}  // namespace sunder::fluid
