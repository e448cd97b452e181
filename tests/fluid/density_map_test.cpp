#include "sunder/fluid/density_map.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/random.h"
#include "sunder/base/simd.h"
#include "sunder/fluid/boundary_quadrature.h"
#include "sunder/geometry/shapes_round.h"
#include "sunder/geometry/shapes_wall.h"
#include "sunder/sdf/analytic_field.h"
#include "sunder/sdf/field_combine.h"
#include "sunder/sdf/mesh_field.h"

#include "fluid/sphere_density.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>

#include <gtest/gtest.h>

namespace sunder::fluid {
namespace {

constexpr double kSupport = 0.1;

Vec4f ask(const DensityMap& map, const Vec3& p) {
  const Vec4f point(float(p.x()), float(p.y()), float(p.z()), 7);
  Vec4f out;
  map.samples({&point, 1}, {&out, 1});
  return out;
}

Box3 cube(double half) { return {Vec3::Constant(-half), Vec3::Constant(half)}; }

// Worst errors of value, and of the gradient times the support, against the closed form of a plane at the
// height `level`, which is moved through a cell.
struct PlaneErrors {
  double value = 0, gradient = 0;
};
PlaneErrors planeErrors(double cell, double offset) {
  PlaneErrors worst;
  RandomStream random(11);
  const double r = kSupport;
  for (int phase = 0; phase < 8; ++phase) {
    const double level = cell * phase / 8;
    const sdf::FieldPtr plane = sdf::makePlaneField(Vec3::UnitY(), level);
    const DensityMap map(*plane, {Vec3(-r, -2 * r, -r), Vec3(r, 3 * r, r)},
                         {.support = r, .cell = cell, .offset = offset});
    EXPECT_EQ(map.report().nodes, 0);  // all by the closed form
    for (int trial = 0; trial < 4000; ++trial) {
      Vec3 p = random.pointIn({Vec3(-r, -0.9 * r, -r), Vec3(r, 2.2 * r, r)}).cast<float>().cast<double>();
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
    const PlaneErrors now = planeErrors(cell * kSupport, 0);
    RecordProperty("cell " + std::to_string(cell),
                   std::to_string(now.value) + " " + std::to_string(now.gradient));
    std::printf("cell/r %-5g value %.2e gradient %.2e\n", cell, now.value, now.gradient);
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
    const DensityMap map(*plane, cube(3 * kSupport), {.support = kSupport, .offset = offset});
    const PlaneMap exact(normal, 0.02, {.support = kSupport, .offset = offset});
    double worst = 0, worstSlope = 0;
    for (int n = 0; n < 2000; ++n) {
      const Vec3 p = random.pointIn(cube(3 * kSupport));
      if (normal.dot(p) - 0.02 < -2.5 * kSupport) continue;
      const Vec4f point(float(p.x()), float(p.y()), float(p.z()), 0);
      Vec4f should;
      exact.samples({&point, 1}, {&should, 1});
      const Vec4f got = ask(map, p);
      worst = std::max(worst, double(std::abs(got[3] - should[3])));
      worstSlope = std::max(worstSlope, double((got - should).head<3>().norm()) * kSupport);
    }
    EXPECT_LT(worst, 6e-4);
    EXPECT_LT(worstSlope, 2e-2);
  }
}

// Check 17: nodes by quadrature of the sampled field.
TEST(DensityMap, BallsAreAsRoundAsTheyShouldBe) {
  for (const double cell : {0.5, 0.25}) {
    for (const double offset : {0.0, 0.5}) {
      const double radius = 3 * kSupport;
      const sdf::FieldPtr ball = sdf::makeSphereField(Vec3::Zero(), radius);
      const DensityMap map(*ball, cube(6 * kSupport),
                           {.support = kSupport, .cell = cell * kSupport, .offset = offset});
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
        if (distance < radius - kSupport || distance > radius + 2 * kSupport) continue;
        worstNode = std::max(
            worstNode, std::abs(double(ask(map, p)[3]) - sphereDensity(radius, kSupport, offset, distance)));
      }
      for (double t = -0.9; t < 1.9; t += 0.2) {
        const double distance = radius + t * kSupport,
                     exact = sphereDensity(radius, kSupport, offset, distance);
        double least = 10, most = -10;
        for (int n = 0; n < 1000; ++n) {
          const double value = ask(map, distance * random.unitVector())[3];
          least = std::min(least, value);
          most = std::max(most, value);
        }
        worst = std::max({worst, exact - least, most - exact});
        worstSpread = std::max(worstSpread, most - least);
      }
      std::printf("cell/r %g offset %g: nodes %.2e, anywhere %.2e, spread %.2e\n", cell, offset, worstNode,
                  worst, worstSpread);
      EXPECT_LT(worstNode, 2e-4);
      EXPECT_LT(worst, cell == 0.5 ? 5e-4 : 2e-4);
      EXPECT_LT(worstSpread, cell == 0.5 ? 5e-4 : 3e-4);
    }
  }
}

}  // namespace
}  // namespace sunder::fluid
