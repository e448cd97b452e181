// The cutter's side of a cut: its surface divided along the seam into patches, those inside the mesh (the
// cut-outs that seal fragments) and those outside. A patch is what hangs together without crossing the seam;
// patches share no vertices.
//
//   const CutterPatches p = cutterPatches(body, sheet);
//
// The seam is that of cut(), with the same exact decisions. Cost: that of cut(), less the fragments.
#pragma once

#include "sunder/cut/cut.h"

namespace sunder::cut {

struct CutterPatches {
  geometry::PolygonSoup mesh;        // as the cutter's faces run
  std::vector<uint32_t> sourceFace;  // per face: that of the cutter
  std::vector<uint32_t> patch;       // per face
  uint32_t patches = 0;
  // Per patch: within a closed mesh, or behind the faces of an open one; where an open mesh ends within the
  // patch it counts as inside.
  std::vector<uint8_t> inside;
  std::vector<double> area;            // per patch, m^2
  std::vector<VertexFrom> vertexFrom;  // per vertex: Cutter or Seam
  std::vector<uint32_t> sourceVertex;  // per vertex: of the cutter, or the seam point
};

// Refuses what cut() refuses. With `checkInput` also meshes that cross themselves.
CutterPatches cutterPatches(const geometry::MeshView& mesh, const geometry::MeshView& cutter,
                            bool triangles = false, bool checkInput = false);

}  // namespace sunder::cut
