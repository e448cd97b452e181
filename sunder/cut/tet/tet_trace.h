// The pieces of the faces of a tetrahedron and of the sheet's faces in it, as regions.h has them for two
// meshes. Used by tet_cutter.h.
//
// A node is a piece of the tetrahedron's surface, or one side of a lid: what hangs together becomes a
// fragment.
#pragma once

#include "sunder/cut/tet/tet_cutter.h"
#include "sunder/cut/tet/tet_seam.h"

namespace sunder::cut {

class TetTracer {
 public:
  TetTracer(TetSeam& seam, TetCut& out) : seam_(seam), out_(out) {}

  // All faces; `fragment` of the pieces that it adds is their node. False where a loop lies inside a face of
  // the tetrahedron, or the seam is not proper: then bridges or cavities are needed.
  bool trace();

  uint32_t nodes = 0, tetNodes = 0;  // those of the tetrahedron's faces come first
  std::vector<uint8_t> nodeSides;    // SideBits
  std::vector<uint32_t> pieceNode;   // per piece of a border: its node, or kNoIndex outside
  uint32_t tetPiece[4][3] = {};      // where the pieces of the tetrahedron's half-edges begin
  std::array<uint32_t, 4> corner{};  // a node for each vertex of the tetrahedron

 private:
  // A corner of the border of a face: a vertex, or a point on one of its edges.
  struct BorderCorner {
    uint32_t point;  // kNoIndex: a vertex
    Vec3 at;
  };

  uint32_t addBorder(const Vec3& vertex, const TetRun& run, bool forward);
  bool traceTetFace(uint32_t i);
  bool traceTetLoops(uint32_t i);
  bool traceSheetFace(uint32_t j);
  bool traceSheetLoops(const TetSheetFace& local);
  bool findChain(bool ofTet);
  void addRing(TetPiece piece, uint32_t from, uint32_t to, bool forward);
  void turnLid();
  bool linkHalfedges(bool ofTet);
  template <class Visit>
  bool forCycles(bool inner, Visit&& visit);
  void addPiece(TetPiece piece);

  TetSeam& seam_;
  TetCut& out_;
  std::vector<uint32_t> own_;               // segments of the face
  std::vector<uint32_t> chain_;             // points of them in order, from border to border
  uint32_t chainStart_ = 0, chainEnd_ = 0;  // corners of the border
  std::vector<uint32_t> next_, cycleOf_, cycleNode_;
  std::vector<BorderCorner> border_;
  std::vector<Vec3> ring_;
};

}  // namespace sunder::cut
