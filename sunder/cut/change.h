// A cut as the one record of a change of topology: the body that was cut disappears, its fragments appear,
// and maps say which vertex and face each new one comes from. The fragments and their elements are in the
// order of separate().
#pragma once

#include "sunder/cut/cut.h"
#include "sunder/geometry/topology_change.h"

namespace sunder::cut {

// `body` is the mesh that was cut, with its numbers of vertices and faces. Faces of the cutter and vertices
// of cutter and seam come from nowhere. For splits and for above and below; a boolean has a second parent,
// and faces of it count as made by the change.
geometry::TopologyChange changeOf(const CutResult& result, const geometry::BodyRecord& body);

}  // namespace sunder::cut
