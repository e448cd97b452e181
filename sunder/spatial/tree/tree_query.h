// One box against a tree of arity eight, in vector form: for queries of this room and of rooms above that
// have many boxes and one tree, as point location in tetrahedra has.
#pragma once

#include "sunder/spatial/tree/oi_tree.h"

#include <cstdint>
#include <vector>

namespace sunder::spatial::kernels {

// Appends the primitives whose boxes overlap `box`; touching counts. The order depends on the tree alone.
void overlappingPrimitives(const OiTree& tree, const Box3f& box, std::vector<uint32_t>& out,
                           uint64_t& boxTests);

}  // namespace sunder::spatial::kernels
