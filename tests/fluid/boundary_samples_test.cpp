#include "sunder/fluid/boundary/boundary_samples.h"

#include "sunder/base/parallel.h"
#include "sunder/base/random.h"
#include "sunder/fluid/boundary/boundary.h"
#include "sunder/fluid/kernel.h"
#include "sunder/fluid/solver/fluid.h"

#include <cmath>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace sunder::fluid {
namespace {

constexpr double kReach = 0.08;

BoundarySamples scattered(size_t count) {
  BoundarySamples samples;
  samples.support = kReach;
  samples.resize(count);
  RandomStream random(11, 2);
  for (size_t s = 0; s < count; ++s) {
    for (double& x : samples.positions[s]) x = random.uniform(-0.2, 0.2);
    samples.volumes[s] = random.uniform(1e-6, 3e-6);
  }
  samples.volumes[3] = 0;  // no longer there
  return samples;
}

// Points of a slab below y = 0, on a lattice.
std::shared_ptr<BoundarySamples> slab(double spacing, double half, double deep) {
  auto samples = std::make_shared<BoundarySamples>();
  samples->support = kReach;
  for (double x = -half + 0.5 * spacing; x < half; x += spacing)
    for (double z = -half + 0.5 * spacing; z < half; z += spacing)
      for (double y = -0.5 * spacing; y > -deep; y -= spacing) samples->positions.emplace_back(x, y, z);
  samples->resize(samples->positions.size());
  for (double& v : samples->volumes) v = spacing * spacing * spacing;
  return samples;
}

}  // namespace

TEST(BoundarySamples, LinksAreThoseOfBruteForce) {
  const BoundarySamples samples = scattered(400);
  const Vec3 origin(0.03, -0.02, 0.01);
  std::vector<Vec4f> place;
  RandomStream random(12, 2);
  for (int i = 0; i < 900; ++i) {
    Vec3f p;
    for (float& x : p) x = float(random.uniform(-0.4, 0.4));
    place.push_back(withFourth(p, 0));
  }
  for (const unsigned threads : {1u, 4u}) {
    const ThreadLimit limit(threads);
    std::vector<uint32_t> particles;
    std::vector<Vec4f> sums;
    SampleLinks links;
    findLinks(samples, place, origin, particles, sums, links);
    const CubicKernel kernel(kReach);
    size_t at = 0;
    for (uint32_t i = 0; i < place.size(); ++i) {
      size_t count = 0;
      double value = 0;
      Vec3 gradient = Vec3::Zero();
      for (size_t s = 0; s < samples.size(); ++s) {
        const Vec3 offset = place[i].head<3>().cast<double>() + origin - samples.positions[s];
        if (!(offset.norm() < kReach) || samples.volumes[s] == 0) continue;
        ++count;
        value += samples.volumes[s] * kernel.value(offset.norm());
        gradient += samples.volumes[s] * kernel.gradientFactor(offset.norm()) * offset;
      }
      if (count == 0) continue;
      ASSERT_LT(at, particles.size());
      EXPECT_EQ(particles[at], i);
      EXPECT_EQ(links.of(at).size(), count);
      EXPECT_NEAR(double(sums[at].w()), value, 1e-6);
      EXPECT_LT((sums[at].head<3>().cast<double>() - gradient).norm(), 1e-4);
      ++at;
    }
    EXPECT_EQ(at, particles.size());
  }
}

// On its surface matter adds one half of rest, deep inside one, and outside the integral of the kernel over a
// half-space: 1/2 - w(0..h), with w the kernel's marginal.
TEST(BoundarySamples, FlatMatterAddsTheHalfSpaceOfTheKernel) {
  const auto samples = slab(0.015, 0.2, 0.2);
  std::vector<Vec4f> place;
  std::vector<double> expected;
  for (const double t : {-1.2, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75}) {
    place.push_back(Vec4f(0.003f, float(t * kReach), -0.004f, 0));
    // Marginal 1.4 - 8 s^2 + 24 s^4 - 19.2 s^5 to one half, 8 u^4 - 6.4 u^5 beyond, integrated.
    const auto below = [](double s) {
      return 1.4 * s - 8 * s * s * s / 3 + 24 * std::pow(s, 5) / 5 - 3.2 * std::pow(s, 6);
    };
    const auto beyond = [](double u) { return 8 * std::pow(u, 5) / 5 - 6.4 * std::pow(u, 6) / 6; };
    const double s = std::min(std::abs(t), 1.0);
    const double within = s <= 0.5 ? below(s) : 0.5 - beyond(1 - s);
    expected.push_back(0.5 - (t < 0 ? -within : within));
  }
  std::vector<uint32_t> particles;
  std::vector<Vec4f> sums;
  SampleLinks links;
  findLinks(*samples, place, Vec3::Zero(), particles, sums, links);
  ASSERT_EQ(particles.size(), place.size());
  for (size_t i = 0; i < place.size(); ++i) EXPECT_NEAR(double(sums[i].w()), expected[i], 5e-3) << i;
}

namespace {

// Points of one mass that move alone.
class FreePoints : public BoundaryResponse {
 public:
  explicit FreePoints(double mass) : mass_(mass) {}
  void respond(std::span<const Vec3> impulses, std::span<Vec3> changes) override {
    for (size_t s = 0; s < impulses.size(); ++s) changes[s] = impulses[s] / mass_;
  }
  void bound(std::span<const double> impulses, std::span<double> changes) const override {
    for (size_t s = 0; s < impulses.size(); ++s) changes[s] = impulses[s] / mass_;
  }

 private:
  double mass_;
};

}  // namespace

// Whether it gives way or not, matter gets what the liquid loses, through pressure and friction.
TEST(BoundarySamples, GetWhatTheLiquidLoses) {
  FreePoints yields(1e-3);
  for (const bool giving : {false, true}) {
    FluidSettings settings;
    settings.radius = kReach / 4;
    settings.gravity.setZero();
    Fluid fluid(settings);
    fluid.addPhase({});
    std::vector<Vec3> block;
    for (int x = 0; x < 5; ++x)
      for (int y = 0; y < 4; ++y)
        for (int z = 0; z < 5; ++z) block.push_back(kReach / 2 * Vec3(x - 2, y + 0.8, z - 2));
    fluid.add(block, Vec3(0.5, -1, 0));
    BoundaryBody body;
    body.points = slab(0.02, 0.2, 0.08);
    body.points->response = giving ? &yields : nullptr;
    body.friction = 0.3;
    body.noSlip = true;
    const uint32_t number = fluid.addBody(body);
    const auto momentum = [&] {
      Vec3 sum = Vec3::Zero();
      for (size_t i = 0; i < fluid.size(); ++i) sum += fluid.mass(i) * fluid.velocity(i);
      return sum;
    };
    double lost = 0;
    for (int k = 0; k < 10; ++k) {
      const Vec3 before = momentum();
      fluid.step(2e-3);
      Vec3 given = Vec3::Zero();
      for (const Vec3& j : fluid.sampleImpulses(number)) given += j;
      EXPECT_LT((momentum() - before + given).norm(), 1e-6 * before.norm());
      lost += given.norm();
    }
    EXPECT_GT(lost, 0.1 * double(block.size()) * fluid.mass(0));
    for (const Vec3& p : fluid.positions()) EXPECT_GT(p.y(), -0.04);
  }
}

}  // namespace sunder::fluid
