// Principal stresses: the largest eigenvalue of a symmetric 3x3 matrix, its direction, and how fast it grows
// (specification 07, M4). Eigenvalues by cyclic Jacobi rotations on four matrices
// at once: accurate to a few units in the last place of the largest, eigenvectors orthonormal to rounding,
// also where eigenvalues are equal. Same bits on every vector unit, and whatever the neighbours in the batch
// are.
#pragma once

#include "sunder/base/math.h"

#include <span>

namespace sunder::fem {

// xx, yy, zz, xy, yz, zx: of the tensor, so shear is not doubled.
using Stress = Eigen::Matrix<double, 6, 1>;

inline Mat3 tensor(const Stress& s) {
  Mat3 m;
  m << s[0], s[3], s[5], s[3], s[1], s[4], s[5], s[4], s[2];
  return m;
}
inline Stress voigt(const Mat3& m) {
  return (Stress() << m(0, 0), m(1, 1), m(2, 2), m(0, 1), m(1, 2), m(2, 0)).finished();
}

struct SymmetricEigen {
  Vec3 values;   // descending
  Mat3 vectors;  // columns, in the order of the values; right-handed or left-handed
};
SymmetricEigen symmetricEigen(const Stress& matrix);
void symmetricEigen(std::span<const Stress> matrices, std::span<SymmetricEigen> results);

struct Principal {
  double value = 0;  // tension is positive
  Vec3 direction = Vec3::UnitX();
  double rate = 0;  // of the value; 0 where no rates are given
};

// Eigenvalues closer than this, against the largest magnitude, count as equal.
inline constexpr double kEqualEigenvalues = 1e-6;

// The rate of a simple eigenvalue is n^T rate n. Where the two largest are equal it is the largest eigenvalue
// of the rate on the plane they span, with the direction that belongs to it; where all three are, that of the
// rate itself. `rates` is empty or one per stress.
void principalStresses(std::span<const Stress> stresses, std::span<const Stress> rates,
                       std::span<Principal> results);

}  // namespace sunder::fem
