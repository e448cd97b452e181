// The fans of faces around each vertex: corners of a vertex belong to one fan when one can walk between their
// faces across edges at that vertex. A manifold vertex has one fan; a vertex where two cones meet tip to tip
// has two.
#pragma once

#include "sunder/geometry/adjacency.h"

namespace sunder::geometry {

enum class FanEdges {
  All,      // any shared edge joins
  Regular,  // only edges of exactly two faces that run in opposite directions
};

// Fans are numbered over the whole mesh: those of vertex v are first[v] .. first[v+1]-1, in order of their
// lowest corner.
struct VertexFans {
  std::vector<uint32_t> first;      // per vertex, and the end
  std::vector<uint32_t> cornerFan;  // per corner

  size_t count(size_t vertex) const { return first[vertex + 1] - first[vertex]; }
};

// O(corners) for bounded valence, parallel over vertices.
VertexFans vertexFans(const MeshView& mesh, const EdgeAdjacency& edges, FanEdges through);

}  // namespace sunder::geometry
