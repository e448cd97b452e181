// One box against a tree of arity eight, in vector form. Private to the room.
#pragma once

#include "sunder/spatial/oi_tree.h"

#include <cstdint>
#include <vector>

namespace sunder::spatial::kernels {

// Appends the primitives whose boxes overlap `box`; touching counts. The order depends on the tree alone.
void overlappingPrimitives(const OiTree& tree, const Box3f& box, std::vector<uint32_t>& out,
                           uint64_t& boxTests);

}  // namespace sunder::spatial::kernels
