// The k nearest points, by grid and by tree, against sorting all of them (spec 04, 9.5).
#include "sunder/spatial/points/k_nearest.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"

#include "spatial/particle_cases.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sunder::spatial {
namespace {

constexpr NearestMethod kMethods[] = {NearestMethod::Automatic, NearestMethod::Grid, NearestMethod::Tree};

void expectBruteForce(const std::vector<Vec3>& points, const std::vector<Vec3>& queries, uint32_t k,
                      bool skipSame, const char* what) {
  SCOPED_TRACE(what);
  std::vector<uint32_t> expected;
  std::vector<double> distances;
  for (size_t q = 0; q < queries.size(); ++q) {
    std::vector<std::pair<double, uint32_t>> all;
    for (uint32_t i = 0; i < points.size(); ++i) {
      const Vec3 d = points[i] - queries[q];
      if (!skipSame || i != q) all.push_back({(d.x() * d.x() + d.y() * d.y()) + d.z() * d.z(), i});
    }
    std::sort(all.begin(), all.end());
    all.resize(std::min<size_t>(k, all.size()));
    for (const auto& [d2, i] : all) expected.push_back(i), distances.push_back(d2);
  }
  NearestPoints result;
  for (NearestMethod method : kMethods) {
    kNearest(points, queries, k, result, {.method = method, .skipSame = skipSame});
    EXPECT_TRUE(result.points == expected) << int(method);
    EXPECT_TRUE(result.squaredDistances == distances) << int(method);
    EXPECT_EQ(result.perQuery * queries.size(), expected.size());
  }
}

TEST(KNearest, EqualsBruteForce) {
  const std::vector<Vec3> points = randomPoints(2000, cube(-1, 1), 1);
  const std::vector<Vec3> queries = randomPoints(500, cube(-1, 1), 2);
  for (uint32_t k : {1u, 4u, 8u, 50u}) expectBruteForce(points, queries, k, false, "inside");
  expectBruteForce(points, randomPoints(300, cube(-4, 4), 3), 6, false, "around");
  expectBruteForce(points, randomPoints(50, cube(1e6, 1e6 + 1), 3), 6, false, "far off");
  expectBruteForce(points, points, 5, true, "themselves");
  expectBruteForce(points, points, 2, false, "themselves included");
}

TEST(KNearest, AllKindsOfClouds) {
  const std::vector<Vec3> queries = randomPoints(200, cube(-1, 1), 2);
  expectBruteForce(randomPoints(1000, {Vec3(-1, 0.5, -1), Vec3(1, 0.5, 1)}), queries, 5, false, "plane");
  expectBruteForce(randomPoints(1000, {Vec3(0, 0.5, -1), Vec3(0, 0.5, 1)}), queries, 5, false, "line");
  expectBruteForce(std::vector<Vec3>(300, Vec3(0.1, 0.2, 0.3)), queries, 5, false, "one place");
  std::vector<Vec3> lattice;
  for (int i = 0; i < 1000; ++i) lattice.push_back(0.25 * Vec3(i % 10, i / 10 % 10, i / 100));
  expectBruteForce(lattice, lattice, 7, true, "lattice");  // ties by index
  std::vector<Vec3> clusters;
  RandomStream random(4);
  for (double far : {0.0, 1e3, -1e9, 1e30})
    for (int i = 0; i < 100; ++i) clusters.push_back(Vec3(far, 0, -far) + random.pointIn(cube(-1, 1)));
  expectBruteForce(clusters, queries, 5, false, "clusters");
  expectBruteForce(clusters, clusters, 5, true, "clusters themselves");
}

TEST(KNearest, FewerThanAskedFor) {
  const std::vector<Vec3> queries = randomPoints(10, cube(-1, 1), 2);
  for (size_t n = 0; n < 6; ++n) {
    const std::vector<Vec3> points = randomPoints(n, cube(-1, 1), n);
    expectBruteForce(points, queries, 3, false, "few");
    expectBruteForce(points, points, 3, true, "few, themselves");
    expectBruteForce(points, queries, 0, false, "none wanted");
    expectBruteForce(points, {}, 3, false, "no queries");
  }
}

TEST(KNearest, SameForAnyThreads) {
  const std::vector<Vec3> points = randomPoints(20'000, cube(0, 1), 1);
  NearestPoints first, result;
  for (NearestMethod method : kMethods)
    for (unsigned threads : {1u, 2u, 4u}) {
      const ThreadLimit limit(threads);
      kNearest(points, points, 6, result, {.method = method, .skipSame = true});
      if (first.points.empty()) first = result;
      EXPECT_TRUE(result.points == first.points && result.squaredDistances == first.squaredDistances);
    }
}

TEST(KNearest, RefusesByName) {
  std::vector<Vec3> points = randomPoints(100, cube(0, 1)), queries = randomPoints(50, cube(0, 1));
  NearestPoints result;
  const auto message = [&](bool skip) -> std::string {
    try {
      kNearest(points, queries, 3, result, {.skipSame = skip});
    } catch (const Error& e) {
      return e.message();
    }
    return "";
  };
  EXPECT_NE(message(true).find("100 points and 50 queries"), std::string::npos);
  queries[7].z() = std::nan("");
  EXPECT_NE(message(false).find("query 7 "), std::string::npos);
  points[70].x() = 1e39;
  EXPECT_NE(message(false).find("point 70 "), std::string::npos);
}

TEST(KNearestFull, TenThousandVertices) {
  const std::vector<Vec3> points = randomPoints(10'000, cube(-1, 1), 1);
  expectBruteForce(points, randomPoints(10'000, cube(-1.1, 1.1), 2), 8, false, "many");
}

}  // namespace
}  // namespace sunder::spatial
