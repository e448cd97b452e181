// Sums over the neighbours of particles: the inner loops of the fluid, in vector form. Eight neighbours are
// taken at a time; what they add is summed by lane and then from the first lane to the last, so that the bits
// are the same on every target and for any number of threads.
//
// Particles all have the volume V; a sum over volumes stands for an integral. Each particle has two rows of
// four floats: `place` = (x, y, z, stiffness) and `motion` = (vx, vy, vz, lightness). Lightness is a
// reference density over the rest density of the particle's fluid: 1 where there is one fluid. Positions are
// relative to an origin near the particles.
//
// Cost: about 1 ns a pair and sum on one core.
#pragma once

#include "sunder/base/math.h"
#include "sunder/spatial/neighbour_rows.h"

#include <span>

namespace sunder::fluid {

struct PairSums {
  std::span<const Vec4f> place, motion;
  const spatial::NeighbourRows* rows = nullptr;
  float support = 0, volume = 0;
};

// Density of the fluid relative to rest, the particle itself included, in .w, and its gradient; and V^2 sum
// of lightness_j |grad W|^2.
void sumDensity(const PairSums& pairs, std::span<Vec4f> density, std::span<float> squares);

// Rate of the density by motion: V sum (v_i - v_j) . grad W.
void sumRate(const PairSums& pairs, std::span<float> rate);

// V sum (k_i + k_j) grad W with the stiffness in place.w.
void sumPressure(const PairSums& pairs, std::span<Vec4f> gradient);

// V sum (v_j - v_i) W, divided by the mean of both densities (XSPH), `density` as of sumDensity with what
// boundaries add.
void sumSmoothing(const PairSums& pairs, std::span<const float> density, std::span<Vec4f> difference);

// V sum (v_ij . x_ij) / (|x_ij|^2 + 0.01 r^2) grad W: a tenth of the Laplacian of the velocity.
void sumViscosity(const PairSums& pairs, std::span<Vec4f> sum);

}  // namespace sunder::fluid
