// Legendre polynomials on [-1, 1], Gauss-Legendre rules, and the set of multi-indices of total degree p that
// hp-adaptive fields are made of (hp_field.h).
//
//   L_0 = 1, L_1 = t, n L_n = (2n - 1) t L_{n-1} - (n - 1) L_{n-2}
//
// The orthonormal basis on a box with edges e_0, e_1, e_2 is, with t_d the coordinate scaled to [-1, 1],
//   P_abc = prod_d sqrt((2 r_d + 1) / e_d) L_{r_d}(t_d),   (r_0, r_1, r_2) = (a, b, c), a + b + c <= p.
// Multi-indices are ordered by a + b + c, then by a, then by b, so that a polynomial of lower degree is a
// prefix of its raised self.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sunder::sdf {

inline constexpr int kLargestDegree = 30;

constexpr size_t coefficientCount(int degree) {
  const auto p = static_cast<size_t>(degree);
  return (p + 1) * (p + 2) * (p + 3) / 6;
}

// L_0(t) .. L_degree(t), and their derivatives.
void legendre(double t, int degree, double* values);
void legendre(double t, int degree, double* values, double* derivatives);

struct GaussRule {
  std::vector<double> nodes, weights;  // ascending; the weights sum to 2
};
GaussRule gaussLegendre(int count);

// A rule with L_k at its nodes: table[k * count + i] = weights[i] * sqrt(2k + 1) * L_k(nodes[i]).
struct FitRule {
  int count = 0;
  std::vector<double> nodes, table;
};
// Made once for every count up to 4 * kLargestDegree; safe to call from many threads.
const FitRule& fitRule(int count);

using MultiIndex = std::array<uint8_t, 3>;
// All of total degree <= kLargestDegree, in order; those of degree p are the first coefficientCount(p).
std::span<const MultiIndex> multiIndices();

// The basis of an interval written in the basis of its lower half: P_i(x) = sum_j T_ij Q_j(x) for j <= i. Of
// the upper half T_ij changes sign where i + j is odd. Row-major, (kLargestDegree + 1)^2.
std::span<const double> halvingMatrix();

}  // namespace sunder::sdf
