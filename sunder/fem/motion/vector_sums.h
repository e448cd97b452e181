// Sums over arrays of vectors, in fixed blocks: same bits for any number of threads. Private to the room.
#pragma once

#include "sunder/base/math.h"
#include "sunder/base/parallel.h"

#include <cassert>
#include <span>

namespace sunder::fem {

inline constexpr size_t kSumGrain = 4096;

// The sum of map(i) over [0, count).
template <class Map>
double blockSum(size_t count, const Map& map) {
  return parallelReduce(
      count, 0.0,
      [&](size_t begin, size_t end) {
        double sum = 0;
        for (size_t i = begin; i < end; ++i) sum += map(i);
        return sum;
      },
      [](double x, double y) { return x + y; }, kSumGrain);
}

inline double innerProduct(std::span<const Vec3> a, std::span<const Vec3> b) {
  assert(a.size() == b.size());
  return blockSum(a.size(), [&](size_t i) { return a[i].dot(b[i]); });
}

}  // namespace sunder::fem
