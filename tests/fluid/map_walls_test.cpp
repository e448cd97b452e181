// Boundary maps where walls meet, are thin, or were passed.
#include "sunder/base/random.h"
#include "sunder/fluid/boundary/boundary_quadrature.h"
#include "sunder/fluid/boundary/density_map.h"
#include "sunder/sdf/analytic_field.h"
#include "sunder/sdf/field_combine.h"
#include "sunder/sdf/mesh_field.h"
#include "sunder/shapes/round.h"
#include "sunder/shapes/wall.h"

#include "fluid/map_asking.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

namespace sunder::fluid {
namespace {

// From the middle of a thick solid a particle that follows the gradient backwards comes out, and on the way
// the value never rises by more than the steps between deep cells.
TEST(MapWalls, DeepPlacesPushOut) {
  const double r = kMapSupport;
  const sdf::FieldPtr box = sdf::makeBoxField({Vec3(-8 * r, -7 * r, -9 * r), Vec3(8 * r, 7 * r, 9 * r)});
  const DensityMap map(*box, cube(12 * r), {.support = r});
  EXPECT_GT(map.report().deepCells, 1000);
  EXPECT_GT(map.report().keptCells, 1000);
  RandomStream random(24);
  for (int n = 0; n < 200; ++n) {
    Vec3 p = n == 0 ? Vec3(Vec3::Zero())
                    : random.pointIn({Vec3(-8 * r, -7 * r, -9 * r), Vec3(8 * r, 7 * r, 9 * r)});
    const double depth = -box->value(p);
    const Vec4f start = ask(map, p);
    if (depth > 1.6 * r) {
      EXPECT_NEAR(start.head<3>().norm() * r, 1, 0.05);
      EXPECT_NEAR(start[3], 0.5 + depth / r, 0.5);  // exact but for kinks in the cell
    }
    int steps = 0;
    for (; steps < 1000 && box->value(p) < 0.2 * r; ++steps) {
      const Vec3 push = ask(map, p).head<3>().cast<double>();
      ASSERT_GT(push.norm() * r, 0.05) << p.transpose();
      p -= 0.1 * r * push.normalized();
    }
    EXPECT_LT(steps, 150);
  }
  // A tank: what has left it is pushed back in.
  const DensityMap tank(*box, cube(12 * r), {.support = r, .outside = true});
  EXPECT_GT(tank.report().deepCells, 1000);
  const Vec4f escaped = ask(tank, Vec3(0, -10.5 * r, 0));
  EXPECT_LT(escaped[1], -0.99f / float(r));
  EXPECT_NEAR(escaped[3], 0.5 + 3.5, 1e-3);
}

TEST(MapWalls, ThinWallsAreCountedAndPushToTheirNearerSide) {
  const double r = kMapSupport, thickness = 0.6 * r;
  const Vec3 size(8 * r, thickness, 8 * r);
  const sdf::MeshField mesh(shapes::makeBox({.size = size}));
  const sdf::FieldPtr formula = sdf::makeBoxField({-0.5 * size, 0.5 * size});
  for (const sdf::Field* field : {static_cast<const sdf::Field*>(&mesh), formula.get()}) {
    const DensityMap map(*field, cube(8 * r), {.support = r});
    EXPECT_GT(map.report().thinPlaces, 5);
    EXPECT_NEAR(map.report().thinnest, thickness, 1e-3 * r);
    EXPECT_NEAR(map.report().thinnestAt.y(), 0, 0.1 * r);
    for (const double y : {0.05, 0.2, 0.4, 0.8, 1.3}) {
      EXPECT_LT(ask(map, Vec3(0.03, y * r, 0.01))[1], 0);
      EXPECT_GT(ask(map, Vec3(0.03, -y * r, 0.01))[1], 0);
    }
    // Lower than in a thick wall, which has 0.5 + 0.3 there.
    const double top = ask(map, Vec3(0, 0, 0))[3];
    EXPECT_LT(top, 0.7);
    EXPECT_GT(top, 0.5);
  }
  const sdf::FieldPtr thick = sdf::makeBoxField(cube(2 * r));
  EXPECT_EQ(DensityMap(*thick, cube(5 * r), {.support = r}).report().thinPlaces, 0);
  EXPECT_EQ(DensityMap(*thick, cube(5 * r), {.support = r, .outside = true}).report().thinPlaces, 0);
  const sdf::MeshField thickMesh(shapes::makeBox({.size = Vec3::Constant(4 * r)}));
  EXPECT_EQ(DensityMap(thickMesh, cube(5 * r), {.support = r}).report().thinPlaces, 0);
  // Just thick enough, also next to its rim, where the sides are nearer than the faces.
  const sdf::MeshField slab(shapes::makeBox({.size = Vec3(12 * r, 7 * r, 2 * r)}));
  EXPECT_EQ(DensityMap(slab, cube(8 * r), {.support = r}).report().thinPlaces, 0);
  // Crests of ripples are no walls.
  const sdf::MeshField rippled(shapes::makeRippledSphere({40, 0.1}));
  EXPECT_EQ(DensityMap(rippled, cube(2), {.support = 0.2}).report().thinPlaces, 0);
  // A narrow gap is no thin wall, but a thin wall of the solid around; however narrow.
  for (const double half : {0.3 * r, 0.02 * r}) {
    const sdf::FieldPtr taken = sdf::makeBoxField({Vec3(-half, -3 * r, -3 * r), Vec3(half, 3 * r, 3 * r)});
    const sdf::FieldPtr gap = sdf::makeDifference(thick, taken);
    EXPECT_EQ(DensityMap(*gap, cube(5 * r), {.support = 0.5 * r}).report().thinPlaces, 0);
    const DensityMap around(*gap, cube(1.5 * r), {.support = 0.5 * r, .outside = true});
    EXPECT_GT(around.report().thinPlaces, 0);
    EXPECT_NEAR(around.report().thinnest, 2 * half, 1e-3 * r);
  }
}

// With the offset for its thickness, a wall's top is 1.1 to the error of cells that are thicker than it.
TEST(MapWalls, ThinWallsHoldWithTheirOffset) {
  const double r = kMapSupport;
  EXPECT_EQ(thinWallOffset(2 * r, r), 0.5);
  for (const double thickness : {0.0, 0.02, 0.1, 0.3, 0.5, 0.8, 1.2, 1.6}) {
    const Vec3 half(6 * r, std::max(0.5 * thickness * r, 1e-9), 6 * r);
    // Anywhere between lattice points, and tilted.
    for (const double turn : {0.0, 0.4}) {
      const Quat rotation(Eigen::AngleAxisd(turn, Vec3(1, 0, 1).normalized()));
      const sdf::FieldPtr plate =
          sdf::makeTransformed(sdf::makeBoxField({-half, half}), rotation, Vec3(0, 0.3 * r, 0));
      const double offset = thinWallOffset(thickness * r, r);
      const DensityMap map(*plate, cube(3 * r), {.support = r, .offset = offset});
      EXPECT_GT(map.report().thinPlaces, 0);
      EXPECT_NEAR(map.report().thinnest, thickness * r, turn == 0 ? 1e-3 * r : 0.15 * r) << thickness;
      for (const double x : {-0.5, 0.1, 0.7}) {
        const Vec3 middle = rotation * Vec3(x * r, 0, 0.2 * r) + Vec3(0, 0.3 * r, 0);
        EXPECT_NEAR(ask(map, middle)[3], 1.1, 0.02) << thickness << " " << turn;
        const Vec3 up = rotation * Vec3::UnitY();
        EXPECT_LT(ask(map, middle + 0.3 * r * up).head<3>().cast<double>().dot(up), -0.3 / r);
        EXPECT_GT(ask(map, middle - 0.3 * r * up).head<3>().cast<double>().dot(up), 0.3 / r);
      }
    }
  }
}

// Edges and corners of a box, from outside and as a tank, against the integral with the exact field.
TEST(MapWalls, CornersAreThoseOfTheIntegral) {
  const double r = kMapSupport;
  const Box3 box{Vec3(-3.1 * r, -2.9 * r, -3.3 * r), Vec3(3 * r, 3.2 * r, 2.8 * r)};
  const sdf::FieldPtr field = sdf::makeBoxField(box);
  const BallRule rule = makeBallRule({12, 24, 48});
  RandomStream random(21);
  for (const bool tank : {false, true}) {
    const DensityMap map(*field, cube(5.5 * r), {.support = r, .outside = tank});
    EXPECT_GT(map.report().planeNodes, 1000);
    EXPECT_GT(map.report().nodes, 0);
    double worst = 0, sum = 0;
    for (int n = 0; n < 1500; ++n) {
      const Vec3 corner(n & 1 ? box.lower.x() : box.upper.x(), n & 2 ? box.lower.y() : box.upper.y(),
                        n & 4 ? box.lower.z() : box.upper.z());
      const Vec3 p = (corner + random.pointIn(cube(1.2 * r))).cast<float>().cast<double>();
      // Kinks of the distance are inside of the box, and in the tank where its walls count little.
      if (tank && field->value(p) > 1.2 * r) continue;  // deep
      const double exact = integrateBoundary(rule, *field, p, r, 0.5, tank ? -1 : 1);
      const double error = std::abs(double(ask(map, p)[3]) - exact);
      worst = std::max(worst, error);
      sum += error;
    }
    EXPECT_LT(worst, tank ? 2e-3 : 5e-3) << tank;
    EXPECT_LT(sum / 1500, 5e-4) << tank;
  }
}

// In the corner of a tank the nearest wall counts, not each of them: less than three walls that are added.
TEST(MapWalls, WallsOfOneTankDoNotAddUp) {
  const double r = kMapSupport;
  const sdf::FieldPtr field = sdf::makeBoxField(cube(4 * r));
  const DensityMap map(*field, cube(5 * r), {.support = r, .outside = true});
  const double wall = ask(map, Vec3(4 * r, 0, 0))[3], corner = ask(map, Vec3::Constant(4 * r))[3];
  EXPECT_NEAR(wall, planeBoundaryDensity(0.5).value, 6e-4);
  EXPECT_GT(corner, wall);
  EXPECT_LT(corner, 2 * wall);
  // Along the diagonal it points out of the corner, into the solid.
  const Vec3f push = ask(map, Vec3::Constant(3.9 * r)).head<3>().normalized();
  EXPECT_GT(push.dot(Vec3f::Constant(1).normalized()), 0.9999f);
}

}  // namespace
}  // namespace sunder::fluid
