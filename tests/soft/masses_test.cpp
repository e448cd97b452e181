#include "sunder/soft/spheres/masses.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"

#include "soft/wall_cases.h"

#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace sunder::soft {

namespace {

double sum(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }

}  // namespace

TEST(SolidShares, AddUpToTheSolid) {
  for (const NamedMesh& solid : solids()) {
    const Embedded e(turned(solid.mesh, 11), boxCage(3, 0.2));
    const SolidShares shares = exactShares(e.cage, e.copies, e.walls);
    EXPECT_NEAR(sum(shares.volumes), e.solidVolume(), 1e-10) << solid.name;
    for (uint32_t t = 0; t < shares.volumes.size(); ++t) {
      EXPECT_GE(shares.fractions[t], 1e-3);
      EXPECT_LE(shares.fractions[t], 1);
      EXPECT_GE(shares.centres[t].minCoeff(), 0);
      EXPECT_NEAR(shares.centres[t].sum(), 1, 1e-12);
      if (shares.fractions[t] > 1e-3) {
        EXPECT_NEAR(shares.fractions[t] * e.tetVolume(t), shares.volumes[t], 1e-12);
      }
    }
  }
}

TEST(SolidShares, OfPiecesAddUpToTheMomentsOfTheSolid) {
  for (const NamedMesh& solid : solids()) {
    const Embedded e(turned(solid.mesh, 13), boxCage(2, 0.2));
    const geometry::MassProperties whole = geometry::massProperties(e.surface);
    Vec3 first = Vec3::Zero();
    Mat3 second = Mat3::Zero();
    for (const PieceMoments& p : e.pieces) {
      first += p.volume * p.centre;
      const Vec3 d = p.centre - whole.centre;
      second += p.second + p.volume * d * d.transpose();
    }
    EXPECT_LT((first / whole.volume - whole.centre).norm(), 1e-10) << solid.name;
    const Mat3 inertia = second.trace() * Mat3::Identity() - second;
    EXPECT_LT((inertia - whole.inertia).norm(), 1e-10) << solid.name;
  }
}

TEST(SolidShares, OfCellsAreWithinFivePercentAndBetterWithFinerOnes) {
  for (const NamedMesh& solid : solids()) {
    const Embedded e(turned(solid.mesh, 17), boxCage(2, 0.1));
    const Box3 box = geometry::bounds(e.surface.positions);
    const double size = (box.upper - box.lower).maxCoeff();
    const sdf::MeshField field(e.surface);
    std::vector<double> errors;
    for (const double parts : {10.0, 40.0, 80.0}) {
      const SolidShares shares = cellShares(e.surface, e.cage, e.copies, e.walls, field, size / parts);
      errors.push_back(std::abs(sum(shares.volumes) / e.solidVolume() - 1));
    }
    EXPECT_LT(errors[1], 0.05) << solid.name;
    EXPECT_LT(errors[2], 0.5 * errors[0] + 1e-3)
        << solid.name << " " << errors[0] << " " << errors[1] << " " << errors[2];
  }
}

TEST(SolidShares, GiveVerticesTheMassOfTheSolidAtItsCentre) {
  const Embedded e(turned(earedHead(), 19), boxCage(3, 0.2));
  const std::vector<double> masses = vertexMasses(e.cage, exactShares(e.cage, e.copies, e.walls), 950, 0);
  const geometry::MassProperties whole = geometry::massProperties(e.surface, 950);
  EXPECT_NEAR(sum(masses), whole.mass, 1e-9 * whole.mass);
  Vec3 centre = Vec3::Zero();
  for (size_t v = 0; v < masses.size(); ++v) centre += masses[v] * e.cage.rest.positions[v] / whole.mass;
  EXPECT_LT((centre - whole.centre).norm(), 1e-9);
}

TEST(SolidShares, LeaveNoVertexWithoutMass) {
  const Embedded e(moved(shapes::makeIcosphere({.radius = 0.2, .frequency = 4}), Vec3(0.5, 0.5, 0.5)),
                   boxCage(2));
  const SolidShares shares = exactShares(e.cage, e.copies, e.walls);
  EXPECT_GT(shares.raised, 0u);
  size_t raised = 0;
  for (const double f : shares.fractions) raised += f == 1e-3 ? 1 : 0;
  EXPECT_EQ(raised, shares.raised);
  const std::vector<double> masses = vertexMasses(e.cage, shares, 1000);
  const double mean = sum(masses) / static_cast<double>(masses.size());
  for (const double m : masses) EXPECT_GE(m, 0.9e-3 * mean);
}

TEST(SolidShares, HaveTheSameBitsForAnyNumberOfThreads) {
  const Embedded e(turned(earedHead(12), 23), boxCage(3, 0.2));
  std::vector<SolidShares> made;
  for (const unsigned threads : {1u, 2u, 4u}) {
    const ThreadLimit limit(threads);
    made.push_back(exactShares(e.cage, e.copies, e.walls));
  }
  for (const SolidShares& other : made) {
    EXPECT_EQ(made[0].volumes, other.volumes);
    EXPECT_EQ(made[0].centres, other.centres);
  }
}

TEST(SolidShares, RefuseWhatCannotBe) {
  const Embedded e(shapes::makeIcosphere({.radius = 0.9, .frequency = 3}), boxCage(1));
  const sdf::MeshField field(e.surface);
  EXPECT_THROW(exactShares(e.cage, e.copies, e.walls, 2), Error);
  EXPECT_THROW(exactShares(boxCage(2), e.pieces), Error);
  EXPECT_THROW(cellShares(e.surface, e.cage, e.copies, e.walls, field, 0), Error);
  const SolidShares shares = exactShares(e.cage, e.copies, e.walls);
  EXPECT_THROW(vertexMasses(e.cage, shares, 0), Error);
  EXPECT_THROW(vertexMasses(boxCage(2), shares, 1000), Error);
}

}  // namespace sunder::soft
