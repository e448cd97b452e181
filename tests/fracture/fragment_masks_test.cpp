#include "sunder/fracture/pieces/fragment_masks.h"

#include "sunder/base/error.h"

#include "fracture/fragment_cases.h"

#include <gtest/gtest.h>

namespace sunder::fracture {
namespace {

struct Balls {
  size_t wrong = 0, meeting = 0, culled = 0, clear = 0;
};

// Random balls against all pieces: by the masks alone, and by all that a search knows of a sphere.
void testBalls(const Broken& broken, int count, uint64_t seed, Balls& masks, Balls& all) {
  RandomStream random(seed, 2);
  for (const Piece& piece : broken.pieces) {
    const sdf::MeshField exact = exactField(piece);
    const FragmentMasks& grid = *piece.fragment.masks;
    const uint32_t slot = grid.slot(piece.fragment.id);
    ASSERT_NE(slot, kNoIndex);
    const rigid::Shape& shape = *piece.fragment.shape;
    for (int i = 0; i < count; ++i) {
      const Vec3 p = random.pointIn({Vec3::Constant(-0.3), Vec3::Constant(1.3)});
      const double r = std::pow(10, random.uniform(-3, -0.3));
      const double distance = exact.value(p);
      const bool meets = distance < r;
      const bool byMask = !grid.mayTouch(slot, p, r) || grid.distanceBelow(slot, p) > r;
      const double value = shape.field().value(p);
      const bool byAll = value - shape.fieldErrorAt(value) > r;
      masks.meeting += meets;
      masks.wrong += meets && byMask;
      masks.culled += byMask;
      masks.clear += !meets;
      all.wrong += meets && byAll;
      all.culled += byAll;
    }
  }
}

TEST(FragmentMasks, NoBallThatMeetsAPieceIsCulled) {
  Broken broken(cubeMesh(8));
  broken.shatter(10, 21, 0.05);
  Balls masks, all;
  testBalls(broken, 10000, 1, masks, all);
  EXPECT_GT(masks.meeting, 5000u);
  EXPECT_EQ(masks.wrong, 0u);
  EXPECT_EQ(all.wrong, 0u);
  // Of those that could be: more than nothing.
  EXPECT_GT(double(masks.culled), 0.4 * double(masks.clear));
  EXPECT_GT(double(all.culled), 0.7 * double(masks.clear));
}

TEST(FragmentMasksFull, NoneOfAMillionBallsThatMeetAPieceIsCulled) {
  Broken broken(cubeMesh(12));
  broken.shatter(14, 22, 0.05);
  Balls masks, all;
  testBalls(broken, 75000, 2, masks, all);
  EXPECT_EQ(masks.wrong, 0u);
  EXPECT_EQ(all.wrong, 0u);
}

// Masks of one piece whose levels are joined in either way: a cell has the bit if one of its eight cells
// below has it, or, as the source says, if all have.
struct JoinedMasks {
  const MaskCells& cells;
  std::vector<std::vector<char>> level;
  std::vector<std::array<int, 3>> size;

