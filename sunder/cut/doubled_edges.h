// Where a sheet ends inside a solid its two lids share the vertices along the sheet's border. An edge between
// two such vertices then is in both lids, with four faces, though the surface has two edges there, one on
// either side of the cut. The edge of one lid gets a vertex in its middle, so that lists of corners say which
// is which.
//
// O(corners), and nothing to do where the lids share no vertices.
#pragma once

#include "sunder/cut/cut.h"

namespace sunder::cut {

// `use` has the number of each face: `lid` and `otherLid` are those of the lids, which differ in nothing but
// their orientation. With `triangles` faces stay triangles.
void splitDoubledEdges(uint8_t lid, uint8_t otherLid, std::vector<uint8_t>& use, CutResult& result,
                       bool triangles);

}  // namespace sunder::cut
