// Bounding boxes and finiteness of long arrays of numbers, by vector instructions (simd.h) and in parallel.
// Minimum and maximum are exact, so every target and number of threads gives the same bits.
//
// Cost: as fast as the memory delivers, about 10 GB/s per core.
#pragma once

#include "sunder/base/box.h"

#include <cstddef>
#include <span>

namespace sunder {

// Box of the points, empty when there are none. Coordinates that are not a number are left out; zeros come
// out as +0.
Box3 boundsOf(std::span<const Vec3> points);

// Index of the first infinite or not-a-number element, or the size when all are finite.
size_t firstNonFinite(std::span<const double> values);
size_t firstNonFinite(std::span<const Vec3> points);  // index of the point

}  // namespace sunder
