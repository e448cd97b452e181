// A deformable solid: tetrahedra with their shape at rest and the materials in them, seen as a potential
// energy of the positions of its vertices, with the forces and the tangent that follow from it. It knows
// nothing of time; fem/motion moves it.
//
// Each tetrahedron keeps its shape at rest for ever. A tear or a cut only gives its corners to other vertices
// (setCorners), which is what the pattern of the tangent is rebuilt for, and nothing else.
//
// Guarantees: forces are the negative derivative of the energy, Exact tangents the derivative of the forces;
// forces add up to zero and have no moment; same bits for any number of threads and any vector target.
#pragma once

#include "sunder/fem/block_matrix.h"
#include "sunder/fem/material.h"
#include "sunder/fem/outer_terms.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder::fem {

enum class ElasticModel : uint8_t {
  Linear,                // Hooke: small strains, does not survive rotation
  Corotated,             // Hooke in the frame of the polar decomposition
  SaintVenantKirchhoff,  // Hooke with Green's strain
  NeoHookean             // stable under inversion (Smith, de Goes and Kim 2018)
};

struct SolidMaterial {
  ElasticMaterial elastic;
  ElasticModel model = ElasticModel::Corotated;
  // Fibres: added stiffness along a direction of the shape at rest, W = young/2 (|F a| - 1)^2. Zero: none.
  Vec3 fibre = Vec3::Zero();
  double fibreYoung = 0;
};

enum class Tangent : uint8_t {
  Exact,     // the second derivative, which may be indefinite
  Positive,  // each tetrahedron's part made positive semidefinite where it is not
  Frozen     // Corotated: rotations held (always positive semidefinite); the others as Positive
};

class Solid {
 public:
  // One material for each value in `materialOf`, which has one entry a tetrahedron; empty: all have the
  // first. `fractions`: how much of each tetrahedron is there; empty: all. Throws what makeElements throws,
  // and Error (Usage) for materials that are not valid or not there.
  void set(const geometry::TetMesh& rest, std::span<const SolidMaterial> materials,
           std::span<const uint16_t> materialOf = {}, std::span<const double> fractions = {});
  // Gives corners of tetrahedra to other vertices; `vertices` is how many there are then, at least as many as
  // before. Rebuilds the pattern.
  void setCorners(std::span<const geometry::Tetrahedron> tets, size_t vertices);

  size_t vertices() const;
  std::span<const geometry::Tetrahedron> tets() const;
  std::span<const Element> elements() const;
  std::span<const double> masses() const;  // lumped, by vertex
  const SparsePattern& pattern() const;

  // `positions` has one entry a vertex.
  double energy(std::span<const Vec3> positions) const;
  void addForces(std::span<const Vec3> positions, std::span<Vec3> forces) const;
  // matrix += scale * tangent. The matrix has this solid's pattern. What does not fit the pattern (averaged
  // volumes, against locking near Poisson's ratio 0.5) is appended to `outer`.
  void addTangent(std::span<const Vec3> positions, Tangent kind, double scale, BlockMatrix& matrix,
                  OuterTerms& outer) const;
  // Cauchy stress of each tetrahedron, and its rotation (columns of R of the polar decomposition).
  void stresses(std::span<const Vec3> positions, std::span<Mat3> cauchy, std::span<Mat3> rotations) const;
};

}  // namespace sunder::fem
