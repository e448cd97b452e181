// Flat sides of pieces end searches for contacts early: what they promise, and that nothing deep is missed.
#include "sunder/fracture/fragment_shape.h"
#include "sunder/rigid/contact.h"

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

rigid::ShapePtr copyOf(const Fragment& fragment, bool sides) {
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
  return rigid::makeSolid(std::move(parts));
}

// They save work and change nothing.
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

}  // namespace
}  // namespace sunder::fracture
