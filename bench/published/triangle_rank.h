// Which pair is the q-th of a triangle of pairs: ranks and their inverses, so that every element of a list of
// pairs can be made on its own, by its own thread or lane. Rows run first: (0,0) (0,1) ... (0,n-1) (1,1) ...
//
// The inverse takes a square root in double and corrects it, exact for all n up to 2^32. Cost: O(1).
#pragma once

#include <cmath>
#include <cstdint>

namespace sunder::published {

struct RankedPair {
  uint64_t a, b;
  bool operator==(const RankedPair&) const = default;
};

// Pairs a <= b below n: n (n + 1) / 2 of them.
constexpr uint64_t triangleSize(uint64_t n) { return n % 2 == 0 ? n / 2 * (n + 1) : (n + 1) / 2 * n; }

// Rank of the first pair of row a.
constexpr uint64_t triangleRow(uint64_t a, uint64_t n) { return a == 0 ? 0 : a * n - triangleSize(a - 1); }

constexpr uint64_t triangleRank(RankedPair pair, uint64_t n) {
  return triangleRow(pair.a, n) + pair.b - pair.a;
}

inline RankedPair triangleUnrank(uint64_t rank, uint64_t n) {
  const double side = 2 * static_cast<double>(n) + 1;
  const double inner = side * side - 8 * static_cast<double>(rank);
  const double guess = (side - std::sqrt(inner > 0 ? inner : 0)) / 2;
  auto a = guess > 0 ? static_cast<uint64_t>(guess) : 0;
  if (a >= n) a = n - 1;
  // Large n: the root is off by a few rows near the triangle's tip.
  while (triangleRow(a, n) > rank) --a;
  while (a + 1 < n && triangleRow(a + 1, n) <= rank) ++a;
  return {a, a + (rank - triangleRow(a, n))};
}

// Pairs a < b below n: n (n - 1) / 2 of them.
constexpr uint64_t strictTriangleSize(uint64_t n) { return n == 0 ? 0 : triangleSize(n - 1); }

constexpr uint64_t strictTriangleRank(RankedPair pair, uint64_t n) {
  return triangleRank({pair.a, pair.b - 1}, n - 1);
}

inline RankedPair strictTriangleUnrank(uint64_t rank, uint64_t n) {
  const RankedPair pair = triangleUnrank(rank, n - 1);
  return {pair.a, pair.b + 1};
}

}  // namespace sunder::published
