#include "sunder/fracture/crack/crack_change.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/spatial/query/triangle_distance.h"

#include <algorithm>

namespace sunder::fracture {

namespace {

// The triangle of the parent that one of a piece is part of, among those of its tetrahedron.
uint32_t faceSource(const SurfaceFaces& before, std::span<const uint32_t> candidates, uint32_t crack,
                    const Vec3& centroid) {
  uint32_t best = kNoIndex;
  double nearest = Box3::kInfinity;
  for (const uint32_t f : candidates) {
    if (before.crack[f] != crack) continue;
    const geometry::Triangle& t = before.mesh.triangles[f];
    const Vec3 on = spatial::closestPointOnTriangle(centroid, before.mesh.positions[t[0]],
                                                    before.mesh.positions[t[1]], before.mesh.positions[t[2]])
                        .point;
    const double distance = (on - centroid).squaredNorm();
    if (distance >= nearest) continue;
    nearest = distance;
    best = f;
  }
  return best;
}

}  // namespace

geometry::TopologyChange crackChange(const geometry::BodyRecord& parent, const SurfaceFaces& before,
                                     std::span<const MeshPart> parts,
                                     std::span<const CrackedSurface> surfaces) {
  if (parent.faces != before.mesh.triangles.size() || before.crack.size() != parent.faces ||
      before.tet.size() != parent.faces || parts.size() != surfaces.size())
    throw Error(ErrorKind::Usage, "a body that breaks has other faces than its surface");
  geometry::TopologyChange change;
  change.kind = geometry::ChangeKind::Crack;
  change.disappeared = {parent};
  std::vector<size_t> firstFace;
  size_t faces = 0;
  for (uint32_t p = 0; p < parts.size(); ++p) {
    const MeshPart& part = parts[p];
    const geometry::BodyRecord body{geometry::childId(parent.id, p), uint32_t(part.vertexSource.size()),
                                    uint32_t(surfaces[p].mesh.triangles.size()),
                                    uint32_t(part.tetSource.size())};
    change.appeared.push_back({body, {0}, p});
    change.vertexSource.insert(change.vertexSource.end(), part.vertexSource.begin(), part.vertexSource.end());
    change.tetSource.insert(change.tetSource.end(), part.tetSource.begin(), part.tetSource.end());
    firstFace.push_back(faces);
    faces += body.faces;
  }
  const auto below = [](const std::vector<uint32_t>& source, uint32_t count) {
    return std::all_of(source.begin(), source.end(), [&](uint32_t s) { return s < count; });
  };
  if (!below(change.vertexSource, parent.vertices) || !below(change.tetSource, parent.tets))
    throw Error(ErrorKind::Usage, "pieces come from vertices or tetrahedra that the body has not");
  const geometry::Rows byTet = geometry::groupBy<uint32_t>(
      before.tet.size(), parent.tets, [&](size_t f) { return before.tet[f]; },
      [](size_t f) { return uint32_t(f); });
  change.faceSource.assign(faces, kNoIndex);
  parallelFor(
      parts.size(),
      [&](size_t p) {
        const CrackedSurface& surface = surfaces[p];
        for (size_t f = 0; f < surface.mesh.triangles.size(); ++f) {
          const geometry::Triangle& t = surface.mesh.triangles[f];
          const Vec3 centroid =
              (surface.mesh.positions[t[0]] + surface.mesh.positions[t[1]] + surface.mesh.positions[t[2]]) /
              3;
          change.faceSource[firstFace[p] + f] =
              faceSource(before, byTet.row(parts[p].tetSource[surface.tet[f]]), surface.crack[f], centroid);
        }
      },
      1);
  return change;
}

}  // namespace sunder::fracture
