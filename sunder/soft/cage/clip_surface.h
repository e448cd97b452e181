// All polygons that the tetrahedra of a cage cut out of a surface, by tetrahedron, and the solid's parts in a
// tetrahedron, which they tell.
//
// Cost: a tree over the tetrahedra, and some 0.3 us for each pair of a triangle and a tetrahedron whose boxes
// meet. Each polygon is made twice, first to count. Same result for any number of threads.
#pragma once

#include "sunder/base/index.h"
#include "sunder/geometry/rows.h"
#include "sunder/soft/cage/clip_triangle.h"
#include "sunder/soft/cage/solid.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace sunder::soft {

struct SurfaceClips {
  geometry::Rows trianglesOf;             // by tetrahedron, ascending
  std::vector<uint32_t> polygonStart{0};  // by copy, in the order of trianglesOf
  std::vector<ClipCorner> polygons;
  std::vector<uint32_t> copiesOf;  // by triangle
  std::vector<double> covered;     // by triangle: the share that lies in the cage

  std::span<const ClipCorner> polygon(size_t copy) const {
    return {polygons.data() + polygonStart[copy], polygonStart[copy + 1] - polygonStart[copy]};
  }
};

// `skip`: by tetrahedron, 1: gets nothing; empty: all get theirs.
SurfaceClips clipSurface(const ClipSurface& surface, const geometry::TetMesh& cage,
                         std::span<const uint8_t> skip = {});

// Which tetrahedra hold a part of the surface, without the polygons; `copies`, if given, receives how many
// there would be.
std::vector<uint8_t> touchedTets(const ClipSurface& surface, const geometry::TetMesh& cage,
                                 size_t* copies = nullptr);

// The first triangle that is not covered whole, and the share of the surface's area that is outside.
struct Uncovered {
  uint32_t triangle = kNoIndex;
  double share = 0;
};
Uncovered uncovered(const geometry::TriMesh& surface, std::span<const double> covered);

// Connected parts of (solid and tetrahedron), numbered by their smallest polygon; one without polygons is the
// whole tetrahedron.
struct TetParts {
  uint32_t count = 0;
  std::vector<uint32_t> ofPolygon;                                           // in the order of the row
  std::array<uint32_t, 4> ofCorner{kNoIndex, kNoIndex, kNoIndex, kNoIndex};  // none: outside the solid
};
TetParts tetParts(const ClipSurface& surface, const geometry::TetMesh& cage, const SurfaceClips& clips,
                  uint32_t tet, const Solid& solid);

}  // namespace sunder::soft
