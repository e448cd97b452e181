// A deformable solid: tetrahedra with their shape at rest and the materials in them, seen as a potential
// energy of the positions of its vertices, with the forces and the tangent that follow from it. It knows
// nothing of time; fem/motion moves it.
//
// Each tetrahedron keeps its shape at rest for ever. A tear or a cut only gives its corners to other vertices
// (setCorners), which is what the pattern of the tangent is rebuilt for, and nothing else.
//
// Against locking: of materials whose Poisson's ratio is above kAveragedFrom, a tetrahedron keeps the part of
// lambda that this ratio gives; the rest acts on the mean of the volume ratios of a vertex's tetrahedra of
// that material (after Bonet and Burton 1998, average nodal pressure; the part that stays is what keeps the
// mesh from patterns without energy). Both parts are Hooke's at small strain.
//
// Guarantees: forces are the negative derivative of the energy, Exact tangents with `outer` the derivative of
// the forces; forces add up to zero and have no moment (Linear: at small rotations); same bits for any number
// of threads and any vector target. Degenerate and inverted tetrahedra give finite numbers.
//
// Cost, one core: see docs/fem.md. Functions of one object share work space: not from two threads at once.
#pragma once

#include "sunder/fem/block_matrix.h"
#include "sunder/fem/elements.h"
#include "sunder/fem/material.h"
#include "sunder/fem/outer_terms.h"
#include "sunder/fem/solid/element_batch.h"
#include "sunder/fem/solid/gather_tables.h"
#include "sunder/fem/solid/volume_averages.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder::fem {

struct SolidMaterial {
  ElasticMaterial elastic;
  ElasticModel model = ElasticModel::Corotated;
  // Fibres: added stiffness along a direction of the shape at rest (of any length), W = young/2 (|F a| -
  // 1)^2. Zero: none.
  Vec3 fibre = Vec3::Zero();
  double fibreYoung = 0;
};

enum class Tangent : uint8_t {
  Exact,     // the second derivative, which may be indefinite
  Positive,  // each tetrahedron's part made positive semidefinite where it is not
  // Corotated: rotations held, and the directions that averaged volumes press in (always positive
  // semidefinite); the others as Positive.
  Frozen
};

inline constexpr double kAveragedFrom = 0.4;

class Solid {
 public:
  // One material for each value in `materialOf`, which has one entry a tetrahedron; empty: all have the
  // first. `fractions`: how much of each tetrahedron is there; empty: all. `shares`: how its mass is divided
  // among its vertices; empty: in equal parts. Throws what makeElements throws, Error (Geometry) for a mesh
  // without tetrahedra, and Error (Usage) for materials or shares that are not valid or not there.
  void set(const geometry::TetMesh& rest, std::span<const SolidMaterial> materials,
           std::span<const uint16_t> materialOf = {}, std::span<const double> fractions = {},
           std::span<const MassShares> shares = {});
  // Gives corners of tetrahedra to other vertices; `vertices` is how many there are then, at least as many as
  // before. Rebuilds the pattern. Throws Error (Usage) where that is not so, or a tetrahedron has a vertex
  // twice; nothing has changed then.
  void setCorners(std::span<const geometry::Tetrahedron> tets, size_t vertices);

  size_t vertices() const { return masses_.size(); }
  std::span<const geometry::Tetrahedron> tets() const { return tets_; }
  std::span<const Element> elements() const { return elements_; }
  std::span<const double> masses() const { return masses_; }  // lumped, by vertex
  const SparsePattern& pattern() const { return pattern_; }

  // `positions` has one entry a vertex. At rest the energy is zero.
  double energy(std::span<const Vec3> positions) const;
  void addForces(std::span<const Vec3> positions, std::span<Vec3> forces) const;
  // matrix += scale * tangent, the derivative of minus the forces; scale >= 0. The matrix has this solid's
  // pattern. What does not fit the pattern (averaged volumes, against locking near Poisson's ratio 0.5) is
  // appended to `outer`, one term for each vertex and material, positive always.
  void addTangent(std::span<const Vec3> positions, Tangent kind, double scale, BlockMatrix& matrix,
                  OuterTerms& outer) const;
  // Cauchy stress of each tetrahedron, and its rotation (columns of R of the polar decomposition, which is a
  // rotation also where the tetrahedron is inverted). Where a tetrahedron is almost flat or inverted, the
  // area that a principal force acts on counts as at least a tenth of what it was at rest, so that stresses
  // stay finite and pressure stays pressure.
  void stresses(std::span<const Vec3> positions, std::span<Mat3> cauchy, std::span<Mat3> rotations) const;

 private:
  void arrange(size_t vertices);
  void arrangeAverages();
  void arrangeRatio();
  void put(size_t tet, uint8_t ranks);
  // By place; null where nothing is averaged. In scratch_.
  const double* pressures(std::span<const Vec3> positions) const;

  std::vector<geometry::Tetrahedron> tets_;
  std::vector<Element> elements_;
  std::vector<SolidMaterial> materials_;
  std::vector<uint16_t> materialOf_;  // of every tetrahedron
  std::vector<MassShares> shares_;    // of every tetrahedron, or none
  std::vector<double> masses_;
  SparsePattern pattern_;
  std::vector<ElementBatch> batches_;
  std::vector<FibreBatch> fibres_;
  std::vector<uint32_t> place_;  // of each tetrahedron: kBatchTets * batch + lane
  GatherTables gather_;
  VolumeAverages averages_;
  // Whether all tetrahedra are Linear; Linear or Corotated; and what lambda / mu is if it is one.
  bool hooke_ = false, frozenHooke_ = false, oneRatio_ = false;
  double ratio_ = 0;
  mutable SolidScratch scratch_;
};

}  // namespace sunder::fem
