#include "sunder/sdf/hp/legendre.h"

#include "sunder/base/lazy_table.h"
#include "sunder/base/math.h"

#include <array>
#include <cassert>
#include <cmath>

namespace sunder::sdf {

void legendre(double t, int degree, double* values) {
  values[0] = 1;
  if (degree > 0) values[1] = t;
  for (int n = 2; n <= degree; ++n)
    values[n] = ((2 * n - 1) * t * values[n - 1] - (n - 1) * values[n - 2]) / n;
}

void legendre(double t, int degree, double* values, double* derivatives) {
  legendre(t, degree, values);
  derivatives[0] = 0;
  if (degree > 0) derivatives[1] = 1;
  for (int n = 2; n <= degree; ++n) derivatives[n] = derivatives[n - 2] + (2 * n - 1) * values[n - 1];
}

GaussRule gaussLegendre(int count) {
  assert(count > 0);
  const auto n = static_cast<size_t>(count);
  GaussRule rule{std::vector<double>(n), std::vector<double>(n)};
  std::vector<double> values(n + 1), derivatives(n + 1);
  for (size_t i = 0; i < (n + 1) / 2; ++i) {
    double t = std::cos(kPi * (double(i) + 0.75) / (count + 0.5));
    for (int step = 0; step < 100; ++step) {
      legendre(t, count, values.data(), derivatives.data());
      const double move = values[n] / derivatives[n];
      t -= move;
      if (std::abs(move) < 1e-16) break;
    }
    if (2 * i + 1 == n) t = 0;
    legendre(t, count, values.data(), derivatives.data());
    const double weight = 2 / ((1 - t * t) * derivatives[n] * derivatives[n]);
    rule.nodes[i] = -t;
    rule.nodes[n - 1 - i] = t;
    rule.weights[i] = rule.weights[n - 1 - i] = weight;
  }
  return rule;
}

const FitRule& fitRule(int count) {
  constexpr size_t kMost = 4 * kLargestDegree;
  static LazyTable<FitRule, kMost + 1> rules;
  const auto n = static_cast<size_t>(count);
  assert(n > 0 && n <= kMost);
  return rules.get(n, [&] {
    const GaussRule gauss = gaussLegendre(count);
    FitRule rule;
    rule.count = count;
    rule.nodes = gauss.nodes;
    rule.table.resize((kLargestDegree + 1) * n);
    std::array<double, kLargestDegree + 1> values;
    for (size_t i = 0; i < n; ++i) {
      legendre(gauss.nodes[i], kLargestDegree, values.data());
      for (size_t k = 0; k <= kLargestDegree; ++k)
        rule.table[k * n + i] = gauss.weights[i] * std::sqrt(2.0 * double(k) + 1) * values[k];
    }
    return rule;
  });
}

std::span<const MultiIndex> multiIndices() {
  static const std::vector<MultiIndex> indices = [] {
    std::vector<MultiIndex> all;
    for (int shell = 0; shell <= kLargestDegree; ++shell)
      for (int a = 0; a <= shell; ++a)
        for (int b = 0; a + b <= shell; ++b) all.push_back({uint8_t(a), uint8_t(b), uint8_t(shell - a - b)});
    return all;
  }();
  return indices;
}

std::span<const double> halvingMatrix() {
  static const std::vector<double> matrix = [] {
    // The integrand is a polynomial of degree below 2n: the rule is exact.
    constexpr int kCount = kLargestDegree + 1;
    const GaussRule gauss = gaussLegendre(kCount);
    std::vector<double> t(kCount * kCount, 0.0);
    std::array<double, kCount> outer, inner;
    for (size_t q = 0; q < kCount; ++q) {
      legendre((gauss.nodes[q] - 1) / 2, kLargestDegree, outer.data());
      legendre(gauss.nodes[q], kLargestDegree, inner.data());
      for (size_t i = 0; i < kCount; ++i)
        for (size_t j = 0; j <= i; ++j) t[i * kCount + j] += gauss.weights[q] * outer[i] * inner[j];
    }
    // dx = 1/4 dt on a half of an interval of length 1 with t in [-1, 1]; both normalisations.
    for (size_t i = 0; i < kCount; ++i)
      for (size_t j = 0; j <= i; ++j)
        t[i * kCount + j] *= 0.25 * std::sqrt((2.0 * double(i) + 1) * (2.0 * double(j) + 1) * 2);
    return t;
  }();
  return matrix;
}

}  // namespace sunder::sdf
