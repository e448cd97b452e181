// A cut mesh as elements that the rest of the room takes: each part that is not empty is a tetrahedron of
// nodes that counts for a fraction of its volume. Strain is constant in a linear tetrahedron, so stiffness
// and forces by that fraction are exact; masses are by the exact integrals of the four shape functions over
// the part (specification 08, X5.1 and X6). There is no mass but that of the solid.
#pragma once

#include "sunder/fem/block_matrix.h"
#include "sunder/fem/parts/cut_mesh.h"

namespace sunder::fem {

struct PartMesh {
  geometry::TetMesh mesh;  // vertices are the nodes, each at its vertex; regions are kept
  std::vector<double> fractions;
  std::vector<MassShares> shares;
  std::vector<uint32_t> partOf;  // per tetrahedron
};
PartMesh partMesh(const CutMesh& cut);

// Integrals over a part: of each shape function N_k of its tetrahedron, and of their products N_k N_l, from
// the part's ten moments.
struct PartIntegrals {
  std::array<double, 4> shape{};
  Eigen::Matrix4d products = Eigen::Matrix4d::Zero();
};
PartIntegrals partIntegrals(const CutMesh& cut, const ElementPart& part);

// matrix += scale * the consistent mass, exact. The matrix has the pattern of the part mesh.
void addConsistentMass(const CutMesh& cut, const PartMesh& parts, double density, double scale,
                       BlockMatrix& matrix);

// Displacement of a point of a part, by displacements of nodes.
Vec3 displacementAt(const CutMesh& cut, const ElementPart& part, const Vec3& at,
                    std::span<const Vec3> displacements);

}  // namespace sunder::fem
