// The signs of cutting against the same numbers in rational arithmetic with a shift that is merely tiny.
#include "sunder/cut/kernel/shifted.h"

#include "sunder/base/random.h"
#include "sunder/geometry/triangulate.h"

#include "cut/cut_shapes.h"
#include "cut/rational.h"

namespace sunder::cut {

namespace {

using namespace testing;

// Few different coordinates, so that most answers are zero without the shift.
Vec3 gridPoint(RandomStream& random, uint32_t cells) {
  return {double(random.below(cells)), double(random.below(cells)), double(random.below(cells))};
}

class ShiftedSigns : public ::testing::TestWithParam<uint32_t> {};

TEST_P(ShiftedSigns, AgreeWithATinyShift) {
  RandomStream random(GetParam());
  const RVec3 shift = tinyShift();
  size_t zero = 0;
  for (int i = 0; i < 4000; ++i) {
    const Vec3 p = gridPoint(random, GetParam()), q = gridPoint(random, GetParam());
    const Vec3 a = gridPoint(random, GetParam()), b = gridPoint(random, GetParam()),
               c = gridPoint(random, GetParam());
    const Corners3 face{&a, &b, &c};
    const RVec3 still[] = {exact(p), exact(q)};
    const RVec3 shifted[] = {exact(a) + shift, exact(b) + shift, exact(c) + shift};
    // The face is the cutter's, then the mesh's.
    const Rational d = side(still[0], shifted[0], shifted[1], shifted[2]);
    EXPECT_EQ(sideOfMeshVertex(p, face), sgn(d));
    zero += side(still[0], exact(a), exact(b), exact(c)) == 0;
    EXPECT_EQ(sideOfCutterVertex(p, face), sgn(side(still[0] + shift, exact(a), exact(b), exact(c))));
    const Rational o = dot(still[1] - still[0], crossed(shifted[0] - still[0], shifted[1] - still[0]));
    EXPECT_EQ(passing(p, q, a, b), sgn(o));

    // The order of two crossings.
    const Vec3 e = gridPoint(random, GetParam()), f = gridPoint(random, GetParam()),
               g = gridPoint(random, GetParam());
    const Corners3 other{&e, &f, &g};
    for (const bool cutterEdge : {false, true}) {
      const RVec3 move = cutterEdge ? shift : RVec3{0, 0, 0}, against = cutterEdge ? RVec3{0, 0, 0} : shift;
      const auto place = [&](const Vec3& x, const Vec3& y, const Vec3& z, Rational& t) {
        const Rational from =
            side(exact(p) + move, exact(x) + against, exact(y) + against, exact(z) + against);
        const Rational to = side(exact(q) + move, exact(x) + against, exact(y) + against, exact(z) + against);
        if (sgn(from) * sgn(to) >= 0) return false;
        t = from / (from - to);
        return true;
      };
      Rational t, u;
      if (!place(a, b, c, t) || !place(e, f, g, u)) continue;
      EXPECT_EQ(compareCrossings(p, q, face, other, cutterEdge), sgn(Rational(t - u)));
      const Crossing x = crossing(p, q, face);
      EXPECT_NEAR(x.t, t.get_d(), 1e-15 + x.error);
      EXPECT_LT(x.error, 1e-14);
    }
  }
  if (GetParam() < 4) {
    EXPECT_GT(zero, 1000u);
  }
}

INSTANTIATE_TEST_SUITE_P(Grids, ShiftedSigns, ::testing::Values(2u, 3u, 8u, 1000u));

// A concave polygon through its triangles: the crossings add up to the winding of the polygon around the
// point where the segment meets its plane, by rationals.
void comparePolygons(int rounds, uint64_t seed) {
  RandomStream random(seed);
  size_t hits = 0;
  for (int i = 0; i < rounds; ++i) {
    // A star, so that it is simple; its plane z = 0.
    const uint32_t n = 5 + random.below(8);
    std::vector<Vec3> ring;
    for (uint32_t k = 0; k < n; ++k) {
      const double angle = 2 * kPi * k / n, r = random.uniform(0.2, 1);
      ring.push_back({std::round(1024 * r * std::cos(angle)), std::round(1024 * r * std::sin(angle)), 0});
    }
    const auto triangulation = geometry::triangulate(std::span<const Vec3>(ring));
    if (!triangulation.clean) continue;
    const Vec3 p(random.uniform(-900, 900), random.uniform(-900, 900), random.uniform(-900, -1));
    const Vec3 q(random.uniform(-900, 900), random.uniform(-900, 900), random.uniform(1, 900));
    int crossings = 0;
    for (const auto& t : triangulation.triangles)
      crossings += crossingOf(p, q, kMesh, {&ring[t[0]], &ring[t[1]], &ring[t[2]]});
    const Rational t = Rational(p.z()) / (Rational(p.z()) - Rational(q.z()));
    const RVec3 x = exact(p) + scaled(exact(q) - exact(p), t);
    int winding = 0;
    for (uint32_t k = 0; k < n; ++k) {
      const RVec3 a = exact(ring[k]), b = exact(ring[(k + 1) % n]);
      const Rational turn = (b[0] - a[0]) * (x[1] - a[1]) - (b[1] - a[1]) * (x[0] - a[0]);
      if (a[1] <= x[1] && b[1] > x[1] && turn > 0) ++winding;
      if (b[1] <= x[1] && a[1] > x[1] && turn < 0) --winding;
    }
    ASSERT_EQ(crossings, winding) << "round " << i;
    hits += crossings != 0;
  }
  EXPECT_GT(hits, size_t(rounds) / 10);
}

TEST(ShiftedCrossings, C11_ConcavePolygonsAgreeWithRationals) { comparePolygons(20'000, 1); }
TEST(ShiftedCrossingsFull, C11_ConcavePolygonsAgreeWithRationals) { comparePolygons(1'000'000, 2); }

}  // namespace

}  // namespace sunder::cut
