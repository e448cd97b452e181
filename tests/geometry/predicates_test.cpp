#include "sunder/geometry/predicates.h"

#include "geometry/exact_oracle.h"

#include <array>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace sunder::geometry {

namespace {

using Random = std::mt19937_64;

enum class Family {
  Uniform,
  NearDegenerate,
  Grid,
  WideGrid,
  Lattice,
  Huge,
  Tiny,
  AnyExponent,
  AxisExponents,
  Count
};

double uniform(Random& random) { return 2 * (static_cast<double>(random() >> 11) * 0x1p-53) - 1; }

double nudged(double value, Random& random) {
  for (int64_t steps = static_cast<int64_t>(random() % 5) - 2; steps != 0; steps += steps > 0 ? -1 : 1) {
    value = std::nextafter(value, steps > 0 ? 10.0 : -10.0);
  }
  return value;
}

// Points on one flat (line, plane) or, when `round`, on one circle or sphere, up to two ulps.
template <class Vector, size_t N>
void nearDegenerate(std::array<Vector, N>& points, bool round, Random& random) {
  constexpr int kDimension = Vector::RowsAtCompileTime;
  Vector center, frame[kDimension];
  for (int k = 0; k < kDimension; ++k) center[k] = uniform(random);
  for (auto& axis : frame) {
    for (int k = 0; k < kDimension; ++k) axis[k] = uniform(random);
  }
  for (Vector& p : points) {
    p = center;
    if (round) {
      Vector direction;
      for (int k = 0; k < kDimension; ++k) direction[k] = uniform(random);
      p += 0.7 * direction.normalized();
    } else {
      for (int k = 0; k + 1 < kDimension; ++k) p += uniform(random) * frame[k];
    }
    for (int k = 0; k < kDimension; ++k) p[k] = nudged(p[k], random);
  }
}

// Integers of 4 to 26 bits, exactly on one flat, circle or sphere, but for a corner that is one off now and
// then. They sit around the widths up to which plain doubles are exact.
template <class Vector, size_t N>
void wideGrid(std::array<Vector, N>& points, bool round, Random& random) {
  constexpr int kDimension = Vector::RowsAtCompileTime;
  const uint64_t range = 1ull << (4 + random() % 23);
  auto vector = [&] {
    Vector v;
    for (int k = 0; k < kDimension; ++k) v[k] = static_cast<double>(random() % range);
    return v;
  };
  const Vector center = vector(), radius = vector();
  const Vector frame[2] = {vector(), vector()};
  for (Vector& p : points) {
    if (round) {
      p = radius;
      for (int k = 0; k < kDimension; ++k) {
        std::swap(p[k], p[static_cast<int>(random() % kDimension)]);
        if (random() % 2) p[k] = -p[k];
      }
      p += center;
    } else {
      p = center;
      for (int k = 0; k + 1 < kDimension; ++k) p += (static_cast<double>(random() % 9) - 4) * frame[k];
    }
    if (random() % 12 == 0) p[0] += 1;
  }
}

template <class Vector, size_t N>
std::array<Vector, N> makePoints(Family family, bool round, Random& random) {
  constexpr int kDimension = Vector::RowsAtCompileTime;
  std::array<Vector, N> points;
  int axisExponent[3];
  for (int& e : axisExponent) e = static_cast<int>(random() % 1800) - 900;
  const int64_t extent = random() % 2 ? 3 : 1000;
  auto integer = [&] {
    return static_cast<double>(static_cast<int64_t>(random() % (2 * extent + 1)) - extent);
  };
  for (Vector& p : points) {
    for (int k = 0; k < kDimension; ++k) {
      switch (family) {
        case Family::Uniform:
        case Family::NearDegenerate:
          p[k] = uniform(random);
          break;
        case Family::Grid:
          p[k] = integer();
          break;
        case Family::Lattice:
          p[k] = 0.1 * integer() + 7.3;
          break;
        case Family::Huge:
          p[k] = std::ldexp(random() % 3 ? uniform(random) : integer() / 1024, 1023);
          break;
        case Family::Tiny:
          p[k] = std::ldexp(integer(), -1074 + static_cast<int>(random() % 3));
          break;
        case Family::AnyExponent:
          p[k] = random() % 8 ? std::ldexp(uniform(random), static_cast<int>(random() % 2097) - 1074) : 0;
          break;
        default:
          p[k] = std::ldexp(random() % 2 ? uniform(random) : integer(), axisExponent[k]);
      }
    }
  }
  if (family == Family::NearDegenerate) nearDegenerate(points, round, random);
  if (family == Family::WideGrid) wideGrid(points, round, random);
  if (random() % 16 == 0) points[random() % N] = points[random() % N];
  return points;
}

template <class Vector, size_t N, class Ours, class Theirs>
void compare(const char* name, size_t count, bool round, uint64_t seed, Ours ours, Theirs theirs) {
  Random random(seed);
  size_t zeros = 0, wrong = 0;
  for (size_t i = 0; i < count; ++i) {
    // The wide exponents are slow in the oracle, hence rare.
    const uint64_t die = random() % 40;
    const Family family = die < 10   ? Family::Uniform
                          : die < 22 ? Family::NearDegenerate
                          : die < 26 ? Family::Grid
                          : die < 30 ? Family::WideGrid
                          : die < 34 ? Family::Lattice
                          : die < 36 ? Family::Huge
                          : die < 38 ? Family::Tiny
                          : die < 39 ? Family::AnyExponent
                                     : Family::AxisExponents;
    const auto points = makePoints<Vector, N>(family, round, random);
    const double value = std::apply(ours, points);
    const int expected = std::apply(theirs, points);
    zeros += expected == 0;
    if (sign(value) != expected || !std::isfinite(value)) {
      if (++wrong < 5) {
        ADD_FAILURE() << name << ", family " << static_cast<int>(family) << ": " << value << ", exact sign "
                      << expected;
      }
    }
  }
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(zeros, count / 100);  // the exact stage was really asked
}

void compareAll(size_t each, uint64_t seed) {
  const auto o2 = [](auto&... p) { return orient2d(p...); };
  const auto o3 = [](auto&... p) { return orient3d(p...); };
  const auto ic = [](auto&... p) { return incircle(p...); };
  const auto is = [](auto&... p) { return insphere(p...); };
  compare<Vec2, 3>("orient2d", each, false, seed, o2, [](auto&... p) { return oracle::orient2d(p...); });
  compare<Vec3, 4>("orient3d", each, false, seed + 1, o3, [](auto&... p) { return oracle::orient3d(p...); });
  compare<Vec2, 4>("incircle", each, true, seed + 2, ic, [](auto&... p) { return oracle::incircle(p...); });
  compare<Vec3, 5>("insphere", each, true, seed + 3, is, [](auto&... p) { return oracle::insphere(p...); });
}

}  // namespace

