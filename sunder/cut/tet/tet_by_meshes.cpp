#include "sunder/cut/tet/tet_by_meshes.h"

#include "sunder/cut/cut.h"
#include "sunder/cut/tet/tet_measure.h"
#include "sunder/geometry/tet_mesh.h"

#include <algorithm>

namespace sunder::cut {

void cutTetByMeshes(const std::array<Vec3, 4>& tet, const KernelMesh& sheet, std::span<const uint32_t> faces,
                    TetCut& out) {
  out.clear();
  geometry::TriMesh body, part;
  body.positions.assign(tet.begin(), tet.end());
  for (const auto& f : geometry::kTetFaces) body.triangles.push_back({f[0], f[1], f[2]});
  std::vector<uint32_t> vertices;
  for (const uint32_t f : faces)
    for (const uint32_t v : sheet.triangles[f]) vertices.push_back(v);
  std::sort(vertices.begin(), vertices.end());
  vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
  for (const uint32_t v : vertices) part.positions.push_back(sheet.positions[v]);
  for (const uint32_t f : faces) {
    geometry::Triangle t;
    for (size_t k = 0; k < 3; ++k)
      t[k] =
          u32(std::lower_bound(vertices.begin(), vertices.end(), sheet.triangles[f][k]) - vertices.begin());
    part.triangles.push_back(t);
  }
  out.bridged = true;
  const CutResult r = cut::cut(body, part, {.keepEmpty = true});
  out.fragments.resize(r.fragments);
  for (uint32_t i = 0; i < r.fragments; ++i) {
    out.fragments[i].above = r.above[i] && !r.seam.empty();
    out.fragments[i].below = r.below[i] && !r.seam.empty();
  }
  for (uint32_t f = 0; f < r.mesh.faceCount(); ++f) {
    const auto ring = r.mesh.face(f);
    TetPiece piece{.fragment = r.fragment[f], .first = u32(out.corners.size()), .count = u32(ring.size())};
    if (r.fromCutter[f])
      piece.sheetFace = faces[r.sourceFace[f]];
    else
      piece.face = uint8_t(r.sourceFace[f]);
    for (const uint32_t v : ring) {
      out.corners.push_back(r.mesh.positions[v]);
      if (r.vertexFrom[v] == VertexFrom::Mesh)
        out.fragments[piece.fragment].nodes |= uint8_t(1u << r.sourceVertex[v]);
    }
    out.pieces.push_back(piece);
  }
  measure(tet, out);
}

}  // namespace sunder::cut
