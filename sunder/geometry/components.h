// Connected parts of a mesh, and the mesh taken apart into them. Parts are numbered by their first face (or
// tetrahedron), so numbering is canonical. O(elements) up to the nearly constant factor of union-find.
#pragma once

#include "sunder/geometry/adjacency.h"
#include "sunder/geometry/mesh.h"

#include <vector>

namespace sunder::geometry {

enum class Connect {
  Edges,     // faces that share an edge; tetrahedra that share a face
  Vertices,  // anything that shares a vertex
};

struct Components {
  uint32_t count = 0;
  std::vector<uint32_t> label;  // per face or tetrahedron, < count
};

Components faceComponents(const MeshView& mesh, Connect connect = Connect::Edges);
Components faceComponents(const MeshView& mesh,
                          const EdgeAdjacency& edges);  // by edges that are there already
Components tetComponents(const TetMesh& mesh, Connect connect = Connect::Edges);

// A part with where it came from. Vertices and faces keep their order; a vertex that two parts share is in
// both.
struct SoupPart {
  PolygonSoup mesh;
  std::vector<uint32_t> vertexSource, faceSource;
};
struct TetPart {
  TetMesh mesh;
  std::vector<uint32_t> vertexSource, tetSource;
};

// One part per component, attributes included; vertices without faces are in none. `components.label` may be
// any labelling of the faces.
std::vector<SoupPart> splitComponents(const PolygonSoup& soup, const Components& components);
std::vector<TetPart> splitComponents(const TetMesh& mesh, const Components& components);

}  // namespace sunder::geometry
