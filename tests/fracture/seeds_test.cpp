#include "sunder/fracture/model/seeds.h"

#include "sunder/tet/refinement.h"

#include "tet/tet_cases.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

namespace sunder::fracture {
namespace {

// Two round bumps on a line, heights 1 and 0.9, with a saddle between them.
double bumps(const Vec3& p, double saddle) {
  const auto bump = [&](const Vec3& at, double height) {
    return saddle + (height - saddle) * std::exp(-(p - at).squaredNorm());
  };
  return std::max(bump(Vec3(1, 2, 2), 1), bump(Vec3(5, 2, 2), 0.9));
}

size_t seedsOf(const geometry::TetMesh& mesh, double saddle) {
  std::vector<fem::Principal> stress(mesh.positions.size());
  for (size_t v = 0; v < stress.size(); ++v) stress[v].value = bumps(mesh.positions[v], saddle);
  return crackSeeds(stress, vertexNeighbours(mesh), {.strength = 0.4, .fading = 0, .gamma = 0.8}).size();
}

// Specification 07, AC-16: two bumps are two seeds where the saddle between them is low, one where it is
// high, also after two cycles of refinement. (Of the cube only what is around the bumps.)
TEST(Seeds, OnePerConcentrationHoweverFineTheMesh) {
  const geometry::TetMesh cube = tet::cubes(6, true);
  geometry::TetMesh bar;
  std::vector<uint32_t> number(cube.positions.size(), kNoIndex);
  for (auto t : cube.tets) {
    Vec3 centre = Vec3::Zero();
    for (const uint32_t v : t) centre += 0.25 * cube.positions[v];
    if (std::abs(centre.y() - 2) > 1 || std::abs(centre.z() - 2) > 1) continue;
    for (uint32_t& v : t) {
      if (number[v] == kNoIndex) {
        number[v] = uint32_t(bar.positions.size());
        bar.positions.push_back(cube.positions[v]);
      }
      v = number[v];
    }
    bar.tets.push_back(t);
  }
  tet::Refinement refinement(bar);
  for (const uint32_t cycle : {0u, 1u, 2u}) {
    refinement.refineAll(5 * cycle);
    const geometry::TetMesh mesh = refinement.mesh();
    EXPECT_EQ(seedsOf(mesh, 0.5), 2u) << cycle;
    EXPECT_EQ(seedsOf(mesh, 0.85), 1u) << cycle;
  }
}

TEST(Seeds, FadingStressDoesNotCrack) {
  const geometry::TetMesh mesh = tet::cubes(2, true);
  std::vector<fem::Principal> stress(mesh.positions.size());
  stress[13].value = 2;
  stress[13].rate = -1.5;
  SeedReport report;
  EXPECT_EQ(crackSeeds(stress, vertexNeighbours(mesh), {.strength = 1, .fading = 1}, &report).size(), 0u);
  EXPECT_EQ(report.fading, 1u);
  EXPECT_EQ(crackSeeds(stress, vertexNeighbours(mesh), {.strength = 1, .fading = 2}).size(), 1u);
  EXPECT_EQ(crackSeeds(stress, vertexNeighbours(mesh), {.strength = 3, .fading = 2}).size(), 0u);
}

TEST(Seeds, PeaksAreMarkedByRegion) {
  const geometry::TetMesh mesh = tet::cubes(6, true);
  std::vector<fem::Principal> stress(mesh.positions.size());
  for (size_t v = 0; v < stress.size(); ++v) stress[v].value = bumps(mesh.positions[v], 0.3);
  const auto marked = peakVertices(stress, vertexNeighbours(mesh), 0.5, 0.8);
  size_t near = 0;
  for (const uint32_t v : marked) {
    const bool first = mesh.positions[v].x() < 3;
    EXPECT_GT(stress[v].value, 0.8 * (first ? 1 : 0.9));
    near += first;
  }
  EXPECT_GT(near, 0u);
  EXPECT_LT(near, marked.size());
}

}  // namespace
}  // namespace sunder::fracture
