#include "sunder/fracture/pieces/half_spaces.h"

#include "fracture/fragment_cases.h"

#include <gtest/gtest.h>

namespace sunder::fracture {
namespace {

Broken flatlyBroken(uint32_t n, size_t pieces, uint64_t seed) {
  Broken broken(cubeMesh(n, seed, FlatCracks::HalfSpaces));
  broken.shatter(pieces, seed);
  return broken;
}

TEST(HalfSpaces, PlanesThroughACubeLeaveNothingElse) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const Broken broken = flatlyBroken(8, 9, seed);
    for (const Piece& piece : broken.pieces) {
      const FragmentField& field = *piece.fragment.field;
      EXPECT_TRUE(field.clipped());
      EXPECT_GE(field.halfSpaces().all().size(), 1u);
      EXPECT_EQ(field.faces().size(), 0u);
      EXPECT_LE(field.halfSpaces().bend(), 2 * kNearestVertex * broken.rest->edge());
    }
  }
}

TEST(HalfSpaces, InsideTheFieldIsTheDistanceOutsideNeverMore) {
  const Broken broken = flatlyBroken(8, 9, 3);
  RandomStream random(5);
  size_t outside = 0, exactOnes = 0;
  double least = 1;
  for (const Piece& piece : broken.pieces) {
    const FragmentField& field = *piece.fragment.field;
    const sdf::MeshField exact = exactField(piece);
    const double off = field.halfSpaces().bend() + 1e-9;
    for (int i = 0; i < 10000; ++i) {
      const Vec3 p = random.pointIn({Vec3::Constant(-0.2), Vec3::Constant(1.2)});
      const sdf::FieldSample ours = field.sample(p);
      const double truth = exact.value(p);
      EXPECT_NEAR(ours.gradient.norm(), 1, 1e-9);
      EXPECT_LE(ours.value, truth + off);
      if (truth < 0) {
        EXPECT_NEAR(ours.value, truth, off);
      }
      if (truth <= 5 * off) continue;
      EXPECT_GT(ours.value, 0);
      if (truth > 0.1) continue;
      ++outside;
      exactOnes += ours.value > truth - 1.01 * off;
      least = std::min(least, ours.value / truth);
    }
    for (uint32_t v = 0; v < field.rootVertices().size(); ++v)
      if (field.present(v)) {
        EXPECT_NEAR(field.depth(v), std::max(0.0, -exact.value(field.position(v))), off);
      }
  }
  EXPECT_GT(double(exactOnes), 0.6 * double(outside));
  EXPECT_GT(least, 0.1);
}

// Ahead of the tip of a thin wedge the planes of its sides are near, the wedge is not.
TEST(HalfSpaces, AheadOfAWedgeItsEdgeCounts) {
  Broken broken(cubeMesh(10, 2, FlatCracks::HalfSpaces));
  const Vec3 tip(0.5, 0.5, 0.5);
  const double half = 0.1;
  ASSERT_TRUE(broken.crack(0, planeCrack(tip, Vec3(std::sin(half), std::cos(half), 0))));
  const size_t above = broken.pieces[0].fragment.shape->mass().centre.y() > 0.5 ? 0 : 1;
  ASSERT_TRUE(broken.crack(1 - above, planeCrack(tip, Vec3(std::sin(half), -std::cos(half), 0))));
  size_t wedges = 0;
  for (const Piece& piece : broken.pieces) {
    const Vec3 centre = piece.fragment.shape->mass().centre;
    if (std::abs(centre.y() - 0.5) > 0.06 || centre.x() > 0.5) continue;
    ++wedges;
    ASSERT_TRUE(piece.fragment.field->clipped());
    for (const double ahead : {0.02, 0.1, 0.3}) {
      const sdf::FieldSample s = piece.fragment.field->sample(tip + Vec3(ahead, 0, 0));
      EXPECT_NEAR(s.value, ahead, 0.01);
      EXPECT_GT(s.gradient.x(), 0.99);
    }
  }
  EXPECT_EQ(wedges, 1u);
}

