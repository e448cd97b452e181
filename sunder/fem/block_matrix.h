// Symmetric matrices of 3x3 blocks over a SparsePattern, lower triangle only, and their assembly from
// tetrahedra: a M + b K in one pass, since all of a slot's tetrahedra are summed as V g_a g_b^T before
// Hooke's constants come in. Same bits for any number of threads.
#pragma once

#include "sunder/fem/elements.h"
#include "sunder/fem/sparse_pattern.h"

#include <span>
#include <vector>

namespace sunder::fem {

enum class MassKind {
  Lumped,      // a quarter of a tetrahedron's mass to each vertex
  Consistent,  // rho V / 20 (1 + delta_ab)
};

class BlockMatrix {
 public:
  // The pattern must outlive the matrix. Values are zero.
  void setPattern(const SparsePattern& pattern);
  const SparsePattern& pattern() const { return *pattern_; }
  size_t rows() const { return pattern_->rows(); }

  Mat3& block(size_t slot) { return values_[slot]; }
  const Mat3& block(size_t slot) const { return values_[slot]; }
  std::span<const Mat3> blocks() const { return values_; }

  // result = this * x; must not be the same array.
  void multiply(std::span<const Vec3> x, std::span<Vec3> result) const;

 private:
  const SparsePattern* pattern_ = nullptr;
  std::vector<Mat3> values_;
};

// matrix = a M + b K. Vertices without tetrahedra get 1 on the diagonal, so that they stay where they are.
// The matrix has the pattern of the elements' mesh. `masses` of the vertices, if given, stand in for
// quarters.
void assemble(std::span<const Element> elements, const ElasticMaterial& material, double a, double b,
              MassKind mass, BlockMatrix& matrix, std::span<const double> masses = {});

}  // namespace sunder::fem
