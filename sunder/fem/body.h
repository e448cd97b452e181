// An elastic body ready for analysis: its mesh at rest, material, elements, pattern and masses. Memory is
// kept from one mesh to the next, so that one object serves many bodies in turn.
#pragma once

#include "sunder/fem/block_matrix.h"

#include <span>
#include <vector>

namespace sunder::fem {

class ElasticBody {
 public:
  ElasticBody() = default;
  ElasticBody(const geometry::TetMesh& mesh, const ElasticMaterial& material,
              std::span<const double> fractions = {}, std::span<const MassShares> shares = {}) {
    set(mesh, material, fractions, shares);
  }

  // Throws what requireValid and makeElements throw, and Error (Geometry) for a mesh without tetrahedra.
  // `fractions`: how much of each tetrahedron is there, and `shares`: how its mass is divided (elements.h).
  void set(const geometry::TetMesh& mesh, const ElasticMaterial& material,
           std::span<const double> fractions = {}, std::span<const MassShares> shares = {});

  const geometry::TetMesh& mesh() const { return mesh_; }
  const ElasticMaterial& material() const { return material_; }
  std::span<const Element> elements() const { return elements_; }
  const SparsePattern& pattern() const { return pattern_; }
  std::span<const double> masses() const { return masses_; }  // lumped, per vertex
  bool hasShares() const { return shares_; }                  // of mass: not all are quarters
  size_t vertices() const { return mesh_.positions.size(); }
  size_t tets() const { return mesh_.tets.size(); }

 private:
  geometry::TetMesh mesh_;
  ElasticMaterial material_;
  std::vector<Element> elements_;
  SparsePattern pattern_;
  std::vector<double> masses_;
  bool shares_ = false;
};

}  // namespace sunder::fem
