// Unit normals of faces, vertices and edges. Vertex normals weigh each face by its angle at the vertex
// (Thürmer and Wüthrich 1998), edge normals are the mean of the faces at the edge; with these weights both
// are the pseudo-normals of Bærentzen and Aanæs 2005, whose dot product with the way to the nearest point
// tells inside from outside. They do not change when flat faces are triangulated differently.
//
// A face without area contributes nothing; where nothing contributes, or contributions cancel, the normal is
// zero. O(corners), parallel, sums in corner order.
#pragma once

#include "sunder/geometry/adjacency.h"

#include <vector>

namespace sunder::geometry {

std::vector<Vec3> faceNormals(const MeshView& mesh);
std::vector<Vec3> vertexNormals(const MeshView& mesh);
std::vector<Vec3> vertexNormals(const MeshView& mesh, std::span<const Vec3> faceNormals);
std::vector<Vec3> edgeNormals(const MeshView& mesh, const EdgeAdjacency& edges,
                              std::span<const Vec3> faceNormals);

// Inner angle at a corner of face f in radians, 0 .. 2 pi; above pi where a polygon is concave.
double cornerAngle(const MeshView& mesh, size_t face, uint32_t corner, const Vec3& faceNormal);

}  // namespace sunder::geometry
