#include "sunder/fluid/boundary/density_map.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/random.h"
#include "sunder/base/simd.h"
#include "sunder/fluid/boundary/boundary_quadrature.h"
#include "sunder/sdf/analytic_field.h"
#include "sunder/sdf/mesh_field.h"
#include "sunder/shapes/round.h"
#include "sunder/shapes/wall.h"

#include "fluid/map_asking.h"
#include "fluid/sphere_density.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include <gtest/gtest.h>

namespace sunder::fluid {
namespace {

// Worst errors of value, and of the gradient times the support, against the closed form of a plane at the
// height `level`, which is moved through a cell.
struct PlaneErrors {
  double value = 0, gradient = 0;
};
PlaneErrors planeErrors(double cell, double offset) {
  PlaneErrors worst;
  RandomStream random(11);
  const double r = kMapSupport;
  for (int phase = 0; phase < 8; ++phase) {
    const double level = cell * phase / 8;
    const sdf::FieldPtr plane = sdf::makePlaneField(Vec3::UnitY(), level);
    const DensityMap map(*plane, {Vec3(-0.4 * r, -2 * r, -0.4 * r), Vec3(0.4 * r, 3 * r, 0.4 * r)},
                         {.support = r, .cell = cell, .offset = offset});
    EXPECT_EQ(map.report().nodes, 0);  // all by the closed form
    for (int trial = 0; trial < 4000; ++trial) {
      Vec3 p = random.pointIn({Vec3(-0.4 * r, -0.9 * r, -0.4 * r), Vec3(0.4 * r, 2.2 * r, 0.4 * r)})
                   .cast<float>()
                   .cast<double>();
      const Vec4f got = ask(map, p);
      const PlaneDensity exact = planeBoundaryDensity((p.y() - level) / r + offset);
      worst.value = std::max(worst.value, std::abs(got[3] - exact.value));
      worst.gradient =
          std::max(worst.gradient, (r * got.head<3>().cast<double>() - Vec3(0, exact.slope, 0)).norm());
    }
  }
  return worst;
}

// Specification 10, check 16 and the table of E.4.
TEST(DensityMap, ErrorsOnPlanesFallAsTheSpecificationSays) {
  const double table[][3] = {
      {1, 5.9e-3, 1.0e-1}, {0.5, 4.7e-4, 1.7e-2}, {0.25, 3.1e-5, 2.3e-3}, {0.125, 2.0e-6, 2.9e-4}};
  PlaneErrors before;
  for (const auto& [cell, value, gradient] : table) {
    const PlaneErrors now = planeErrors(cell * kMapSupport, 0);
    EXPECT_LT(now.value, 1.1 * value) << cell;
    EXPECT_LT(now.gradient, 1.1 * gradient) << cell;
    if (cell < 0.5) {
      EXPECT_GT(before.value / now.value, 11) << cell;  // order 4 would be 16, rounding takes part of it
      EXPECT_GT(before.gradient / now.gradient, 6.5) << cell;
    }
    before = now;
  }
}

TEST(DensityMap, PlanesOfAnyOrientationAndOffset) {
  RandomStream random(12);
  for (int trial = 0; trial < 5; ++trial) {
    const Vec3 normal = random.unitVector();
    const sdf::FieldPtr plane = sdf::makePlaneField(normal, 0.02);
    const double offset = trial * 0.25;
    const DensityMap map(*plane, cube(3 * kMapSupport), {.support = kMapSupport, .offset = offset});
    const PlaneMap exact(normal, 0.02, {.support = kMapSupport, .offset = offset});
    double worst = 0, worstSlope = 0;
    for (int n = 0; n < 2000; ++n) {
      const Vec3 p = random.pointIn(cube(3 * kMapSupport));
      if (normal.dot(p) - 0.02 < -2.5 * kMapSupport) continue;
      const Vec4f point(float(p.x()), float(p.y()), float(p.z()), 0);
      Vec4f should;
      exact.samples({&point, 1}, {&should, 1});
      const Vec4f got = ask(map, p);
      worst = std::max(worst, double(std::abs(got[3] - should[3])));
      worstSlope = std::max(worstSlope, double((got - should).head<3>().norm()) * kMapSupport);
    }
    EXPECT_LT(worst, 6e-4);
    EXPECT_LT(worstSlope, 2e-2);
  }
}

// Check 17: nodes by quadrature of the sampled field to 2e-4; the spread of 5e-4 needs cells of a quarter of
// the support.
void compareBalls(double cell) {
  for (const double offset : {0.0, 0.5}) {
    const double radius = 3 * kMapSupport;
    const sdf::FieldPtr ball = sdf::makeSphereField(Vec3::Zero(), radius);
    const DensityMap map(*ball, cube(6 * kMapSupport),
                         {.support = kMapSupport, .cell = cell * kMapSupport, .offset = offset});
    EXPECT_EQ(map.report().planeNodes, 0);
    const Box3 box = map.bounds();
    RandomStream random(13);
    double worstNode = 0, worst = 0, worstSpread = 0;
    // Corners of cells.
    for (int n = 0; n < 3000; ++n) {
      Vec3 p;
      for (int d = 0; d < 3; ++d)
        p[d] = box.lower[d] +
               map.settings().cell * double(random.nextU32() % (map.report().cells[size_t(d)] + 1));
      const double distance = p.norm();
      if (distance < radius - kMapSupport || distance > radius + 2 * kMapSupport) continue;
      worstNode = std::max(
          worstNode, std::abs(double(ask(map, p)[3]) - sphereDensity(radius, kMapSupport, offset, distance)));
    }
    for (double t = -0.9; t < 1.9; t += 0.2) {
      const double distance = radius + t * kMapSupport,
                   exact = sphereDensity(radius, kMapSupport, offset, distance);
      double least = 10, most = -10;
      for (int n = 0; n < 1000; ++n) {
        const double value = ask(map, distance * random.unitVector())[3];
        least = std::min(least, value);
        most = std::max(most, value);
      }
      worst = std::max({worst, exact - least, most - exact});
      worstSpread = std::max(worstSpread, most - least);
    }
    EXPECT_LT(worstNode, 2e-4);
    // With cells of half a support most of it is the interpolation, whose errors on planes have both signs
    // and are as large.
    EXPECT_LT(worst, cell == 0.5 ? 6e-4 : 2.5e-4);
    EXPECT_LT(worstSpread, cell == 0.5 ? 1e-3 : 4.5e-4);
  }
}

TEST(DensityMap, BallsAreAsRoundAsTheyShouldBe) { compareBalls(0.5); }
TEST(DensityMapFull, BallsAreRounderWithSmallerCells) { compareBalls(0.25); }

TEST(DensityMap, GradientIsThatOfTheValue) {
  const sdf::FieldPtr torus =
      sdf::makeTorusField(Vec3::Zero(), Vec3(1, 2, 3), 3 * kMapSupport, 1.5 * kMapSupport);
  const DensityMap map(*torus, cube(6 * kMapSupport), {.support = kMapSupport});
  RandomStream random(22);
  const double h = 0.01 * map.settings().cell;
  int compared = 0;
  double jumps = 0;
  for (int n = 0; n < 4000; ++n) {
    const Vec3 p = random.pointIn(cube(5 * kMapSupport));
    const Vec4f got = ask(map, p);
    for (int d = 0; d < 3; ++d) {
      // Not over a face: there it jumps.
      const double u = (p[d] - map.bounds().lower[d]) / map.settings().cell, fraction = u - std::floor(u);
      const double difference =
          (double(ask(map, p + h * Vec3::Unit(d))[3]) - double(ask(map, p - h * Vec3::Unit(d))[3])) / (2 * h);
      if (fraction < 0.02 || fraction > 0.98) {
        jumps = std::max(jumps, std::abs(got[d] - difference) * kMapSupport);
        continue;
      }
      ASSERT_NEAR(got[d] * kMapSupport, difference * kMapSupport, 2e-3) << p.transpose();
      ++compared;
    }
  }
  EXPECT_GT(compared, 8000);
  EXPECT_LT(jumps, 4e-2);
}

TEST(DensityMap, IsContinuousOverFacesOfCells) {
  const sdf::FieldPtr ball = sdf::makeSphereField(Vec3(0.01, 0, 0.02), 2.5 * kMapSupport);
  const DensityMap map(*ball, cube(5 * kMapSupport), {.support = kMapSupport});
  RandomStream random(23);
  for (int n = 0; n < 3000; ++n) {
    Vec3 p = random.pointIn(cube(4 * kMapSupport));
    const int d = n % 3;
    p[d] = map.bounds().lower[d] +
           map.settings().cell * std::round((p[d] - map.bounds().lower[d]) / map.settings().cell);
    const Vec3 step = 1e-5 * map.settings().cell * Vec3::Unit(d);
    if (p.norm() < 1.2 * kMapSupport) continue;  // the deep part is continued from each cell's centre
    ASSERT_NEAR(ask(map, p - step)[3], ask(map, p + step)[3], 5e-5);
  }
}

TEST(DensityMap, ZeroOutOfReach) {
  const double r = kMapSupport;
  const sdf::FieldPtr ball = sdf::makeSphereField(Vec3::Zero(), 3 * r);
  const DensityMap map(*ball, cube(20 * r), {.support = r});
  // Cut to what the solid reaches.
  EXPECT_LT(map.bounds().upper.maxCoeff(), 5.1 * r);
  EXPECT_EQ(ask(map, Vec3(0, 4.8 * r, 0)), Vec4f::Zero());
  EXPECT_EQ(ask(map, Vec3(0, 19 * r, 0)), Vec4f::Zero());
  EXPECT_GT(ask(map, Vec3(0, 4.1 * r, 0))[3], 0);
  const auto nan = std::numeric_limits<double>::quiet_NaN(),
             infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(ask(map, Vec3(nan, 0, 0)), Vec4f::Zero());
  EXPECT_EQ(ask(map, Vec3(0, infinity, 0)), Vec4f::Zero());
  EXPECT_EQ(ask(map, Vec3(0, 0, 1e30)), Vec4f::Zero());
  // The solid is elsewhere.
  const DensityMap none(*ball, {Vec3::Constant(10 * r), Vec3::Constant(12 * r)}, {.support = r});
  EXPECT_TRUE(none.bounds().empty());
  EXPECT_EQ(ask(none, Vec3::Constant(11 * r)), Vec4f::Zero());
  EXPECT_EQ(none.bytes(), 0);
}

// Specification 10, E.3: a lone particle has 0.318 of the rest density from itself.
TEST(DensityMap, ALoneParticleRestsWhereItShould) {
  const sdf::FieldPtr floor = sdf::makePlaneField(Vec3::UnitY(), 0);
  const DensityMap map(*floor, cube(3 * kMapSupport), {.support = kMapSupport, .offset = 0});
  double low = 0, high = kMapSupport;
  for (int n = 0; n < 40; ++n) {
    const double middle = 0.5 * (low + high);
    (ask(map, Vec3(0.013, middle, -0.021))[3] + 0.318 > 1 ? low : high) = middle;
  }
  EXPECT_NEAR(low / kMapSupport, 0.3185, 0.3185 * 0.005);
}

TEST(DensityMap, AMeshGivesWhatItsFormulaGives) {
  const double r = kMapSupport;
  const Vec3 half(4 * r, 3 * r, 2 * r);
  const sdf::MeshField mesh(shapes::makeBox({.size = 2 * half}));
  const sdf::FieldPtr formula = sdf::makeBoxField({-half, half});
  for (const bool tank : {false, true}) {
    const DensityMap a(mesh, cube(5 * r), {.support = r, .outside = tank});
    const DensityMap b(*formula, cube(5 * r), {.support = r, .outside = tank});
    EXPECT_EQ(a.report().keptCells, b.report().keptCells);
    RandomStream random(25);
    for (int n = 0; n < 2000; ++n) {
      const Vec3 p = random.pointIn(cube(5 * r));
      const Vec4f x = ask(a, p), y = ask(b, p);
      if (std::abs(formula->value(p)) > 1.4 * r) continue;  // sides of the middle are a matter of taste
      ASSERT_NEAR(x[3], y[3], 1e-5);
      ASSERT_LT((x - y).head<3>().norm() * r, 1e-4);
    }
  }
}

// `supports`: how often the support of the other tests; larger ones have fewer cells.
void expectSameBitsOnAllTargets(double supports) {
  const double r = kMapSupport;
  const sdf::MeshField mesh(shapes::makeRippledSphere({8, 0.1}));
  const Box3 domain = cube(1.5);
  const size_t count = 1003;  // blocks and a rest
  RandomStream random(26);
  std::vector<Vec4f> points(count), samples(count), first;
  std::vector<float> values(count);
  for (Vec4f& p : points) p.head<3>() = random.pointIn(cube(1.6)).cast<float>();
  size_t inside = 0;
  const auto check = [&](const std::string& what) {
    const DensityMap map(mesh, domain, {.support = supports * r});
    map.samples(points, samples);
    map.values(points, values);
    inside = 0;
    for (size_t i = 0; i < count; ++i) {
      ASSERT_EQ(samples[i][3], values[i]) << what << " " << i;
      if (!first.empty()) {
        ASSERT_EQ(samples[i], first[i]) << what << " " << i;
      }
      inside += values[i] > 0;
    }
    first = samples;
  };
  for (const std::string& target : simdTargets()) {
    const SimdTargetOverride use(target);
    check(target);
  }
  for (const unsigned threads : {1u, 2u, 4u}) {
    const ThreadLimit limit(threads);
    check(std::to_string(threads));
  }
  EXPECT_GT(inside, count / 4);
  EXPECT_LT(inside, count);
}
TEST(DensityMap, SameBitsOnAllTargetsAndForAnyNumberOfThreads) { expectSameBitsOnAllTargets(3); }
TEST(DensityMap, SameBitsOfCoarseMapsOnAllTargets) { expectSameBitsOnAllTargets(12); }

// Points one at a time and in long lists get the same.
TEST(DensityMap, SharedByManyAndAskedInAnyPortion) {
  const auto map = std::make_shared<const DensityMap>(*sdf::makeSphereField(Vec3::Zero(), 0.3), cube(0.6),
                                                      DensityMapSettings{.support = 0.1});
  RandomStream random(27);
  std::vector<Vec4f> points(300), all(300);
  for (Vec4f& p : points) p.head<3>() = random.pointIn(cube(0.6)).cast<float>();
  map->samples(points, all);
  for (size_t i = 0; i < points.size(); ++i) EXPECT_EQ(ask(*map, points[i].head<3>().cast<double>()), all[i]);
  const DensityMap copy = *map;
  std::vector<Vec4f> again(300);
  copy.samples(points, again);
  EXPECT_EQ(again, all);
  map->samples({}, {});
  std::vector<Vec4f> few(10);
  EXPECT_THROW(map->samples(points, few), Error);
}

TEST(DensityMap, BadInputIsRefused) {
  const sdf::FieldPtr ball = sdf::makeSphereField(Vec3::Zero(), 1);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto refused = [&](const Box3& domain, const DensityMapSettings& settings, ErrorKind kind) {
    try {
      const DensityMap map(*ball, domain, settings);
      ADD_FAILURE() << "was made";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
      EXPECT_FALSE(error.hint().empty()) << error.what();
    }
  };
  for (const double support : {0.0, -1.0, nan, double(INFINITY)})
    refused(cube(2), {.support = support}, ErrorKind::Usage);
  for (const double cell : {-0.1, 0.6, nan})
    refused(cube(2), {.support = 0.5, .cell = cell}, ErrorKind::Usage);
  for (const double offset : {-1.1, 1.1, nan})
    refused(cube(2), {.support = 0.5, .offset = offset}, ErrorKind::Usage);
  refused({}, {.support = 0.5}, ErrorKind::Usage);
  refused({Vec3(0, 0, nan), Vec3::Ones()}, {.support = 0.5}, ErrorKind::Usage);
  refused({Vec3::Zero(), Vec3(1, INFINITY, 1)}, {.support = 0.5}, ErrorKind::Usage);
  refused(cube(2), {.support = 0.002}, ErrorKind::Limit);
  EXPECT_THROW(PlaneMap(Vec3::Zero(), 0, {.support = 1}), Error);
  EXPECT_THROW(PlaneMap(Vec3::UnitY(), nan, {.support = 1}), Error);
  EXPECT_THROW(PlaneMap(Vec3::UnitY(), 0, {}), Error);
}

TEST(PlaneMap, IsTheClosedForm) {
  const double r = kMapSupport;
  const PlaneMap floor(Vec3(0, 2, 0), 0.6, {.support = r, .offset = 0});  // y <= 0.3
  const PlaneMap ceiling(Vec3(0, 1, 0), 0.3, {.support = r, .outside = true});
  for (double t = -1; t < 2.2; t += 0.1) {
    Vec4f point(5, float(0.3 + t * r), -3, 1), out;
    floor.samples({&point, 1}, {&out, 1});
    const PlaneDensity exact = planeBoundaryDensity((double(point.y()) - 0.3) / r);
    EXPECT_NEAR(out[3], exact.value, 1e-6);
    EXPECT_NEAR(out[1], exact.slope / r, 1e-5);
    EXPECT_EQ(out[0], 0);
    float value;
    floor.values({&point, 1}, {&value, 1});
    EXPECT_EQ(value, out[3]);
    ceiling.samples({&point, 1}, {&out, 1});
    const PlaneDensity turned = planeBoundaryDensity((0.3 - double(point.y())) / r + 0.5);
    EXPECT_NEAR(out[3], turned.value, 1e-6);
    EXPECT_NEAR(out[1], -turned.slope / r, 1e-5);
  }
}

}  // namespace
}  // namespace sunder::fluid
