// Polygons again after a cut of triangles: takes out diagonals of polygons of the input whose two sides came
// out on the same piece, and then seam vertices on such diagonals that only their two neighbours along the
// seam are left of. A diagonal stays where it is all that joins a hole to its face.
//
// O(corners) and a sort of the faces.
#pragma once

#include "sunder/cut/kernel/types.h"

namespace sunder::cut {

struct DissolveMarks {
  // Per corner: the diagonal that the edge to the next corner is (part of), or kNoIndex. A face with a bridge
  // can have several diagonals between the same vertices.
  std::vector<uint32_t> diagonal;
  std::vector<uint8_t> use;        // per face: pieces of one polygon join only within one use
  std::vector<uint8_t> removable;  // per vertex: a seam point on a diagonal
  std::vector<uint32_t> across;    // per vertex: the same point on the other side of the cut, or kNoIndex;
                                   // both go or none, so that lids stay alike
  uint32_t facesAtPlainVertex = 2;
};

// Changes faces, their sources and uses and, where vertices go, vertices of the result.
void dissolve(DissolveMarks& marks, CutResult& result);

}  // namespace sunder::cut
