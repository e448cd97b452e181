// What bodies add to the density of the fluid, now and where particles and bodies go.
//
// Next to several bodies with exact maps densities are joined by a power norm. Bodies on the same side count
// as the nearest does, as if they were one: if they were added, a particle at the crack between two pieces
// would have twice the density that it had at the whole. Bodies on opposite sides do add up, or particles
// would find room between two that touch, where there is none. Bodies of surface particles (Akinci et al.
// 2012) add up: each has a layer of them.
#pragma once

#include "sunder/base/math.h"
#include "sunder/fluid/coupling/body_coupling.h"

#include <span>

namespace sunder::fluid {

// Makes entries, densities and norms for particles at `place`, relative to `origin`. Samples of several
// bodies are weighted so that their gradients add up to that of the norm.
void findBodies(std::span<const Vec4f> place, const Vec3& origin, BodyCoupling& coupling);

// Adds to `density` what bodies add to it at the end of a step of `dt`: looked up where the particles will
// be, if the map is exact, else predicted from value and gradient. `scratch` has the length of `density`.
void addPredictedDensity(const BodyCoupling& coupling, double dt, std::span<const Vec3> positions,
                         std::span<const Vec4f> motion, std::span<float> density, std::span<float> scratch);

// Sets rates to the sum of gradient times velocity of the body, 1/s: what the motion of bodies takes off the
// rate at which they add density.
void findBodyRates(const BodyCoupling& coupling, std::span<const Vec3> positions, std::span<float> rates);

}  // namespace sunder::fluid
