// One tetrahedron cut by all sheets at once: they may cross in it, end on each other, branch, touch, or end
// inside. Fragments are what the triangles leave connected, with ten moments and nodes as of a single sheet
// (tet_cutter.h), and the polygons that bound them.
//
//   CutSheets sheets;
//   sheets.add(first);
//   sheets.add(second);
//   SheetsCutter cutter(sheets);
//   const SheetsCut& cut = cutter.cut(corners, facesNear);
//
// Guarantees: every decision is exact. The sheets together count as moved by (e, e^2, e^3) with e > 0
// infinitely small, as in shifted.h, so a sheet that runs through a node exactly leaves that node in one
// fragment, perhaps without volume. Among each other sheets are closed sets that stay where they are: a sheet
// that ends on another one exactly, or a little beyond it, separates; one that ends before it does not. Two
// tetrahedra that share a face divide it into the same polygons, bit for bit, and name their corners alike
// (regions with holes aside: these come in convex pieces). For one sheet the fragments and polygons are those
// of TetCutter.
//
// The tetrahedron is divided into convex cells by planes (tet_cells.h), after the idea of Diazzi and Attene
// 2021 ("Convex polyhedral meshing for robust solid modeling"); cells with no triangle between them make a
// fragment, and what the planes drew beyond the triangles is taken out of the polygons again
// (tet_regions.h). Cost: docs/cutting.md.
#pragma once

#include "sunder/cut/tet/cut_sheets.h"
#include "sunder/cut/tet/tet_cutter.h"

#include <memory>

namespace sunder::cut {

// A corner of a polygon in a face of the tetrahedron: the faces that it is on (bits; three at a vertex, two
// on an edge), and what of the sheets is there. Equal in both tetrahedra of a face.
struct RimCorner {
  uint8_t faces = 0;
  uint64_t name = 0;  // 0: nothing, as at vertices
  bool operator==(const RimCorner&) const = default;
};

// A connected part of a face of the tetrahedron that no triangle crosses. Its rim runs along its border
// counter-clockwise seen from outside, all loops of it, along a slit on both sides.
struct FaceRegion {
  uint8_t face = 0;
  uint32_t fragment = 0;
  uint32_t first = 0, count = 0;  // edges of the rim
};

struct SheetsCut : TetCut {
  std::vector<FaceRegion> regions;
  std::vector<std::array<RimCorner, 2>> rim;
  // Per fragment: the one it is part of if the faces of later sheets are left out.
  std::vector<uint32_t> before;
  bool touched = false;       // some triangle reaches into the tetrahedron
  bool touchedLater = false;  // one of the later sheets does

  void clear();
};

class SheetsCutter {
 public:
  explicit SheetsCutter(const CutSheets& sheets);  // which must outlive it
  ~SheetsCutter();

  // `tet` is positive; `faces`, ascending numbers of CutSheets, must name all that reach into it, and may
  // name others. Faces from `later` on are left out of `before`. The answer is good until the next call.
  // Throws Error (Limit) where coordinates span more than 1150 binary digits.
  const SheetsCut& cut(const std::array<Vec3, 4>& tet, std::span<const uint32_t> faces,
                       uint32_t later = kNoIndex);

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace sunder::cut
