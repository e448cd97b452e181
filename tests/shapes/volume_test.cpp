// Shapes against formulas: exact ones for the polyhedra, second-order convergence towards the smooth bodies,
// and the reference counts of the benchmark meshes.
#include "sunder/base/error.h"
#include "sunder/shapes/catalogue.h"

#include "shapes/shape_checks.h"

#include <functional>
#include <random>

#include <gtest/gtest.h>

namespace sunder::shapes {
using namespace geometry;
namespace {

using shapetest::inspect;

void expectRelative(double value, double expected, double tolerance, const char* what) {
  EXPECT_NEAR(value / expected, 1, tolerance) << what << ": " << value << " instead of " << expected;
}

double polygonFactor(int n) {
  return 0.5 * n * std::sin(2 * kPi / n);
}  // area of the n-gon in the unit circle

double volume(const TriMesh& mesh) { return inspect(mesh).volume; }

TEST(ShapeVolume, PolyhedraAreExact) {
  expectRelative(volume(makeBox({.size = Vec3(2, 3, 0.7), .nx = 3, .ny = 1, .nz = 5})), 2 * 3 * 0.7, 1e-12,
                 "box");
  expectRelative(inspect(makeBox({.size = Vec3(2, 3, 0.7), .nx = 3, .ny = 2, .nz = 5})).area,
                 2 * (2 * 3 + 3 * 0.7 + 0.7 * 2), 1e-12, "box area");
  for (int n : {1, 2, 7}) {
    const double edge = 1.5 * std::sqrt(8.0 / 3);
    expectRelative(volume(makeTetrahedron({.radius = 1.5, .frequency = n})),
                   edge * edge * edge / (6 * std::sqrt(2.0)), 1e-12, "tetrahedron");
    expectRelative(volume(makeOctahedron({.radius = 1.5, .frequency = n})), 4.0 / 3 * 1.5 * 1.5 * 1.5, 1e-12,
                   "octahedron");
  }
  for (int n : {3, 4, 17, 64}) {
    expectRelative(
        volume(makeCylinder({.radius = 0.4, .height = 3, .segments = n, .layers = 3, .capRings = 2})),
        polygonFactor(n) * 0.4 * 0.4 * 3, 1e-12, "cylinder");
    expectRelative(volume(makeCone({.radius = 0.4, .topRadius = 0, .height = 3, .segments = n})),
                   polygonFactor(n) * 0.4 * 0.4 * 3 / 3, 1e-12, "cone");
    expectRelative(volume(makeCone({.radius = 0, .topRadius = 0.4, .height = 3, .segments = n})),
                   polygonFactor(n) * 0.4 * 0.4 * 3 / 3, 1e-12, "cone on its tip");
    expectRelative(volume(makeCone({.radius = 0.4, .topRadius = 0.9, .height = 3, .segments = n})),
                   polygonFactor(n) * (0.16 + 0.36 + 0.81) * 3 / 3, 1e-12, "frustum");
    // n-gon turned in m steps around the axis: the polygonal form of Pappus' theorem.
    expectRelative(volume(makeTorus({.radius = 0.5, .tube = 0.2, .segments = n, .sides = 12})),
                   2 * polygonFactor(n) * 0.5 * polygonFactor(12) * 0.04, 1e-12, "torus");
  }
}

TEST(ShapeVolume, IcosphereHasTheCountsAndEvenTriangles) {
  for (int n : {1, 2, 3, 5, 16}) {
    const TriMesh mesh = makeIcosphere({.radius = 2, .frequency = n});
    EXPECT_EQ(mesh.triangles.size(), size_t(20 * n * n));
    EXPECT_EQ(mesh.positions.size(), size_t(10 * n * n + 2));
    for (const Vec3& p : mesh.positions) EXPECT_NEAR(p.norm(), 2, 1e-14);
    const auto facts = inspect(mesh);
    EXPECT_LT(facts.largestArea / facts.smallestArea, 1.6) << n;
  }
  const double edge = 1 / std::sin(2 * kPi / 5);  // icosahedron in the sphere of radius 1
  expectRelative(volume(makeIcosphere({.frequency = 1})),
                 5.0 / 12 * (3 + std::sqrt(5.0)) * edge * edge * edge, 1e-12, "icosahedron");
}

TEST(ShapeVolume, RoundBodiesConvergeWithSecondOrder) {
  struct Case {
    const char* name;
    std::function<TriMesh(int)> make;
    double exact;
  };
  const double r = 0.4;
  const Case cases[] = {
      {"icosphere", [&](int n) { return makeIcosphere({.radius = r, .frequency = 4 * n}); },
       4.0 / 3 * kPi * r * r * r},
      {"uv-sphere", [&](int n) { return makeUvSphere({.radius = r, .segments = 16 * n, .rings = 8 * n}); },
       4.0 / 3 * kPi * r * r * r},
      {"cylinder", [&](int n) { return makeCylinder({.radius = r, .height = 2, .segments = 12 * n}); },
       kPi * r * r * 2},
      {"cone", [&](int n) { return makeCone({.radius = r, .height = 2, .segments = 12 * n}); },
       kPi * r * r * 2 / 3},
      {"capsule",
       [&](int n) { return makeCapsule({.radius = r, .length = 1, .segments = 12 * n, .rings = 4 * n}); },
       kPi * r * r + 4.0 / 3 * kPi * r * r * r},
      {"torus",
       [&](int n) { return makeTorus({.radius = 1, .tube = r, .segments = 12 * n, .sides = 12 * n}); },
       2 * kPi * kPi * r * r},
      {"disc",
       [&](int n) {
         return makePlate(
             {.width = 2 * r, .depth = 2 * r, .thickness = 0.1, .corner = r, .cornerSegments = 4 * n});
       },
       kPi * r * r * 0.1},
  };
  for (const Case& c : cases) {
    const double coarse = c.exact - volume(c.make(1)), middle = c.exact - volume(c.make(2)),
                 fine = c.exact - volume(c.make(4));
    EXPECT_GT(fine, 0) << c.name << " is not inscribed";
    EXPECT_NEAR(coarse / middle, 4, 0.5) << c.name;
    EXPECT_NEAR(middle / fine, 4, 0.15) << c.name;
  }
}

TEST(ShapeVolume, TubesConvergeToAreaTimesLength) {
  // A closed tube of any curve has exactly the volume area * length, as long as it does not meet itself.
  const KnotShape knot{.radius = 0.6, .tube = 0.03, .steps = 150, .sides = 10};
  double length = 0;
  const int parts = 4096;
  auto trefoil = [&](double t) {
    return Vec3(0.2 *
                Vec3(std::sin(t) + 2 * std::sin(2 * t), -std::sin(3 * t), std::cos(t) - 2 * std::cos(2 * t)));
  };
  for (int k = 0; k < parts; ++k) {  // trapezoid rule on a period: spectral accuracy
    const double t = 2 * kPi * k / parts, h = 1e-5;
    length += (trefoil(t + h) - trefoil(t - h)).norm() / (2 * h) * 2 * kPi / parts;
  }
  const double exact = kPi * knot.tube * knot.tube * length;
  KnotShape twice = knot, four = knot;
  twice.steps *= 2, twice.sides *= 2;
  four.steps *= 4, four.sides *= 4;
  const double e1 = exact - volume(makeTrefoil(knot)), e2 = exact - volume(makeTrefoil(twice)),
               e4 = exact - volume(makeTrefoil(four));
  EXPECT_NEAR(e1 / e2, 4, 0.5);
  EXPECT_NEAR(e2 / e4, 4, 0.2);
}

TEST(ShapeVolume, LatheFollowsThePolygonalFormula) {
  std::mt19937 random(5);
  auto uniform = [&] { return static_cast<double>(random()) / 4294967296.0; };
  for (int round = 0; round < 40; ++round) {
    // A star-shaped profile around (1.2, y), some touching the axis along a stretch.
    std::vector<Vec2> profile;
    const int n = 3 + static_cast<int>(random() % 12);
    if (round % 2 == 0) {
      for (int k = 0; k < n; ++k) {
        const double angle = 2 * kPi * k / n, d = 0.3 + 0.8 * uniform();
        profile.emplace_back(1.2 + d * std::cos(angle), d * std::sin(angle));
      }
    } else {
      for (int k = 0; k < n; ++k) profile.emplace_back(k == 0 || k == n - 1 ? 0.0 : 0.2 + uniform(), k);
    }
    double sum = 0;
    for (size_t i = 0; i < profile.size(); ++i) {
      const Vec2 a = profile[i], b = profile[(i + 1) % profile.size()];
      sum += (b.y() - a.y()) * (a.x() * a.x() + a.x() * b.x() + b.x() * b.x()) / 3;
    }
    if (round % 4 < 2) std::reverse(profile.begin(), profile.end());  // either sense is allowed
    const int segments = 3 + static_cast<int>(random() % 20);
    const auto facts = inspect(lathe(profile, segments));
    EXPECT_EQ(shapetest::broken(facts), "");
    EXPECT_EQ(facts.euler, round % 2 == 0 ? 0 : 2);
    expectRelative(facts.volume, polygonFactor(segments) * std::abs(sum), 1e-12, "lathe");
  }
}

TEST(Lathe, MakesAHollowBallOfTwoSkins) {
  const std::vector<Vec2> profile{{0, -2}, {2, 0}, {0, 2}, {0, 1.5}, {0, 1}, {1, 0}, {0, -1}};
  const auto facts = inspect(lathe(profile, 4));
  EXPECT_EQ(shapetest::broken(facts), "");  // no vertex at (0, 1.5)
  EXPECT_EQ(facts.components, 2u);
  expectRelative(facts.volume, 4.0 / 3 * (8 - 1), 1e-12, "octahedron in octahedron");
}

TEST(Lathe, RefusesBadProfiles) {
  auto refused = [](std::vector<Vec2> profile) {
    try {
      lathe(profile, 8);
    } catch (const Error& e) {
      return e.kind() == ErrorKind::Geometry;
    }
    return false;
  };
  EXPECT_TRUE(refused({{1, 0}, {2, 0}}));
  EXPECT_TRUE(refused({{-1, 0}, {2, 0}, {2, 1}}));
  EXPECT_TRUE(refused({{1, 0}, {2, 0}, {2, 0}, {2, 1}}));
  EXPECT_TRUE(refused({{1, 0}, {2, 1}, {2, 0}, {1, 1}}));          // crosses
  EXPECT_TRUE(refused({{0, 0}, {1, -1}, {1, 1}}));                 // pinches
  EXPECT_TRUE(refused({{1, 0}, {3, 0}, {2, 0}, {2, 1}}));          // runs back
  EXPECT_TRUE(refused({{1, 0}, {4, 0}, {4, 2}, {2, 0}, {1, 2}}));  // touches
  EXPECT_TRUE(refused({{1, 0}, {2, 0}, {2, std::nan("")}}));
  EXPECT_TRUE(refused({{1, 0}, {2, 0}, {3, 0}}));
  EXPECT_FALSE(refused({{0, 0}, {1, 0}, {1, 1}, {0, 1}}));
}

TEST(ShapeVolume, VesselsScaleWithTheirPolygon) {
  for (const char* name : {"bowl", "wine-glass", "vase", "bottle"}) {
    const double three = volume(makeShape(name, {{"segments", "3"}})),
                 many = volume(makeShape(name, {{"segments", "50"}}));
    expectRelative(three / many, polygonFactor(3) / polygonFactor(50), 1e-11, name);
  }
}

TEST(ShapeVolume, VesselsAreAsHighAndWideAsAsked) {
  const Box3 glass = bounds(makeWineGlass({.height = 0.25, .radius = 0.05, .segments = 64}).positions);
  EXPECT_EQ(glass.lower.y(), 0);
  EXPECT_NEAR(glass.upper.y(), 0.25, 1e-12);
  EXPECT_NEAR(glass.upper.x(), 0.05, 2e-4);
  const Box3 bottle = bounds(makeBottle({}).positions);
  EXPECT_NEAR(bottle.upper.y(), 0.3, 1e-12);
  EXPECT_NEAR(bottle.upper.x(), 0.037, 1e-9);
  const Box3 vase = bounds(makeVase({}).positions);
  EXPECT_NEAR(vase.upper.y(), 0.3, 1e-12);
  EXPECT_NEAR(vase.upper.x(), 0.1, 2e-4);
  const Box3 bowl = bounds(makeBowl({}).positions);
  EXPECT_NEAR(bowl.upper.y(), 0.09, 1e-12);
  EXPECT_NEAR(bowl.upper.x(), 0.12, 0.002);
}

TEST(ShapeVolume, PlatesHaveTheirOutlinesArea) {
  expectRelative(volume(makePlate({.width = 2, .depth = 1, .thickness = 0.1})), 0.2, 1e-12, "sharp plate");
  const double corner = 0.3,
               arc = 0.5 * 8 * std::sin(2 * kPi / (4 * 8)) * corner * corner;  // a quarter in 8 parts
  expectRelative(
      volume(makePlate({.width = 2, .depth = 1, .thickness = 0.1, .corner = corner, .cornerSegments = 8})),
      0.1 * (2 * 1 - 4 * (corner * corner - arc)), 1e-12, "rounded plate");
}

TEST(ShapeVolume, BricksAreCountedAndExact) {
  BrickWallShape wall{
      .columns = 5, .rows = 7, .length = 0.24, .height = 0.07, .depth = 0.11, .gap = 0.012, .bevel = 0};
  const double half = 0.5 * (wall.length - wall.gap);
  auto brick = [&](double a, double b, double d, double c) {
    return a * b * d - 2 * c * c * (a + b + d - 6 * c) - 8 * 5 * c * c * c / 6;
  };
  for (double bevel : {0.0, 0.005}) {
    wall.bevel = bevel;
    const TriMesh mesh = makeBrickWall(wall);
    const auto facts = inspect(mesh);
    EXPECT_EQ(shapetest::broken(facts), "");
    EXPECT_EQ(facts.components, size_t(4 * 5 + 3 * 6));
    EXPECT_EQ(mesh.triangles.size(), facts.components * (bevel > 0 ? 44 : 12));
    expectRelative(facts.volume,
                   (4 * 5 + 3 * 4) * brick(wall.length, wall.height, wall.depth, bevel) +
                       3 * 2 * brick(half, wall.height, wall.depth, bevel),
                   1e-11, "bricks");
    const Box3 box = bounds(mesh.positions);
    EXPECT_NEAR(box.extent().x(), 5 * 0.24 + 4 * 0.012, 1e-12);
    EXPECT_NEAR(box.extent().y(), 7 * 0.07 + 6 * 0.012, 1e-12);
    EXPECT_EQ(box.lower.y(), 0);
    EXPECT_EQ(shapetest::selfIntersections(mesh), 0u);
  }
}

TEST(ShapeVolume, NoisySlabHasTheVolumeOfTheFlatOne) {
  for (const char* noise : {"gradient", "value"}) {
    const TriMesh mesh =
        makeNoisySheet({.width = 2, .depth = 1.5, .thickness = 0.05, .amplitude = 0.4, .noise = noise});
    expectRelative(volume(mesh), 2 * 1.5 * 0.05, 1e-11, noise);
  }
  const auto open = inspect(makeNoisySheet({.closed = false}));
  EXPECT_EQ(shapetest::broken(open, false), "");
  EXPECT_EQ(open.boundaryEdges, 4u * 64);
  EXPECT_EQ(open.euler, 1);
}

TEST(SheetNoise, StaysInRangeFillsItAndVanishesOnTheLattice) {
  for (const char* noise : {"gradient", "value"})
    for (int octaves : {1, 4}) {
      const NoisySheetShape shape{.frequency = 1, .octaves = octaves, .noise = noise};
      double lowest = 0, highest = 0, steepest = 0;
      for (int i = 0; i < 400; ++i)
        for (int j = 0; j < 400; ++j) {
          const double x = 0.1 * i - 20, z = 0.1 * j - 20, h = sheetNoise(shape, x, z);
          lowest = std::min(lowest, h), highest = std::max(highest, h);
          steepest = std::max(steepest, std::abs(sheetNoise(shape, x + 1e-6, z) - h) / 1e-6);
        }
      EXPECT_GE(lowest, -1);
      EXPECT_LE(highest, 1);
      EXPECT_LT(lowest, -0.5) << noise << octaves;
      EXPECT_GT(highest, 0.5) << noise << octaves;
      EXPECT_LT(steepest, 12) << noise << octaves;  // continuous
    }
  const NoisySheetShape gradient{.frequency = 1, .octaves = 1};
  for (int i = -3; i < 3; ++i) EXPECT_EQ(sheetNoise(gradient, i, 2 * i), 0);
  EXPECT_NE(sheetNoise({.seed = 1}, 0.3, 0.4), sheetNoise({.seed = 2}, 0.3, 0.4));
}

TEST(Tube, SeamOfAClosedTubeMatches) {
  const TorusKnotShape shape{.p = 3, .q = 5, .tube = 0.03};
  const TriMesh mesh = makeTorusKnot(shape);
  const size_t sides = 16, rings = mesh.positions.size() / sides;
  double longest = 0, seam = 0;
  for (size_t ring = 0; ring < rings; ++ring)
    for (size_t k = 0; k < sides; ++k) {
      const double step =
          (mesh.positions[ring * sides + k] - mesh.positions[(ring + 1) % rings * sides + k]).norm();
      (ring + 1 == rings ? seam : longest) = std::max(ring + 1 == rings ? seam : longest, step);
    }
  EXPECT_LE(seam, 1.001 * longest);
}

TEST(Tube, ThicknessOfKnownCurves) {
  std::vector<Vec3> circle, two;
  for (int k = 0; k < 200; ++k)
    circle.emplace_back(2 * std::cos(kPi * k / 100), 2 * std::sin(kPi * k / 100), 1);
  EXPECT_NEAR(curveThickness(circle, true), 2, 1e-6);
  EXPECT_EQ(curveThickness(std::vector<Vec3>{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}}, false),
            std::numeric_limits<double>::infinity());
  // A long racing track: parallel sides at distance 1, half circles of radius 1/2.
  for (int k = 0; k < 100; ++k) two.emplace_back(-5 + 0.1 * k, -0.5, 0);
  for (int k = 0; k < 40; ++k)
    two.emplace_back(5 + 0.5 * std::sin(kPi * k / 40), -0.5 * std::cos(kPi * k / 40), 0);
  for (int k = 0; k < 100; ++k) two.emplace_back(5 - 0.1 * k, 0.5, 0);
  for (int k = 0; k < 40; ++k)
    two.emplace_back(-5 - 0.5 * std::sin(kPi * k / 40), 0.5 * std::cos(kPi * k / 40), 0);
  EXPECT_NEAR(curveThickness(two, true), 0.5, 0.01);
  EXPECT_THROW(tube(circle, true, 2.1, 8), Error);
  EXPECT_EQ(shapetest::broken(inspect(tube(circle, true, 1.5, 8))), "");
  EXPECT_THROW(tube(std::vector<Vec3>{{0, 0, 0}, {0, 0, 0}}, false, 0.1, 8), Error);
  EXPECT_THROW(tube(std::vector<Vec3>{{0, 0, 0}, {1, 0, 0}, {0, 0, 0}}, false, 0.1, 8), Error);
}

TEST(BenchmarkMeshes, RippledSphereIsAsDefined) {
  const TriMesh mesh = makeRippledSphere({.n = 6, .b = 0.1, .centre = Vec3(0.5, 0.15, 0.1)});
  EXPECT_EQ(mesh.triangles.size(), 8u * 36);
  EXPECT_EQ(mesh.positions.size(), 4u * 36 + 2);
  EXPECT_EQ(shapetest::broken(inspect(mesh)), "");
  // A corner by hand: i = 0, j = 0, k = n, the last vertex, and first of octant +++.
  const double radius = 1 + 0.1 * (std::sin(1.0) * std::sin(2.0) * std::sin(12.0) + 0.3 * 0.0);
  EXPECT_NEAR((mesh.positions.back() - Vec3(0.5, 0.15, 0.1 + radius)).norm(), 0, 1e-15);
  EXPECT_EQ(mesh.triangles[0][0], mesh.positions.size() - 1);
  const TriMesh ball = makeRippledSphere({.n = 40, .b = 0});
  for (const Vec3& p : ball.positions) EXPECT_NEAR(p.norm(), 1, 1e-15);
}

std::vector<Box3f> floatBoxes(const TriMesh& mesh) {
  std::vector<Box3f> boxes(mesh.triangles.size());
  for (size_t t = 0; t < boxes.size(); ++t)
    for (uint32_t v : mesh.triangles[t]) boxes[t].grow(mesh.positions[v].cast<float>().eval());
  return boxes;
}

TEST(BenchmarkMeshesFull, OverlapsAreTheReferenceCounts) {
  auto between = [](int n, const Vec3& centre) {
    auto boxes = floatBoxes(makeRippledSphere({.n = n}));
    const size_t first = boxes.size();
    const auto second = floatBoxes(makeRippledSphere({.n = n, .centre = centre}));
    boxes.insert(boxes.end(), second.begin(), second.end());
    size_t count = 0;
    shapetest::overlappingPairs(boxes,
                                [&](uint32_t i, uint32_t j) { count += (i < first) != (j < first) ? 1 : 0; });
    return count;
  };
  EXPECT_EQ(between(112, {0.5, 0.15, 0.1}), 17'078u);
  EXPECT_EQ(between(250, {0.5, 0.15, 0.1}), 38'907u);
  EXPECT_EQ(between(250, {0.02, 0.006, 0.004}), 714'074u);
  size_t scroll = 0;
  shapetest::overlappingPairs(floatBoxes(makeScroll()), [&](uint32_t, uint32_t) { ++scroll; });
  EXPECT_EQ(scroll, 4'753'283u);
}

TEST(BenchmarkMeshes, ScrollIsAsDefined) {
  const TriMesh mesh = makeScroll({.n = 40, .turns = 3, .gap = 0.05});
  EXPECT_EQ(mesh.triangles.size(), 2u * 40 * 40);
  EXPECT_EQ(mesh.positions.size(), 41u * 41);
  EXPECT_EQ(mesh.triangles[0], (Triangle{0, 41, 1}));
  EXPECT_EQ(mesh.triangles[1], (Triangle{41, 42, 1}));
  const double s = 2 * kPi * 3 * 7 / 40,
               r = 0.3 + 0.05 * s / (2 * kPi) + 0.005 * std::sin(31 * 9 / 40.0) * std::sin(5 * s);
  EXPECT_NEAR((mesh.positions[7 * 41 + 9] - Vec3(r * std::cos(s), r * std::sin(s), 18 / 40.0)).norm(), 0,
              1e-15);
  EXPECT_EQ(inspect(mesh).boundaryEdges, 160u);
}

}  // namespace
}  // namespace sunder::shapes
