#include "sunder/cut/kernel/ring_triangles.h"

#include "sunder/cut/kernel/flip_diagonals.h"
#include "sunder/geometry/predicates.h"

#include "cut/cut_shapes.h"

#include <set>

namespace sunder::cut {

namespace {

using geometry::Triangle;

double areaOf(const std::vector<Vec2>& points, const Triangle& t) {
  const Vec2 a = points[t[1]] - points[t[0]], b = points[t[2]] - points[t[0]];
  return 0.5 * (a.x() * b.y() - a.y() * b.x());
}

// Triangles without negative area that add up to `area`, and every edge of the ring once.
void expectPartition(const std::vector<Vec3>& ring, const std::vector<Triangle>& triangles, double area) {
  ASSERT_EQ(triangles.size(), ring.size() - 2);
  const std::vector<Vec2> flat = flattened(ring);
  double sum = 0;
  std::set<std::pair<uint32_t, uint32_t>> edges;
  for (const Triangle& t : triangles) {
    EXPECT_GT(areaOf(flat, t), 0);
    sum += areaOf(flat, t);
    for (size_t k = 0; k < 3; ++k) EXPECT_TRUE(edges.insert({t[k], t[(k + 1) % 3]}).second);
  }
  EXPECT_NEAR(sum, area, 1e-12);
  for (uint32_t i = 0; i < ring.size(); ++i) {
    const uint32_t j = (i + 1) % static_cast<uint32_t>(ring.size());
    EXPECT_TRUE(edges.count({i, j}));
    EXPECT_FALSE(edges.count({j, i}));
  }
}

TEST(RingTriangles, SlitsStayOpen) {
  // From the border to the middle and back.
  const std::vector<Vec3> slit = {{0, 0, 0},   {4, 0, 0}, {4, 4, 0},   {0, 4, 0}, {0, 2, 0},
                                  {1, 2.1, 0}, {2, 2, 0}, {1, 2.1, 0}, {0, 2, 0}};
  bool clean = true;
  expectPartition(slit, ringTriangles(slit, clean), 16);
  EXPECT_TRUE(clean);
  // A slit that floats, joined by a bridge: two tips.
  const std::vector<Vec3> floating = {{0, 0, 0}, {4, 0, 0},   {4, 4, 0}, {3, 2, 0}, {2, 2.5, 0},
                                      {1, 2, 0}, {2, 2.5, 0}, {3, 2, 0}, {4, 4, 0}, {0, 4, 0}};
  expectPartition(floating, ringTriangles(floating, clean), 16);
  EXPECT_TRUE(clean);
}

TEST(RingTriangles, DelaunayFlipsRaiseTheSmallestAngle) {
  RandomStream random(4);
  for (int round = 0; round < 200; ++round) {
    const uint32_t n = 4 + random.below(20);
    std::vector<Vec3> ring;
    for (uint32_t k = 0; k < n; ++k) {
      const double angle = 2 * kPi * k / n, r = random.uniform(0.3, 1);
      ring.push_back({r * std::cos(angle), r * std::sin(angle), 0});
    }
    const std::vector<Vec2> flat = flattened(ring);
    double area = 0;
    for (uint32_t k = 0; k < n; ++k) {
      const Vec2 &a = flat[k], &b = flat[(k + 1) % n];
      area += 0.5 * (a.x() * b.y() - a.y() * b.x());
    }
    bool clean = true;
    const auto triangles = ringTriangles(ring, clean);
    expectPartition(ring, triangles, area);
    // Locally Delaunay: no corner across a diagonal is inside the circle, or the two triangles are not convex
    // together.
    for (const Triangle& t : triangles)
      for (const Triangle& s : triangles)
        for (size_t i = 0; i < 3; ++i)
          for (size_t j = 0; j < 3; ++j) {
            const uint32_t a = t[i], b = t[(i + 1) % 3], c = t[(i + 2) % 3], d = s[(j + 2) % 3];
            if (s[j] != b || s[(j + 1) % 3] != a) continue;
            const bool convex = geometry::orient2d(flat[c], flat[a], flat[d]) > 0 &&
                                geometry::orient2d(flat[d], flat[b], flat[c]) > 0;
            EXPECT_FALSE(convex && geometry::incircle(flat[a], flat[b], flat[c], flat[d]) > 0);
          }
  }
}

TEST(RingTriangles, SpokesNeverRepeatAnEdge) {
  // A ring that has the vertices 7 and 9 twice, as bridges do.
  const std::vector<uint32_t> ids = {1, 7, 9, 4, 3, 9, 7, 5, 6};
  const SpokeTriangles made = spokeTriangles(ids);
  std::vector<uint32_t> all = ids;
  for (size_t i = 0; i < made.copyOf.size(); ++i) all.push_back(static_cast<uint32_t>(100 + i));
  std::set<std::pair<uint32_t, uint32_t>> edges;
  for (const Triangle& t : made.triangles)
    for (size_t k = 0; k < 3; ++k) {
      const uint32_t a = all[t[k]], b = all[t[(k + 1) % 3]];
      EXPECT_NE(a, b);
      EXPECT_TRUE(edges.insert({a, b}).second);
    }
  // What has no opposite is the ring, less the bridge, whose two edges are each other's.
  size_t border = 0;
  for (const auto& [a, b] : edges) border += !edges.count({b, a});
  EXPECT_EQ(border, ids.size() - 2);
}

}  // namespace

}  // namespace sunder::cut
