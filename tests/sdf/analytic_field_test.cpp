#include "sunder/sdf/analytic_field.h"

#include "sunder/base/error.h"
#include "sunder/base/random.h"
#include "sunder/sdf/field_combine.h"
#include "sunder/sdf/gradient_noise.h"
#include "sunder/sdf/mesh_field.h"
#include "sunder/shapes/catalogue.h"

#include <cmath>

namespace sunder::sdf {
namespace {

constexpr int kTrials = 3000;
const Quat kTurn = Quat(0.4, -0.3, 0.8, 0.2).normalized();

struct Named {
  const char* name;
  FieldPtr field;
};

std::vector<Named> exactShapes() {
  return {{"sphere", makeSphereField({0.1, -0.2, 0.3}, 0.8)},
          {"box", makeBoxField({Vec3(-0.5, -0.9, -0.3), Vec3(0.7, 0.4, 0.8)})},
          {"rounded box", makeRoundedBoxField({Vec3(-0.5, -0.9, -0.3), Vec3(0.7, 0.4, 0.8)}, 0.2)},
          {"plane", makePlaneField({1, 2, -2}, 0.9)},
          {"capsule", makeCapsuleField({-0.4, 0.1, 0}, {0.5, 0.6, -0.3}, 0.3)},
          {"torus", makeTorusField({0.1, 0, 0}, {1, 1, 0.2}, 0.6, 0.25)},
          {"cylinder", makeCylinderField({-0.3, -0.4, 0}, {0.3, 0.5, 0.2}, 0.45)}};
}

std::vector<Named> allFields() {
  std::vector<Named> fields = exactShapes();
  const FieldPtr a = makeSphereField({-0.3, 0, 0}, 0.6),
                 b = makeBoxField({Vec3(-0.1, -0.4, -0.3), Vec3(0.8, 0.5, 0.4)});
  fields.push_back({"ellipsoid", makeEllipsoidField({0.1, 0, 0.2}, {0.9, 0.4, 0.6})});
  fields.push_back({"union", makeUnion({a, b, fields[5].field})});
  fields.push_back({"intersection", makeIntersection({a, b})});
  fields.push_back({"difference", makeDifference(a, b)});
  fields.push_back({"smooth union", makeSmoothUnion(a, b, 0.3)});
  fields.push_back({"offset", makeOffset(b, 0.15)});
  fields.push_back({"inward offset", makeOffset(b, -0.1)});
  fields.push_back({"ellipsoid offset", makeOffset(fields[7].field, 0.2)});
  fields.push_back({"shell", makeShell(b, 0.1)});
  fields.push_back({"transformed", makeTransformed(fields[5].field, kTurn, {0.2, 0.1, -0.3}, 0.7)});
  fields.push_back({"displaced", makeDisplaced(a, {.amplitude = 0.1, .wavelength = 0.3})});
  fields.push_back(
      {"nest", makeTransformed(makeShell(makeSmoothUnion(fields[8].field, makeDifference(b, a), 0.2), 0.1),
                               kTurn, {0.1, 0, 0}, 1.2)});
  return fields;
}

const Box3 kAround{Vec3::Constant(-1.6), Vec3::Constant(1.6)};

TEST(AnalyticField, GradientsAreTheDerivatives) {
  for (const auto& [name, field] : allFields()) {
    RandomStream random(7);
    int kinks = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      const Vec3 p = random.pointIn(kAround);
      const FieldSample s = field->sample(p);
      ASSERT_EQ(s.value, field->value(p)) << name;
      ASSERT_LE(s.gradient.norm(), 1 + 1e-12) << name;
      Vec3 differences;
      const double h = 1e-6;
      for (int d = 0; d < 3; ++d)
        differences[d] =
            (field->value(p + h * Vec3::Unit(d)) - field->value(p - h * Vec3::Unit(d))) / (2 * h);
      kinks += !((s.gradient - differences).norm() < 1e-6);
    }
    EXPECT_LE(kinks, 2) << name;  // a point within h of a kink is rare
  }
}

TEST(AnalyticField, LipschitzConstantIsAtMostOne) {
  for (const auto& [name, field] : allFields()) {
    RandomStream random(8);
    for (int trial = 0; trial < kTrials; ++trial) {
      const Vec3 p = random.pointIn(kAround), q = p + random.uniform(0, 0.5) * random.unitVector();
      ASSERT_LE(std::abs(field->value(p) - field->value(q)), (p - q).norm() + 1e-12) << name;
    }
  }
}

// An exact distance has unit gradient, and walking back along it by the value ends on the surface.
TEST(AnalyticField, ExactDistancesEndOnTheSurface) {
  std::vector<Named> fields = exactShapes();
  fields.push_back({"transformed", makeTransformed(fields[5].field, kTurn, {0.2, 0.1, -0.3}, 0.7)});
  for (const auto& [name, field] : fields) {
    RandomStream random(9);
    for (int trial = 0; trial < kTrials; ++trial) {
      const Vec3 p = random.pointIn(kAround);
      const FieldSample s = field->sample(p);
      ASSERT_NEAR(s.gradient.norm(), 1, 1e-12) << name;
      ASSERT_NEAR(field->value(p - s.value * s.gradient), 0, 1e-12) << name;
    }
  }
}

TEST(AnalyticField, AgreeWithMeshes) {
  struct Pair {
    const char* name;
    FieldPtr field;
    geometry::TriMesh mesh;
    double tolerance;
  };
  const Pair pairs[] = {
      {"sphere", makeSphereField(Vec3::Zero(), 1), shapes::makeIcosphere({.frequency = 40}), 2e-3},
      {"box", makeBoxField({Vec3(-0.5, -1, -0.7), Vec3(0.5, 1, 0.7)}),
       shapes::makeBox({.size = Vec3(1, 2, 1.4)}), 1e-12},
      {"octahedron",
       makeIntersection({makePlaneField({1, 1, 1}, 1), makePlaneField({-1, 1, 1}, 1),
                         makePlaneField({1, -1, 1}, 1), makePlaneField({1, 1, -1}, 1),
                         makePlaneField({-1, -1, 1}, 1), makePlaneField({-1, 1, -1}, 1),
                         makePlaneField({1, -1, -1}, 1), makePlaneField({-1, -1, -1}, 1)}),
       shapes::makeOctahedron({}), 1e-12}};
  for (const Pair& pair : pairs) {
    const MeshField mesh(pair.mesh);
    RandomStream random(10);
    for (int trial = 0; trial < kTrials; ++trial) {
      const Vec3 p = random.pointIn({Vec3::Constant(-1.4), Vec3::Constant(1.4)});
      const double exact = mesh.value(p), value = pair.field->value(p);
      // Planes meet outside an octahedron in a bound only.
      if (exact > 0 && std::string(pair.name) == "octahedron") {
        ASSERT_LE(value, exact + 1e-12);
      } else {
        ASSERT_NEAR(value, exact, pair.tolerance) << pair.name;
      }
    }
  }
}

TEST(AnalyticField, EllipsoidIsALowerBoundWithTheRightSurface) {
  const Vec3 radii(0.9, 0.4, 0.6);
  const FieldPtr field = makeEllipsoidField(Vec3::Zero(), radii);
  geometry::TriMesh mesh = shapes::makeIcosphere({.frequency = 60});
  for (Vec3& p : mesh.positions) {
    EXPECT_NEAR(field->value(p.cwiseProduct(radii)), 0, 1e-12);
    p = p.cwiseProduct(radii);
  }
  const MeshField exact(mesh);
  RandomStream random(11);
  for (int trial = 0; trial < kTrials; ++trial) {
    const Vec3 p = random.pointIn(kAround);
    EXPECT_LE(std::abs(field->value(p)), std::abs(exact.value(p)) + 2e-3);
  }
}

TEST(AnalyticField, BoundsHoldTheLevelSets) {
  for (const auto& [name, field] : allFields()) {
    for (const double level : {0.0, 0.2, -0.1}) {
      const Box3 box = boundsAt(*field, level);
      RandomStream random(12);
      size_t below = 0;
      for (int trial = 0; trial < 20000; ++trial) {
        const Vec3 p = random.pointIn({Vec3::Constant(-3), Vec3::Constant(3)});
        if (field->value(p) > level) continue;
        ++below;
        ASSERT_TRUE(box.contains(p)) << name << " " << level;
      }
      EXPECT_TRUE(level < 0 || below > 0) << name;
    }
    EXPECT_TRUE(std::string(name) == "plane" || field->bounds().extent().allFinite()) << name;
  }
  const Box3 floor = makePlaneField({0, 2, 0}, 3)->bounds();
  EXPECT_EQ(floor.upper.y(), 1.5);
  EXPECT_EQ(floor.lower.y(), -Box3::kInfinity);
  EXPECT_EQ(floor.upper.x(), Box3::kInfinity);
  // Turned half about x, the half space points down.
  const Box3 ceiling =
      makeTransformed(makePlaneField({0, 1, 0}, 1), Quat(0, 1, 0, 0), Vec3::Zero())->bounds();
  EXPECT_EQ(ceiling.lower.y(), -1);
  EXPECT_EQ(ceiling.upper.y(), Box3::kInfinity);
}

TEST(AnalyticField, UnionIsExactOutsideAndIntersectionInside) {
  // Two boxes that share a face are one box.
  const FieldPtr whole = makeBoxField({Vec3(-1, -0.5, -0.5), Vec3(1, 0.5, 0.5)});
  const FieldPtr left = makeBoxField({Vec3(-1, -0.5, -0.5), Vec3(0, 0.5, 0.5)});
  const FieldPtr right = makeBoxField({Vec3(0, -0.5, -0.5), Vec3(1, 0.5, 0.5)});
  const FieldPtr joined = makeUnion({left, right});
  const FieldPtr slab = makeIntersection({makePlaneField({1, 0, 0}, 1), makePlaneField({-1, 0, 0}, 1),
                                          makePlaneField({0, 1, 0}, 0.5), makePlaneField({0, -1, 0}, 0.5),
                                          makePlaneField({0, 0, 1}, 0.5), makePlaneField({0, 0, -1}, 0.5)});
  RandomStream random(13);
  for (int trial = 0; trial < kTrials; ++trial) {
    const Vec3 p = random.pointIn(kAround);
    const double exact = whole->value(p);
    if (exact > 0) {
      EXPECT_NEAR(joined->value(p), exact, 1e-14);
      EXPECT_LE(slab->value(p), exact + 1e-14);
    } else {
      EXPECT_GE(joined->value(p), exact - 1e-14);
      EXPECT_NEAR(slab->value(p), exact, 1e-14);
    }
  }
}

TEST(AnalyticField, SmoothUnionBulgesByAQuarterOfItsWidth) {
  const FieldPtr a = makeSphereField({-0.5, 0, 0}, 0.6), b = makeSphereField({0.5, 0, 0}, 0.6);
  const FieldPtr smooth = makeSmoothUnion(a, b, 0.4);
  for (const double y : {0.0, 0.3, 0.7})
    EXPECT_NEAR(smooth->value({0, y, 0}), a->value({0, y, 0}) - 0.1, 1e-14);
  RandomStream random(14);
  for (int trial = 0; trial < kTrials; ++trial) {
    const Vec3 p = random.pointIn(kAround);
    const double sharp = std::min(a->value(p), b->value(p));
    EXPECT_LE(smooth->value(p), sharp);
    EXPECT_GE(smooth->value(p), sharp - 0.1 - 1e-14);
    EXPECT_TRUE(std::abs(a->value(p) - b->value(p)) <= 0.4 || smooth->value(p) == sharp);
  }
}

TEST(AnalyticField, BatchesAnswerLikeSingleCalls) {
  std::vector<Vec3> points(1000);
  RandomStream random(15);
  for (Vec3& p : points) p = random.pointIn(kAround);
  for (const auto& [name, field] : allFields()) {
    std::vector<double> values(points.size());
    std::vector<FieldSample> samples(points.size());
    valuesOf(*field, points, values);
    samplesOf(*field, points, samples);
    for (size_t i = 0; i < points.size(); ++i) {
      ASSERT_EQ(values[i], field->value(points[i])) << name;
      ASSERT_EQ(samples[i].value, values[i]) << name;
      ASSERT_EQ(samples[i].gradient, field->sample(points[i]).gradient) << name;
    }
  }
}

TEST(AnalyticField, CentresAndEdgesHaveAUnitGradient) {
  for (const auto& [name, field] : exactShapes())
    for (const Vec3& p : {Vec3(0.1, -0.2, 0.3), Vec3(0.1, 0, 0), Vec3(0, 0.05, 0.1), Vec3(0.1, -0.25, 0.25)})
      EXPECT_NEAR(field->sample(p).gradient.norm(), 1, 1e-12) << name;
  EXPECT_NEAR(makeCapsuleField(Vec3::Zero(), Vec3::Zero(), 1)->sample(Vec3::Zero()).gradient.norm(), 1,
              1e-12);
  EXPECT_EQ(makeCapsuleField(Vec3::Zero(), Vec3::Zero(), 1)->value({0, 3, 0}), 2);
}

TEST(AnalyticField, BadSizesAreRefused) {
  const FieldPtr ball = makeSphereField(Vec3::Zero(), 1);
  EXPECT_THROW(makeSphereField(Vec3::Zero(), 0), Error);
  EXPECT_THROW(makeSphereField(Vec3::Constant(NAN), 1), Error);
  EXPECT_THROW(makeBoxField({Vec3::Ones(), Vec3::Zero()}), Error);
  EXPECT_THROW(makeRoundedBoxField({Vec3::Zero(), Vec3::Ones()}, 0.6), Error);
  EXPECT_THROW(makePlaneField(Vec3::Zero(), 1), Error);
  EXPECT_THROW(makeTorusField(Vec3::Zero(), Vec3::UnitX(), 1, 2), Error);
  EXPECT_THROW(makeCylinderField(Vec3::Zero(), Vec3::Zero(), 1), Error);
  EXPECT_THROW(makeEllipsoidField(Vec3::Zero(), {1, -1, 1}), Error);
  EXPECT_THROW(makeUnion({}), Error);
  EXPECT_THROW(makeDifference(ball, nullptr), Error);
  EXPECT_THROW(makeSmoothUnion(ball, ball, 0), Error);
  EXPECT_THROW(makeTransformed(ball, Quat::Identity(), Vec3::Zero(), -1), Error);
  EXPECT_THROW(makeDisplaced(ball, {.octaves = 0}), Error);
}

TEST(GradientNoise, StaysWithinItsBoundsAndIsSmooth) {
  RandomStream random(16);
  double largest = 0, steepest = 0;
  for (int trial = 0; trial < 200000; ++trial) {
    const FieldSample s = gradientNoise(random.pointIn({Vec3::Constant(-50), Vec3::Constant(50)}), 3);
    largest = std::max(largest, std::abs(s.value));
    steepest = std::max(steepest, s.gradient.norm());
  }
  EXPECT_LE(largest, kNoiseLargest);
  EXPECT_GT(largest, 0.6);
  EXPECT_LE(steepest, kNoiseSteepest);
  EXPECT_GT(steepest, 1.5);
  // Across a lattice plane value and gradient go on, and the noise vanishes at the nodes.
  for (int trial = 0; trial < 100; ++trial) {
    const Vec3 p(random.uniform(-9, 9), std::floor(random.uniform(-9, 9)), random.uniform(-9, 9));
    const FieldSample below = gradientNoise(p - Vec3(0, 1e-9, 0), 3),
                      above = gradientNoise(p + Vec3(0, 1e-9, 0), 3);
    EXPECT_NEAR(below.value, above.value, 1e-7);
    EXPECT_LT((below.gradient - above.gradient).norm(), 1e-6);
  }
  EXPECT_EQ(gradientNoise({3, -4, 5}, 1).value, 0);
  EXPECT_NE(gradientNoise({3.3, -4.2, 5.1}, 1).value, gradientNoise({3.3, -4.2, 5.1}, 2).value);
}

}  // namespace
}  // namespace sunder::sdf
