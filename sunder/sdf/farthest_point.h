// Farthest-point order: starts with the two points farthest apart; each further one is the point that is
// farthest from all before it (Gonzalez 1985). Any beginning of the order is spread evenly: its points are at
// least gap[m - 1] apart, and every other point is within gap[m] of one of them. Sphere trees
// (sphere_tree.h) are levels of this order, and samplings are its beginnings (point_samples.h).
//
// Guarantees: exactly the greedy order of squared distances in double; equal distances are decided by the
// smaller point number, so the result depends neither on the number of threads nor on the blocks inside.
// Coincident points are fine: they come last, with gap 0.
//
// Cost: points lie in blocks of neighbours with a box and their largest distance, and a new point touches the
// blocks it can change only: about n log n updates, plus n / 64 block tests a step. 5,000 points take some
// 20 ms, 50,000 some 0.8 s. Throws Error (Usage) for points that are not finite.
#pragma once

#include "sunder/base/math.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder::sdf {

struct FarthestPointOrder {
  std::vector<uint32_t> order;  // point numbers
  std::vector<double> gap;      // by rank: distance to the nearest point before; infinite for rank 0
  // By rank r >= 1: the rank of the nearest among the first 2^floor(log2 r) points (those of the level above
  // in a sphere tree); of equally near ones the lowest rank. 0 for rank 0.
  std::vector<uint32_t> parent;
};

// The first `count` points of the order; all where there are not as many.
FarthestPointOrder farthestPointOrder(std::span<const Vec3> points, size_t count = ~size_t(0));

// The two points farthest apart, the smaller numbers of equals; {0, 0} for one point. Points not empty.
std::pair<uint32_t, uint32_t> farthestPair(std::span<const Vec3> points);

}  // namespace sunder::sdf
