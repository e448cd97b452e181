#include "sunder/fluid/boundary/serendipity.h"

#include "sunder/base/random.h"
#include "sunder/base/simd.h"
#include "sunder/fluid/boundary/density_map_kernel.h"

#include <cmath>
#include <functional>

#include <gtest/gtest.h>

namespace sunder::fluid {
namespace {

Vec3 nodePosition(size_t node) {
  const auto at = serendipityNode(node);
  return {at[0] * 2.0 / 3 - 1, at[1] * 2.0 / 3 - 1, at[2] * 2.0 / 3 - 1};
}

// Specification 10, check 18.
TEST(Serendipity, IsOneAtItsNodeAndZeroAtTheOthers) {
  for (size_t n = 0; n < kCellNodes; ++n) {
    const SerendipityWeights w = serendipityWeights(nodePosition(n));
    for (size_t m = 0; m < kCellNodes; ++m) EXPECT_NEAR(w.value[m], m == n ? 1 : 0, 1e-14) << n << " " << m;
  }
}

TEST(Serendipity, KeepsCubicsAndSumsToOne) {
  RandomStream random(3);
  for (int trial = 0; trial < 200; ++trial) {
    const Vec3 p = random.pointIn({Vec3::Constant(-1), Vec3::Constant(1)});
    const SerendipityWeights w = serendipityWeights(p);
    // All of superlinear degree up to three (a power of one counts nothing): 32 of them, all cubics among.
    int monomials = 0;
    for (int a = 0; a <= 3; ++a)
      for (int b = 0; b <= 3; ++b)
        for (int c = 0; c <= 3; ++c) {
          const auto beyond = [](int power) { return power > 1 ? power : 0; };
          if (beyond(a) + beyond(b) + beyond(c) > 3) {
            EXPECT_GT(a + b + c, 3);
            continue;
          }
          ++monomials;
          const auto f = [&](const Vec3& q) {
            return std::pow(q.x(), a) * std::pow(q.y(), b) * std::pow(q.z(), c);
          };
          double value = 0;
          Vec3 gradient = Vec3::Zero();
          for (size_t n = 0; n < kCellNodes; ++n) {
            value += w.value[n] * f(nodePosition(n));
            gradient += w.gradient[n] * f(nodePosition(n));
          }
          EXPECT_NEAR(value, f(p), 1e-13);
          const double slope =
              a == 0 ? 0 : a * std::pow(p.x(), a - 1) * std::pow(p.y(), b) * std::pow(p.z(), c);
          EXPECT_NEAR(gradient.x(), slope, 1e-12);
        }
    EXPECT_EQ(monomials, 32);
  }
}

TEST(Serendipity, FacesKnowTheirOwnNodesOnly) {
  RandomStream random(4);
  for (int trial = 0; trial < 100; ++trial) {
    for (int d = 0; d < 3; ++d) {
      Vec3 p = random.pointIn({Vec3::Constant(-1), Vec3::Constant(1)});
      p[d] = 1;
      const SerendipityWeights w = serendipityWeights(p);
      for (size_t n = 0; n < kCellNodes; ++n) {
        if (nodePosition(n)[d] < 0.99) {
          EXPECT_NEAR(w.value[n], 0, 1e-14);
        }
      }
    }
  }
}

TEST(Serendipity, GradientsAreThoseOfTheValues) {
  RandomStream random(5);
  const double h = 1e-5;
  for (int trial = 0; trial < 50; ++trial) {
    const Vec3 p = random.pointIn({Vec3::Constant(-1), Vec3::Constant(1)});
    const SerendipityWeights w = serendipityWeights(p);
    for (int d = 0; d < 3; ++d) {
      const SerendipityWeights up = serendipityWeights(p + h * Vec3::Unit(d));
      const SerendipityWeights down = serendipityWeights(p - h * Vec3::Unit(d));
      for (size_t n = 0; n < kCellNodes; ++n)
        EXPECT_NEAR(w.gradient[n][d], (up.value[n] - down.value[n]) / (2 * h), 1e-8);
    }
  }
}

// The fast form against the formulas: any values at the nodes of two cells, one on the other.
TEST(Serendipity, VectorCodeFollowsTheFormulas) {
  RandomStream random(6);
  alignas(64) float nodes[80];
  for (float& v : nodes) v = float(random.uniform(-1, 1));
  for (const size_t zero : {35, 39, 75, 79}) nodes[zero] = 0;
  const int32_t codes[2] = {1, 0};
  const kernels::MapView map{.lower = {0.5f, -1, 2},
                             .perCell = 4,
                             .cell = 0.25f,
                             .cells = {1, 2, 1},
                             .codes = codes,
                             .nodes = nodes,
                             .deep = nullptr};
  const size_t count = 1000;
  std::vector<Vec4f> points(count), samples(count), first;
  std::vector<float> values(count);
  for (Vec4f& p : points)
    p.head<3>() = random.pointIn({Vec3(0.5, -1, 2), Vec3(0.75, -0.5, 2.25)}).cast<float>();
  for (const std::string& target : simdTargets()) {
    const SimdTargetOverride use(target);
    kernels::mapSamples(map, points[0].data(), count, samples[0].data());
    kernels::mapValues(map, points[0].data(), count, values.data());
    for (size_t i = 0; i < count; ++i) {
      const bool upper = points[i].y() >= -0.75f;
      const Vec3 corner(0.5, upper ? -0.75 : -1, 2);
      const SerendipityWeights w =
          serendipityWeights(8 * (points[i].head<3>().cast<double>() - corner) - Vec3::Ones());
      const float* cell = nodes + (upper ? 0 : 40);
      const Vec4 faces =
          faceTerms(8 * (points[i].head<3>().cast<double>() - corner) - Vec3::Ones(), cell + 32);
      double value = faces[3];
      Vec3 gradient = 8 * faces.head<3>();
      for (size_t n = 0; n < kCellNodes; ++n) {
        const double node = double(cell[n]);
        value += w.value[n] * node;
        gradient += 8 * w.gradient[n] * node;
      }
      ASSERT_NEAR(samples[i][3], value, 3e-6) << target;
      for (int d = 0; d < 3; ++d) ASSERT_NEAR(samples[i][d], gradient[d], 1e-4) << target;
      ASSERT_EQ(samples[i][3], values[i]) << target;
      if (!first.empty()) {
        ASSERT_EQ(samples[i], first[i]) << target;
      }
    }
    if (first.empty()) first = samples;
  }
}

}  // namespace
}  // namespace sunder::fluid
