#include "sunder/fracture/crack/healing.h"

#include "sunder/base/random.h"
#include "sunder/fracture/model/adaptive_fracture.h"
#include "sunder/geometry/mass_properties.h"

#include "geometry/closedness.h"
#include "tet/tet_cases.h"

#include <map>
#include <numeric>

#include <gtest/gtest.h>

namespace sunder::fracture {
namespace {

constexpr double kLeast = 2e-3;

// A crack through all that a plane passes through; `where` may leave cells out.
template <class Where>
void addPlane(FractureGeometry& geometry, uint32_t id, const Vec3& point, const Vec3& normal,
              const Where& where) {
  const FractureGeometry::State& state = geometry.cracked();
  std::vector<uint32_t> all(state.mesh.size());
  std::iota(all.begin(), all.end(), 0);
  PlannedCrack crack{id, 0, {}};
  for (const Mark& mark : markCrack(state.mesh, state.cells, state.links,
                                    crackValues(state.mesh.mesh, planeCrack(point, normal)), point, all))
    if (where(state, mark.tet)) crack.marks.push_back(state.planned(mark));
  geometry.add(std::move(crack));
}
void addPlane(FractureGeometry& geometry, uint32_t id, const Vec3& point, const Vec3& normal) {
  addPlane(geometry, id, point, normal, [](const FractureGeometry::State&, uint32_t) { return true; });
}

struct Sizes {
  std::vector<uint32_t> part;
  std::vector<double> volume;
  double whole = 0;
  explicit Sizes(const FractureGeometry::State& state) {
    uint32_t count = 0;
    part = partsOf(state.mesh.size(), state.links, count);
    volume = volumesOf(state.mesh, state.cells, part, count);
    whole = std::accumulate(volume.begin(), volume.end(), 0.0);
  }
  size_t tiny() const {
    return size_t(std::count_if(volume.begin(), volume.end(), [&](double v) { return v < kLeast * whole; }));
  }
};

// Which part a point of a tetrahedron of the body is in.
uint32_t partAt(const FractureGeometry::State& state, const Sizes& sizes, uint32_t slot,
                const std::array<double, 4>& weights) {
  for (uint32_t t = 0; t < state.mesh.size(); ++t) {
    if (state.slots[t] != slot) continue;
    bool inside = true;
    for (const Cut& cut : state.mesh.cuts[t]) {
      double value = 0;
      for (size_t i = 0; i < 4; ++i) value += weights[i] * cut.phi[i];
      inside &= (value >= 0) == (cut.side > 0);
    }
    if (inside) return sizes.part[t];
  }
  return kNoIndex;
}

// Pieces of what a plan makes are closed and fill the body; making them again gives the same bits.
void expectSound(const CrackedMesh& body, FractureGeometry& geometry, double volume) {
  const FractureGeometry::State& state = geometry.cracked();
  const BrokenBody again = applyCracks(body, geometry.cracks());
  EXPECT_EQ(again.cracked.mesh.mesh.positions, state.mesh.mesh.positions);
  EXPECT_EQ(again.cracked.mesh.mesh.tets, state.mesh.mesh.tets);
  EXPECT_EQ(again.cracked.mesh.cuts, state.mesh.cuts);
  EXPECT_EQ(again.cracked.links, state.links);
  double sum = 0;
  for (uint32_t p = 0; p < again.pieces; ++p) {
    const CrackedMesh piece = partOf(again.cracked.mesh, again.piece, p);
    const auto cells = cellsOf(piece);
    const CrackedSurface surface = surfaceOf(piece, cells, linksOf(piece, cells));
    EXPECT_EQ(geometry::closedness(surface.mesh).open, 0u);
    sum += geometry::massProperties(surface.mesh).volume;
  }
  EXPECT_NEAR(sum, volume, 1e-10);
}

struct Rounds {
  size_t splinters = 0, healed = 0, left = 0;
};
// Random planes through a box.
Rounds healRandomCracks(int rounds, uint64_t seed) {
  RandomStream random(seed, 0);
  Rounds sum;
  for (int round = 0; round < rounds; ++round) {
    const CrackedMesh body{tet::cubes(3, true, 0.15, 5)};
    FractureGeometry geometry(body);
    for (uint32_t k = 1; k <= 6; ++k)
      addPlane(geometry, k, Vec3(random.uniform(1, 2), random.uniform(1, 2), random.uniform(1, 2)),
               random.unitVector());
    const FractureGeometry::State before = geometry.cracked();
    const Sizes old(before);
    sum.splinters += old.tiny();
    // A point in the largest cell of each large part.
    struct Sample {
      uint32_t slot = 0;
      std::array<double, 4> weights{};
      double volume = 0;
    };
    std::map<uint32_t, Sample> samples;
    for (uint32_t t = 0; t < before.mesh.size(); ++t) {
      if (old.volume[old.part[t]] < kLeast * old.whole) continue;
      Sample sample{before.slots[t], {0.25, 0.25, 0.25, 0.25}, 1e9};
      if (!before.mesh.cuts[t].empty()) {
        sample.weights.fill(0);
        const auto& corners = before.cells[t].corners;
        for (const auto& c : corners)
          for (size_t i = 0; i < 4; ++i) sample.weights[i] += c.weights[i] / double(corners.size());
        sample.volume = before.cells[t].volume();
      }
      Sample& best = samples[old.part[t]];
      if (sample.volume > best.volume) best = sample;
    }
    const Healing healing = heal(geometry, kLeast);
    sum.healed += healing.healed;
    sum.left += healing.left;
    const FractureGeometry::State& after = geometry.cracked();
    const Sizes now(after);
    EXPECT_EQ(now.tiny(), healing.left) << round;
    EXPECT_EQ(now.volume.size() + healing.healed, old.volume.size());
    EXPECT_NEAR(now.whole, 27, 1e-10);
    std::map<uint32_t, uint32_t> holder;
    for (const auto& [part, sample] : samples) {
      const uint32_t at = partAt(after, now, sample.slot, sample.weights);
      EXPECT_NE(at, kNoIndex);
      EXPECT_TRUE(holder.emplace(at, part).second) << round;
    }
    expectSound(body, geometry, 27);
  }
  return sum;
}

TEST(Healing, NoSplinterIsLeftAndLargePartsStayApart) {
  const Rounds sum = healRandomCracks(12, 21);
  EXPECT_GE(sum.splinters, 100u);
  EXPECT_GE(sum.healed, 100u);
  EXPECT_EQ(sum.left, 0u);
}

// One in thousands has only neighbours that it cannot be joined with and stay closed.
TEST(HealingFull, ManyRandomCracks) {
  const Rounds sum = healRandomCracks(300, 22);
  EXPECT_GE(sum.splinters, 3000u);
  EXPECT_LE(1000 * sum.left, sum.splinters);
}

// A chip of a corner with two parts across its crack: the later crack has to be led on through the chip.
TEST(Healing, LaterCracksAreLedOnThroughASplinter) {
  const CrackedMesh body{tet::cubes(2, true)};
  FractureGeometry geometry(body);
  addPlane(geometry, 1, Vec3(0.1, 0.1, 0.1), Vec3(1, 1, 1));
  const auto notTheChip = [](const FractureGeometry::State& state, uint32_t t) {
    const auto& cuts = state.mesh.cuts[t];
    return cuts.empty() || cuts[0].side > 0;
  };
  addPlane(geometry, 2, Vec3(0.11, 0.1, 0.1), Vec3(1, -0.45, -0.53), notTheChip);
  EXPECT_EQ(Sizes(geometry.cracked()).volume.size(), 3u);
  EXPECT_EQ(Sizes(geometry.cracked()).tiny(), 1u);
  const Healing healing = heal(geometry, kLeast);
  EXPECT_EQ(healing.left, 0u);
  EXPECT_EQ(Sizes(geometry.cracked()).volume.size(), 2u);
  expectSound(body, geometry, 8);
}

// Splinters of splinters grow together until they are large enough; when all is small, nothing breaks.
TEST(Healing, WhatIsAllTinyDoesNotBreak) {
  const CrackedMesh body{tet::cubes(2, true)};
  FractureGeometry geometry(body);
  for (uint32_t k = 1; k <= 5; ++k)
    addPlane(geometry, k, Vec3(0.3 * k + 0.05, 1, 1), Vec3(1, 0.01 * k, 0.02));
  EXPECT_EQ(Sizes(geometry.cracked()).volume.size(), 6u);
  EXPECT_EQ(heal(geometry, 0.3).left, 0u);
  const Sizes now(geometry.cracked());
  EXPECT_EQ(now.volume.size(), 2u);
  EXPECT_EQ(heal(geometry, 0.9).left, 0u);
  EXPECT_EQ(Sizes(geometry.cracked()).volume.size(), 1u);
  EXPECT_TRUE(geometry.cracks().empty());
}

// Cuts of an earlier impact are the body's own shape.
TEST(Healing, EarlierImpactsAreNotTakenBack) {
  const CrackedMesh whole{tet::cubes(2, true)};
  FractureGeometry first(whole);
  addPlane(first, 1, Vec3(0.7, 1, 1), Vec3(1, 0.05, 0.1));
  const BrokenBody broken = applyCracks(whole, first.cracks());
  ASSERT_EQ(broken.pieces, 2u);
  for (uint32_t p = 0; p < 2; ++p) {
    const CrackedMesh body = partOf(broken.cracked.mesh, broken.piece, p);
    const double volume = Sizes(FractureGeometry(body).cracked()).whole;
    FractureGeometry geometry(body);
    addPlane(geometry, 2, Vec3(0.72, 1, 0.01), Vec3(0.001, 0.002, 1));
    addPlane(geometry, 3, Vec3(0.72, 1, 1), Vec3(0.1, 1, 0.1));
    EXPECT_GT(Sizes(geometry.cracked()).volume.size(), 2u);
    EXPECT_EQ(heal(geometry, 0.02).left, 0u);
    EXPECT_EQ(Sizes(geometry.cracked()).volume.size(), 2u);
    for (uint32_t t = 0; t < geometry.cracked().mesh.size(); ++t) {
      const auto &cuts = geometry.cracked().mesh.cuts[t], &before = body.cuts[geometry.cracked().slots[t]];
      ASSERT_GE(cuts.size(), before.size());
      EXPECT_TRUE(std::equal(before.begin(), before.end(), cuts.begin()));
    }
    expectSound(body, geometry, volume);
  }
}

}  // namespace
}  // namespace sunder::fracture
