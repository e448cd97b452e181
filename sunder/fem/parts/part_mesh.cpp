#include "sunder/fem/parts/part_mesh.h"

#include "sunder/base/parallel.h"
#include "sunder/geometry/rows.h"

#include <algorithm>

namespace sunder::fem {

namespace {

std::array<double, 4> shapesAt(const CutMesh& cut, const ElementPart& part, const Vec3& at) {
  const Element& element = cut.elements()[part.tet];
  const geometry::Tetrahedron& tet = cut.mesh().tets[part.tet];
  std::array<double, 4> n;
  for (size_t k = 0; k < 4; ++k) {
    // From a vertex where the function is zero.
    const Vec3& zero = cut.mesh().positions[tet[k == 0 ? 1 : 0]];
    n[k] = element.gradient[k].dot(at - zero);
  }
  return n;
}

}  // namespace

PartIntegrals partIntegrals(const CutMesh& cut, const ElementPart& part) {
  PartIntegrals out;
  const Element& element = cut.elements()[part.tet];
  const std::array<double, 4> n = shapesAt(cut, part, part.centroid);
  for (int k = 0; k < 4; ++k) {
    out.shape[size_t(k)] = part.volume * n[size_t(k)];
    for (int l = 0; l < 4; ++l)
      out.products(k, l) = part.volume * n[size_t(k)] * n[size_t(l)] +
                           element.gradient[k].dot(part.second * element.gradient[l]);
  }
  return out;
}

PartMesh partMesh(const CutMesh& cut) {
  PartMesh out;
  const geometry::TetMesh& mesh = cut.mesh();
  for (const uint32_t v : cut.vertexOf()) out.mesh.positions.push_back(mesh.positions[v]);
  for (size_t p = 0; p < cut.parts().size(); ++p) {
    const ElementPart& part = cut.parts()[p];
    if (cut.isEmpty(part)) continue;
    out.partOf.push_back(geometry::u32(p));
    out.mesh.tets.push_back(part.nodes);
    if (!mesh.region.empty()) out.mesh.region.push_back(mesh.region[part.tet]);
    out.fractions.push_back(std::min(1.0, part.volume / cut.elements()[part.tet].volume));
    MassShares shares = shapesAt(cut, part, part.centroid);
    double sum = 0;
    for (double& s : shares) {
      s = std::max(s, 0.0);
      sum += s;
    }
    for (double& s : shares) s /= sum;
    out.shares.push_back(shares);
  }
  return out;
}

void addConsistentMass(const CutMesh& cut, const PartMesh& parts, double density, double scale,
                       BlockMatrix& matrix) {
  const SparsePattern& pattern = matrix.pattern();
  std::vector<PartIntegrals> integrals(parts.partOf.size());
  parallelFor(integrals.size(),
              [&](size_t t) { integrals[t] = partIntegrals(cut, cut.parts()[parts.partOf[t]]); });
  parallelFor(pattern.slots(), [&](size_t slot) {
    double sum = 0;
    for (const SparsePattern::Source& s : pattern.sources(slot))
      sum += integrals[s.tet()].products(s.row(), s.column());
    matrix.block(slot).diagonal().array() += scale * density * sum;
  });
}

Vec3 displacementAt(const CutMesh& cut, const ElementPart& part, const Vec3& at,
                    std::span<const Vec3> displacements) {
  const std::array<double, 4> n = shapesAt(cut, part, at);
  Vec3 u = Vec3::Zero();
  for (size_t k = 0; k < 4; ++k) u += n[k] * displacements[part.nodes[k]];
  return u;
}

}  // namespace sunder::fem
