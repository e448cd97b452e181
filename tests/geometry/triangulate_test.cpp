#include "sunder/geometry/triangulate.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/geometry/predicates.h"

#include <cmath>
#include <map>
#include <random>

#include <gtest/gtest.h>

namespace sunder::geometry {

namespace {

using Polygon = std::vector<Vec2>;
using Loops = std::vector<Polygon>;

double polygonArea(const Polygon& p) {
  double twice = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    const Vec2 &a = p[i], &b = p[(i + 1) % p.size()];
    twice += (a - p[0]).x() * (b - p[0]).y() - (a - p[0]).y() * (b - p[0]).x();
  }
  return twice / 2;
}

// Every polygon edge once, in its direction; every other edge twice, in opposite directions.
void expectEdges(std::span<const Triangle> triangles, const std::vector<std::vector<uint32_t>>& loops) {
  std::map<std::pair<uint32_t, uint32_t>, int> uses;
  for (const Triangle& t : triangles) {
    for (size_t k = 0; k < 3; ++k) ++uses[{t[k], t[(k + 1) % 3]}];
  }
  for (const auto& loop : loops) {
    for (size_t i = 0; i < loop.size(); ++i) {
      const uint32_t a = loop[i], b = loop[(i + 1) % loop.size()];
      // A chord may run along a polygon edge in bad polygons: what counts is the balance.
      EXPECT_EQ((uses[{a, b}]) - (uses[{b, a}]), 1) << a << " " << b;
      uses[{a, b}] = uses[{b, a}] = 0;
    }
  }
  for (const auto& [edge, count] : uses) EXPECT_EQ(count, (uses[{edge.second, edge.first}]));
}

std::vector<uint32_t> count(size_t n, size_t offset = 0) {
  std::vector<uint32_t> ring(n);
  for (size_t i = 0; i < n; ++i) ring[i] = static_cast<uint32_t>(offset + i);
  return ring;
}

// A simple polygon: clean, positive triangles only, areas add up.
void expectClean(const Polygon& p) {
  const Triangulation result = triangulate(p);
  ASSERT_EQ(result.triangles.size(), p.size() - 2);
  EXPECT_TRUE(result.clean);
  EXPECT_EQ(result.forced + result.zeroArea, 0u);
  expectEdges(result.triangles, {count(p.size())});
  const double whole = polygonArea(p);
  double sum = 0;
  for (const Triangle& t : result.triangles) {
    const double o = orient2d(p[t[0]], p[t[1]], p[t[2]]);
    ASSERT_GT(o * whole, 0);
    sum += o / 2;
  }
  EXPECT_NEAR(sum / whole, 1, 1e-12);
}

void expectCleanBothWays(Polygon p) {
  expectClean(p);
  std::reverse(p.begin(), p.end());
  expectClean(p);
}

Polygon star(size_t n, double inner, uint64_t seed = 0) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> radius(inner, 1);
  Polygon p;
  for (size_t i = 0; i < n; ++i) {
    const double angle = 2 * kPi * static_cast<double>(i) / static_cast<double>(n);
    const double r = seed ? radius(random) : (i % 2 ? inner : 1);
    p.push_back({r * std::cos(angle), r * std::sin(angle)});
  }
  return p;
}

Polygon comb(int teeth) {
  Polygon p{{0, 0}, {2.0 * teeth, 0}};
  for (int i = teeth; i > 0; --i) {
    p.push_back({2.0 * i, 1});
    p.push_back({2.0 * i - 1, 10});
    p.push_back({2.0 * i - 1.5, 1});
  }
  return p;
}

Polygon spiral(size_t n) {
  Polygon p;
  auto at = [&](size_t i, double width) {
    const double angle = 0.1 * static_cast<double>(i), r = 1 + 0.2 * angle + width;
    return Vec2(r * std::cos(angle), r * std::sin(angle));
  };
  for (size_t i = 0; i < n / 2; ++i) p.push_back(at(i, 0.3));
  for (size_t i = n / 2; i-- > 0;) p.push_back(at(i, 0));
  return p;
}

