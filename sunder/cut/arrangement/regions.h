// The pieces into which the seam divides the faces of one mesh. A face's border with the seam points on it
// and the two directions of its segments are half-edges; the half-edge after each is known without any
// search (border to segment at a seam point, segment to border, segment to segment inside, back at a tip), so
// the loops are the cycles of a permutation. O(half-edges) a face, faces in parallel.
//
// Loops inside a face, from something that pierces it without reaching its border, are holes or slits: each
// is joined to the loop around it by a bridge, an edge that the ring runs along twice (holes.h). So a region
// always is one ring of corners.
#pragma once

#include "sunder/cut/arrangement/seam.h"

#include <span>
#include <vector>

namespace sunder::cut {

// Sides of the seam that a corner, or a region, is on. Plus runs along the segments: below the cutter for
// the mesh, outside the mesh for the cutter. A corner with both is a tip: the seam ends there.
enum SideBits : uint8_t { kPlus = 1, kMinus = 2, kBothSides = 3 };

struct RingCorner {
  uint32_t id;            // a vertex of the mesh, or a seam point
  bool point = false;     // which of the two
  uint8_t sides = 0;      // of points
  bool diagonal = false;  // the edge to the next corner is inside a polygon of the input
};

struct Regions {
  std::vector<uint32_t> faces;           // that the seam touches, ascending
  std::vector<uint32_t> firstRegion{0};  // per touched face; one more at the end
  std::vector<uint32_t> offsets{0};      // per region: its corners
  std::vector<RingCorner> corners;
  std::vector<uint8_t> sides;         // per region
  std::vector<uint32_t> cornerPiece;  // three per touched face: where the pieces of each edge begin
  std::vector<uint32_t> pieceRegion;  // per piece of a border: one more than points on the edge, in order
  std::vector<uint32_t> plusRegion, minusRegion;  // per segment of the seam

  size_t size() const { return offsets.size() - 1; }
  std::span<const RingCorner> ring(size_t r) const {
    return {corners.data() + offsets[r], offsets[r + 1] - offsets[r]};
  }
};

Regions traceRegions(const KernelMesh& mesh, const KernelMesh& other, MeshId id, const Seam& seam);

}  // namespace sunder::cut