TEST(HalfSpaces, NotWhereACrackEndsOrIsBumpy) {
  const auto clipped = [](const CrackFunction& crack, double mostArea) {
    Broken broken(cubeMesh(8, 5, FlatCracks::HalfSpaces));
    EXPECT_TRUE(broken.crack(0, crack, mostArea));
    size_t count = 0;
    for (const Piece& piece : broken.pieces) count += piece.fragment.field->clipped();
    return count;
  };
  const Vec3 middle(0.52, 0.5, 0.5), normal(1, 0.05, 0.1);
  EXPECT_EQ(clipped(planeCrack(middle, normal), Box3::kInfinity), 2u);
  EXPECT_EQ(clipped(planeCrack(middle, normal), 0.3), 0u);
  EXPECT_EQ(clipped(noisyCrack(middle, normal, {0.03, 0.4, 1}), Box3::kInfinity), 0u);
}

// A horseshoe: the plane that cuts one limb passes through the other, too.
TEST(HalfSpaces, NotWhereThePlaneMeetsWhatItDidNotCut) {
  geometry::TetMesh mesh = tet::cubes(9, true, 0, 1);
  for (Vec3& p : mesh.positions) p /= 9;
  std::erase_if(mesh.tets, [&](const geometry::Tetrahedron& t) {
    const Vec3 c =
        0.25 * (mesh.positions[t[0]] + mesh.positions[t[1]] + mesh.positions[t[2]] + mesh.positions[t[3]]);
    return c.x() > 0.33 && c.x() < 0.67 && c.y() > 0.34;
  });
  const geometry::TriMesh surface = geometry::boundarySurface(mesh).surface;
  Broken broken(std::make_shared<RestMesh>(mesh, std::make_shared<sdf::MeshField>(surface)));
  const CrackFunction level = planeCrack(Vec3(0, 0.71, 0), Vec3(0.01, 1, 0.02));
  ASSERT_TRUE(broken.crack(0, level));
  ASSERT_EQ(broken.pieces.size(), 2u);
  // The body is on both sides of the plane; the end of one limb is not all that is above it.
  EXPECT_FALSE(broken.pieces[0].fragment.field->clipped());
  EXPECT_FALSE(broken.pieces[1].fragment.field->clipped());
  // With both limbs cut the body is what is below; the ends are still two.
  const size_t body = broken.largest();
  ASSERT_TRUE(broken.crack(body, level));
  ASSERT_EQ(broken.pieces.size(), 3u);
  const size_t rest = broken.largest();
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(broken.pieces[i].fragment.field->clipped(), i == rest) << i;
  RandomStream random(8);
  for (int i = 0; i < 20000; ++i) {
    const Vec3 p = random.pointIn({Vec3::Zero(), Vec3::Ones()});
    size_t inside = 0;
    double nearest = 1;
    for (const Piece& piece : broken.pieces) {
      const double value = piece.fragment.field->value(p);
      inside += value < 0;
      nearest = std::min(nearest, std::abs(value));
    }
    if (nearest < 1e-3) continue;
    EXPECT_EQ(inside, broken.rest->field().value(p) < 0 ? 1u : 0u);
  }
}

// Convex pieces know their corners: the hull has the volume of the piece and touches as its field does.
TEST(HalfSpaces, PiecesOfACubeAreHulls) {
  for (const uint64_t seed : {1, 2, 3}) {
    Broken broken(cubeMesh(6, seed, FlatCracks::Hulls));
    ASSERT_TRUE(broken.pieces[0].fragment.shape->hull());
    EXPECT_EQ(broken.pieces[0].fragment.shape->hull()->vertices.size(), 8u);
    broken.shatter(8, seed);
    for (const Piece& piece : broken.pieces) {
      const rigid::HullTopology* hull = piece.fragment.shape->hull();
      ASSERT_TRUE(hull);
      EXPECT_EQ(hull->vertices.size() + hull->faceNormals.size(), hull->edges.size() + 2);
      for (const Vec3& v : hull->vertices)
        EXPECT_NEAR(piece.fragment.field->value(v), 0, 1e-6 + piece.fragment.field->halfSpaces().bend());
      for (const Vec3& p : piece.fragment.shape->points().position)
        for (size_t f = 0; f < hull->faceNormals.size(); ++f)
          EXPECT_LT(hull->faceNormals[f].dot(p) - hull->faceOffsets[f],
                    1e-6 + piece.fragment.field->halfSpaces().bend());
    }
  }
  // Bumpy cracks leave nothing convex.
  Broken bumpy(cubeMesh(6, 3, FlatCracks::Hulls));
  bumpy.shatter(4, 3, 0.04);
  for (const Piece& piece : bumpy.pieces) EXPECT_FALSE(piece.fragment.shape->hull());
}

}  // namespace
}  // namespace sunder::fracture
