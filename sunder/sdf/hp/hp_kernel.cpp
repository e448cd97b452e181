#include "sunder/sdf/hp/hp_kernel.h"

#include "sunder/sdf/hp/legendre.h"

#include <array>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sunder/sdf/hp/hp_kernel.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per target
#include <hwy/highway.h>

#ifndef SUNDER_SDF_HP_KERNEL_ONCE
#define SUNDER_SDF_HP_KERNEL_ONCE
namespace sunder::sdf::kernels {

// L_n = first[n] t L_{n-1} - second[n] L_{n-2}
struct Recurrence {
  double first[kLargestDegree + 1], second[kLargestDegree + 1], slope[kLargestDegree + 1];
};
constexpr Recurrence makeRecurrence() {
  Recurrence r{};
  for (int n = 1; n <= kLargestDegree; ++n) {
    r.first[n] = (2.0 * n - 1) / n;
    r.second[n] = (n - 1.0) / n;
    r.slope[n] = 2.0 * n - 1;
  }
  return r;
}
inline constexpr Recurrence kRecurrence = makeRecurrence();

}  // namespace sunder::sdf::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace sunder::sdf::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 4>;
using V = hn::Vec<D>;
constexpr size_t kLanes = hn::MaxLanes(D());
constexpr size_t kMost = kLargestDegree + 1;

// Legendre polynomials of two vectors of points, and their slopes.
struct Table {
  alignas(64) double value[2][kMost * kLanes], slope[2][kMost * kLanes];
};

template <bool kSlopes>
HWY_INLINE void tabulate(int degree, const double* local, size_t half, Table& table) {
  const D d;
  const V t = hn::LoadU(d, local + half * kLanes);
  double* value = table.value[half];
  double* slope = table.slope[half];
  V before = hn::Set(d, 1.0), last = t;
  hn::Store(before, d, value);
  hn::Store(last, d, value + kLanes);
  V slopeBefore = hn::Zero(d), slopeLast = hn::Set(d, 1.0);
  if constexpr (kSlopes) {
    hn::Store(slopeBefore, d, slope);
    hn::Store(slopeLast, d, slope + kLanes);
  }
  for (int n = 2; n <= degree; ++n) {
    const V next = hn::Sub(hn::Mul(hn::Mul(hn::Set(d, kRecurrence.first[n]), t), last),
                           hn::Mul(hn::Set(d, kRecurrence.second[n]), before));
    if constexpr (kSlopes) {
      const V nextSlope = hn::Add(slopeBefore, hn::Mul(hn::Set(d, kRecurrence.slope[n]), last));
      hn::Store(nextSlope, d, slope + static_cast<size_t>(n) * kLanes);
      slopeBefore = slopeLast;
      slopeLast = nextSlope;
    }
    hn::Store(next, d, value + static_cast<size_t>(n) * kLanes);
    before = last;
    last = next;
  }
}

// Two vectors of points at a time, so that the sums of one hide the latency of the other's.
template <class Degree>
HWY_INLINE void valuesOfTwo(const double* c, Degree degree, const Table& x, const Table& y, const Table& z,
                            double* out) {
  const D d;
  V sum0 = hn::Zero(d), sum1 = hn::Zero(d);
  for (int a = 0; a <= degree; ++a) {
    V row0 = hn::Zero(d), row1 = hn::Zero(d);
    for (int b = 0; b <= degree - a; ++b) {
      V inner0 = hn::Zero(d), inner1 = hn::Zero(d);
      for (int k = 0; k <= degree - a - b; ++k) {
        const V coefficient = hn::Set(d, *c++);
        const size_t at = static_cast<size_t>(k) * kLanes;
        inner0 = hn::Add(inner0, hn::Mul(coefficient, hn::Load(d, z.value[0] + at)));
        inner1 = hn::Add(inner1, hn::Mul(coefficient, hn::Load(d, z.value[1] + at)));
      }
      const size_t at = static_cast<size_t>(b) * kLanes;
      row0 = hn::Add(row0, hn::Mul(inner0, hn::Load(d, y.value[0] + at)));
      row1 = hn::Add(row1, hn::Mul(inner1, hn::Load(d, y.value[1] + at)));
    }
    const size_t at = static_cast<size_t>(a) * kLanes;
    sum0 = hn::Add(sum0, hn::Mul(row0, hn::Load(d, x.value[0] + at)));
    sum1 = hn::Add(sum1, hn::Mul(row1, hn::Load(d, x.value[1] + at)));
  }
  hn::StoreU(sum0, d, out);
  hn::StoreU(sum1, d, out + kLanes);
}

