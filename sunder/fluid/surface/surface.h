// The surface of a liquid that is given as particles: a closed triangle mesh, for pictures and export.
//
// Each particle becomes an ellipsoid that follows the shape of its neighbourhood (Yu and Turk 2013,
// particle_shapes.h), flat at surfaces and in sheets. The ellipsoids add up to a field on a sparse grid
// (block_grid.h), and marching cubes take the surface out of it (marching_cubes.h). Inside the field is about
// one and at a flat surface it passes the level where the particles' volume ends, so a mesh encloses nearly
// the volume of its particles; a lone particle is a ball of its own volume.
//
// Guarantee: closed, manifold and oriented outwards for any particles. Same bits for any number of threads.
// Cost: 118,000 particles with cells of one radius take about 0.5 s of one core's time (`sunder bench fluid
// --case surface`); memory goes with the particles and the cells they reach, not with the box around them.
#pragma once

#include "sunder/base/math.h"
#include "sunder/geometry/mesh.h"

#include <span>
#include <string_view>
#include <vector>

namespace sunder::fluid {

enum class SurfaceMethod {
  Anisotropic,  // ellipsoids
  Averaged,     // balls, at averaged positions as well: quicker, bumpier, sheets are thicker
};

// "anisotropic" or "averaged"; throws Error (Usage) for another name.
SurfaceMethod surfaceMethodNamed(std::string_view name);

struct SurfaceSettings {
  double radius = 0;  // of the particles, m: half their spacing at rest
  double cell = 0;    // edge of the grid, m; 0: the radius
  SurfaceMethod method = SurfaceMethod::Anisotropic;
  uint32_t smoothing = 0;                  // steps of Taubin's filter (1995) on the mesh
  uint64_t mostCells = uint64_t(1) << 29;  // 4 bytes each
};

struct LiquidSurface {
  geometry::TriMesh mesh;
  std::vector<Vec3f> normals;     // by vertex, unit, outwards: from the field's gradient
  std::vector<Vec3f> velocities;  // by vertex, m/s, of the particles around; empty where none were given
};

// `velocities` is empty or one a particle. No particles make an empty mesh. Throws Error: Usage for settings
// that make no sense, Geometry naming the first particle that is not finite, Limit for more cells than the
// settings allow, both with what to do.
LiquidSurface liquidSurface(std::span<const Vec3> positions, std::span<const Vec3f> velocities,
                            const SurfaceSettings& settings);

}  // namespace sunder::fluid
