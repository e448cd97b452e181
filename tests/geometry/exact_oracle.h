// Exact values of the geometric determinants by GMP integers: coordinates are scaled by a common power of
// two. The determinants are expanded from the matrices with the points themselves (not their differences) as
// rows, so the formulas share nothing with the ones under test.
#pragma once

#include "sunder/base/math.h"

#include <cmath>
#include <cstdlib>
#include <vector>

#include <gmpxx.h>

namespace sunder::geometry::oracle {

// Coordinates as integers, all times the same power of two.
inline void toIntegers(const double* values, size_t count, mpz_class* out) {
  int lowest = 5000;
  for (size_t i = 0; i < count; ++i) {
    int exponent = 0;
    if (values[i] != 0) {
      std::frexp(values[i], &exponent);
      lowest = std::min(lowest, exponent - 53);
    }
  }
  for (size_t i = 0; i < count; ++i) {
    int exponent = 0;
    const double mantissa = std::frexp(values[i], &exponent);
    mpz_set_d(out[i].get_mpz_t(), std::ldexp(mantissa, 53));
    if (values[i] != 0) {
      mpz_mul_2exp(out[i].get_mpz_t(), out[i].get_mpz_t(), static_cast<mp_bitcnt_t>(exponent - 53 - lowest));
    }
  }
}

// Sign of a determinant of up to five rows, the first column all ones, by fraction-free (Bareiss)
// elimination; destroys the matrix.
inline int determinantSign(mpz_class (&m)[5][5], int n) {
  int sign = 1;
  static thread_local mpz_class previous, t;
  previous = 1;
  for (int k = 0; k + 1 < n; ++k) {
    int pivot = k;
    while (pivot < n && m[pivot][k] == 0) ++pivot;
    if (pivot == n) return 0;
    if (pivot != k) {
      for (int j = 0; j < n; ++j) swap(m[k][j], m[pivot][j]);
      sign = -sign;
    }
    for (int i = k + 1; i < n; ++i) {
      for (int j = k + 1; j < n; ++j) {
        if (k == 0) {
          m[i][j] -= m[0][j];
          continue;
        }
        mpz_mul(t.get_mpz_t(), m[i][j].get_mpz_t(), m[k][k].get_mpz_t());
        mpz_submul(t.get_mpz_t(), m[i][k].get_mpz_t(), m[k][j].get_mpz_t());
        if (k > 1) mpz_divexact(t.get_mpz_t(), t.get_mpz_t(), previous.get_mpz_t());
        swap(m[i][j], t);
      }
    }
    previous = m[k][k];
  }
  return sign * sgn(m[n - 1][n - 1]);
}

// The sign of det [1 x y (z) (x^2+y^2(+z^2))], one row per point. The ones first: their elimination costs no
// product.
template <class Vector>
int pointDeterminantSign(const std::vector<Vector>& points, bool lifted) {
  constexpr int kDimension = Vector::RowsAtCompileTime;
  const int n = static_cast<int>(points.size());
  double flat[15];
  static thread_local mpz_class integers[15], m[5][5], square;
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < kDimension; ++k) flat[i * kDimension + k] = points[static_cast<size_t>(i)][k];
  }
  toIntegers(flat, static_cast<size_t>(n * kDimension), integers);
  for (int i = 0; i < n; ++i) {
    int column = 0;
    m[i][column++] = 1;
    square = 0;
    for (int k = 0; k < kDimension; ++k) {
      const mpz_class& x = integers[i * kDimension + k];
      m[i][column++] = x;
      if (lifted) mpz_addmul(square.get_mpz_t(), x.get_mpz_t(), x.get_mpz_t());
    }
    if (lifted) m[i][column] = square;
  }
  return determinantSign(m, n);
}

// Signs in the convention of predicates.h. Moving the column of ones to the front costs a sign per column
// passed.
inline int orient2d(const Vec2& a, const Vec2& b, const Vec2& c) {
  return pointDeterminantSign<Vec2>({a, b, c}, false);
}
inline int orient3d(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  return pointDeterminantSign<Vec3>({a, b, c, d}, false);
}
inline int incircle(const Vec2& a, const Vec2& b, const Vec2& c, const Vec2& d) {
  return -pointDeterminantSign<Vec2>({a, b, c, d}, true);
}
inline int insphere(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d, const Vec3& e) {
  return -pointDeterminantSign<Vec3>({a, b, c, d, e}, true);
}

}  // namespace sunder::geometry::oracle
