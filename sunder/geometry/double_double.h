// A number as the unevaluated sum of two doubles: the shortest expansion, with about 106 significant bits. It
// is the adaptive middle stage of the predicates. Differences of two doubles are exact; with u = 2^-53 a
// product errs by less than 10 u^2 |a||b| and a sum by less than 4 u^2 (|a|+|b|). That holds while nothing
// overflows and no product falls below 2^-968; callers bound the range of their inputs.
//
// Error-free transformations after Dekker 1971 and Knuth; the error terms are those of Shewchuk 1997. For
// predicates, here and in the room cut. Must be compiled without contraction of a*b+c and without
// -ffast-math.
#pragma once

namespace sunder::geometry {

struct DoubleDouble {
  double high = 0, low = 0;
};

inline DoubleDouble twoSum(double a, double b) {
  const double sum = a + b;
  const double bVirtual = sum - a;
  return {sum, (a - (sum - bVirtual)) + (b - bVirtual)};
}

inline DoubleDouble twoDiff(double a, double b) { return twoSum(a, -b); }

// Needs |a| >= |b| or a == 0.
inline DoubleDouble fastTwoSum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

inline DoubleDouble splitInHalves(double a) {
  const double big = 134217729.0 * a;  // 2^27 + 1
  const double high = big - (big - a);
  return {high, a - high};
}

inline DoubleDouble twoProduct(double a, double b) {
  const double product = a * b;
  const DoubleDouble as = splitInHalves(a), bs = splitInHalves(b);
  const double rest = ((product - as.high * bs.high) - as.low * bs.high) - as.high * bs.low;
  return {product, as.low * bs.low - rest};
}

inline DoubleDouble operator+(const DoubleDouble& a, const DoubleDouble& b) {
  const DoubleDouble sum = twoSum(a.high, b.high);
  return fastTwoSum(sum.high, sum.low + (a.low + b.low));
}

inline DoubleDouble operator-(const DoubleDouble& a, const DoubleDouble& b) {
  return a + DoubleDouble{-b.high, -b.low};
}

inline DoubleDouble operator*(const DoubleDouble& a, const DoubleDouble& b) {
  const DoubleDouble product = twoProduct(a.high, b.high);
  return fastTwoSum(product.high, product.low + (a.high * b.low + a.low * b.high));
}

}  // namespace sunder::geometry