template <class Degree>
HWY_INLINE void samplesOfOne(const double* c, Degree degree, const Table& x, const Table& y, const Table& z,
                             size_t half, double* value, double* gx, double* gy, double* gz) {
  const D d;
  V sum = hn::Zero(d), sumX = sum, sumY = sum, sumZ = sum;
  for (int a = 0; a <= degree; ++a) {
    V row = hn::Zero(d), rowY = row, rowZ = row;
    for (int b = 0; b <= degree - a; ++b) {
      V inner = hn::Zero(d), innerZ = inner;
      for (int k = 0; k <= degree - a - b; ++k) {
        const V coefficient = hn::Set(d, *c++);
        const size_t at = static_cast<size_t>(k) * kLanes;
        inner = hn::Add(inner, hn::Mul(coefficient, hn::Load(d, z.value[half] + at)));
        innerZ = hn::Add(innerZ, hn::Mul(coefficient, hn::Load(d, z.slope[half] + at)));
      }
      const size_t at = static_cast<size_t>(b) * kLanes;
      const V by = hn::Load(d, y.value[half] + at);
      row = hn::Add(row, hn::Mul(inner, by));
      rowY = hn::Add(rowY, hn::Mul(inner, hn::Load(d, y.slope[half] + at)));
      rowZ = hn::Add(rowZ, hn::Mul(innerZ, by));
    }
    const size_t at = static_cast<size_t>(a) * kLanes;
    const V bx = hn::Load(d, x.value[half] + at);
    sum = hn::Add(sum, hn::Mul(row, bx));
    sumX = hn::Add(sumX, hn::Mul(row, hn::Load(d, x.slope[half] + at)));
    sumY = hn::Add(sumY, hn::Mul(rowY, bx));
    sumZ = hn::Add(sumZ, hn::Mul(rowZ, bx));
  }
  hn::StoreU(sum, d, value);
  hn::StoreU(sumX, d, gx);
  hn::StoreU(sumY, d, gy);
  hn::StoreU(sumZ, d, gz);
}

// Calls body with the degree as a constant where it is one of the common ones: the loops then unroll.
template <class Body>
HWY_INLINE void withDegree(int degree, Body&& body) {
  switch (degree) {
    case 1:
      return body(std::integral_constant<int, 1>());
    case 2:
      return body(std::integral_constant<int, 2>());
    case 3:
      return body(std::integral_constant<int, 3>());
    case 4:
      return body(std::integral_constant<int, 4>());
    default:
      return body(degree);
  }
}

void PolynomialValues(const double* coefficients, int degree, const double* const local[3], size_t count,
                      double* values) {
  Table x, y, z;
  withDegree(degree, [&](auto p) HWY_ATTR {
    for (size_t i = 0; i < count; i += 2 * kLanes) {
      for (size_t half = 0; half < 2; ++half) {
        tabulate<false>(p, local[0] + i, half, x);
        tabulate<false>(p, local[1] + i, half, y);
        tabulate<false>(p, local[2] + i, half, z);
      }
      valuesOfTwo(coefficients, p, x, y, z, values + i);
    }
  });
}

void PolynomialSamples(const double* coefficients, int degree, const double* const local[3], size_t count,
                       double* values, double* const gradients[3]) {
  Table x, y, z;
  withDegree(degree, [&](auto p) HWY_ATTR {
    for (size_t i = 0; i < count; i += kLanes) {
      tabulate<true>(p, local[0] + i, 0, x);
      tabulate<true>(p, local[1] + i, 0, y);
      tabulate<true>(p, local[2] + i, 0, z);
      samplesOfOne(coefficients, p, x, y, z, 0, values + i, gradients[0] + i, gradients[1] + i,
                   gradients[2] + i);
    }
  });
}

}  // namespace sunder::sdf::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sunder::sdf::kernels {

HWY_EXPORT(PolynomialValues);
HWY_EXPORT(PolynomialSamples);

void polynomialValues(const double* coefficients, int degree, const double* const local[3], size_t count,
                      double* values) {
  HWY_DYNAMIC_DISPATCH(PolynomialValues)(coefficients, degree, local, count, values);
}

void polynomialSamples(const double* coefficients, int degree, const double* const local[3], size_t count,
                       double* values, double* const gradients[3]) {
  HWY_DYNAMIC_DISPATCH(PolynomialSamples)(coefficients, degree, local, count, values, gradients);
}

}  // namespace sunder::sdf::kernels
#endif
