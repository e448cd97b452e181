#include "sunder/soft/tear/bonds.h"

#include "sunder/base/bytes.h"
#include "sunder/fem/motion/motion.h"

#include "fem/fem_cases.h"

#include <cmath>

#include <gtest/gtest.h>

namespace sunder::soft {

namespace {

// Two tetrahedra on both sides of one face, which is split at once; their outer corners are far away and
// held.
struct Pair {
  Cage cage = makeCage(geometry::TetMesh{
      {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, -1}}, {{0, 1, 2, 3}, {0, 2, 1, 4}}, {}});
  Torn torn{cage};
  Bonds bonds;
  BondLaw law{.strength = 2e4, .surfaceEnergy = 50};

  Pair() {
    for (uint32_t v = 0; v < 3; ++v) {
      std::vector<Vec3> x;
      for (const uint32_t origin : torn.origins()) x.push_back(cage.rest.positions[origin]);
      const TearOutcome outcome = torn.split(v, Vec3::UnitZ(), x, false);
      EXPECT_TRUE(outcome.any());
      bonds.follow(cage, torn, outcome, 0, law);
    }
    bonds.setCorners(torn.tets());
  }
  // With the two sides so far apart.
  std::vector<Vec3> opened(const Vec3& way) const {
    std::vector<Vec3> x(torn.vertices());
    for (size_t t = 0; t < 2; ++t)
      for (int k = 0; k < 4; ++k)
        x[torn.tets()[t][k]] =
            cage.rest.positions[cage.rest.tets[t][k]] + (t == 0 ? Vec3(way) : Vec3::Zero());
    return x;
  }
};

TEST(Bonds, AFaceHasOneForEachOfItsVertices) {
  const Pair pair;
  ASSERT_EQ(pair.bonds.bonds().size(), 3u);
  double area = 0;
  for (const Bonds::Bond& bond : pair.bonds.bonds()) area += bond.area;
  EXPECT_NEAR(area, 0.5, 1e-15);
  EXPECT_NEAR(area, pair.torn.openArea(), 1e-15);
}

TEST(Bonds, TakeUpTheSurfaceEnergyWhateverTheWay) {
  for (const Vec3& direction : {Vec3(0, 0, 1), Vec3(1, 0, 0), Vec3(0.6, 0, 0.8)}) {
    Pair pair;
    const double reach = 2 * pair.law.surfaceEnergy / pair.law.strength;
    double work = 0, most = 0;
    const int steps = 4000;
    for (int i = 1; i <= steps; ++i) {
      const std::vector<Vec3> x = pair.opened(direction * (1.01 * reach * i / steps));
      pair.bonds.update(x, 1);
      std::vector<Vec3> gradient(x.size(), Vec3::Zero());
      pair.bonds.addGradient(x, gradient);
      Vec3 pull = Vec3::Zero();
      for (int k = 0; k < 3; ++k) pull += gradient[pair.torn.tets()[0][k]];
      work += pull.dot(direction) * 1.01 * reach / steps;
      most = std::max(most, pull.dot(direction));
    }
    EXPECT_NEAR(work, 0.5 * 50, 0.01 * 25);
    EXPECT_NEAR(most, 0.5 * 2e4, 0.002 * 1e4);
    EXPECT_NEAR(pair.bonds.spent(), 25, 1e-9);
    std::vector<Vec3> none;
    pair.bonds.end({}, none);
    EXPECT_TRUE(pair.bonds.bonds().empty());
    EXPECT_NEAR(pair.bonds.spent(), 25, 1e-9);
  }
}

TEST(Bonds, UnloadToZeroAndGoOnWhereTheyWere) {
  Pair pair;
  const double reach = 2 * pair.law.surfaceEnergy / pair.law.strength;
  const auto pullAt = [&](double way) {
    const std::vector<Vec3> x = pair.opened({0, 0, way});
    pair.bonds.update(x, 1);
    std::vector<Vec3> gradient(x.size(), Vec3::Zero());
    pair.bonds.addGradient(x, gradient);
    double pull = 0;
    for (int k = 0; k < 3; ++k) pull += gradient[pair.torn.tets()[0][k]].z();
    return pull;
  };
  const double far = pullAt(0.5 * reach);
  EXPECT_NEAR(pullAt(0.25 * reach), far / 2, 1e-9);
  EXPECT_NEAR(pullAt(0), 0, 1e-9);
  EXPECT_NEAR(pullAt(0.5 * reach), far, 1e-9);
  const double spent = pair.bonds.spent();
  EXPECT_GT(spent, 0);
  EXPECT_LT(spent, 25);
  std::string bytes;
  ByteWriter out(bytes);
  pair.bonds.save(out);
  Pair other;
  ByteReader in(std::as_bytes(std::span(bytes.data(), bytes.size())), "bonds");
  other.bonds.load(in);
  EXPECT_EQ(other.bonds.spent(), spent);
}

// A sheet with a slit from one end; its two legs are pulled apart, one up and one down (the trouser test).
// Returns the energy that the tear takes for each area that it opens: work of the grips less what is stored.
struct Trousers {
  double perArea = 0, area = 0;
};
Trousers tearTrousers(uint32_t across, double edge, double surfaceEnergy) {
  const double length = 0.16, width = 0.08, thickness = 0.01;
  const auto along = static_cast<uint32_t>(2 * across),
             through = std::max(1u, static_cast<uint32_t>(thickness / edge + 0.5));
  const Cage cage = makeCage(fem::blockMesh({along, across, through}, {length, width, thickness}, 0, 1));
  const fem::SolidMaterial material{.elastic = {2e5, 0.3, 1000}, .model = fem::ElasticModel::NeoHookean};
  fem::Solid solid;
  solid.set(cage.rest, {&material, 1});
  fem::Motion motion;
  motion.set(solid, cage.rest.positions, {.tolerance = 1e-4, .massDamping = 5});
  Torn torn(cage);
  Bonds bonds;
  const BondLaw given{.strength = 3e4, .surfaceEnergy = surfaceEnergy};
  BondLaw law = given;
  law.strength = effectiveStrength(given, 2e5, edge);
  const auto take = [&](const TearOutcome& outcome, bool bonded) {
    if (!outcome.any()) return;
    if (bonded) bonds.follow(cage, torn, outcome, 0, law);
    motion.setCorners(torn.tets(), outcome.sources);
    bonds.setCorners(torn.tets());
  };
  // The slit.
  for (uint32_t v = 0; v < cage.rest.positions.size(); ++v) {
    const Vec3& p = cage.rest.positions[v];
    if (std::abs(p.y() - width / 2) > 1e-9 || p.x() > 0.4 * length) continue;
    const std::vector<Vec3> x(motion.positions().begin(), motion.positions().end());
    take(torn.split(v, Vec3::UnitY(), x), false);
  }
  const double slit = torn.openArea();
  const double h = 1.0 / 60, speed = 0.05;
  double work = 0, areaThen = 0, workThen = 0;
  bool begun = false;
  for (int i = 1; i <= 480; ++i) {
    std::vector<fem::Pin> pins;
    for (uint32_t v = 0; v < motion.vertices(); ++v) {
      const Vec3& p = cage.rest.positions[torn.origins()[v]];
      if (p.x() > 1e-9) continue;
      // Splitting leaves a vertex to the leg that the normal points to.
      const bool upper =
          p.y() > width / 2 + 1e-9 || (p.y() > width / 2 - 1e-9 && v < cage.rest.positions.size());
      pins.push_back({v, p + Vec3(0, 0, (upper ? 1 : -1) * speed * h * i)});
    }
    fem::StepTerm* const terms[] = {&bonds};
    const fem::StepReport report = motion.step(h, terms, {.pins = pins});
    for (const fem::Pin& pin : pins)
      work += motion.reactions()[pin.vertex].dot(Vec3(
          0, 0,
          pin.target.z() > cage.rest.positions[torn.origins()[pin.vertex]].z() ? speed * h : -speed * h));
    (void)report;
    std::vector<Mat3> stresses(solid.tets().size()), rotations(solid.tets().size());
    solid.stresses(motion.positions(), stresses, rotations);
    for (size_t t = 0; t < stresses.size(); ++t)
      stresses[t] = rotations[t].transpose() * stresses[t] * rotations[t];
    std::vector<Separation> pulls(motion.vertices());
    separations(solid.pattern(), solid.elements(), stresses, rotations, pulls);
    take(torn.tear({.strength = law.strength}, pulls, motion.positions()), true);
    const double stored = motion.elasticEnergy() + motion.kineticEnergy();
    // From the first tear on, so that what bends the legs at first does not count.
    if (!begun && torn.openArea() > slit + 0.1 * length * thickness) {
      begun = true;
      areaThen = torn.openArea();
      workThen = work - stored;
    }
    if (torn.openArea() > slit + 0.45 * length * thickness)
      return {(work - stored - workThen) / (torn.openArea() - areaThen), torn.openArea() - slit};
  }
  return {begun ? (work - motion.elasticEnergy() - motion.kineticEnergy() - workThen) /
                      (torn.openArea() - areaThen)
                : 0,
          torn.openArea() - slit};
}

TEST(BondsFull, ATrouserTearTakesTheSurfaceEnergyOnThreeCages) {
  for (const uint32_t across : {4u, 8u, 12u}) {
    const Trousers torn = tearTrousers(across, 0.08 / across, 100);
    RecordProperty("across" + std::to_string(across), std::to_string(torn.perArea));
    std::printf("%u across: %.1f J/m2 over %.2e m2\n", across, torn.perArea, torn.area);
    EXPECT_NEAR(torn.perArea, 100, 30) << across;
    EXPECT_GT(torn.area, 0.2 * 0.16 * 0.01) << across;
  }
}

}  // namespace

}  // namespace sunder::soft
