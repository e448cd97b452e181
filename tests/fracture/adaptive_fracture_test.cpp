#include "sunder/fracture/model/adaptive_fracture.h"

#include "sunder/base/parallel.h"
#include "sunder/geometry/mass_properties.h"
#include "sunder/geometry/tet_mesh.h"

#include "tet/tet_cases.h"

#include <numeric>

#include <gtest/gtest.h>

namespace sunder::fracture {
namespace {

const BrittleMaterial kGlass{{7e10, 0.22, 2500}, 4e7, 8};

// A beam along x of 6 x 1 x 1 cubes of 5 cm.
geometry::TetMesh beam() {
  geometry::TetMesh mesh = tet::cubes(6, true);
  geometry::TetMesh out;
  std::vector<uint32_t> number(mesh.positions.size(), kNoIndex);
  for (auto t : mesh.tets) {
    Vec3 centre = Vec3::Zero();
    for (const uint32_t v : t) centre += 0.25 * mesh.positions[v];
    if (centre.y() > 1 || centre.z() > 1) continue;
    for (uint32_t& v : t) {
      if (number[v] == kNoIndex) {
        number[v] = uint32_t(out.positions.size());
        out.positions.push_back(0.05 * mesh.positions[v]);
      }
      v = number[v];
    }
    out.tets.push_back(t);
  }
  return out;
}

Impact impactAt(const Vec3& point, const Vec3& impulse) { return {point, impulse, 5, {}}; }

struct Totals {
  double volume = 0;
  Vec3 moment = Vec3::Zero();
};
Totals totals(std::span<const CrackedMesh> pieces) {
  Totals sum;
  for (const CrackedMesh& piece : pieces) {
    const auto cells = cellsOf(piece);
    const auto links = linksOf(piece, cells);
    const CrackedSurface surface = surfaceOf(piece, cells, links);
    const geometry::MassProperties mass = geometry::massProperties(surface.mesh);
    sum.volume += mass.volume;
    sum.moment += mass.volume * mass.centre;
  }
  return sum;
}

TEST(AdaptiveFracture, AWeakImpactLeavesTheMeshAsItWas) {
  const CrackedMesh body{beam()};
  AdaptiveFracture fracture;
  uint32_t next = 0;
  const Impact impact = impactAt(Vec3(0.15, 0.05, 0.025), Vec3(0, -1e-3, 0));
  const FractureOutcome outcome = fracture.strike(body, kGlass, {&impact, 1}, {}, meanEdge(body.mesh), next);
  EXPECT_TRUE(outcome.analysed);
  EXPECT_GT(outcome.largestStress, 0);
  EXPECT_LT(outcome.largestStress, kGlass.strength);
  ASSERT_EQ(outcome.pieces.size(), 1u);
  EXPECT_EQ(outcome.pieces[0].mesh.positions, body.mesh.positions);
  EXPECT_EQ(outcome.pieces[0].mesh.tets, body.mesh.tets);
  EXPECT_EQ(next, 0u);
}

TEST(AdaptiveFracture, AStrongImpactBreaksABeamAndNothingIsLost) {
  const CrackedMesh body{beam()};
  for (const uint32_t cycles : {0u, 1u}) {
    AdaptiveFracture fracture;
    uint32_t next = 0;
    FractureSettings settings;
    settings.cycles = cycles;
    const Impact impact = impactAt(Vec3(0.15, 0.05, 0.025), Vec3(0, -20, 0));
    const FractureOutcome outcome =
        fracture.strike(body, kGlass, {&impact, 1}, settings, meanEdge(body.mesh), next);
    EXPECT_GT(outcome.largestStress, kGlass.strength);
    EXPECT_GE(outcome.pieces.size(), 2u) << cycles;
    EXPECT_GE(outcome.cracks.size(), 1u);
    EXPECT_EQ(outcome.cracks.size(), next);
    EXPECT_EQ(outcome.splinters, 0u);
    const Totals sum = totals(outcome.pieces);
    EXPECT_NEAR(sum.volume, 6 * 0.05 * 0.05 * 0.05, 1e-12 * 1e-3);
    EXPECT_LT((sum.moment / sum.volume - Vec3(0.15, 0.025, 0.025)).norm(), 1e-12);
  }
}

TEST(AdaptiveFracture, PiecesBreakAgain) {
  std::vector<CrackedMesh> pieces{CrackedMesh{beam()}};
  const double edge = meanEdge(pieces[0].mesh);
  AdaptiveFracture fracture;
  uint32_t next = 0;
  size_t most = 0;
  for (int level = 0; level < 3; ++level) {
    std::vector<CrackedMesh> after;
    for (const CrackedMesh& piece : pieces) {
      const auto cells = cellsOf(piece);
      const auto links = linksOf(piece, cells);
      const geometry::MassProperties mass = geometry::massProperties(surfaceOf(piece, cells, links).mesh);
      const Impact impact = impactAt(mass.centre + Vec3(0, 0.025, 0), Vec3(0, -6e4 * mass.volume, 0));
      const FractureOutcome outcome = fracture.strike(piece, kGlass, {&impact, 1}, {}, edge, next);
      after.insert(after.end(), outcome.pieces.begin(), outcome.pieces.end());
    }
    EXPECT_GE(after.size(), pieces.size());
    pieces = std::move(after);
    most = std::max(most, pieces.size());
    EXPECT_NEAR(totals(pieces).volume, 6 * 0.05 * 0.05 * 0.05, 1e-15) << level;
  }
  EXPECT_GE(most, 4u);
}

TEST(AdaptiveFracture, CracksMayStopInside) {
  const CrackedMesh body{beam()};
  FractureSettings settings;
  settings.arrest = true;
  BrittleMaterial tough = kGlass;
  tough.surfaceEnergy = 5e4;
  AdaptiveFracture fracture;
  uint32_t next = 0;
  const Impact impact = impactAt(Vec3(0.15, 0.05, 0.025), Vec3(0, -20, 0));
  const FractureOutcome stopped =
      fracture.strike(body, tough, {&impact, 1}, settings, meanEdge(body.mesh), next);
  const FractureOutcome through =
      fracture.strike(body, kGlass, {&impact, 1}, FractureSettings{}, meanEdge(body.mesh), next);
  double areaStopped = 0, areaThrough = 0;
  for (const CrackRecord& c : stopped.cracks) areaStopped += c.area;
  for (const CrackRecord& c : through.cracks) areaThrough += c.area;
  EXPECT_LT(areaStopped, areaThrough);
  EXPECT_NEAR(totals(stopped.pieces).volume, 6 * 0.05 * 0.05 * 0.05, 1e-15);
}

TEST(AdaptiveFracture, TheSamePiecesForAnyNumberOfThreads) {
  const CrackedMesh body{beam()};
  std::vector<FractureOutcome> outcomes;
  for (const unsigned threads : {1u, 2u, 4u}) {
    const ThreadLimit limit(threads);
    AdaptiveFracture fracture;
    uint32_t next = 0;
    const Impact impact = impactAt(Vec3(0.11, 0.05, 0.02), Vec3(0.5, -5, 0.2));
    outcomes.push_back(fracture.strike(body, kGlass, {&impact, 1}, {}, meanEdge(body.mesh), next));
  }
  for (const FractureOutcome& o : outcomes) {
    ASSERT_EQ(o.pieces.size(), outcomes[0].pieces.size());
    for (size_t i = 0; i < o.pieces.size(); ++i) {
      EXPECT_EQ(o.pieces[i].mesh.positions, outcomes[0].pieces[i].mesh.positions);
      EXPECT_EQ(o.pieces[i].cuts, outcomes[0].pieces[i].cuts);
    }
  }
}

}  // namespace
}  // namespace sunder::fracture