// A random simple polygon: random corners, crossings undone by reversing the part between them.
Polygon untangled(size_t n, int extent, std::mt19937_64& random) {
  std::vector<Vec2> p;
  while (p.size() < n) {
    const Vec2 x(static_cast<double>(random() % static_cast<uint64_t>(extent)),
                 static_cast<double>(random() % static_cast<uint64_t>(extent)));
    if (std::find(p.begin(), p.end(), x) == p.end()) p.push_back(x);
  }
  for (bool changed = true;
       changed;) {  // shortening moves end, and the shortest tour of points has no crossing
    changed = false;
    for (size_t i = 0; i + 2 < n; ++i) {
      for (size_t j = i + 2; j < n; ++j) {
        const Vec2 &a = p[i], &b = p[i + 1], &c = p[j], &d = p[(j + 1) % n];
        if ((c - a).norm() + (d - b).norm() < (b - a).norm() + (d - c).norm() - 1e-9) {
          std::reverse(p.begin() + static_cast<ptrdiff_t>(i) + 1, p.begin() + static_cast<ptrdiff_t>(j) + 1);
          changed = true;
        }
      }
    }
  }
  return p;
}

bool simple(const Polygon& p) {
  const size_t n = p.size();
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) {
      if (j == i) continue;
      const Vec2 &a = p[i], &b = p[(i + 1) % n], &c = p[j], &d = p[(j + 1) % n];
      const bool inBox = c.x() >= std::min(a.x(), b.x()) && c.x() <= std::max(a.x(), b.x()) &&
                         c.y() >= std::min(a.y(), b.y()) && c.y() <= std::max(a.y(), b.y());
      if (j != (i + 1) % n && orient2d(a, b, c) == 0 && inBox) return false;
      if (sign(orient2d(a, b, c)) * sign(orient2d(a, b, d)) < 0 &&
          sign(orient2d(c, d, a)) * sign(orient2d(c, d, b)) < 0) {
        return false;
      }
    }
  }
  // Neighbours that fold back on each other.
  for (size_t i = 0; i < n; ++i) {
    const Vec2 &a = p[i], &b = p[(i + 1) % n], &c = p[(i + 2) % n];
    if (orient2d(a, b, c) == 0 && (b - a).dot(c - b) < 0) return false;
  }
  return true;
}

void expectRegion(const Polygon& outer, const Loops& holes, double expectedArea) {
  const Triangulation result = triangulate(outer, holes);
  Polygon all = outer;
  std::vector<std::vector<uint32_t>> loops;
  auto addLoop = [&](const Polygon& loop, size_t offset, bool ccw) {
    loops.push_back(count(loop.size(), offset));
    if ((polygonArea(loop) > 0) != ccw) std::reverse(loops.back().begin(), loops.back().end());
  };
  addLoop(outer, 0, true);
  for (const Polygon& hole : holes) {
    addLoop(hole, all.size(), false);
    all.insert(all.end(), hole.begin(), hole.end());
  }
  ASSERT_EQ(result.triangles.size(), all.size() + 2 * holes.size() - 2);
  EXPECT_TRUE(result.clean) << result.zeroArea << " without area, " << result.forced << " forced";
  double sum = 0;
  for (const Triangle& t : result.triangles) {
    ASSERT_GT(orient2d(all[t[0]], all[t[1]], all[t[2]]), 0);
    sum += orient2d(all[t[0]], all[t[1]], all[t[2]]) / 2;
  }
  EXPECT_NEAR(sum / expectedArea, 1, 1e-12);
  expectEdges(result.triangles, loops);
}

Polygon square(double x, double y, double size) {
  return {{x, y}, {x + size, y}, {x + size, y + size}, {x, y + size}};
}

}  // namespace

