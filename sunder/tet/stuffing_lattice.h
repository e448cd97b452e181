// The sampled lattice of isosurface stuffing: which points are inside, outside or on the surface, where the
// surface crosses lattice edges, and which points move onto it. Private to the room; stuffing.h has the
// story.
//
// The lattice is a box of bricks (brick_masks.h). A brick is outside or inside as a whole, which takes no
// memory, or it is stored.
#pragma once

#include "sunder/base/index.h"
#include "sunder/tet/brick_masks.h"
#include "sunder/tet/stuffing.h"

#include <bit>
#include <vector>

namespace sunder::tet {

enum class BrickKind : uint8_t { Outside, Inside, Mixed };
enum class PointState : uint8_t { Outside, Surface, Inside };

// What a stored brick knows. Entry 0 of a pair is about the cells' lower corners, 1 about their centres.
struct Brick {
  uint32_t place = 0;                              // in the box of bricks
  std::array<uint64_t, 2> inside{}, surface{};     // neither: outside
  std::array<uint64_t, 2> known{};                 // sampled points; others have the sign of their block
  std::array<uint64_t, 2> touched{};               // points with a crossed edge
  std::array<uint64_t, 2> moved{};                 // points that were moved onto the surface
  std::array<uint64_t, kEdgeTypes> cross{};        // edges between inside and outside, before points move
  std::array<uint16_t, kEdgeTypes> firstOfType{};  // cut points of earlier types
  uint32_t cutBase = 0, movedBase = 0;             // first cut point and moved position of the brick
  uint32_t values = kNoIndex;                      // where its 128 samples are
};

// A box of bricks, sampled. Fields are read by the steps that follow: the octree and the stencils.
class StuffingLattice {
 public:
  StuffingLattice(const sdf::Field& field, const FillSettings& settings, FillReport& report);

  void classify();  // kinds of bricks, samples of the mixed ones
  void findCuts();  // where edges are crossed, and which points move

  // Makes the bricks of these places stored ones, if they are not yet.
  void store(const std::vector<uint8_t>& needed);

  double edge() const { return edge_; }
  const Cell& bricks() const { return bricks_; }
  uint32_t brickCount() const { return uint32_t(bricks_[0]) * uint32_t(bricks_[1]) * uint32_t(bricks_[2]); }
  bool inBox(const Cell& brick) const {
    return brick[0] >= 0 && brick[1] >= 0 && brick[2] >= 0 && brick[0] < bricks_[0] &&
           brick[1] < bricks_[1] && brick[2] < bricks_[2];
  }
  uint32_t placeOf(const Cell& brick) const {
    return uint32_t(brick[0]) +
           uint32_t(bricks_[0]) * (uint32_t(brick[1]) + uint32_t(bricks_[1]) * uint32_t(brick[2]));
  }
  Cell brickAt(uint32_t place) const {
    const auto nx = uint32_t(bricks_[0]), ny = uint32_t(bricks_[1]);
    return {int32_t(place % nx), int32_t(place / nx % ny), int32_t(place / nx / ny)};
  }
  BrickKind kind(uint32_t place) const { return kind_[place]; }
  uint32_t slot(uint32_t place) const { return slot_[place]; }
  const std::vector<Brick>& stored() const { return stored_; }
  // Slots of the brick and those around it, kNoIndex where nothing is stored.
  std::array<uint32_t, 27> slotsAround(const Cell& brick) const;
  // Masks of all of them: inside or surface points, of corners or centres.
  MaskCube insideAround(const Cell& brick, size_t which) const;
  MaskCube surfaceAround(const Cell& brick, size_t which) const;

  // Points by their coordinates in half edges: all even is a corner, all odd a centre.
  PointState state(const Cell& half) const;
  uint32_t rawId(const Cell& half) const;  // kBrickPoints * slot + point; the brick must be stored
  Vec3 latticePosition(const Cell& half) const {
    return origin_ + 0.5 * edge_ * Vec3(half[0], half[1], half[2]);
  }
  bool onSurface(uint32_t rawId) const {
    return stored_[rawId / kBrickPoints].surface[rawId % kBrickPoints / kBrickCells] >> rawId % kBrickCells &
           1;
  }
  // Where the point of a stored brick is: moved or not.
  Vec3 pointPosition(uint32_t rawId) const;
  const std::vector<Vec3>& cutPositions() const { return cutPositions_; }
  uint32_t cutId(uint32_t slot, uint32_t type, uint32_t bit) const {
    const Brick& b = stored_[slot];
    return b.cutBase + b.firstOfType[type] +
           uint32_t(std::popcount(b.cross[type] & ((uint64_t(1) << bit) - 1)));
  }

 private:
  struct Sampler;
  void sampleBricks(const std::vector<uint32_t>& slots, bool everything);
  void promote();
  void markCrossings();
  void solveCuts();
  void movePoints();
  void evaluate(std::span<const Vec3> points, std::span<double> out) const;
  Vec3 centreOf(const Cell& brick, double half) const;
  template <class Get>
  MaskCube masksAround(const Cell& brick, bool ofKind, Get&& get) const;

  const sdf::Field& field_;
  const FillSettings& settings_;
  FillReport& report_;
  Box3 clip_;
  Vec3 origin_;
  double edge_ = 0;
  Cell bricks_{};
  std::vector<BrickKind> kind_;
  std::vector<uint32_t> slot_;
  std::vector<Brick> stored_;
  std::vector<double> values_;
  std::vector<double> cutShare_;
  std::vector<Vec3> cutPositions_, movedPositions_;
};

}  // namespace sunder::tet