TEST(Predicates, SignConventions) {
  EXPECT_GT(orient2d(Vec2(0, 0), Vec2(1, 0), Vec2(0, 1)), 0);
  const Vec3 a(0, 0, 0), b(1, 0, 0), c(0, 1, 0), d(0, 0, 1);
  EXPECT_EQ(orient3d(a, b, c, d), 1);
  EXPECT_GT((b - a).cross(c - a).dot(d - a), 0);
  EXPECT_GT(incircle(Vec2(0, 0), Vec2(1, 0), Vec2(0, 1), Vec2(0.5, 0.5)), 0);
  EXPECT_LT(incircle(Vec2(0, 0), Vec2(1, 0), Vec2(0, 1), Vec2(1.5, 0.5)), 0);
  EXPECT_EQ(incircle(Vec2(0, 0), Vec2(1, 0), Vec2(0, 1), Vec2(1, 1)), 0);
  EXPECT_GT(insphere(a, b, c, d, Vec3(0.5, 0.4, 0.3)), 0);
  EXPECT_LT(insphere(a, b, c, d, Vec3(1.5, 0.4, 0.3)), 0);
  EXPECT_EQ(insphere(a, b, c, d, Vec3(1, 1, 1)), 0);
}

// The magnitude is the determinant's wherever that fits in a double.
TEST(Predicates, ValueIsTheDeterminant) {
  EXPECT_EQ(orient3d(Vec3(1, 1, 1), Vec3(3, 1, 1), Vec3(1, 4, 1), Vec3(1, 1, 6)), 30);
  EXPECT_EQ(orient2d(Vec2(0, 0), Vec2(0x1p-1060, 0), Vec2(0, 0x1p1000)), 0x1p-60);
  EXPECT_EQ(orient2d(Vec2(0, 0), Vec2(1e300, 0), Vec2(0, 1e300)), std::numeric_limits<double>::max());
  EXPECT_EQ(orient2d(Vec2(0, 0), Vec2(0, 1e-300), Vec2(1e-300, 0)),
            -std::numeric_limits<double>::denorm_min());
  EXPECT_NEAR(orient3d(Vec3(0, 0, 0), Vec3(1e-70, 0, 0), Vec3(0, 3, 0), Vec3(0, 0, 7)) / 21e-70, 1, 1e-15);
}