TEST(Triangulate, StarsCombsAndSpirals) {
  for (const size_t n : {3u, 4u, 5u, 6u, 7u, 31u, 200u, 2000u}) expectCleanBothWays(star(n, 1));
  for (const size_t n : {10u, 100u, 1000u}) {
    expectCleanBothWays(star(n, 0.05));
    expectCleanBothWays(star(n, 0.01, n));
  }
  for (const int teeth : {1, 2, 10, 300}) expectCleanBothWays(comb(teeth));
  for (const size_t n : {8u, 100u, 1000u}) expectCleanBothWays(spiral(n));
}

TEST(Triangulate, TenThousandCorners) {
  expectClean(star(10'000, 0.3));
  expectClean(star(10'000, 0.02, 17));
  expectClean(spiral(10'000));
}

TEST(Triangulate, StraightCornersGiveNoEmptyTriangles) {
  Polygon p;  // a square with 40 corners, 36 of them straight
  const Polygon corners = square(0, 0, 10);
  for (size_t side = 0; side < 4; ++side) {
    for (int k = 0; k < 10; ++k)
      p.push_back(corners[side] + k * 0.1 * (corners[(side + 1) % 4] - corners[side]));
  }
  for (Vec2& x : p) x = {std::round(x.x()), std::round(x.y())};
  expectCleanBothWays(p);
  Polygon t{{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}, {0, 3}};  // all straight ones on one side
  expectCleanBothWays(t);
  for (Vec2& x : t) x = Vec2(x.x() * 0.1 + x.y(), x.x() - 0.3 * x.y());  // no longer quite straight
  expectCleanBothWays(t);
}

TEST(Triangulate, RandomSimplePolygonsOnGrids) {
  std::mt19937_64 random(11);
  int tested = 0;
  for (int round = 0; round < 600; ++round) {
    const Polygon p = untangled(5 + random() % 25, 6 + static_cast<int>(random() % 40), random);
    if (!simple(p)) continue;
    ++tested;
    expectCleanBothWays(p);
  }
  EXPECT_GT(tested, 200);
}

// Areas here are beyond doubles; the signs are not.
TEST(Triangulate, ThinByOneUlpAndExtremeSizes) {
  const double up = std::nextafter(1.0, 2.0), tiny = 5e-324;
  for (Polygon p : {Polygon{{0, 0}, {1, 1}, {2, 2}, {1, up}},
                    Polygon{{0, 0}, {1e300, 1e300}, {1.5e308, 1.6e308}, {0, 1e300}},
                    Polygon{{-1e308, -1e308}, {1e308, -1e308}, {0, 0}, {1e308, 1e308}, {-1e308, 1e308}},
                    Polygon{{0, 0}, {3 * tiny, 0}, {tiny, tiny}, {0, 3 * tiny}}}) {
    for (const int turn : {1, -1}) {
      const Triangulation result = triangulate(p);
      EXPECT_TRUE(result.clean);
      ASSERT_EQ(result.triangles.size(), p.size() - 2);
      expectEdges(result.triangles, {count(p.size())});
      for (const Triangle& t : result.triangles) EXPECT_EQ(sign(orient2d(p[t[0]], p[t[1]], p[t[2]])), turn);
      std::reverse(p.begin(), p.end());
    }
  }
}

TEST(Triangulate, BadPolygonsKeepTheirEdgesAndSaySo) {
  const std::vector<Polygon> bad{
      {{0, 0}, {2, 2}, {2, 0}, {0, 2}},                                  // crosses itself
      {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {1, 0}},                          // no area
      {{1, 1}, {1, 1}, {1, 1}, {1, 1}},                                  // a point
      {{0, 0}, {0, 0}, {1, 0}, {1, 1}, {1, 1}, {0, 1}},                  // repeated corners
      {{0, 0}, {4, 0}, {4, 4}, {2, 4}, {2, 7}, {2, 4}, {0, 4}},          // a spike
      {{0, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 0}, {1, 0}, {1, 1}, {0, 1}},  // twice around
  };
  for (const Polygon& p : bad) {
    const Triangulation result = triangulate(p);
    EXPECT_EQ(result.triangles.size(), p.size() - 2);
    EXPECT_FALSE(result.clean);
    expectEdges(result.triangles, {count(p.size())});
  }
  EXPECT_EQ(triangulate(bad[3]).zeroArea, 2u);
  EXPECT_EQ(triangulate(bad[3]).forced, 0u);
  Polygon pentagram;
  for (int i = 0; i < 5; ++i) pentagram.push_back({std::cos(0.8 * kPi * i), std::sin(0.8 * kPi * i)});
  EXPECT_FALSE(triangulate(pentagram).clean);
  std::mt19937_64 random(4);
  for (const size_t n : {5u, 8u, 50u, 5000u}) {
    Polygon p;
    for (size_t i = 0; i < n; ++i)
      p.push_back({static_cast<double>(random() % 9), static_cast<double>(random() % 9)});
    const Triangulation result = triangulate(p);
    EXPECT_EQ(result.triangles.size(), n - 2);
    expectEdges(result.triangles, {count(n)});
  }
  EXPECT_TRUE(triangulate(Polygon{}).triangles.empty());
  EXPECT_TRUE(triangulate(Polygon{{0, 0}, {1, 0}}).triangles.empty());
}

TEST(Triangulate, Holes) {
  expectRegion(square(0, 0, 3), {square(1, 1, 1)}, 8);
  Loops grid;  // all hole corners in line with each other
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) grid.push_back(square(2 * i + 1, 2 * j + 1, 1));
  }
  expectRegion(square(0, 0, 17), grid, 17 * 17 - 64);
  for (size_t i = 0; i < grid.size(); i += 2) std::reverse(grid[i].begin(), grid[i].end());
  expectRegion(square(0, 0, 17), grid, 17 * 17 - 64);
  const Polygon round = star(200, 1), starHole = star(60, 0.3);
  Polygon ring = starHole;
  for (Vec2& x : ring) x *= 0.9;
  expectRegion(round, {ring}, polygonArea(round) - polygonArea(ring));
  // A hole inside the arms of another hole.
  const Polygon c{{1, 1}, {9, 1}, {9, 3}, {3, 3}, {3, 7}, {9, 7}, {9, 9}, {1, 9}};
  expectRegion(square(0, 0, 10), {c, square(5, 4, 1), square(7, 5, 1)}, 100 - polygonArea(c) - 2);
}

TEST(Triangulate, RandomHoles) {
  std::mt19937_64 random(21);
  for (int round = 0; round < 40; ++round) {
    Loops holes;
    Polygon outer = star(40, 1);
    for (Vec2& x : outer) x = 40 * x + Vec2(30, 30);
    double expected = polygonArea(outer);
    for (int i = 0; i < 5; ++i) {
      for (int j = 0; j < 5; ++j) {
        Polygon hole = untangled(4 + random() % 8, 9, random);
        if (!simple(hole) || random() % 3 == 0) continue;
        for (Vec2& x : hole) x += Vec2(10 * i + 6, 10 * j + 6);
        expected -= std::abs(polygonArea(hole));
        holes.push_back(hole);
      }
    }
    expectRegion(outer, holes, expected);
  }
}

TEST(Triangulate, BadHolesAreReported) {
  const Triangulation outside = triangulate(square(0, 0, 1), Loops{square(5, 5, 1)});
  EXPECT_FALSE(outside.clean);
  EXPECT_EQ(outside.triangles.size(), 8u);
  const Triangulation crossing = triangulate(square(0, 0, 2), Loops{square(1, 1, 3)});
  EXPECT_FALSE(crossing.clean);
  EXPECT_EQ(crossing.triangles.size(), 8u);
  EXPECT_THROW(triangulate(square(0, 0, 1), Loops{{{0.5, 0.5}}}), Error);
  EXPECT_THROW(triangulate(Polygon{{0, 0}, {1, 0}}, Loops{}), Error);
}

TEST(Triangulate, InSpace) {
  const Eigen::Quaterniond turn(0.3, 0.5, -0.4, 0.7);
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> noise(-1e-3, 1e-3);
  for (const Polygon& p : {star(50, 0.2), comb(10), spiral(60), star(4, 1), star(3, 1)}) {
    std::vector<Vec3> lifted;
    for (const Vec2& x : p) {
      lifted.push_back(turn.normalized() * Vec3(x.x(), x.y(), noise(random)) + Vec3(3, 1, 2));
    }
    const Triangulation result = triangulate(lifted);
    EXPECT_TRUE(result.clean);
    ASSERT_EQ(result.triangles.size(), p.size() - 2);
    expectEdges(result.triangles, {count(p.size())});
    Vec3 sum = Vec3::Zero();
    double total = 0;
    for (const Triangle& t : result.triangles) {
      const Vec3 n = (lifted[t[1]] - lifted[t[0]]).cross(lifted[t[2]] - lifted[t[0]]) / 2;
      sum += n;
      total += n.norm();
    }
    EXPECT_NEAR(sum.norm() / polygonArea(p), 1, 1e-4);  // the noise
    EXPECT_NEAR(total / polygonArea(p), 1, 0.05);       // no triangle lies upside down
  }
}

TEST(Triangulate, QuadsTakeAGoodDiagonal) {
  auto diagonal = [](const std::vector<Vec3>& quad) {
    const Triangulation t = triangulate(quad);
    EXPECT_TRUE(t.clean);
    expectEdges(t.triangles, {count(4)});
    return t.triangles[0] == Triangle{0, 1, 2} ? 0 : 1;
  };
  EXPECT_EQ(diagonal({{0, 0, 0}, {3, 0, 0}, {1, 1, 0}, {0, 3, 0}}), 0);  // concave at 2
  EXPECT_EQ(diagonal({{1, 1, 0}, {0, 3, 0}, {0, 0, 0}, {3, 0, 0}}), 0);  // concave at 0
  EXPECT_EQ(diagonal({{0, 3, 0}, {0, 0, 0}, {3, 0, 0}, {1, 1, 0}}), 1);  // concave at 3
  EXPECT_EQ(diagonal({{0, 0, 0}, {1, 0, 0}, {3, 1, 0}, {0, 1, 0}}), 1);  // the shorter one
}

TEST(Triangulate, SoupToTriangles) {
  PolygonSoup soup;
  soup.positions = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {2, 0.5, 0}, {0.5, 3, 0}};
  for (const std::vector<uint32_t>& face :
       std::vector<std::vector<uint32_t>>{{4, 2, 1}, {0, 1, 2, 3}, {0, 1}, {0, 1, 4, 2, 5, 3}}) {
    soup.addFace(face);
  }
  std::vector<uint32_t> source;
  const TriMesh mesh = toTriMesh(soup, &source);
  EXPECT_EQ(mesh.positions, soup.positions);
  EXPECT_EQ(source, (std::vector<uint32_t>{0, 1, 1, 3, 3, 3, 3}));
  EXPECT_EQ(mesh.triangles[0], (Triangle{4, 2, 1}));
  expectEdges(std::span(mesh.triangles).subspan(3), {{0, 1, 4, 2, 5, 3}});
  soup.addFace(std::array<uint32_t, 3>{0, 1, 6});
  EXPECT_THROW(toTriMesh(soup), Error);
}

TEST(Triangulate, SoupIsTheSameForAnyNumberOfThreads) {
  PolygonSoup soup;
  std::mt19937_64 random(9);
  for (uint32_t f = 0; f < 5000; ++f) {
    const Polygon p = star(4 + random() % 9, 0.3, 1 + random() % 100);
    std::vector<uint32_t> face;
    for (const Vec2& x : p) {
      face.push_back(static_cast<uint32_t>(soup.positions.size()));
      soup.positions.push_back({x.x(), x.y(), 0});
    }
    soup.addFace(face);
  }
  auto with = [&](unsigned threads) {
    const ThreadLimit limit(threads);
    return toTriMesh(soup).triangles;
  };
  const std::vector<Triangle> serial = with(1);
  EXPECT_EQ(with(2), serial);
  EXPECT_EQ(with(4), serial);
}

}  // namespace sunder::geometry
