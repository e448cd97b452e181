// One tetrahedron cut by a sheet, for the many small cuts of finite elements: fragments with their ten
// moments (volume, centroid, second moments) and nodes, and the polygons that bound them. The steps are those
// of a cut of meshes (seam.h, regions.h) with the same exact signs, on arrays that are kept from one
// tetrahedron to the next.
//
//   TetCutter cutter(sheet);
//   for (...) for (const TetFragment& f : cutter.cut(corners, facesNear).fragments) ...
//
// Guarantees: the same fragments as cut() would give. Two tetrahedra that share a face divide it into the
// same polygons, bit for bit, whatever the order of their vertices (bridges to holes aside). Where the sheet
// passes through a node exactly, fragments without volume come out, so that every node is in one.
//
// Cost: about a microsecond for a tetrahedron that one or two faces of the sheet cross, more in proportion to
// the faces; no memory once the arrays have grown. Where the sheet pokes a face without reaching its edges
// the whole machinery of cut() runs instead, some tens of microseconds.
#pragma once

#include "sunder/base/index.h"
#include "sunder/base/math.h"
#include "sunder/geometry/mesh.h"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace sunder::cut {

inline constexpr uint8_t kTetLid = 4;

// A polygon of a fragment's surface.
struct TetPiece {
  uint32_t fragment = 0;
  uint8_t face = kTetLid;         // of the tetrahedron: the one opposite to that vertex; kTetLid on the sheet
  uint16_t sheet = 0;             // of lids, where there are several sheets (sheets_cutter.h)
  uint32_t sheetFace = kNoIndex;  // of lids
  bool reversed = false;          // its corners run clockwise seen from outside: the lid of what is above
  uint32_t first = 0, count = 0;  // corners
  Vec3 area = Vec3::Zero();       // its length is the area, it points out of the fragment
};

struct TetFragment {
  double volume = 0;
  Vec3 centroid = Vec3::Zero();      // of the tetrahedron where the fragment has no volume
  Mat3 second = Mat3::Zero();        // integral of (x - centroid) (x - centroid)^T; zero without volume
  std::array<double, 4> faceArea{};  // what it has of the tetrahedron's faces
  double lidArea = 0;
  uint8_t nodes = 0;                  // a bit for each vertex of the tetrahedron
  bool above = false, below = false;  // sides of the sheet: both where it ends inside,
                                      // none where it does not reach the tetrahedron
};

struct TetCut {
  std::vector<TetFragment> fragments;
  std::vector<TetPiece> pieces;
  std::vector<Vec3> corners;
  bool bridged = false;  // some rings may run to a hole or a slit and back

  void clear();
  bool separates() const { return fragments.size() > 1; }
  std::span<const Vec3> cornersOf(const TetPiece& p) const { return {corners.data() + p.first, p.count}; }
};

class TetCutter {
 public:
  // The sheet must outlive the cutter. Throws Error (Geometry) for what cut() refuses.
  explicit TetCutter(const geometry::TriMesh& sheet);
  ~TetCutter();

  // `tet` is positive; `faces` must name all faces of the sheet that reach into it, and may name others. The
  // answer is good until the next call.
  const TetCut& cut(const std::array<Vec3, 4>& tet, std::span<const uint32_t> faces);
  const TetCut& cut(const std::array<Vec3, 4>& tet);  // by all faces

  // The same by way of cut(), tens of times slower: what the tests compare with.
  const TetCut& cutSlowly(const std::array<Vec3, 4>& tet, std::span<const uint32_t> faces);

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace sunder::cut