TEST(Predicates, ExtremesOfTheRange) {
  const double big = std::numeric_limits<double>::max(), tiny = std::numeric_limits<double>::denorm_min();
  EXPECT_GT(
      orient3d(Vec3(-big, -big, -big), Vec3(big, -big, -big), Vec3(-big, big, -big), Vec3(-big, -big, big)),
      0);
  EXPECT_GT(orient3d(Vec3(0, 0, 0), Vec3(tiny, 0, 0), Vec3(0, tiny, 0), Vec3(0, 0, tiny)), 0);
  EXPECT_EQ(orient2d(Vec2(-big, -big), Vec2(0, 0), Vec2(big, big)), 0);
  EXPECT_LT(orient2d(Vec2(-big, -big), Vec2(0, tiny), Vec2(big, big)), 0);
  EXPECT_GT(orient2d(Vec2(-big, -big), Vec2(0, -tiny), Vec2(big, big)), 0);
  EXPECT_EQ(insphere(Vec3(big, 0, 0), Vec3(-big, 0, 0), Vec3(0, big, 0), Vec3(0, 0, big), Vec3(0, -big, 0)),
            0);
  const double o = orient3d(Vec3(big, 0, 0), Vec3(-big, 0, 0), Vec3(0, big, 0), Vec3(0, 0, big));
  const double s =
      insphere(Vec3(big, 0, 0), Vec3(-big, 0, 0), Vec3(0, big, 0), Vec3(0, 0, big), Vec3(0, tiny, 0));
  EXPECT_EQ(sign(s), sign(o));
}

TEST(Predicates, SignsEqualGmp) { compareAll(250'000, 1); }

TEST(PredicatesFull, SignsEqualGmp) {
  for (uint64_t round = 0; round < 10; ++round) compareAll(250'000, 100 + 4 * round);
}

// Swapping two points negates the sign, except for the query point of the circle and sphere tests, where an
// odd permutation of the others does.
TEST(Predicates, TranspositionsFlipTheSign) {
  Random random(7);
  for (int i = 0; i < 15'000; ++i) {
    const Family family = static_cast<Family>(random() % static_cast<uint64_t>(Family::Count));
    auto p = makePoints<Vec3, 5>(family, random() % 2, random);
    const int o = sign(orient3d(p[0], p[1], p[2], p[3]));
    const int s = sign(insphere(p[0], p[1], p[2], p[3], p[4]));
    const size_t j = random() % 4, k = (j + 1 + random() % 3) % 4;
    std::swap(p[j], p[k]);
    ASSERT_EQ(sign(orient3d(p[0], p[1], p[2], p[3])), -o);
    ASSERT_EQ(sign(insphere(p[0], p[1], p[2], p[3], p[4])), -s);
    auto q = makePoints<Vec2, 4>(family, random() % 2, random);
    const int o2 = sign(orient2d(q[0], q[1], q[2])), c = sign(incircle(q[0], q[1], q[2], q[3]));
    std::swap(q[j % 3], q[(j + 1) % 3]);
    ASSERT_EQ(sign(orient2d(q[0], q[1], q[2])), -o2);
    ASSERT_EQ(sign(incircle(q[0], q[1], q[2], q[3])), -c);
  }
}

TEST(Predicates, CollinearInSpace) {
  EXPECT_TRUE(collinear(Vec3(0, 0, 0), Vec3(1, 2, 3), Vec3(2, 4, 6)));
  EXPECT_TRUE(collinear(Vec3(1, 1, 1), Vec3(1, 1, 1), Vec3(2, 4, 6)));
  EXPECT_FALSE(collinear(Vec3(0, 0, 0), Vec3(1, 2, 3), Vec3(2, 4, std::nextafter(6, 7))));
  EXPECT_EQ(normalAxis(Vec3(0, 0, 0), Vec3(0, 5, 0), Vec3(0.1, 0, 5)), 0);
  Random random(3);
  for (int i = 0; i < 5'000; ++i) {
    const auto p = makePoints<Vec3, 3>(Family::AnyExponent, false, random);
    const int axis = static_cast<int>(i % 3);
    const Vec2 q[] = {withoutAxis(p[0], axis), withoutAxis(p[1], axis), withoutAxis(p[2], axis)};
    ASSERT_EQ(sign(orient2d(p[0], p[1], p[2], axis)), oracle::orient2d(q[0], q[1], q[2]));
  }
}

}  // namespace sunder::geometry
