#include "sunder/base/random.h"
#include "sunder/rigid/contact/contact.h"
#include "sunder/rigid/contact/gjk.h"

#include <cmath>
#include <set>

#include <gtest/gtest.h>

namespace sunder::rigid {
namespace {

Pose randomPose(RandomStream& random, double reach) {
  return {random.pointIn({Vec3::Constant(-reach), Vec3::Constant(reach)}),
          Quat(Eigen::AngleAxisd(random.uniform(0, 2 * kPi), random.unitVector()))};
}

std::vector<Contact> contactsOf(const Shape& a, const Pose& poseA, const Shape& b, const Pose& poseB,
                                double margin, PairMemory memory = {}) {
  ContactScratch scratch;
  std::vector<Contact> out;
  findContacts(a, poseA, b, poseB, margin, {}, memory, scratch, out);
  return out;
}

double least(const std::vector<Contact>& contacts) {
  double s = Box3::kInfinity;
  for (const Contact& c : contacts) s = std::min(s, c.separation);
  return s;
}

// How far the polyhedra would have to move along `n` to be apart, from their corners: the definition.
double along(const HullTopology& a, const Pose& poseA, const HullTopology& b, const Pose& poseB,
             const Vec3& n) {
  double highest = -Box3::kInfinity, lowest = Box3::kInfinity;
  for (const Vec3& v : a.vertices) highest = std::max(highest, n.dot(poseA.point(v)));
  for (const Vec3& v : b.vertices) lowest = std::min(lowest, n.dot(poseB.point(v)));
  return lowest - highest;
}

// Signed distance of two polyhedra over all their axes: exact where they overlap, else a lower bound.
double axesSeparation(const HullTopology& a, const Pose& poseA, const HullTopology& b, const Pose& poseB) {
  double best = -Box3::kInfinity;
  for (const Vec3& n : a.faceNormals) best = std::max(best, along(a, poseA, b, poseB, poseA.direction(n)));
  for (const Vec3& n : b.faceNormals) best = std::max(best, along(a, poseA, b, poseB, poseB.direction(-n)));
  for (const auto& ea : a.edges)
    for (const auto& eb : b.edges) {
      const Vec3 n = poseA.direction(a.vertices[ea[1]] - a.vertices[ea[0]])
                         .cross(poseB.direction(b.vertices[eb[1]] - b.vertices[eb[0]]));
      if (n.norm() < 1e-6) continue;
      best = std::max(
          {best, along(a, poseA, b, poseB, n.normalized()), along(a, poseA, b, poseB, -n.normalized())});
    }
  return best;
}

// Distance of two polyhedra by minimising over the product of both with many projections: a second method.
double distanceByProjection(const Shape& a, const Pose& poseA, const Shape& b, const Pose& poseB) {
  Vec3 p = poseA.point(a.mass().centre);
  double previous = Box3::kInfinity;
  for (int i = 0; i < 20000; ++i) {
    const auto onto = [](const Shape& shape, const Pose& pose, const Vec3& x) {
      const sdf::FieldSample s = shape.field().sample(pose.localPoint(x));
      return s.value <= 0 ? x : Vec3(x - s.value * pose.direction(s.gradient));
    };
    const Vec3 q = onto(b, poseB, p);
    p = onto(a, poseA, q);
    const double d = (p - q).norm();
    if (previous - d < 1e-13) return d;
    previous = d;
  }
  return previous;
}

// Alternating projections converge slowly where surfaces are nearly parallel, so the bound is loose there.
TEST(Gjk, AgreesWithAlternatingProjections) {
  RandomStream random(1);
  const ShapePtr box = makeBox(Vec3(0.3, 0.5, 0.4));
  std::vector<Vec3> points;
  for (int i = 0; i < 25; ++i) points.push_back(random.unitVector());
  const ShapePtr hull = makeHull(points);
  int apart = 0;
  for (int i = 0; i < 500; ++i) {
    const Pose poseA = randomPose(random, 1), poseB = randomPose(random, 1);
    const Pose relative = inverse(poseA) * poseB;
    const CoreDistance d =
        distanceOfCores(coreOf(*box), coreOf(*hull), relative.rotation.toRotationMatrix(), relative.position);
    EXPECT_LE(d.below, d.distance + 1e-12);
    EXPECT_GE(d.below, d.distance * (1 - 1e-9));
    if (d.distance > 0) {
      ++apart;
      EXPECT_NEAR((d.onA - d.onB).norm(), d.distance, 1e-12);
      EXPECT_LE(d.distance, distanceByProjection(*box, poseA, *hull, poseB) + 1e-9);
    }
    EXPECT_NEAR(d.distance, distanceByProjection(*box, poseA, *hull, poseB), 1e-4);
  }
  EXPECT_GT(apart, 100);
}

// The least separation of the contacts against the exact signed distance.
void compareWithAxes(const Shape& a, const Shape& b, int poses, double reach, uint64_t seed) {
  RandomStream random(seed);
  const double margin = 0.1, smallest = std::min(a.innerRadius(), b.innerRadius());
  int overlapping = 0, near = 0;
  for (int i = 0; i < poses; ++i) {
    const Pose poseA = randomPose(random, reach), poseB = randomPose(random, reach);
    const std::vector<Contact> contacts = contactsOf(a, poseA, b, poseB, margin);
    double exact = axesSeparation(*a.hull(), poseA, *b.hull(), poseB);
    if (exact > 0) {
      const Pose relative = inverse(poseA) * poseB;
      exact = distanceOfCores(coreOf(a), coreOf(b), relative.rotation.toRotationMatrix(), relative.position)
                  .distance;
    }
    if (exact >= margin) {
      EXPECT_TRUE(contacts.empty()) << i << ' ' << exact;
      continue;
    }
    ASSERT_FALSE(contacts.empty()) << i << ' ' << exact;
    ASSERT_LE(contacts.size(), 5u);
    if (exact > 0) {
      ++near;
      EXPECT_GE(least(contacts), exact - 1e-9) << i;
      EXPECT_LE(least(contacts), exact + 0.1 * margin + 0.011 * smallest) << i;
    } else {
      ++overlapping;
      // The direction is the way out, up to what faces are preferred by; no contact is deeper than that.
      const Vec3& n = contacts[0].normal;
      const double depth = along(*a.hull(), poseA, *b.hull(), poseB, n);
      EXPECT_GE(depth, exact - 0.011 * smallest) << i;
      EXPECT_GE(least(contacts), depth - 1e-9) << i;
      EXPECT_LE(least(contacts), exact + 0.011 * smallest) << i;
    }
    for (const Contact& c : contacts) {
      EXPECT_NEAR(c.normal.norm(), 1, 1e-12);
      // On both surfaces but for half of the separation.
      const double half = 0.5 * std::abs(c.separation) + 1e-9;
      EXPECT_LE(a.field().value(poseA.localPoint(c.point)), half);
      EXPECT_LE(b.field().value(poseB.localPoint(c.point)), half);
    }
  }
  EXPECT_GT(overlapping, poses / 100);
  EXPECT_GT(near, poses / 100);
}

TEST(BoxContact, AgreesWithTheExactDistance) {
  compareWithAxes(*makeBox(Vec3(0.5, 0.3, 0.4)), *makeBox(Vec3(0.2, 0.6, 0.3)), 4000, 0.6, 1);
  compareWithAxes(*makeBox(Vec3(0.5, 0.5, 0.5)), *makeBox(Vec3(0.5, 0.5, 0.5)), 1000, 0.6, 2);
}
TEST(BoxContactFull, AgreesWithTheExactDistance) {
  compareWithAxes(*makeBox(Vec3(0.5, 0.3, 0.4)), *makeBox(Vec3(0.2, 0.6, 0.3)), 100000, 0.6, 3);
  compareWithAxes(*makeBox(Vec3(1, 0.02, 1)), *makeBox(Vec3(0.1, 0.1, 0.1)), 100000, 0.6, 4);
}

ShapePtr randomHull(uint64_t seed, int points) {
  RandomStream random(seed);
  std::vector<Vec3> list;
  for (int i = 0; i < points; ++i) list.push_back(0.5 * random.unitVector().cwiseProduct(Vec3(1, 0.7, 1.2)));
  return makeHull(list);
}

TEST(HullContact, AFewAgreeWithTheExactDistance) {
  compareWithAxes(*makeBox(Vec3(0.5, 0.3, 0.4)), *makeBox(Vec3(0.2, 0.6, 0.3)), 200, 0.6, 7);
  compareWithAxes(*randomHull(1, 14), *randomHull(2, 10), 20, 0.6, 8);
  compareWithAxes(*makeBox(Vec3(0.3, 0.5, 0.2)), *randomHull(2, 12), 20, 0.6, 9);
}
TEST(HullContact, AgreesWithTheExactDistance) {
  compareWithAxes(*randomHull(1, 14), *randomHull(2, 10), 400, 0.6, 5);
  compareWithAxes(*makeBox(Vec3(0.3, 0.5, 0.2)), *randomHull(2, 12), 400, 0.6, 6);
}
TEST(HullContactFull, AgreesWithTheExactDistance) {
  compareWithAxes(*randomHull(1, 14), *randomHull(2, 10), 4000, 0.6, 7);
  compareWithAxes(*makeBox(Vec3(0.3, 0.5, 0.2)), *randomHull(2, 12), 4000, 0.6, 8);
  compareWithAxes(*randomHull(3, 40), *randomHull(4, 30), 400, 0.6, 9);
}

TEST(BoxContact, AgreesWithHullsOfTheSameForm) {
  const Vec3 ha(0.5, 0.3, 0.4), hb(0.2, 0.6, 0.3);
  const ShapePtr boxA = makeBox(ha), boxB = makeBox(hb);
  const ShapePtr hullA = makeHull(boxA->hull()->vertices), hullB = makeHull(boxB->hull()->vertices);
  RandomStream random(9);
  int different = 0, all = 0;
  for (int i = 0; i < 5000; ++i) {
    const Pose poseA = randomPose(random, 0.5), poseB = randomPose(random, 0.5);
    const auto boxes = contactsOf(*boxA, poseA, *boxB, poseB, 0.05),
               hulls = contactsOf(*hullA, poseA, *hullB, poseB, 0.05);
    ASSERT_EQ(boxes.empty(), hulls.empty());
    if (boxes.empty()) continue;
    ++all;
    different += std::abs(least(boxes) - least(hulls)) > 1e-6;
  }
  EXPECT_LE(different, all / 200);  // near ties between axes
}

TEST(BoxContact, AFaceOnAFaceHasFourCorners) {
  const ShapePtr box = makeBox(Vec3(0.5, 0.5, 0.5));
  const Pose low, high{Vec3(0.3, 0.99, 0.2), Quat(Eigen::AngleAxisd(0.3, Vec3::UnitY()))};
  const auto contacts = contactsOf(*box, low, *box, high, 0.02);
  ASSERT_EQ(contacts.size(), 4u);
  std::set<uint32_t> ids;
  for (const Contact& c : contacts) {
    EXPECT_NEAR(c.separation, -0.01, 1e-12);
    EXPECT_NEAR((c.normal - Vec3::UnitY()).norm(), 0, 1e-12);
    EXPECT_NEAR(c.point.y(), 0.495, 1e-12);
    ids.insert(c.id);
  }
  EXPECT_EQ(ids.size(), 4u);
}

TEST(BoxContact, IdsStayUnderSmallMotions) {
  const ShapePtr box = makeBox(Vec3(0.5, 0.5, 0.5)), hull = makeHull(box->hull()->vertices);
  for (const ShapePtr& shape : {box, hull}) {
    RandomStream random(4);
    PairMemory memory;
    ContactScratch scratch;
    std::set<uint32_t> first;
    Pose high{Vec3(0.3, 0.9995, 0.2), Quat(Eigen::AngleAxisd(0.3, Vec3::UnitY()))};
    int changed = 0;
    for (int step = 0; step < 500; ++step) {
      std::vector<Contact> out;
      findContacts(*shape, {}, *shape, high, 0.02, {}, memory, scratch, out);
      std::set<uint32_t> ids;
      for (const Contact& c : out) ids.insert(c.id);
      ASSERT_EQ(ids.size(), 4u);
      if (step == 0) first = ids;
      changed += ids != first;
      // Slides by 5 cm in all, and trembles.
      high.position += Vec3(1e-4, 1e-6 * random.uniform(-1, 1), 0);
      high.rotation = (turnBy(1e-6 * random.unitVector()) * high.rotation).normalized();
    }
    EXPECT_EQ(changed, 0);
  }
}

TEST(Contact, IsTheSameFromBothSides) {
  RandomStream random(12);
  const std::vector<ShapePtr> shapes{
      makeSphere(0.4),           makeCapsule(0.4, 0.15), makeBox(Vec3(0.3, 0.5, 0.2)),
      makeBox(Vec3::Ones() / 2), randomHull(3, 16),      makePlane()};
  for (const ShapePtr& a : shapes)
    for (const ShapePtr& b : shapes)
      for (int i = 0; i < 300; ++i) {
        const Pose poseA = randomPose(random, 0.4), poseB = randomPose(random, 0.4);
        const auto one = contactsOf(*a, poseA, *b, poseB, 0.05), two = contactsOf(*b, poseB, *a, poseA, 0.05);
        if (a->kind() == ShapeKind::Plane && b->kind() == ShapeKind::Plane) continue;
        ASSERT_EQ(one.empty(), two.empty());
        if (one.empty()) continue;
        EXPECT_NEAR(least(one), least(two), 0.003) << int(a->kind()) << ' ' << int(b->kind());
        if (a->kind() != b->kind()) {
          EXPECT_NEAR((one[0].normal + two[0].normal).norm(), 0, 1e-12);
        }
      }
}

// Round shapes: the separation is the distance of the cores less the radii.
TEST(RoundContact, SeparationIsTheDistance) {
  RandomStream random(21);
  const ShapePtr sphere = makeSphere(0.3), capsule = makeCapsule(0.4, 0.2), other = makeCapsule(0.3, 0.1);
  const std::vector<ShapePtr> others{sphere, capsule, other, makeBox(Vec3(0.4, 0.2, 0.5)), randomHull(5, 20)};
  for (const ShapePtr& a : {sphere, capsule})
    for (const ShapePtr& b : others)
      for (int i = 0; i < 2000; ++i) {
        const Pose poseA = randomPose(random, 0.7), poseB = randomPose(random, 0.7);
        const auto contacts = contactsOf(*a, poseA, *b, poseB, 0.1);
        const Pose relative = inverse(poseA) * poseB;
        const ConvexCore coreA = coreOf(*a), coreB = coreOf(*b);
        const double cores =
            distanceOfCores(coreA, coreB, relative.rotation.toRotationMatrix(), relative.position).distance;
        const double exact = cores - coreA.radius - coreB.radius;
        ASSERT_EQ(contacts.empty(), exact >= 0.1) << exact;
        if (contacts.empty()) continue;
        if (cores > 1e-6) {
          EXPECT_NEAR(least(contacts), exact, 0.011) << int(b->kind());
        } else {
          EXPECT_LT(least(contacts), exact + 1e-6);
        }
        for (const Contact& c : contacts) {
          const double half = 0.5 * std::abs(c.separation) + 1e-6;
          EXPECT_LE(a->field().value(poseA.localPoint(c.point)), half);
          EXPECT_LE(b->field().value(poseB.localPoint(c.point)), half);
        }
      }
}

// Pushed out along the normal by the depth, the capsule is outside.
TEST(RoundContact, DeepCapsulesAreShownTheWayOut) {
  RandomStream random(22);
  const ShapePtr capsule = makeCapsule(0.3, 0.1), box = makeBox(Vec3(0.4, 0.2, 0.5));
  int touching = 0;
  for (int i = 0; i < 2000; ++i) {
    const Pose poseA = randomPose(random, 0.2), poseB = randomPose(random, 0.2);
    const auto contacts = contactsOf(*capsule, poseA, *box, poseB, 0.05);
    if (contacts.empty()) continue;
    ++touching;
    Pose moved = poseA;
    moved.position += contacts[0].normal * (least(contacts) - 1e-6);
    const Pose relative = inverse(moved) * poseB;
    EXPECT_GE(distanceOfCores(coreOf(*capsule), coreOf(*box), relative.rotation.toRotationMatrix(),
                              relative.position)
                  .distance,
              0.1 - 0.01);
  }
  EXPECT_GT(touching, 1500);
}

TEST(PlaneContact, TheLowestPointIsFound) {
  RandomStream random(31);
  const ShapePtr plane = makePlane();
  const std::vector<ShapePtr> shapes{makeSphere(0.3), makeCapsule(0.4, 0.2), makeBox(Vec3(0.4, 0.2, 0.5)),
                                     randomHull(5, 60)};
  for (const ShapePtr& shape : shapes)
    for (int i = 0; i < 1000; ++i) {
      const Pose pose = randomPose(random, 0.5), ground = randomPose(random, 0.2);
      const Vec3 up = ground.direction(Vec3::UnitY());
      const ConvexCore core = coreOf(*shape);
      const double exact =
          up.dot(pose.point(core.support(pose.localDirection(-up))) - ground.position) - core.radius;
      const auto contacts = contactsOf(*shape, pose, *plane, ground, 0.05);
      ASSERT_EQ(contacts.empty(), exact >= 0.05);
      if (contacts.empty()) continue;
      EXPECT_LE(contacts.size(), 4u);
      EXPECT_NEAR(least(contacts), exact, 2e-4);
      for (const Contact& c : contacts) {
        EXPECT_NEAR((c.normal + up).norm(), 0, 1e-12);
        EXPECT_NEAR(up.dot(c.point - ground.position), 0.5 * c.separation, 1e-12);
      }
    }
}

TEST(Contact, CoincidentShapesHaveFiniteContacts) {
  const std::vector<ShapePtr> shapes{makeSphere(0.4), makeCapsule(0.4, 0.15), makeBox(Vec3(0.3, 0.5, 0.2)),
                                     randomHull(3, 16)};
  for (const ShapePtr& a : shapes)
    for (const ShapePtr& b : shapes) {
      const auto contacts = contactsOf(*a, {}, *b, {}, 0.01);
      ASSERT_FALSE(contacts.empty());
      for (const Contact& c : contacts) {
        EXPECT_TRUE(c.point.allFinite());
        EXPECT_NEAR(c.normal.norm(), 1, 1e-12);
        EXPECT_LT(c.separation, 0);
      }
    }
}

TEST(RoundContact, CapsulesSideBySideTouchTwice) {
  const ShapePtr capsule = makeCapsule(0.5, 0.1);
  const auto contacts = contactsOf(*capsule, {}, *capsule, {Vec3(0.195, 0.3, 0), Quat::Identity()}, 0.01);
  ASSERT_EQ(contacts.size(), 2u);
  EXPECT_NEAR(std::abs(contacts[0].point.y() - contacts[1].point.y()), 0.7, 1e-12);
  const ShapePtr box = makeBox(Vec3(1, 0.1, 1));
  const Pose lying{Vec3(0, 0.199, 0), Quat(Eigen::AngleAxisd(kPi / 2, Vec3::UnitX()))};
  EXPECT_EQ(contactsOf(*capsule, lying, *box, {}, 0.01).size(), 2u);
}

}  // namespace
}  // namespace sunder::rigid
