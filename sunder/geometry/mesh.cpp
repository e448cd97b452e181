#include "sunder/geometry/mesh.h"

#include "sunder/base/bounds.h"

namespace sunder::geometry {

PolygonSoup toSoup(const TriMesh& mesh) {
  PolygonSoup soup;
  soup.positions = mesh.positions;
  soup.corners.reserve(3 * mesh.triangles.size());
  soup.faceOffsets.reserve(mesh.triangles.size() + 1);
  for (const Triangle& t : mesh.triangles) soup.addFace(t);
  return soup;
}

Box3 bounds(std::span<const Vec3> positions) { return boundsOf(positions); }

}  // namespace sunder::geometry
