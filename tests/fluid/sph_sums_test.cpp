#include "sunder/fluid/sums/sph_sums.h"

#include "sunder/base/parallel.h"
#include "sunder/base/random.h"
#include "sunder/base/simd.h"
#include "sunder/fluid/fill.h"
#include "sunder/fluid/kernel.h"
#include "sunder/fluid/sums/sph_forces.h"
#include "sunder/spatial/points/point_grid.h"

#include <cstring>

#include <gtest/gtest.h>

namespace sunder::fluid {
namespace {

constexpr double kSumSupport = 0.1, kSumVolume = 0.05 * 0.05 * 0.05;

struct Cloud {
  std::vector<Vec3> points;
  std::vector<Vec4f> place, motion;
  std::vector<float> stiffness;
  spatial::NeighbourRows rows;
  PairBlocks blocks;

  explicit Cloud(std::vector<Vec3> from) : points(std::move(from)) {
    RandomStream random(5);
    for (Vec3& p : points) {
      const Vec3 v = random.pointIn({-Vec3::Ones(), Vec3::Ones()});
      place.emplace_back(float(p.x()), float(p.y()), float(p.z()), 0.0f);
      stiffness.push_back(float(random.uniform()));
      motion.emplace_back(float(v.x()), float(v.y()), float(v.z()), float(0.5 + random.uniform()));
      p = place.back().head<3>().cast<double>();
    }
    spatial::pointNeighbours(points, kSumSupport, rows);
  }
  PairSums pairs() const { return {place, motion, float(kSumSupport), float(kSumVolume), &blocks}; }
};

Cloud randomCloud(size_t n) {
  RandomStream random(3);
  std::vector<Vec3> points(n);
  for (Vec3& p : points) p = random.pointIn({Vec3::Zero(), Vec3::Constant(0.4)});
  points[1] = points[0];  // in the same place
  return Cloud(points);
}

TEST(SphSums, EqualTheLoopOverAllPairs) {
  Cloud cloud = randomCloud(900);
  const size_t n = cloud.points.size();
  std::vector<Vec4f> density(n), pressure(n), smoothing(n), viscosity(n), full(n);
  std::vector<float> squares(n), rate(n), even(n, 1.25f);
  sumDensity(cloud.pairs(), cloud.rows, cloud.blocks, density, squares);
  sumRate(cloud.pairs(), rate);
  sumPressure(cloud.pairs(), cloud.stiffness, pressure);
  sumSmoothing(cloud.pairs(), cloud.stiffness, even, smoothing);
  sumViscosity(cloud.pairs(), ViscousForces::Central, cloud.stiffness, even, viscosity);
  sumViscosity(cloud.pairs(), ViscousForces::Full, cloud.stiffness, even, full);
  const CubicKernel kernel(kSumSupport);
  for (size_t i = 0; i < n; ++i) {
    double w = kernel.value(0), square = 0, divergence = 0, size = 0;
    Vec3 gradient = Vec3::Zero(), push = Vec3::Zero(), smooth = Vec3::Zero(), drag = Vec3::Zero(),
         diffusion = Vec3::Zero();
    for (size_t j = 0; j < n; ++j) {
      if (j == i) continue;
      const Vec3 x = cloud.points[i] - cloud.points[j];
      const double s = x.norm();
      if (s > kSumSupport) continue;
      const Vec3 v = (cloud.motion[i] - cloud.motion[j]).head<3>().cast<double>();
      const Vec3 g = kernel.gradientFactor(s) * x;
      w += kernel.value(s);
      gradient += g;
      square += double(cloud.motion[j].w()) * g.squaredNorm();
      divergence += v.dot(g);
      const auto both = double(cloud.stiffness[i] + cloud.stiffness[j]);
      push += both * g;
      smooth -= 0.5 * both * kernel.value(s) / 1.25 * v;
      const double spread = 1.25 * (x.squaredNorm() + 0.01 * kSumSupport * kSumSupport);
      drag += 0.5 * both * v.dot(x) / spread * g;
      diffusion += 0.5 * both * x.dot(g) / spread * v;
      size += g.norm();
    }
    EXPECT_NEAR(double(density[i].w()), kSumVolume * w, 1e-5 * kSumVolume * w);
    const double tolerance = 1e-5 * kSumVolume * (size + 1);
    EXPECT_LT((density[i].head<3>().cast<double>() - kSumVolume * gradient).norm(), tolerance);
    EXPECT_NEAR(double(squares[i]), kSumVolume * kSumVolume * square,
                1e-5 * kSumVolume * kSumVolume * (square + 1));
    EXPECT_NEAR(double(rate[i]), kSumVolume * divergence, 4 * tolerance);
    EXPECT_LT((pressure[i].head<3>().cast<double>() - kSumVolume * push).norm(), 2 * tolerance);
    EXPECT_LT((smoothing[i].head<3>().cast<double>() - kSumVolume * smooth).norm(),
              1e-5 * kSumVolume * w * 4);
    EXPECT_LT((viscosity[i].head<3>().cast<double>() - kSumVolume * drag).norm(), 100 * tolerance);
    EXPECT_LT((full[i].head<3>().cast<double>() - kSumVolume * diffusion).norm(), 100 * tolerance);
  }
}

// Specification 10, check 2.
TEST(SphSums, ALatticeHasItsDensity) {
  const double d = 0.05;
  Cloud cloud(fillBox({Vec3::Zero(), Vec3::Constant(9 * d)}, d));
  std::vector<Vec4f> density(cloud.points.size());
  std::vector<float> squares(density.size());
  for (Vec4f& m : cloud.motion) m.w() = 1;
  sumDensity(cloud.pairs(), cloud.rows, cloud.blocks, density, squares);
  const size_t middle = 4 + 9 * (4 + 9 * 4);
  EXPECT_NEAR(double(density[middle].w()), 0.99997, 2e-5);
  EXPECT_NEAR(kSumSupport * kSumSupport * double(squares[middle]), 1.6994, 1e-4);
  EXPECT_LT(double(density[middle].head<3>().norm()) * kSumSupport, 1e-5);
  // Those at the very edge of the support add nothing; whether they are in the list is rounding's choice.
  size_t within = 0;
  for (const uint32_t j : cloud.rows.row(middle))
    within += (cloud.points[j] - cloud.points[middle]).norm() < kSumSupport * (1 - 1e-5);
  EXPECT_EQ(within, 26u);
}

TEST(SphSums, SameBitsOnEveryTargetAndForAnyNumberOfThreads) {
  Cloud cloud = randomCloud(3000);
  const size_t n = cloud.points.size();
  const auto all = [&] {
    std::vector<Vec4f> density(n), pressure(n), smoothing(n), viscosity(n), full(n);
    std::vector<float> squares(n), rate(n), even(n, 1.25f);
    sumDensity(cloud.pairs(), cloud.rows, cloud.blocks, density, squares);
    sumRate(cloud.pairs(), rate);
    sumPressure(cloud.pairs(), cloud.stiffness, pressure);
    sumSmoothing(cloud.pairs(), cloud.stiffness, even, smoothing);
    sumViscosity(cloud.pairs(), ViscousForces::Central, cloud.stiffness, even, viscosity);
    sumViscosity(cloud.pairs(), ViscousForces::Full, cloud.stiffness, even, full);
    std::vector<float> out(squares);
    out.insert(out.end(), rate.begin(), rate.end());
    for (const auto* rows : {&density, &pressure, &smoothing, &viscosity, &full})
      for (const Vec4f& row : *rows) out.insert(out.end(), row.data(), row.data() + 4);
    return out;
  };
  const std::vector<float> first = all();
  const auto same = [&](const std::vector<float>& other) {
    return std::memcmp(first.data(), other.data(), first.size() * sizeof(float)) == 0;
  };
  for (const std::string& target : simdTargets()) {
    const SimdTargetOverride chosen(target);
    EXPECT_TRUE(same(all())) << target;
  }
  for (const unsigned threads : {1u, 2u, 4u}) {
    const ThreadLimit limit(threads);
    EXPECT_TRUE(same(all())) << threads;
  }
}

}  // namespace
}  // namespace sunder::fluid
