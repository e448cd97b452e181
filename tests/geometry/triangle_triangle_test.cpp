#include "sunder/geometry/triangle_triangle.h"

#include "geometry/exact_oracle.h"

#include <optional>
#include <random>
#include <set>

#include <gtest/gtest.h>

namespace sunder::geometry {

namespace {

__extension__ typedef __int128 Int128;
using Random = std::mt19937_64;
using Label = std::pair<TriangleFeature, TriangleFeature>;

// Brute force in integers N (128 bits on small grids, GMP elsewhere). A point is homogeneous, with w > 0.
template <class N>
struct Brute {
  using Point = std::array<N, 3>;
  using Tri = std::array<Point, 3>;
  struct Homogeneous {
    Point x;
    N w;
  };

  static Point minus(const Point& a, const Point& b) {
    return {N(a[0] - b[0]), N(a[1] - b[1]), N(a[2] - b[2])};
  }
  static N dot(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
  static Point cross(const Point& a, const Point& b) {
    return {N(a[1] * b[2] - a[2] * b[1]), N(a[2] * b[0] - a[0] * b[2]), N(a[0] * b[1] - a[1] * b[0])};
  }
  static bool zero(const Point& a) { return a[0] == 0 && a[1] == 0 && a[2] == 0; }
  static Point normal(const Tri& t) { return cross(minus(t[1], t[0]), minus(t[2], t[0])); }
  // w (x/w - a)
  static Point offset(const Homogeneous& h, const Point& a) {
    return {N(h.x[0] - h.w * a[0]), N(h.x[1] - h.w * a[1]), N(h.x[2] - h.w * a[2])};
  }

  // Is there a plane that has the one strictly on this side and the other strictly beyond?
  static bool separated(const Tri& p, const Tri& q) {
    std::vector<Point> axes;
    std::array<Point, 3> ep, eq;
    for (size_t i = 0; i < 3; ++i) {
      ep[i] = minus(p[(i + 1) % 3], p[i]);
      eq[i] = minus(q[(i + 1) % 3], q[i]);
      axes.push_back(ep[i]);
      axes.push_back(eq[i]);
    }
    const Point np = normal(p), nq = normal(q);
    axes.push_back(np);
    axes.push_back(nq);
    for (size_t i = 0; i < 3; ++i) {
      axes.push_back(cross(np, ep[i]));
      axes.push_back(cross(nq, eq[i]));
      for (size_t j = 0; j < 3; ++j) {
        const Point d = minus(p[i], q[j]);
        axes.push_back(cross(ep[i], eq[j]));
        axes.push_back(d);
        for (size_t k = 0; k < 3; ++k) {  // for segments and points: from a corner straight to a line
          axes.push_back(cross(ep[k], cross(ep[k], d)));
          axes.push_back(cross(eq[k], cross(eq[k], d)));
        }
      }
    }
    for (const Point& axis : axes) {
      if (zero(axis)) continue;
      std::array<N, 3> a, b;
      for (size_t i = 0; i < 3; ++i) {
        a[i] = dot(axis, p[i]);
        b[i] = dot(axis, q[i]);
      }
      const auto [lowA, highA] = std::minmax_element(a.begin(), a.end());
      const auto [lowB, highB] = std::minmax_element(b.begin(), b.end());
      if (*highA < *lowB || *highB < *lowA) return true;
    }
    return false;
  }

  // Is the point in the inside of that feature (of a triangle with area where it is the face)?
  static bool holds(const Tri& t, TriangleFeature f, const Homogeneous& h) {
    if (f.kind == FeatureKind::Vertex) return zero(offset(h, t[f.index]));
    if (f.kind == FeatureKind::Edge) {
      const Point &a = t[f.index], &b = t[(f.index + 1u) % 3];
      const Point ab = minus(b, a), fromA = offset(h, a), fromB = offset(h, b);
      return zero(cross(ab, fromA)) && dot(ab, fromA) > 0 && dot(ab, fromB) < 0;
    }
    const Point n = normal(t);
    if (zero(n) || dot(n, offset(h, t[0])) != 0) return false;
    for (size_t i = 0; i < 3; ++i) {
      if (dot(n, cross(minus(t[(i + 1) % 3], t[i]), offset(h, t[i]))) <= 0) return false;
    }
    return true;
  }

  // The one point in which the insides of the two features can cross, if they do not run along each other.
  static std::optional<Homogeneous> crossing(const Tri& p, TriangleFeature f, const Tri& q,
                                             TriangleFeature g) {
    if (f.kind == FeatureKind::Vertex) return Homogeneous{p[f.index], N(1)};
    if (g.kind == FeatureKind::Vertex) return Homogeneous{q[g.index], N(1)};
    if (f.kind == FeatureKind::Face) {
      if (g.kind == FeatureKind::Face) return std::nullopt;
      return crossing(q, g, p, f);
    }
    const Point &a = p[f.index], &b = p[(f.index + 1u) % 3];
    const Point ab = minus(b, a);
    N numerator, w;
    if (g.kind == FeatureKind::Face) {
      const Point n = normal(q);
      numerator = dot(n, minus(q[0], a));
      w = dot(n, ab);
    } else {
      const Point &c = q[g.index], cd = minus(q[(g.index + 1u) % 3], c);
      const Point n = cross(ab, cd);
      numerator = dot(cross(minus(c, a), cd), n);
      w = dot(n, n);
    }
    if (w == 0) return std::nullopt;
    if (w < 0) {
      w = -w;
      numerator = -numerator;
    }
    return Homogeneous{
        {N(w * a[0] + numerator * ab[0]), N(w * a[1] + numerator * ab[1]), N(w * a[2] + numerator * ab[2])},
        w};
  }

  static bool meets(const Tri& p, const Tri& q, const Label& label, Homogeneous* point = nullptr) {
    const auto h = crossing(p, label.first, q, label.second);
    if (!h || !holds(p, label.first, *h) || !holds(q, label.second, *h)) return false;
    if (point) *point = *h;
    return true;
  }
};

const std::vector<TriangleFeature>& allFeatures() {
  static const std::vector<TriangleFeature> all{
      {FeatureKind::Vertex, 0}, {FeatureKind::Vertex, 1}, {FeatureKind::Vertex, 2}, {FeatureKind::Edge, 0},
      {FeatureKind::Edge, 1},   {FeatureKind::Edge, 2},   {FeatureKind::Face, 0}};
  return all;
}

auto key(const Label& l) {
  return std::array<int, 4>{int(l.first.kind), l.first.index, int(l.second.kind), l.second.index};
}

struct MeetingTally {
  std::array<size_t, 7> byCount{};
  size_t thin = 0;
};

double asDouble(Int128 v) { return static_cast<double>(v); }
double asDouble(const mpz_class& v) { return v.get_d(); }

// Checks every claim of meeting() with exact arithmetic.
template <class N>
void verify(const TriangleCorners& a, const TriangleCorners& b,
            const std::array<typename Brute<N>::Tri, 2>& exact, double tolerance, MeetingTally& tally) {
  using B = Brute<N>;
  const auto& [p, q] = exact;
  const TriangleMeeting m = meeting(a, b);
  const bool thin = B::zero(B::normal(p)) || B::zero(B::normal(q));
  ++tally.byCount[m.count];
  tally.thin += thin;
  ASSERT_EQ(intersect(a, b), m.kind != MeetingKind::None);
  ASSERT_EQ(intersect(b, a), m.kind != MeetingKind::None);
  ASSERT_EQ(static_cast<int>(m.kind), std::min<int>(m.count, 3));
  if (m.kind == MeetingKind::None) {
    ASSERT_TRUE(B::separated(p, q));
  }
  std::set<std::array<int, 4>> labels;
  std::vector<typename B::Homogeneous> corners;
  for (const MeetingPoint& point : m.points()) {
    typename B::Homogeneous h;
    ASSERT_TRUE(B::meets(p, q, {point.onFirst, point.onSecond}, &h)) << "claimed features do not meet";
    labels.insert(key({point.onFirst, point.onSecond}));
    corners.push_back(h);
    if (point.onFirst.kind == FeatureKind::Vertex) {
      ASSERT_EQ(point.position, a[point.onFirst.index]);
    } else if (tolerance > 0) {
      for (int k = 0; k < 3; ++k) {
        const double expected = asDouble(h.x[static_cast<size_t>(k)]) / asDouble(h.w);
        ASSERT_NEAR(point.position[k], expected, tolerance);
      }
    }
  }
  ASSERT_EQ(labels.size(), m.count);
  if (!thin) {  // nothing is missing: each pair of features that meets in a point is a corner of the
                // intersection
    std::set<std::array<int, 4>> expected;
    for (const TriangleFeature& f : allFeatures()) {
      for (const TriangleFeature& g : allFeatures()) {
        if (B::meets(p, q, {f, g})) expected.insert(key({f, g}));
      }
    }
    ASSERT_EQ(labels, expected);
  }
  for (size_t i = 0; m.kind == MeetingKind::Polygon && i < corners.size(); ++i) {
    const auto &h0 = corners[i], &h1 = corners[(i + 1) % corners.size()],
               &h2 = corners[(i + 2) % corners.size()];
    typename B::Point u, v;
    for (size_t k = 0; k < 3; ++k) {
      u[k] = h1.x[k] * h0.w - h0.x[k] * h1.w;
      v[k] = h2.x[k] * h1.w - h1.x[k] * h2.w;
    }
    ASSERT_TRUE(B::dot(B::normal(p), B::cross(u, v)) > 0) << "not convex and counter-clockwise";
  }
  if (m.kind == MeetingKind::Segment && !thin) {
    typename B::Point u;
    for (size_t k = 0; k < 3; ++k) u[k] = corners[1].x[k] * corners[0].w - corners[0].x[k] * corners[1].w;
    ASSERT_FALSE(B::dot(u, B::cross(B::normal(p), B::normal(q))) < 0);
  }
  const TriangleMeeting swapped = meeting(b, a);
  std::set<std::array<int, 4>> swappedLabels;
  for (const MeetingPoint& point : swapped.points())
    swappedLabels.insert(key({point.onSecond, point.onFirst}));
  ASSERT_EQ(labels, swappedLabels);
}

void gridCases(size_t count, uint64_t seed, MeetingTally& tally) {
  Random random(seed);
  for (size_t n = 0; n < count && !testing::Test::HasFatalFailure(); ++n) {
    const int64_t extent = 1 + static_cast<int64_t>(random() % 4);
    const bool planar = random() % 3 == 0;
    std::array<TriangleCorners, 2> t;
    std::array<Brute<Int128>::Tri, 2> exact;
    for (size_t s = 0; s < 2; ++s) {
      for (size_t i = 0; i < 3; ++i) {
        for (size_t k = 0; k < 3; ++k) {
          int64_t x = static_cast<int64_t>(random() % (2 * static_cast<uint64_t>(extent) + 1)) - extent;
          // A plane that is not parallel to the axes: z = x + 2 y, coordinates still small.
          if (planar && k == 2) x = static_cast<int64_t>(exact[s][i][0] + 2 * exact[s][i][1]);
          exact[s][i][k] = x;
          t[s][i][static_cast<int>(k)] = static_cast<double>(x);
        }
      }
    }
    verify<Int128>(t[0], t[1], exact, 1e-13, tally);
  }
}

// Doubles in general and nearly degenerate position; the exact side works with GMP.
void doubleCases(size_t count, uint64_t seed, MeetingTally& tally) {
  Random random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  auto point = [&] { return Vec3(uniform(random), uniform(random), uniform(random)); };
  auto nudge = [&](Vec3& v) {
    for (int k = 0; k < 3; ++k) {
      const uint64_t die = random() % 4;
      if (die < 2) v[k] = std::nextafter(v[k], die ? 9 : -9);
    }
  };
  for (size_t n = 0; n < count && !testing::Test::HasFatalFailure(); ++n) {
    std::array<TriangleCorners, 2> t;
    for (auto& tri : t) {
      for (Vec3& v : tri) v = point();
    }
    switch (random() % 5) {
      case 0:
        break;
      case 1: {  // nearly the same plane
        for (Vec3& v : t[1]) {
          v = t[0][0] + (uniform(random) + 0.5) * (t[0][1] - t[0][0]) + uniform(random) * (t[0][2] - t[0][0]);
          nudge(v);
        }
        break;
      }
      case 2: {  // a corner nearly on an edge, another corner shared
        const double w = 0.5 + 0.5 * uniform(random);
        t[1][0] = w * t[0][0] + (1 - w) * t[0][1];
        nudge(t[1][0]);
        if (random() % 2) t[1][1] = t[0][2];
        break;
      }
      case 3: {  // edges that nearly cross
        const Vec3 x = 0.3 * t[0][0] + 0.7 * t[0][1];
        t[1][1] = x + 0.5 * (x - t[1][0]);
        nudge(t[1][1]);
        break;
      }
      default: {  // slivers
        t[0][2] = 0.25 * t[0][0] + 0.75 * t[0][1];
        if (random() % 2) t[1][2] = t[1][0];
        if (random() % 2) t[1][0] = 0.4 * t[0][0] + 0.6 * t[0][1];
      }
    }
    if (random() % 8 == 0) {
      const double scale = std::ldexp(1.0, random() % 2 ? 900 : -1000);
      for (auto& tri : t) {
        for (Vec3& v : tri) v *= scale;
      }
    }
    std::vector<double> flat;
    for (auto& tri : t) {
      for (Vec3& v : tri) flat.insert(flat.end(), v.begin(), v.end());
    }
    mpz_class integers[18];
    oracle::toIntegers(flat.data(), 18, integers);
    std::array<Brute<mpz_class>::Tri, 2> exact;
    for (size_t i = 0; i < 18; ++i) exact[i / 9][(i / 3) % 3][i % 3] = integers[i];
    verify<mpz_class>(t[0], t[1], exact, 0, tally);
  }
}

void expectVariety(const MeetingTally& tally) {
  for (size_t points = 0; points <= 6; ++points) EXPECT_GT(tally.byCount[points], 10u) << points << " points";
  EXPECT_GT(tally.thin, 1000u);
}

}  // namespace

TEST(TriangleTriangle, SmallGridsEqualBruteForce) {
  MeetingTally tally;
  gridCases(100'000, 5, tally);
  expectVariety(tally);
}

TEST(TriangleTriangle, NearlyDegenerateEqualsBruteForce) {
  MeetingTally tally;
  doubleCases(6'000, 6, tally);
  EXPECT_GT(tally.byCount[0], 100u);
  EXPECT_GT(tally.byCount[2], 100u);
}

TEST(TriangleTriangleFull, EqualsBruteForce) {
  MeetingTally tally;
  gridCases(2'000'000, 50, tally);
  doubleCases(100'000, 60, tally);
  expectVariety(tally);
}

TEST(TriangleTriangle, CrossingGivesTheSegment) {
  const TriangleCorners a{Vec3(0, 0, 0), Vec3(4, 0, 0), Vec3(0, 4, 0)};
  const TriangleCorners b{Vec3(1, 1, -1), Vec3(1, 1, 1), Vec3(1, 5, 0)};
  const TriangleMeeting m = meeting(a, b);
  ASSERT_EQ(m.kind, MeetingKind::Segment);
  const Vec3 direction = m.points()[1].position - m.points()[0].position;
  EXPECT_NEAR(direction.norm(), 2, 1e-15);  // from (1,1,0) on b's edge to (1,3,0) on a's hypotenuse
  const Vec3 expected = (a[1] - a[0]).cross(a[2] - a[0]).cross((b[1] - b[0]).cross(b[2] - b[0]));
  EXPECT_GT(direction.dot(expected), 0);
}

TEST(TriangleTriangle, StarOfDavidIsAHexagon) {
  const TriangleCorners a{Vec3(0, 3, 1), Vec3(-2, -1, 1), Vec3(2, -1, 1)};
  const TriangleCorners b{Vec3(0, -2, 1), Vec3(2, 2, 1), Vec3(-2, 2, 1)};
  const TriangleMeeting m = meeting(a, b);
  ASSERT_EQ(m.kind, MeetingKind::Polygon);
  ASSERT_EQ(m.count, 6);
  for (const MeetingPoint& p : m.points()) {
    EXPECT_EQ(p.onFirst.kind, FeatureKind::Edge);
    EXPECT_EQ(p.onSecond.kind, FeatureKind::Edge);
    EXPECT_EQ(p.position.z(), 1);
  }
}

TEST(TriangleTriangle, TouchingByOneUlpDecides) {
  const TriangleCorners a{Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0)};
  const double above = std::numeric_limits<double>::denorm_min();
  TriangleCorners b{Vec3(0.25, 0.25, 0), Vec3(1, 1, 1), Vec3(0, 1, 1)};
  EXPECT_TRUE(intersect(a, b));
  EXPECT_EQ(meeting(a, b).points()[0].onSecond, (TriangleFeature{FeatureKind::Vertex, 0}));
  b[0].z() = above;
  EXPECT_FALSE(intersect(a, b));
}

}  // namespace sunder::geometry
