#include "sunder/soft/cage/cage.h"

#include "sunder/base/error.h"
#include "sunder/base/index.h"

#include <gtest/gtest.h>

namespace sunder::soft {

namespace {

geometry::TetMesh twoTets() {
  geometry::TetMesh mesh;
  mesh.positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
  mesh.tets = {{0, 1, 2, 3}, {1, 2, 3, 4}};
  return mesh;
}

}  // namespace

TEST(Cage, KnowsItsNeighbours) {
  const Cage cage = makeCage(twoTets());
  EXPECT_EQ(cage.neighbours[0], (std::array<uint32_t, 4>{1, kNoIndex, kNoIndex, kNoIndex}));
  EXPECT_EQ(cage.neighbours[1], (std::array<uint32_t, 4>{kNoIndex, kNoIndex, kNoIndex, 0}));
}

TEST(Cage, RefusesWhatCannotCarryASurface) {
  EXPECT_THROW(makeCage({}), Error);
  geometry::TetMesh inverted = twoTets();
  std::swap(inverted.tets[1][0], inverted.tets[1][1]);
  EXPECT_THROW(makeCage(inverted), Error);
  geometry::TetMesh flat = twoTets();
  flat.positions[3].z() = 0;
  EXPECT_THROW(makeCage(flat), Error);
}

}  // namespace sunder::soft
