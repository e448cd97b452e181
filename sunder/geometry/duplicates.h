// Finds what is there twice: vertices at the same place, vertices close together, faces with the same
// corners. All answers are canonical: the lowest index of a group stands for it, whatever the number of
// threads.
#pragma once

#include "sunder/geometry/adjacency.h"

#include <vector>

namespace sunder::geometry {

// Per position, the lowest index with exactly the same coordinates (0 equals -0). O(n) by hashing.
std::vector<uint32_t> coincidentVertices(std::span<const Vec3> positions);

// Per position, the lowest index of its group, where groups are the connected sets of "no farther apart than
// `distance`" (single linkage): a chain of close points is one group, however long. Points that are not
// finite stay alone. Uses a grid of cells a little smaller than distance / sqrt(3), so points of one cell
// belong together without a test and a dense cloud costs no more than a thin one. O(n log n).
std::vector<uint32_t> closeVertices(std::span<const Vec3> positions, double distance);

// Per face, the lowest face with the same corners in the same cyclic order, run through in either direction;
// faces that repeat a vertex stand for themselves. O(corners).
std::vector<uint32_t> coincidentFaces(const MeshView& mesh, const EdgeAdjacency& edges);

}  // namespace sunder::geometry
