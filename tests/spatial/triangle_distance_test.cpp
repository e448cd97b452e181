// Nearest points are checked by what makes them nearest: for convex figures, no corner lies beyond the plane
// through the nearest point across the connecting line.
#include "sunder/spatial/query/triangle_distance.h"

#include "sunder/base/random.h"
#include "sunder/geometry/predicates.h"

#include "query_cases.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace sunder::spatial {
namespace {

using geometry::FeatureKind;
using geometry::TriangleCorners;

// How far the corners reach from `on` towards `from`, relative to scale: at most rounding for a nearest
// point.
double excess(const Vec3& from, const Vec3& on, std::initializer_list<Vec3> corners, double scale) {
  double most = 0;
  const double gap = (from - on).norm();
  if (gap <= 1e-14 * scale) return 0;
  for (const Vec3& c : corners) most = std::max(most, (from - on).dot(c - on) / gap);
  return most / scale;
}

double slack(const Vec3& from, const Vec3& on, double scale) {
  // A position wrong by e across the line tilts it by e / gap.
  return 1e-13 * (1 + scale / std::max((from - on).norm(), 1e-14 * scale));
}

void checkPoint(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c) {
  const PointOnTriangle n = closestPointOnTriangle(p, a, b, c);
  const double scale = std::max({(a - b).norm(), (a - c).norm(), (p - a).norm(), 1e-300});
  ASSERT_NEAR(n.barycentric.sum(), 1, 1e-12);
  ASSERT_GE(n.barycentric.minCoeff(), 0);
  const Vec3 blend = n.barycentric[0] * a + n.barycentric[1] * b + n.barycentric[2] * c;
  ASSERT_LE((blend - n.point).norm(), 1e-13 * (scale + a.norm()));
  ASSERT_NEAR(std::sqrt(n.squaredDistance), (p - n.point).norm(), 1e-13 * (scale + a.norm()));
  ASSERT_LE(excess(p, n.point, {a, b, c}, scale), slack(p, n.point, scale));
  const int positive = int((n.barycentric.array() > 0).count());
  if (n.feature.kind == FeatureKind::Vertex) {
    ASSERT_EQ(positive, 1);
    ASSERT_EQ(n.barycentric[n.feature.index], 1);
  } else if (n.feature.kind == FeatureKind::Edge) {
    ASSERT_EQ(n.barycentric[(n.feature.index + 2) % 3], 0);
  } else {
    ASSERT_EQ(positive, 3);
  }
}

TEST(ClosestPointOnTriangle, NoCornerLiesBeyondIt) {
  RandomStream random(1);
  int kinds[3] = {};
  for (int i = 0; i < 100'000; ++i) {
    const Vec3 a = test::randomPoint(random, 1), b = test::randomPoint(random, 1),
               c = test::randomPoint(random, 1);
    const Vec3 p = test::randomPoint(random, 2);
    checkPoint(p, a, b, c);
    ++kinds[int(closestPointOnTriangle(p, a, b, c).feature.kind)];
  }
  for (const int count : kinds) EXPECT_GT(count, 4000);
}

TEST(ClosestPointOnTriangle, SliversAndTrianglesWithoutArea) {
  RandomStream random(2);
  for (int i = 0; i < 30'000; ++i) {
    const Vec3 a = test::randomPoint(random, 1), b = test::randomPoint(random, 1),
               p = test::randomPoint(random, 2);
    const double width = std::pow(10.0, -random.uniform(3, 18));
    checkPoint(p, a, b, a + random.uniform(-0.5, 1.5) * (b - a) + width * test::randomPoint(random, 1));
    checkPoint(p, a, b, a);
    checkPoint(p, a, b, b);
    checkPoint(p, a, a, a);
    checkPoint(p, a, b, 0.5 * (a + b));
    checkPoint(0.5 * (a + b), a, b, a + 2 * (b - a));
  }
}

TEST(ClosestPointOnTriangle, KnownFeatures) {
  const Vec3 a(0, 0, 0), b(1, 0, 0), c(0, 1, 0);
  const auto feature = [&](const Vec3& p) { return closestPointOnTriangle(p, a, b, c).feature; };
  EXPECT_EQ(feature({0.25, 0.25, 3}), (geometry::TriangleFeature{FeatureKind::Face, 0}));
  EXPECT_EQ(feature({-1, -1, 2}), (geometry::TriangleFeature{FeatureKind::Vertex, 0}));
  EXPECT_EQ(feature({3, 0, 2}), (geometry::TriangleFeature{FeatureKind::Vertex, 1}));
  EXPECT_EQ(feature({0, 3, 2}), (geometry::TriangleFeature{FeatureKind::Vertex, 2}));
  EXPECT_EQ(feature({0.5, -1, 2}), (geometry::TriangleFeature{FeatureKind::Edge, 0}));
  EXPECT_EQ(feature({1, 1, 2}), (geometry::TriangleFeature{FeatureKind::Edge, 1}));
  EXPECT_EQ(feature({-1, 0.5, 2}), (geometry::TriangleFeature{FeatureKind::Edge, 2}));
  EXPECT_DOUBLE_EQ(closestPointOnTriangle({1, 1, 2}, a, b, c).squaredDistance, 4.5);
  EXPECT_DOUBLE_EQ(closestPointOnTriangle({0.25, 0.25, 3}, a, b, c).squaredDistance, 9);
}

TEST(ClosestPointOnTriangle, SharedCornersAndEdgesGiveEqualBits) {
  RandomStream random(3);
  int edges = 0, corners = 0;
  for (int i = 0; i < 50'000; ++i) {
    const Vec3 a = test::randomPoint(random, 1), b = test::randomPoint(random, 1),
               c = test::randomPoint(random, 1), d = test::randomPoint(random, 1),
               p = test::randomPoint(random, 3);
    const PointOnTriangle one = closestPointOnTriangle(p, a, b, c), two = closestPointOnTriangle(p, b, a, d);
    if (one.feature.kind != two.feature.kind || (one.point - two.point).norm() > 1e-9) continue;
    if (one.feature.kind == FeatureKind::Edge && one.feature.index == 0) {
      ASSERT_EQ(one.squaredDistance, two.squaredDistance);
      ++edges;
    } else if (one.feature.kind == FeatureKind::Vertex) {
      ASSERT_EQ(one.squaredDistance, two.squaredDistance);
      ++corners;
    }
  }
  EXPECT_GT(edges, 1000);
  EXPECT_GT(corners, 1000);
}

TEST(SegmentDistance, NoEndLiesBeyondTheNearestPoints) {
  RandomStream random(4);
  for (int i = 0; i < 60'000; ++i) {
    const Vec3 a0 = test::randomPoint(random, 1), a1 = test::randomPoint(random, 1),
               b0 = test::randomPoint(random, 1);
    Vec3 b1 = test::randomPoint(random, 1);
    if (i % 6 == 1) b1 = b0 + random.uniform(-2, 2) * (a1 - a0);  // parallel
    if (i % 6 == 2) b1 = b0;
    if (i % 6 == 3) b1 = b0 + (a1 - a0) + 1e-9 * test::randomPoint(random, 1);
    const Vec3 a2 = i % 12 == 8 ? a0 : a1;
    const SegmentDistance n = segmentDistance(a0, a2, b0, b1);
    ASSERT_NEAR(std::sqrt(n.squaredDistance), (n.onFirst - n.onSecond).norm(), 1e-13);
    // Nearly parallel segments have many nearly nearest points; only the distance counts there.
    const double rounding = i % 6 == 3 ? 1e-8 : 1e-9;
    ASSERT_LE(excess(n.onSecond, n.onFirst, {a0, a2}, 2), rounding);
    ASSERT_LE(excess(n.onFirst, n.onSecond, {b0, b1}, 2), rounding);
  }
  EXPECT_DOUBLE_EQ(segmentDistance({-1, 0, 0}, {1, 0, 0}, {0, -1, 3}, {0, 1, 3}).squaredDistance, 9);
}

TEST(TriangleDistance, NoCornerLiesBeyondTheNearestPoints) {
  RandomStream random(5);
  int meeting = 0, apart = 0;
  for (int i = 0; i < 40'000; ++i) {
    TriangleCorners s, t;
    for (Vec3& c : s) c = test::randomPoint(random, 1);
    for (Vec3& c : t) c = test::randomPoint(random, 1) + Vec3(0.7 * (i % 3), 0, 0);
    if (i % 5 == 1) s[2] = s[1];
    if (i % 5 == 2) t[1] = t[2] = t[0];
    const TriangleDistance n = triangleDistance(s, t);
    if (geometry::intersect(s, t)) {
      ASSERT_EQ(n.squaredDistance, 0);
      ASSERT_LE(closestPointOnTriangle(n.onFirst, s[0], s[1], s[2]).squaredDistance, 1e-20);
      ASSERT_LE(closestPointOnTriangle(n.onSecond, t[0], t[1], t[2]).squaredDistance, 1e-20);
      ++meeting;
      continue;
    }
    ++apart;
    ASSERT_GT(n.squaredDistance, 0);
    ASSERT_NEAR(std::sqrt(n.squaredDistance), (n.onFirst - n.onSecond).norm(), 1e-13);
    ASSERT_LE(excess(n.onSecond, n.onFirst, {s[0], s[1], s[2]}, 2), 1e-9);
    ASSERT_LE(excess(n.onFirst, n.onSecond, {t[0], t[1], t[2]}, 2), 1e-9);
    const TriangleDistance back = triangleDistance(t, s);
    ASSERT_NEAR(back.squaredDistance, n.squaredDistance, 1e-13);
  }
  EXPECT_GT(meeting, 1000);
  EXPECT_GT(apart, 10'000);
}

}  // namespace
}  // namespace sunder::spatial
