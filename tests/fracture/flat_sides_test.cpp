// Flat sides of pieces end searches for contacts early: what they promise, and that nothing deep is missed.
#include "sunder/fracture/pieces/fragment_shape.h"
#include "sunder/rigid/contact/contact.h"

#include "fracture/fragment_cases.h"

#include <gtest/gtest.h>

namespace sunder::fracture {
namespace {

Broken brokenCube() {
  Broken broken(cubeMesh(6, 5, FlatCracks::HalfSpaces));
  broken.shatter(10, 4);
  return broken;
}

TEST(FlatSides, PointsLieBelowAndTheFieldAbove) {
  const Broken broken = brokenCube();
  RandomStream random(8);
  size_t sides = 0;
  for (const Piece& piece : broken.pieces) {
    const rigid::Shape& shape = *piece.fragment.shape;
    for (const rigid::FlatSide& side : shape.flatSides()) {
      ++sides;
      EXPECT_NEAR(side.normal.norm(), 1, 1e-12);
      for (const Vec3& p : shape.points().position) {
        const double height = side.normal.dot(p - side.centre);
        EXPECT_LE(height, 1e-12);
        const double aside = (p - side.centre - height * side.normal).norm();
        EXPECT_LE(aside, side.radius - rigid::kFlatSlope * height + 1e-12);
      }
      for (int i = 0; i < 200; ++i) {
        const Vec3 p = Vec3::Constant(0.5) + 1.5 * random.uniform(0, 1) * random.unitVector();
        EXPECT_GE(shape.field().value(p), side.normal.dot(p - side.centre) - side.slack - 1e-12);
      }
    }
  }
  EXPECT_GE(sides, 4 * broken.pieces.size());  // of cracks and of the cube
}

// With as many contacts as it takes, the deepest point of either piece has one that is as deep. Fields of
// these pieces are exact, so nothing but the search itself makes up for what a bound leaves out.
TEST(FlatSides, NothingDeepIsMissed) {
  const Broken broken = brokenCube();
  RandomStream random(9);
  rigid::ContactScratch scratch;
  rigid::SelectionSettings selection;
  selection.growth = 1000;
  size_t deep = 0;
  for (int round = 0; round < 400; ++round) {
    const size_t i = random.nextU32() % broken.pieces.size(), j = random.nextU32() % broken.pieces.size();
    if (i == j) continue;
    const rigid::Shape &a = *broken.pieces[i].fragment.shape, &b = *broken.pieces[j].fragment.shape;
    const rigid::Pose pose{0.02 * random.unitVector(),
                           Quat(Eigen::AngleAxisd(0.05 * random.uniform(0, 1), random.unitVector()))};
    const double tolerance = selection.depthTolerance * std::min(a.outerRadius(), b.outerRadius());
    double deepest = 0;
    const auto look = [&](const rigid::Shape& points, const rigid::Shape& field,
                          const rigid::Pose& relative) {
      const Mat3 turn = relative.rotation.toRotationMatrix();
      for (uint32_t r = 0; r < points.points().pointCount(); ++r) {
        if (!points.points().surface[r]) continue;
        const sdf::FieldSample s =
            field.field().sample(turn * points.points().position[r] + relative.position);
        // Those on the far side of a wall are left out on purpose.
        if (s.gradient.dot(turn * points.pointNormals()[r]) > 0.2) continue;
        deepest = std::min(deepest, s.value);
      }
    };
    look(a, b, pose);
    look(b, a, rigid::inverse(pose));
    rigid::PairMemory memory;
    std::vector<rigid::Contact> found;
    rigid::findContacts(a, pose, b, {}, 0.01, selection, memory, scratch, found);
    double chosen = 0;
    for (const rigid::Contact& c : found) chosen = std::min(chosen, c.separation);
    EXPECT_LE(chosen, deepest + 2 * tolerance) << round;
    deep += deepest < -tolerance;
  }
  EXPECT_GT(deep, 50u);
}

// With flat sides or without, and those with the points that span them or not.
rigid::ShapePtr copyOf(const Fragment& fragment, bool sides, bool points = false) {
  const rigid::Shape& shape = *fragment.shape;
  const FieldErrors errors = fragment.field->errors();
  rigid::SolidParts parts;
  parts.mass = shape.mass();
  parts.surface = shape.surface();
  parts.field = fragment.field;
  parts.fieldError = errors.near;
  parts.fieldErrorFar = errors.far;
  parts.fieldAbove = errors.above;
  parts.fieldBand = errors.band;
  parts.fieldDomain = errors.domain;
  parts.points = shape.points();
  parts.pointNormals = shape.pointNormals();
  parts.innerRadius = shape.innerRadius();
  parts.inside = {shape.mass().centre};
  if (sides) parts.flatSides = shape.flatSides();
  if (!points)
    for (rigid::FlatSide& side : parts.flatSides) side.points.clear();
  return rigid::makeSolid(std::move(parts));
}

// What they bound saves work and changes nothing.
TEST(FlatSides, ContactsAreTheSameWithoutThem) {
  const Broken broken = brokenCube();
  RandomStream random(9);
  std::vector<rigid::ShapePtr> with, without;
  for (const Piece& piece : broken.pieces) {
    with.push_back(copyOf(piece.fragment, true));
    without.push_back(copyOf(piece.fragment, false));
  }
  rigid::ContactScratch scratch[2];
  size_t contacts = 0;
  for (int round = 0; round < 1000; ++round) {
    const size_t i = random.nextU32() % with.size(), j = random.nextU32() % with.size();
    if (i == j) continue;
    const double far = round % 2 ? 0.02 : 2e-4;
    const rigid::Pose pose{far * random.unitVector(),
                           Quat(Eigen::AngleAxisd(far * random.uniform(0, 1), random.unitVector()))};
    std::vector<rigid::Contact> found[2];
    for (const size_t k : {0, 1}) {
      const std::vector<rigid::ShapePtr>& shapes = k ? without : with;
      rigid::PairMemory memory;
      rigid::findContacts(*shapes[i], pose, *shapes[j], {}, 0.01, {}, memory, scratch[k], found[k]);
    }
    ASSERT_EQ(found[0].size(), found[1].size()) << round;
    for (size_t c = 0; c < found[0].size(); ++c) {
      EXPECT_EQ(found[0][c].id, found[1][c].id);
      EXPECT_EQ(found[0][c].separation, found[1][c].separation);
    }
    contacts += found[0].size();
  }
  EXPECT_GT(contacts, 1000u);
  EXPECT_LT(scratch[0].work.visited, 0.8 * double(scratch[1].work.visited));
}

// Points that span sides which face each other are other ones than a search of all points would find, but
// there are as many of them, as deep and as far from each other.
TEST(FlatSides, PointsThatSpanThemSayAsMuch) {
  const Broken broken = brokenCube();
  RandomStream random(9);
  std::vector<rigid::ShapePtr> with, without;
  for (const Piece& piece : broken.pieces) {
    with.push_back(copyOf(piece.fragment, true, true));
    without.push_back(copyOf(piece.fragment, true));
  }
  rigid::ContactScratch scratch[2];
  size_t pairs = 0;
  double spans[2] = {0, 0};
  for (int round = 0; round < 1000; ++round) {
    const size_t i = random.nextU32() % with.size(), j = random.nextU32() % with.size();
    if (i == j) continue;
    const rigid::Pose pose{2e-4 * random.unitVector(),
                           Quat(Eigen::AngleAxisd(2e-4 * random.uniform(0, 1), random.unitVector()))};
    std::vector<rigid::Contact> found[2];
    double nearest[2], span[2] = {0, 0};
    for (const size_t k : {0, 1}) {
      const std::vector<rigid::ShapePtr>& shapes = k ? without : with;
      rigid::PairMemory memory;
      rigid::findContacts(*shapes[i], pose, *shapes[j], {}, 0.01, {}, memory, scratch[k], found[k]);
      nearest[k] = Box3::kInfinity;
      for (const rigid::Contact& a : found[k]) {
        nearest[k] = std::min(nearest[k], a.separation);
        for (const rigid::Contact& b : found[k]) span[k] = std::max(span[k], (a.point - b.point).norm());
      }
    }
    if (found[1].empty()) continue;
    ++pairs;
    for (const size_t k : {0, 1}) spans[k] += span[k];
    const double size = std::min(with[i]->outerRadius(), with[j]->outerRadius());
    EXPECT_GE(found[0].size(), std::min<size_t>(found[1].size(), 8)) << round;
    EXPECT_LE(nearest[0], nearest[1] + 0.002 * size) << round;
  }
  EXPECT_GT(pairs, 300u);
  EXPECT_GE(spans[0], spans[1]);
  EXPECT_LT(scratch[0].work.visited, scratch[1].work.visited);
}

}  // namespace
}  // namespace sunder::fracture
