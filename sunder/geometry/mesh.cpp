#include "sunder/geometry/mesh.h"

#include "sunder/base/parallel.h"

namespace sunder::geometry {

PolygonSoup toSoup(const TriMesh& mesh) {
  PolygonSoup soup;
  soup.positions = mesh.positions;
  soup.corners.reserve(3 * mesh.triangles.size());
  soup.faceOffsets.reserve(mesh.triangles.size() + 1);
  for (const Triangle& t : mesh.triangles) soup.addFace(t);
  return soup;
}

Box3 bounds(std::span<const Vec3> positions) {
  return parallelReduce(
      positions.size(), Box3{},
      [&](size_t begin, size_t end) {
        Box3 box;
        for (size_t i = begin; i < end; ++i) box.grow(positions[i]);
        return box;
      },
      [](Box3 a, const Box3& b) {
        a.grow(b);
        return a;
      },
      size_t(1) << 16);
}

}  // namespace sunder::geometry
