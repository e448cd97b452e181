// Smooth noise in space with its gradient (Perlin 2002: lattice gradients of unit length, quintic blending),
// twice continuously differentiable, of period 2^32 lattice steps. The same bits everywhere: lattice
// gradients come from an integer hash and a table.
//
// Guarantees: |value| <= sqrt(3) / 2, |gradient| <= 6.63 (Cauchy-Schwarz on the blending weights; what occurs
// is about half). Cost: about 200 ns.
#pragma once

#include "sunder/sdf/field.h"

#include <cstdint>

namespace sunder::sdf {

inline constexpr double kNoiseLargest = 0.8660254037844387;
inline constexpr double kNoiseSteepest = 6.63;

// Lattice step 1.
FieldSample gradientNoise(const Vec3& point, uint64_t seed);

}  // namespace sunder::sdf
