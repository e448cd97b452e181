// A closed mesh that crosses itself, made a solid that does not: inside is what the mesh winds around at
// least once. Its faces are divided along all lines in which they meet, exactly (face_graph.h); each patch
// between such lines asks how often the mesh winds around the points in front of it and behind it, and stays
// where one of them is inside and the other is not. Faces may cross in points of three, lie on each other,
// and touch; lids that lie on each other within the solid go.
//
// After Zhou, Grinspun, Zorin and Jacobson 2016 ("Mesh arrangements for solid geometry").
//
// Cost: a search for pairs, some microseconds to a millisecond for each pair of faces that cross, and one
// pass over the faces for each patch; 5 kB for each new point. For inputs to be mended, not for the inner
// loop.
#pragma once

#include "sunder/cut/kernel/kernel_mesh.h"
#include "sunder/cut/resolve.h"

namespace sunder::cut {

// `kernel` is made of `mesh` and closed. Throws Error (Limit) where coordinates span too many digits, or more
// than `most` pairs of faces would have to be looked at.
Resolved resolveByWinding(const geometry::PolygonSoup& mesh, const KernelMesh& kernel,
                          const std::string& name, uint64_t most = kMostCandidates);

}  // namespace sunder::cut