  JoinedMasks(const MaskCells& c, std::span<const uint32_t> tets, bool all) : cells(c) {
    const auto& s = c.size();
    size.push_back({int(s[0]), int(s[1]), int(s[2])});
    level.emplace_back(size_t(s[0]) * s[1] * s[2], 0);
    for (const uint32_t t : tets)
      for (const uint32_t cell : c.of(t)) level[0][cell] = 1;
    while (*std::max_element(size.back().begin(), size.back().end()) > 1) {
      const size_t below = level.size() - 1;
      const auto& [x, y, z] = size[below];
      size.push_back({(x + 1) / 2, (y + 1) / 2, (z + 1) / 2});
      level.emplace_back(size_t(size.back()[0]) * size_t(size.back()[1]) * size_t(size.back()[2]), 0);
      for (int i = 0; i < int(level.back().size()); ++i) {
        const int cx = i % size.back()[0], cy = i / size.back()[0] % size.back()[1],
                  cz = i / (size.back()[0] * size.back()[1]);
        int sum = 0;
        for (int k = 0; k < 8; ++k)
          sum += at(below, 2 * cx + (k & 1), 2 * cy + (k >> 1 & 1), 2 * cz + (k >> 2));
        level.back()[size_t(i)] = all ? sum == 8 : sum > 0;
      }
    }
  }
  bool at(size_t l, int x, int y, int z) const {
    const auto& [nx, ny, nz] = size[l];
    return x >= 0 && y >= 0 && z >= 0 && x < nx && y < ny && z < nz &&
           level[l][size_t(x + nx * (y + ny * z))];
  }
  bool culls(const Vec3& p, double r) const {
    size_t l = 0;
    while (l < level.size() && cells.cell() * double(1u << l) < 2 * r) ++l;
    if (l == level.size()) return false;
    const double h = cells.cell() * double(1u << l);
    int v[3];
    for (int d = 0; d < 3; ++d) v[d] = int(std::floor((p[d] - cells.origin()[d]) / h + 0.5));
    for (int k = 0; k < 8; ++k)
      if (at(l, v[0] - 1 + (k & 1), v[1] - 1 + (k >> 1 & 1), v[2] - 1 + (k >> 2))) return false;
    return true;
  }
};

// Specification 05, check 10: joined by "all", masks lose balls that meet the piece; joined by "one" they do
// not.
TEST(FragmentMasks, JoiningLevelsTheOtherWayLosesBalls) {
  Broken broken(cubeMesh(8));
  broken.shatter(10, 21, 0.05);
  RandomStream random(5, 2);
  size_t lostByOne = 0, lostByAll = 0;
  for (const Piece& piece : broken.pieces) {
    const sdf::MeshField exact = exactField(piece);
    const MaskCells& cells = piece.fragment.masks->cells();
    const JoinedMasks one(cells, piece.fragment.field->rootTets(), false),
        all(cells, piece.fragment.field->rootTets(), true);
    for (int i = 0; i < 3000; ++i) {
      const Vec3 p = random.pointIn({Vec3::Constant(-0.1), Vec3::Constant(1.1)});
      const double r = std::pow(10, random.uniform(-3, -0.5));
      if (exact.value(p) >= r) continue;
      lostByOne += one.culls(p, r);
      lostByAll += all.culls(p, r);
    }
  }
  EXPECT_EQ(lostByOne, 0u);
  EXPECT_GT(lostByAll, 100u);
}

// Whole tetrahedra for pieces: every cell by brute force, on every level.
TEST(FragmentMasks, CellsHaveTheBitsOfWhatReachesIntoThem) {
  const RestMeshPtr rest = cubeMesh(6);
  const auto cells = std::make_shared<MaskCells>(*rest);
  constexpr uint32_t kPieces = 150;  // three words
  std::vector<std::vector<uint32_t>> tets(kPieces);
  RandomStream random(3);
  for (uint32_t t = 0; t < rest->mesh().tets.size(); ++t) tets[random.below(kPieces)].push_back(t);
  std::vector<FragmentMasks::Piece> pieces;
  for (uint32_t i = 0; i < kPieces; ++i) pieces.push_back({1000 + 7 * i, tets[i]});
  const FragmentMasks masks(cells, pieces);
  EXPECT_EQ(masks.slots(), kPieces);
  size_t clear = 0, occupied = 0;
  for (int i = 0; i < 3000; ++i) {
    const uint32_t piece = random.below(kPieces);
    const uint32_t slot = masks.slot(1000 + 7 * piece);
    const Vec3 p = random.pointIn({Vec3::Constant(-0.2), Vec3::Constant(1.2)});
    for (uint32_t level = 0; level < masks.levels(); ++level) {
      // The boxes of tetrahedra against the cube of eight cells, which begin at a multiple of their side.
      const double h = cells->cell() * double(1u << level);
      bool meets = false;
      for (const uint32_t t : tets[piece]) {
        Box3 box;
        for (const uint32_t v : rest->mesh().tets[t]) box.grow(rest->mesh().positions[v]);
        bool here = true;
        for (int d = 0; d < 3; ++d) {
          const double v = std::floor((p[d] - cells->origin()[d]) / h + 0.5);
          const auto cellOf = [&](double x) {
            return std::max(0.0, std::floor((x - cells->origin()[d]) / cells->cell()));
          };
          const double first = (v - 1) * double(1u << level), last = (v + 1) * double(1u << level);
          here &= cellOf(box.upper[d] + 1e-9) >= first && cellOf(box.lower[d] - 1e-9) < last;
        }
        meets |= here;
      }
      EXPECT_EQ(masks.clear(slot, level, p), !meets) << level;
      (meets ? occupied : clear) += 1;
    }
  }
  EXPECT_GT(clear, 500u);
  EXPECT_GT(occupied, 500u);
}

TEST(FragmentMasks, SlotsOfBrokenPiecesAreUsedAgain) {
  const RestMeshPtr rest = cubeMesh(8);
  const auto cells = std::make_shared<MaskCells>(*rest);
  std::vector<uint32_t> low, high, all;
  for (uint32_t t = 0; t < rest->mesh().tets.size(); ++t) {
    all.push_back(t);
    double x = 0;
    for (const uint32_t v : rest->mesh().tets[t]) x += 0.25 * rest->mesh().positions[v].x();
    (x < 0.5 ? low : high).push_back(t);
  }
  const std::vector<FragmentMasks::Piece> one{{0, all}}, two{{1, low}, {2, high}};
  const FragmentMasks whole(cells, one), broken(whole, 0, two);
  EXPECT_EQ(broken.slot(0), kNoIndex);
  EXPECT_EQ(broken.slots(), 2u);
  EXPECT_EQ(broken.slot(1), whole.slot(0));
  EXPECT_TRUE(broken.mayTouch(broken.slot(1), Vec3(0.1, 0.5, 0.5), 0.01));
  EXPECT_FALSE(broken.mayTouch(broken.slot(2), Vec3(0.05, 0.5, 0.5), 0.01));
  EXPECT_TRUE(whole.mayTouch(whole.slot(0), Vec3(0.1, 0.5, 0.5), 0.01));
  const std::vector<FragmentMasks::Piece> again{{2, low}};
  EXPECT_THROW(FragmentMasks(broken, 1, again), Error);
}

}  // namespace
}  // namespace sunder::fracture
