// Makes the pieces of an hp-adaptive field meet at the faces of their cells, weakly: minimises
//
//   1/2 sum over faces of the integral of (jump)^2  +  beta/2 |c - c'|^2
//
// where c' are the coefficients that construction found; the second term is the squared distance to that
// field, as the basis is orthonormal (Koschier et al. 2017). Large beta changes nothing; towards 0 the result
// tends to the nearest field without jumps. beta is one over a length: the publication used 3 and 8 for
// bodies of half extent 1.
//
// The traces of a polynomial on a face and their restriction to a smaller face are exact changes of basis, so
// the product with the matrix needs neither quadrature nor a stored matrix. Conjugate gradients, same bits
// for any number of threads. Cost per iteration: O(coefficients + faces p^3). Memory: a vector of jumps per
// face.
#pragma once

#include "sunder/sdf/hp/hp_forest.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder::sdf {

// A face between two leaves, always a whole face of the finer one.
struct HpFace {
  uint32_t coarse, fine;  // leaves; either way round where they are equal in size
  uint8_t axis;
  bool coarseBelow;  // the coarse leaf is on the lower side
  uint8_t steps;     // levels between them
  std::array<uint32_t, 2>
      position;  // of the fine face in the coarse one along the next two axes, in fine faces
};
std::vector<HpFace> interiorFaces(const HpForest& forest);  // by the leaf on the lower side

// The jump energy's matrix, without its entries.
class JumpMatrix {
 public:
  explicit JumpMatrix(const HpForest& forest);

  const std::vector<HpFace>& faces() const { return faces_; }
  void multiply(std::span<const double> c, std::span<double> result);  // M c
  double energy(std::span<const double> c);                            // c M c / 2
  void diagonal(std::span<double> result) const;
  // The block of a leaf, n x n by rows, without the identity.
  std::vector<double> block(size_t leaf) const;

 private:
  struct Trace;
  void jump(const HpFace& face, std::span<const double> c, double* out) const;
  void addTransposed(const HpFace& face, bool coarse, const double* jump, double* out) const;
  size_t order(const HpFace& face) const;

  const HpForest& forest_;
  std::vector<HpCell> cells_;
  std::vector<HpFace> faces_;
  std::vector<size_t> jumpBegin_;  // per face
  std::vector<double> jumps_;
  std::vector<uint32_t> leafFaceBegin_, leafFace_;  // rows of (face << 1 | is the coarse side)
};

enum class Preconditioner { Diagonal, Blocks };

struct ContinuitySettings {
  double beta = 3;
  double tolerance = 1e-8;  // of the residual against the right-hand side
  uint32_t maxIterations = 10000;
  Preconditioner preconditioner = Preconditioner::Blocks;
};

struct ContinuityReport {
  size_t faces = 0;
  uint32_t iterations = 0;
  bool converged = false;
  double energyBefore = 0, energyAfter = 0;
  double change = 0;  // |c - c'|^2
};

// Throws Error (Usage) unless beta is positive and finite.
ContinuityReport makeContinuous(HpForest& forest, const ContinuitySettings& settings);

}  // namespace sunder::sdf
