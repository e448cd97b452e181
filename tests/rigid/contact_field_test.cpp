#include "sunder/base/random.h"
#include "sunder/rigid/contact/contact.h"
#include "sunder/shapes/catalogue.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

namespace sunder::rigid {
namespace {

Pose randomFieldPose(RandomStream& random, double reach) {
  return {random.pointIn({Vec3::Constant(-reach), Vec3::Constant(reach)}),
          Quat(Eigen::AngleAxisd(random.uniform(0, 2 * kPi), random.unitVector()))};
}

std::vector<Contact> fieldContactsOf(const Shape& a, const Pose& poseA, const Shape& b, const Pose& poseB,
                                     double margin, const SelectionSettings& selection, PairMemory& memory,
                                     ContactScratch& scratch) {
  std::vector<Contact> out;
  findContacts(a, poseA, b, poseB, margin, selection, memory, scratch, out);
  return out;
}

const ShapePtr& torus() {
  static const ShapePtr shape = makeSolid(shapes::makeTorus({}), {.surfacePoints = 400});
  return shape;
}
const ShapePtr& rippled() {
  static const ShapePtr shape = makeSolid(shapes::makeRippledSphere({.n = 16}), {.surfacePoints = 400});
  return shape;
}
const ShapePtr& bowl() {
  static const ShapePtr shape = makeSolid(shapes::makeBowl({}), {.surfacePoints = 400});
  return shape;
}

// Ids of the points of `points` within the margin of the field, all of them tried.
std::set<uint32_t> bruteForce(const Shape& points, const Pose& posePoints, const Shape& field,
                              const Pose& poseField, double margin, uint32_t bit) {
  std::set<uint32_t> ids;
  const Pose relative = inverse(poseField) * posePoints;
  for (uint32_t i = 0; i < points.points().pointCount(); ++i)
    if (field.field().value(relative.rotation.toRotationMatrix() * points.points().position[i] +
                            relative.position) < margin)
      ids.insert(i | bit);
  return ids;
}

void compareWithBruteForce(const ShapePtr& a, const ShapePtr& b, int poses, double reach, double margin) {
  RandomStream random(17);
  ContactScratch scratch;
  size_t found = 0, touching = 0;
  for (int i = 0; i < poses; ++i) {
    const Pose poseA = randomFieldPose(random, reach), poseB = randomFieldPose(random, reach);
    PairMemory memory;
    scratch.work = {};
    const auto contacts = fieldContactsOf(*a, poseA, *b, poseB, margin, {.full = true}, memory, scratch);
    std::set<uint32_t> ids, wanted = bruteForce(*a, poseA, *b, poseB, margin, 0);
    wanted.merge(bruteForce(*b, poseB, *a, poseA, margin, 1u << 31));
    for (const Contact& c : contacts) {
      EXPECT_TRUE(ids.insert(c.id).second);
      EXPECT_NEAR(c.normal.norm(), 1, 1e-12);
    }
    ASSERT_EQ(ids, wanted) << i;
    found += ids.size();
    touching += !ids.empty();
    // Each point is asked for at most once.
    EXPECT_LE(scratch.work.fieldQueries, a->points().pointCount() + b->points().pointCount());
  }
  EXPECT_GT(touching, size_t(poses) / 10);
  EXPECT_GT(found, size_t(poses));
}

TEST(FieldContact, PruningMissesNothing) {
  compareWithBruteForce(torus(), rippled(), 300, 0.8, 0.02);
  compareWithBruteForce(bowl(), bowl(), 300, 0.12, 0.003);
  compareWithBruteForce(makeBox(Vec3(0.3, 0.5, 0.2)), torus(), 300, 0.7, 0.0);
}
TEST(FieldContactFull, PruningMissesNothing) {
  for (const double margin : {0.0, 0.01, 0.1}) {
    compareWithBruteForce(torus(), rippled(), 1000, 0.8, margin);
    compareWithBruteForce(bowl(), torus(), 1000, 0.6, margin);
    compareWithBruteForce(bowl(), bowl(), 1000, 0.12, margin / 10);
  }
}

TEST(FieldContact, NormalsAndPointsFollowTheField) {
  // A ball of triangles against a box: the exact answer is known.
  const ShapePtr ball = makeSolid(shapes::makeIcosphere({.radius = 0.5, .frequency = 12}));
  const ShapePtr box = makeBox(Vec3(1, 0.2, 1));
  ContactScratch scratch;
  PairMemory memory;
  const auto contacts =
      fieldContactsOf(*ball, {Vec3(0.1, 0.69, -0.2), Quat::Identity()}, *box, {}, 0.005, {}, memory, scratch);
  ASSERT_FALSE(contacts.empty());
  double deepest = 1;
  for (const Contact& c : contacts) {
    EXPECT_NEAR((c.normal + Vec3::UnitY()).norm(), 0, 0.25);  // from the ball down to the box
    deepest = std::min(deepest, c.separation);
    EXPECT_NEAR(c.point.y(), 0.2, 0.01);
  }
  EXPECT_NEAR(deepest, -0.01, 0.003);
}

TEST(FieldContact, IsTheSameFromBothSides) {
  RandomStream random(5);
  ContactScratch scratch;
  const ShapePtr sphere = makeSphere(0.2), capsule = makeCapsule(0.3, 0.1),
                 box = makeBox(Vec3(0.2, 0.3, 0.2));
  for (const ShapePtr& other : {sphere, capsule, box, rippled()})
    for (int i = 0; i < 100; ++i) {
      const Pose poseA = randomFieldPose(random, 0.5), poseB = randomFieldPose(random, 0.5);
      PairMemory one, two;
      auto there = fieldContactsOf(*other, poseA, *torus(), poseB, 0.02, {}, one, scratch);
      auto back = fieldContactsOf(*torus(), poseB, *other, poseA, 0.02, {}, two, scratch);
      ASSERT_EQ(there.size(), back.size());
      EXPECT_EQ(one.limitA, two.limitB);
      EXPECT_EQ(one.limitB, two.limitA);
      const auto byPlace = [](const Contact& a, const Contact& b) {
        return std::tie(a.separation, a.point.x(), a.point.y()) <
               std::tie(b.separation, b.point.x(), b.point.y());
      };
      std::sort(there.begin(), there.end(), byPlace);
      std::sort(back.begin(), back.end(), byPlace);
      for (size_t k = 0; k < there.size(); ++k) {
        EXPECT_NEAR(there[k].separation, back[k].separation, 1e-12);
        EXPECT_NEAR((there[k].normal + back[k].normal).norm(), 0, 1e-9);
      }
    }
}

// A plate of some 5,000 triangles lying on the ground: few contacts, and none deeper than the tolerance is
// left out.
TEST(FieldContact, ARestingPlateHasFewContacts) {
  const geometry::TriMesh mesh = shapes::makePlate({.edgeSegments = 32, .rings = 10});
  EXPECT_GT(mesh.triangles.size(), 5000u);
  const ShapePtr plate = makeSolid(mesh), plane = makePlane();
  const double lowest = plate->localBounds().lower.y(), outer = plate->outerRadius();
  ContactScratch scratch;
  PairMemory memory, unused;
  const Pose resting{Vec3(0, -lowest - 0.001 * outer, 0), Quat::Identity()};
  const auto full =
      fieldContactsOf(*plate, resting, *plane, {}, 0.002 * outer, {.full = true}, unused, scratch);
  scratch.work = {};
  const auto few = fieldContactsOf(*plate, resting, *plane, {}, 0.002 * outer, {}, memory, scratch);
  EXPECT_LE(few.size(), 8u);
  EXPECT_GE(full.size(), 100u);
  EXPECT_GE(few.size(), 3u);
  RecordProperty("visited", int(scratch.work.visited));
  // They span the plate: its centre of mass is well inside them.
  Box3 area;
  for (const Contact& c : few) area.grow(c.point);
  EXPECT_GT(area.extent().x(), 0.5 * outer);
  EXPECT_GT(area.extent().z(), 0.5 * outer);
}

// Points inside hardly cost anything as long as bodies touch at their surfaces only.
TEST(FieldContact, RestingBodiesLeaveTheInsideAlone) {
  const ShapePtr ball =
      makeSolid(shapes::makeRippledSphere({.n = 16}), {.surfacePoints = 400, .insidePoints = 100});
  const ShapePtr plane = makePlane();
  const sdf::SphereTree& tree = ball->points();
  const double lowest = ball->localBounds().lower.y(), outer = ball->outerRadius();
  const Pose resting{Vec3(0, -lowest - 0.001 * outer, 0), Quat::Identity()};
  // With all contacts asked for, no sphere is left out that could matter: count what is near enough to be
  // looked at.
  size_t inside = 0, all = 0;
  for (uint32_t o = 0; o < tree.occurrenceCount(); ++o) {
    const double height = resting.point(tree.position[tree.rank[o]]).y();
    if (height - double(tree.radius[o]) > 0.002 * outer) continue;
    ++all;
    inside += !tree.surface[tree.rank[o]];
  }
  EXPECT_GT(all, 20u);
  EXPECT_LT(double(inside), 0.1 * double(all));
}

TEST(FieldContact, TheLimitGrowsWhileSomethingIsDeep) {
  // Sunk far into the ground: more points than the limit are deeper than the tolerance.
  const ShapePtr plane = makePlane();
  ContactScratch scratch;
  PairMemory memory;
  const Pose sunk{Vec3(0, 0.2, 0), Quat::Identity()};
  size_t previous = 0;
  for (int step = 0; step < 10; ++step) {
    const auto contacts = fieldContactsOf(*rippled(), sunk, *plane, {}, 0.01, {}, memory, scratch);
    if (step > 0) {
      EXPECT_EQ(contacts.size(), previous + 1);
    }
    previous = contacts.size();
  }
  EXPECT_EQ(previous, 18u);
  // And falls back when it is lifted.
  const Pose lifted{Vec3(0, 1.09, 0), Quat::Identity()};
  for (int step = 0; step < 20; ++step)
    fieldContactsOf(*rippled(), lifted, *plane, {}, 0.01, {}, memory, scratch);
  EXPECT_EQ(memory.limitA, 8u);
}

TEST(FieldContact, ABallInAGrooveTouchesBothSides) {
  // A channel of triangles whose walls meet at a right angle.
  geometry::TriMesh groove;
  const double profile[6][2] = {{0, 0}, {1, 1}, {1, -1}, {-1, -1}, {-1, 1}, {0, 0}};
  for (const double z : {-1.0, 1.0})
    for (int i = 0; i < 5; ++i) groove.positions.push_back(Vec3(profile[i][0], profile[i][1], z));
  for (uint32_t i = 0; i < 5; ++i) {
    const uint32_t j = (i + 1) % 5;
    groove.triangles.push_back({i, 5 + i, j});
    groove.triangles.push_back({j, 5 + i, 5 + j});
  }
  // Ends: fans from the bottom of the groove would overlap, so from the two lower corners.
  groove.triangles.push_back({0, 1, 2});
  groove.triangles.push_back({0, 2, 3});
  groove.triangles.push_back({0, 3, 4});
  groove.triangles.push_back({5, 7, 6});
  groove.triangles.push_back({5, 8, 7});
  groove.triangles.push_back({5, 9, 8});
  SolidReport report;
  const ShapePtr channel = makeSolid(groove, {}, &report);
  EXPECT_GT(channel->mass().volume, 5.5);
  const ShapePtr ball = makeSphere(0.2);
  ContactScratch scratch;
  std::set<uint32_t> sides;
  for (const double aside : {0.0, 0.003, -0.002}) {
    PairMemory memory;
    const auto contacts = fieldContactsOf(*ball, {Vec3(aside, 0.2 * std::sqrt(2.0), 0.1), Quat::Identity()},
                                          *channel, {}, 0.02, {}, memory, scratch);
    ASSERT_EQ(contacts.size(), 2u);
    EXPECT_NEAR(contacts[0].normal.dot(contacts[1].normal), 0, 0.1);
    for (const Contact& c : contacts) EXPECT_NEAR(c.separation, 0, 0.012);
    std::set<uint32_t> ids;
    for (const Contact& c : contacts) ids.insert(c.id);
    EXPECT_EQ(ids.size(), 2u);
    if (sides.empty()) sides = ids;
    EXPECT_EQ(ids, sides);  // whichever side is nearer
  }
}

TEST(FieldContact, CapsulesLieOnSolids) {
  const ShapePtr slab = makeSolid(shapes::makeBox({.size = Vec3(2, 0.4, 2), .nx = 8, .ny = 2, .nz = 8}));
  const ShapePtr capsule = makeCapsule(0.4, 0.1);
  ContactScratch scratch;
  PairMemory memory;
  const Pose lying{Vec3(0, 0.299, 0), Quat(Eigen::AngleAxisd(kPi / 2, Vec3::UnitZ()))};
  const auto contacts = fieldContactsOf(*capsule, lying, *slab, {}, 0.01, {}, memory, scratch);
  ASSERT_GE(contacts.size(), 2u);
  for (const Contact& c : contacts) {
    EXPECT_NEAR(c.separation, -0.001, 0.002);
    EXPECT_NEAR((c.normal + Vec3::UnitY()).norm(), 0, 0.05);
  }
  // Across a torus: only the middle touches the tube.
  memory = {};
  const double tube = torus()->localBounds().upper.y(), ring = torus()->localBounds().upper.x() - tube;
  const Pose across{Vec3(ring + 0.07, tube + 0.095, 0), Quat(Eigen::AngleAxisd(kPi / 2, Vec3::UnitZ()))};
  const auto middle = fieldContactsOf(*capsule, across, *torus(), {}, 0.01, {}, memory, scratch);
  ASSERT_GE(middle.size(), 1u);
  EXPECT_NEAR(middle[0].separation, -0.005, 0.004);
  EXPECT_NEAR(middle[0].point.x(), ring, 0.03);
}

TEST(FieldContact, CoincidentSolidsHaveFiniteContacts) {
  ContactScratch scratch;
  PairMemory memory;
  const auto contacts = fieldContactsOf(*torus(), {}, *torus(), {}, 0.01, {}, memory, scratch);
  ASSERT_FALSE(contacts.empty());
  for (const Contact& c : contacts) {
    EXPECT_TRUE(c.point.allFinite());
    EXPECT_NEAR(c.normal.norm(), 1, 1e-12);
  }
  // A ball at the very middle of a solid ball, where the field has no gradient.
  const ShapePtr ball = makeSolid(shapes::makeIcosphere({.radius = 0.5, .frequency = 8}));
  const auto deep = fieldContactsOf(*makeSphere(0.1), {}, *ball, {}, 0.01, {}, memory, scratch);
  ASSERT_FALSE(deep.empty());
  EXPECT_LT(deep[0].separation, -0.4);
  EXPECT_NEAR(deep[0].normal.norm(), 1, 1e-12);
}

}  // namespace
}  // namespace sunder::rigid
