// A closed mesh that crosses itself, made one that does not: what it winds around at least once is inside.
// Parts that lie inside others disappear, cavities stay with the solid around them. Parts that overlap are
// united one after the other by exact cuts; where a part crosses itself all faces are divided at once
// (self_crossing.h). Either way the result does not cross itself, up to rounding.
//
// Refused with the faces named (Error, Geometry): an open mesh that crosses itself; of parts that do not
// cross themselves, two cavities of one solid that cross, or one that is in no solid.
//
// Cost: a search for pairs, then one union for every part beyond the first; or that of self_crossing.h.
#pragma once

#include "sunder/cut/cut.h"

#include <string>
#include <vector>

namespace sunder::cut {

struct Resolved {
  geometry::PolygonSoup mesh;
  std::vector<uint32_t> sourceFace;    // per face: that of the input
  std::vector<uint32_t> sourceVertex;  // per vertex: that of the input, or kNoIndex where parts crossed
};

// `name` is what errors call the mesh. A mesh of one part comes back as it is. Throws Error (Limit) where
// more than `most` pairs of faces would have to be looked at in one search.
Resolved resolveOverlaps(const geometry::PolygonSoup& mesh, const std::string& name,
                         uint64_t most = kMostCandidates);

geometry::PolygonSoup soupOf(const geometry::MeshView& mesh);

}  // namespace sunder::cut
