#include "sunder/sdf/sphere_tree.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/random.h"
#include "sunder/sdf/analytic_field.h"
#include "sunder/sdf/farthest_point.h"
#include "sunder/sdf/field_combine.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

namespace sunder::sdf {
namespace {

// A unit ball, 70 % of the points on its surface.
struct BallPoints {
  std::vector<Vec3> points;
  std::vector<uint8_t> surface;

  BallPoints(size_t count, uint64_t seed) {
    RandomStream random(seed);
    for (size_t i = 0; i < count; ++i) {
      const bool on = i < count * 7 / 10;
      points.push_back(on ? random.unitVector() : Vec3(std::cbrt(random.uniform()) * random.unitVector()));
      surface.push_back(on);
    }
  }
};

double squaredBetween(const Vec3& a, const Vec3& b) {
  const double dx = a.x() - b.x(), dy = a.y() - b.y(), dz = a.z() - b.z();
  return dx * dx + dy * dy + dz * dz;
}

// The definition, in n^2 steps.
FarthestPointOrder bruteOrder(const std::vector<Vec3>& points) {
  FarthestPointOrder result;
  const size_t n = points.size();
  size_t a = 0, b = 0;
  double best = -1;
  for (size_t i = 0; i < n; ++i)
    for (size_t j = i + 1; j < n; ++j)
      if (squaredBetween(points[i], points[j]) > best) {
        best = squaredBetween(points[i], points[j]);
        a = i;
        b = j;
      }
  std::vector<double> nearest(n, std::numeric_limits<double>::infinity());
  for (size_t rank = 0; rank < n; ++rank) {
    size_t next = rank == 0 ? a : b;
    if (rank >= 2) {
      next = n;
      for (size_t i = 0; i < n; ++i)
        if (nearest[i] >= 0 && (next == n || nearest[i] > nearest[next])) next = i;
    }
    result.order.push_back(uint32_t(next));
    result.gap.push_back(std::sqrt(nearest[next]));
    uint32_t parent = 0;
    for (uint32_t r = 0; r < (rank == 0 ? 0 : std::bit_floor(rank)); ++r)
      if (squaredBetween(points[result.order[r]], points[next]) <
          squaredBetween(points[result.order[parent]], points[next]))
        parent = r;
    result.parent.push_back(parent);
    nearest[next] = -1;
    for (size_t i = 0; i < n; ++i)
      if (nearest[i] >= 0) nearest[i] = std::min(nearest[i], squaredBetween(points[next], points[i]));
  }
  return result;
}

TEST(FarthestPoint, IsTheGreedyOrder) {
  std::vector<std::vector<Vec3>> sets = {BallPoints(700, 1).points,
                                         BallPoints(64, 2).points,
                                         {Vec3(1, 2, 3)},
                                         {Vec3(1, 2, 3), Vec3(1, 2, 3)},
                                         {}};
  std::vector<Vec3> lattice;  // full of ties
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 7; ++j)
      for (int k = 0; k < 5; ++k) lattice.emplace_back(i, j, k);
  lattice.insert(lattice.end(), lattice.begin(), lattice.begin() + 40);  // and repeated points
  sets.push_back(lattice);
  for (const auto& points : sets) {
    const FarthestPointOrder fast = farthestPointOrder(points), brute = bruteOrder(points);
    EXPECT_EQ(fast.order, brute.order);
    EXPECT_EQ(fast.gap, brute.gap);
    EXPECT_EQ(fast.parent, brute.parent);
  }
  const FarthestPointOrder all = farthestPointOrder(sets[0]), some = farthestPointOrder(sets[0], 100);
  EXPECT_TRUE(std::equal(some.order.begin(), some.order.end(), all.order.begin()));
  EXPECT_EQ(some.order.size(), 100u);
  EXPECT_THROW(farthestPointOrder(std::vector<Vec3>{Vec3(0, NAN, 0)}), Error);
  EXPECT_THROW(farthestPair({}), Error);
}

TEST(SphereTree, GapsFallAndLevelsCover) {
  const BallPoints ball(3000, 3);
  const SphereTree tree = buildSphereTree(ball.points, ball.surface);
  ASSERT_EQ(tree.pointCount(), 3000u);
  EXPECT_TRUE(std::is_sorted(tree.gap.rbegin(), tree.gap.rend()));
  for (uint32_t level = 1; level < tree.levels(); ++level) {
    const uint32_t size = tree.levelSize(level);
    double separation = std::numeric_limits<double>::infinity(), covering = 0;
    for (uint32_t a = 0; a < size; ++a)
      for (uint32_t b = a + 1; b < size; ++b)
        separation = std::min(separation, squaredBetween(tree.position[a], tree.position[b]));
    for (size_t p = 0; p < tree.pointCount(); ++p) {
      double nearest = std::numeric_limits<double>::infinity();
      for (uint32_t a = 0; a < size; ++a)
        nearest = std::min(nearest, squaredBetween(tree.position[a], tree.position[p]));
      covering = std::max(covering, nearest);
    }
    EXPECT_EQ(std::sqrt(separation), tree.gap[size - 1]);
    EXPECT_EQ(std::sqrt(covering), tree.coveringRadius(level));
  }
}

TEST(SphereTree, HasTheStatedShape) {
  const BallPoints ball(5089, 4);
  const SphereTree tree = buildSphereTree(ball.points, ball.surface);
  EXPECT_EQ(tree.levels(), 14u);
  EXPECT_EQ(tree.occurrenceCount(), 13280u);
  EXPECT_EQ(tree.roots, std::vector<uint32_t>{0});
  // Mean radii that another program found for a ball like this one; with few spheres they depend on the
  // points.
  const double means[] = {2.0, 1.92, 1.74, 1.34, 0.94, 0.74, 0.53, 0.37, 0.25, 0.15, 0.08, 0.03, 0, 0};
  for (uint32_t level = 0; level < tree.levels(); ++level) {
    EXPECT_EQ(tree.levelSize(level), std::min(1u << level, 5089u));
    double sum = 0, largest = 0, steps = 0;
    for (uint32_t r = 0; r < tree.levelSize(level); ++r) {
      const double radius = tree.radius[tree.occurrence(level, r)];
      sum += radius;
      largest = std::max(largest, radius);
    }
    // A way down from level l is one step of at most its covering radius, then one of the next level's ...
    for (uint32_t below = level; below < tree.levels(); ++below) steps += tree.coveringRadius(below);
    EXPECT_LE(largest, steps + 1e-6) << level;
    EXPECT_LE(largest, 2.5 * tree.coveringRadius(level) + 1e-6) << level;
    EXPECT_NEAR(sum / tree.levelSize(level), means[level], level < 5 ? 0.3 : 0.02) << level;
  }
  EXPECT_NEAR(tree.radius[0], 2.0, 0.05);
  std::vector<uint32_t> sorted = tree.order;
  std::sort(sorted.begin(), sorted.end());
  for (uint32_t i = 0; i < sorted.size(); ++i) ASSERT_EQ(sorted[i], i);
  for (size_t r = 0; r < tree.pointCount(); ++r) {
    ASSERT_EQ(tree.position[r], ball.points[tree.order[r]]);
    ASSERT_EQ(tree.surface[r], ball.surface[tree.order[r]]);
    const uint32_t first = SphereTree::firstLevel(uint32_t(r));
    ASSERT_TRUE(r < tree.levelSize(first) && (first == 0 || r >= tree.levelSize(first - 1)));
  }
}

// Walks the links and returns the ranks that first occur below (and at) an occurrence.
void collect(const SphereTree& tree, uint32_t occurrence, std::vector<uint32_t>& ranks, size_t& visited) {
  ++visited;
  if (tree.firstChild[occurrence] == kNoIndex) ranks.push_back(tree.rank[occurrence]);
  for (uint32_t c = tree.firstChild[occurrence]; c != kNoIndex; c = tree.nextSibling[c]) {
    ASSERT_EQ(tree.parent[c], occurrence);
    collect(tree, c, ranks, visited);
  }
}

TEST(SphereTree, EveryDescendantIsWithinTheRadiusWhichIsTight) {
  for (const size_t n : {1u, 2u, 3u, 64u, 65u, 1500u}) {
    const BallPoints ball(n, 5);
    const SphereTree tree = buildSphereTree(ball.points);
    for (uint32_t o = 0; o < tree.occurrenceCount(); ++o) {
      std::vector<uint32_t> below;
      size_t visited = 0;
      collect(tree, o, below, visited);
      double farthest = 0;
      for (const uint32_t r : below)
        farthest = std::max(farthest, (tree.position[r] - tree.position[tree.rank[o]]).norm());
      ASSERT_LE(farthest, double(tree.radius[o]));
      ASSERT_NEAR(farthest, tree.radius[o], 1e-6);
      if (o != 0) continue;
      EXPECT_EQ(visited, tree.occurrenceCount());
      std::sort(below.begin(), below.end());
      EXPECT_EQ(below.size(), n);  // each point once
      EXPECT_EQ(std::set<uint32_t>(below.begin(), below.end()).size(), n);
    }
  }
}

TEST(SphereTree, FindsThePointsInsideAFieldWithoutMisses) {
  const BallPoints ball(2000, 6);
  const SphereTree tree = buildSphereTree(ball.points, ball.surface);
  const FieldPtr shape = makeTorusField(Vec3::Zero(), Vec3(0, 1, 0), 0.9, 0.3);
  RandomStream random(7);
  size_t evaluations = 0, found = 0;
  for (int pose = 0; pose < 1000; ++pose) {
    const Quat turn(random.normal(), random.normal(), random.normal(), random.normal());
    const FieldPtr field = makeTransformed(shape, turn.normalized(), 2.0 * random.unitVector());
    std::vector<double> exact(tree.pointCount()), cached(tree.pointCount(), NAN);
    field->values(tree.position, exact);
    std::vector<uint32_t> front = tree.roots;
    std::set<uint32_t> inside;
    for (size_t at = 0; at < front.size(); ++at) {
      const uint32_t o = front[at], r = tree.rank[o];
      if (std::isnan(cached[r])) {
        cached[r] = field->value(tree.position[r]);
        ++evaluations;
      }
      if (cached[r] < 0) inside.insert(r);
      if (cached[r] > double(tree.radius[o])) continue;
      for (uint32_t c = tree.firstChild[o]; c != kNoIndex; c = tree.nextSibling[c]) front.push_back(c);
    }
    size_t expected = 0;
    for (uint32_t r = 0; r < exact.size(); ++r) {
      expected += exact[r] < 0;
      ASSERT_EQ(inside.count(r), size_t(exact[r] < 0));
    }
    found += expected;
  }
  EXPECT_GT(found, 1000u);
  EXPECT_LT(evaluations, 1000 * tree.pointCount() / 3);  // most spheres are culled
}

TEST(SphereTree, SameForAnyNumberOfThreads) {
  const BallPoints ball(9000, 8);
  const auto run = [&](unsigned threads) {
    const ThreadLimit limit(threads);
    return buildSphereTree(ball.points, ball.surface);
  };
  const SphereTree one = run(1), three = run(3);
  EXPECT_EQ(one.order, three.order);
  EXPECT_EQ(one.parent, three.parent);
  EXPECT_EQ(one.radius, three.radius);
}

TEST(SphereTree, SmallAndBadSets) {
  EXPECT_EQ(buildSphereTree({}).levels(), 0u);
  const SphereTree one = buildSphereTree(std::vector<Vec3>{Vec3(1, 2, 3)});
  EXPECT_EQ(one.levels(), 1u);
  EXPECT_EQ(one.radius[0], 0);
  EXPECT_EQ(one.surface[0], 1);
  EXPECT_THROW(buildSphereTree(std::vector<Vec3>(3, Vec3::Zero()), std::vector<uint8_t>(2, 1)), Error);
}

}  // namespace
}  // namespace sunder::sdf
