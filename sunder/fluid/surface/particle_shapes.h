// What shape each particle of a liquid has in its surface: an ellipsoid around a smoothed place, after Yu and
// Turk 2013 (Reconstructing surfaces of particle-based fluids using anisotropic kernels).
//
// Two things differ from the source. Particles are averaged with those of their own layer, within a spacing
// along the direction in which the neighbourhood is thinnest, and move in that direction alone: plain
// averages pull the outermost layer inwards by half a spacing, so that liquids shrink, and make clusters. And
// radii go with deviations, not variances, of the neighbourhood, which keeps ellipsoids thick enough for
// cells of half a spacing.
//
// Particles with few neighbours pass gradually into balls that have the particle's volume.
#pragma once

#include "sunder/fluid/surface/surface.h"

namespace sunder::fluid {

// The field of a shape is weight * (1 - q^2)^3 up to q = 1, q^2 = x^T metric x, x from the centre.
struct ParticleShape {
  Vec3 centre;
  float metric[6];  // xx, yy, zz, xy, xz, yz, 1/m^2
  float weight;
  Vec3f reach;  // half the sides of the box around it, m
  bool deep;    // inside of the liquid, away from its surface
};

inline constexpr double kSurfaceLevel = 0.5;  // of the field on the surface: half of what it is inside

// By particle. Settings with the cell filled in.
std::vector<ParticleShape> particleShapes(std::span<const Vec3> positions, const SurfaceSettings& settings);

}  // namespace sunder::fluid
