// The seam of one tetrahedron and a sheet, as seam.h has it for two meshes, on arrays that are kept from one
// tetrahedron to the next. Used by tet_cutter.h.
//
// Cost: four signs for a face whose plane misses the tetrahedron or that reaches past it on all sides, up to
// forty for one that ends in it.
#pragma once

#include "sunder/cut/arrangement/seam.h"
#include "sunder/geometry/tet_mesh.h"

#include <array>

namespace sunder::cut {

inline constexpr std::array<std::array<uint8_t, 2>, 6> kTetEdges{
    {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}};

// The edge that half-edge k of face i runs along, and whether it does so from the lower vertex.
struct TetHalfedge {
  uint8_t edge;
  bool forward;
};
inline constexpr std::array<std::array<TetHalfedge, 3>, 4> kTetHalfedges = [] {
  std::array<std::array<TetHalfedge, 3>, 4> out{};
  for (size_t i = 0; i < 4; ++i)
    for (size_t k = 0; k < 3; ++k) {
      const uint8_t a = geometry::kTetFaces[i][k], b = geometry::kTetFaces[i][(k + 1) % 3];
      for (uint8_t e = 0; e < 6; ++e)
        if (kTetEdges[e][0] == std::min(a, b) && kTetEdges[e][1] == std::max(a, b)) out[i][k] = {e, a < b};
    }
  return out;
}();

// Edge of the tetrahedron through a face of the sheet, or half-edge of the sheet through a face of it.
struct TetSeamPoint {
  bool ofTet;
  uint32_t edge, face;
  Place place{};
  Vec3 position = Vec3::Zero();
  std::array<uint32_t, 2> leaving{};  // half-edges of segments in the face that is traced
  uint32_t segments = 0;              // how many; more than two do not happen in proper meshes
};

struct TetSegment {
  uint32_t tetFace, local, start, end;
  uint32_t plusNode = kNoIndex, minusNode = kNoIndex, lidNode = kNoIndex;
};

// A face of the sheet that reaches into the tetrahedron.
struct TetSheetFace {
  uint32_t face, firstSegment, segments;  // none: it is inside as a whole
  std::array<int8_t, 4> vertexSide;       // of the tetrahedron's vertices: -1 below its plane
  uint32_t firstPiece[3] = {};
};

// The points on an edge.
struct TetRun {
  uint32_t edge, first = 0, count = 0;
};

class TetSeam {
 public:
  explicit TetSeam(const geometry::TriMesh& surface);

  // Segments of the named faces with the tetrahedron, in their order.
  void find(const std::array<Vec3, 4>& corners, std::span<const uint32_t> faces);
  void locatePoints();
  void orderPoints();  // along each edge

  Corners3 tetFace(size_t i) const;
  // The points on an edge, as a part of `order`; an empty one where there are none.
  TetRun runOf(bool ofTet, uint32_t edge) const {
    if (ofTet) return tetRuns_[edge];
    for (const TetRun& r : sheetRuns_)
      if (r.edge == edge) return r;
    return {edge};
  }

  KernelMesh sheet;
  std::array<Vec3, 4> tet;
  std::vector<TetSeamPoint> points;
  std::vector<TetSegment> segments;
  std::vector<TetSheetFace> locals;
  std::vector<uint32_t> order;  // of points

 private:
  // What bounds a face of the sheet sideways: planes through its edges along its normal.
  struct Walls {
    Vec3 normal[3];  // outwards
    double offset[3];
  };

  Walls wallsOf(uint32_t f) const;
  bool openEdges(const Walls& walls, bool (&open)[3]) const;
  uint32_t addPoint(bool ofTet, uint32_t edge, uint32_t face);
  uint32_t sheetPoint(uint32_t edge, uint32_t face);
  void crossFace(uint32_t f);
  void ends(const TetSeamPoint& x, const Vec3*& p, const Vec3*& q) const;

  std::vector<Walls> walls_;  // per face of the sheet
  std::vector<AccuratePlane> planes_;
  TetRun tetRuns_[6];
  std::vector<TetRun> sheetRuns_;
  double margin_ = 0;
};

}  // namespace sunder::cut
