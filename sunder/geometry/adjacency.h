// Who touches whom in a surface mesh of any kind, manifold or not: edges with the faces that use them, the
// face across each corner's edge, the corners and faces at each vertex.
//
// Directed edges are grouped by their lower vertex (counting sort), each short group is sorted by upper
// vertex and corner, and runs of equal pairs become edges. O(corners) for bounded valence, O(c log c) at
// worst; the result is unique, so it does not depend on threads. A million triangles cost about 0.1 s of one
// core's time in grid order, twice that in random order.
#pragma once

#include "sunder/geometry/mesh_view.h"

#include <array>
#include <vector>

namespace sunder::geometry {

// One face at an edge: `corner` is where the face's directed edge starts.
struct EdgeUse {
  uint32_t face, corner;
  bool operator==(const EdgeUse&) const = default;
};

// Edges are sorted by (lower, higher vertex); the uses of one edge by corner. A corner followed by the same
// vertex has no edge.
struct EdgeAdjacency {
  std::vector<std::array<uint32_t, 2>> edges;  // lower vertex, higher vertex
  RowsOf<EdgeUse> uses;                        // per edge
  std::vector<uint32_t> cornerEdge;            // per corner; kNoIndex where there is none

  size_t size() const { return edges.size(); }
};

EdgeAdjacency edgeAdjacency(const MeshView& mesh);

// Does this use run from the edge's lower to its higher vertex?
inline bool runsForward(const MeshView& mesh, const EdgeAdjacency& edges, size_t edge, const EdgeUse& use) {
  return mesh.corners[use.corner] == edges.edges[edge][0];
}

// Exactly two faces that run along the edge in opposite directions: what every edge of a closed oriented
// surface has.
inline bool isRegular(const MeshView& mesh, const EdgeAdjacency& edges, size_t edge) {
  const auto uses = edges.uses.row(edge);
  return uses.size() == 2 && mesh.corners[uses[0].corner] != mesh.corners[uses[1].corner];
}

// Per corner: the other face at the corner's edge; kNoIndex at a boundary and where more than two faces meet.
std::vector<uint32_t> faceNeighbours(const MeshView& mesh, const EdgeAdjacency& edges);

// Per vertex, ascending: its corners; its faces (a face that repeats the vertex is listed once).
Rows vertexCorners(const MeshView& mesh);
Rows vertexFaces(const MeshView& mesh);

}  // namespace sunder::geometry
