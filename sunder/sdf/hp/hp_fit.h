// Best polynomials on boxes: Gauss quadrature of a field against the orthonormal Legendre basis, axis after
// axis (sum factorisation), and the error that the last shells of coefficients tell (hp_build.h).
//
// Cost: n^3 values of the field for n points along an axis, and O(n^3 p) for the coefficients.
#pragma once

#include "sunder/sdf/field.h"
#include "sunder/sdf/hp/legendre.h"

#include <span>
#include <vector>

namespace sunder::sdf {

// Gauss points along each axis of a cell of degree p.
enum class Quadrature {
  Lean,      // p + 1: the least that keeps the basis orthogonal
  Standard,  // 2p + 1: exact to degree 4p
  Source,    // 4p: the other reading of the publication
};
int pointsPerAxis(int degree, Quadrature quadrature);

// The squares of the last shell of coefficients, at least `guard` times those of the shell before.
double shellError(std::span<const double> c, int degree, double guard);

// The coefficients of the best polynomial on a box, and its error estimate (shellError). Throws Error
// (Numerical) where the field is not finite.
struct HpFit {
  std::vector<double> coefficients;
  double error = 0;
};
HpFit fitCell(const Field& source, const Box3& box, int degree, Quadrature quadrature, double guard);

}  // namespace sunder::sdf
