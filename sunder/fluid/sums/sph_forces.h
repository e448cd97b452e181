// Sums over neighbours that change velocities besides the pressure: smoothing, viscosity and surface tension,
// in the same vector form and with the same guarantees as sph_sums.h, whose sumDensity has to come before.
//
// s_ij is the mean of the strengths of both particles; sums are divided by the mean of both densities (as of
// sumDensity, with what boundaries add). Both are equal on either side, so momentum is kept.
#pragma once

#include "sunder/base/math.h"
#include "sunder/fluid/sums/sph_sums.h"

#include <span>

namespace sunder::fluid {

// XSPH (Monaghan 1989): V sum s_ij (v_j - v_i) W.
void sumSmoothing(const PairSums& pairs, std::span<const float> strength, std::span<const float> density,
                  std::span<Vec4f> difference);

// Central: V sum s_ij (v_ij . x_ij) / (|x_ij|^2 + 0.01 r^2) grad W, a tenth of the Laplacian of the velocity
// where particles lie in no order, along the lines between them. Full: V sum s_ij v_ij (x_ij . grad W) /
// (|x_ij|^2 + 0.01 r^2), half of the Laplacian, on lattices too (Morris et al. 1997).
enum class ViscousForces { Central, Full };
void sumViscosity(const PairSums& pairs, ViscousForces forces, std::span<const float> strength,
                  std::span<const float> density, std::span<Vec4f> sum);

// Surface tension (Akinci, Akinci and Teschner 2013): the velocity that cohesion and curvature give,
// -sum s_ij 2 / (d_i + d_j) [m C(|x_ij|) x_ij / |x_ij| + n_i - n_j], with n = r times the gradient of the
// density and m the mass of a particle. Cohesion C keeps particles half a support apart.
void sumTension(const PairSums& pairs, float mass, std::span<const float> strength,
                std::span<const float> density, std::span<const Vec4f> gradient, std::span<Vec4f> velocity);

}  // namespace sunder::fluid
