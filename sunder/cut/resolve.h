// Closed parts of one mesh that overlap, made one solid: what the mesh winds around at least once is inside.
// Parts that lie inside others disappear, cavities stay with the solid around them. The parts are united one
// after the other by exact cuts, so the result is a mesh that does not cross itself, up to rounding.
//
// Refused with the faces named (Error, Geometry): a part that crosses itself, which would need points of
// three faces of one mesh; an open mesh that crosses itself; two cavities of one solid that cross, or one
// that is in no solid.
//
// Cost: a search for pairs, then one union for every part beyond the first.
#pragma once

#include "sunder/geometry/mesh_view.h"

#include <string>
#include <vector>

namespace sunder::cut {

struct Resolved {
  geometry::PolygonSoup mesh;
  std::vector<uint32_t> sourceFace;    // per face: that of the input
  std::vector<uint32_t> sourceVertex;  // per vertex: that of the input, or kNoIndex where parts crossed
};

// `name` is what errors call the mesh. A mesh of one part comes back as it is.
Resolved resolveOverlaps(const geometry::PolygonSoup& mesh, const std::string& name);

geometry::PolygonSoup soupOf(const geometry::MeshView& mesh);

}  // namespace sunder::cut
