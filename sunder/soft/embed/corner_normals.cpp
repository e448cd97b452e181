#include "sunder/soft/embed/corner_normals.h"

#include "sunder/base/disjoint_sets.h"
#include "sunder/geometry/adjacency.h"
#include "sunder/geometry/normals.h"

#include <cmath>

namespace sunder::soft {

CornerNormals cornerNormals(const geometry::TriMesh& surface, double crease) {
  const geometry::MeshView view(surface);
  const std::vector<Vec3> faces = geometry::faceNormals(view);
  const geometry::EdgeAdjacency edges = geometry::edgeAdjacency(view);
  const double least = std::cos(crease * kPi / 180);
  const size_t corners = 3 * surface.triangles.size();
  const auto next = [](uint32_t corner) { return corner % 3 == 2 ? corner - 2 : corner + 1; };

  DisjointSets sets(corners);
  for (size_t e = 0; e < edges.size(); ++e) {
    const auto uses = edges.uses.row(e);
    if (uses.size() != 2 || faces[uses[0].face].dot(faces[uses[1].face]) < least) continue;
    const uint32_t a = uses[0].corner, b = uses[1].corner;
    if (view.corners[a] == view.corners[b]) continue;  // they run the same way: front meets back
    sets.unite(a, next(b));
    sets.unite(next(a), b);
  }
  CornerNormals result;
  result.ofCorner.resize(corners);
  for (uint32_t c = 0; c < corners; ++c) {
    const uint32_t root = sets.find(c);  // its smallest member
    if (root == c) {
      result.ofCorner[c] = uint32_t(result.normal.size());
      result.normal.push_back(Vec3::Zero());
      result.vertex.push_back(view.corners[c]);
    } else {
      result.ofCorner[c] = result.ofCorner[root];
    }
    const Vec3& face = faces[c / 3];
    result.normal[result.ofCorner[c]] += geometry::cornerAngle(view, c / 3, c, face) * face;
  }
  for (Vec3& n : result.normal) {
    const double length = n.norm();
    n = length > 1e-12 ? Vec3(n / length) : Vec3(Vec3::Zero());
  }
  return result;
}

}  // namespace sunder::soft
