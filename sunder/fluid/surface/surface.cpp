#include "sunder/fluid/surface/surface.h"

#include "sunder/base/bounds.h"
#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/profiler.h"
#include "sunder/fluid/surface/marching_cubes.h"
#include "sunder/geometry/normals.h"

#include <cmath>

#include <fmt/format.h>

namespace sunder::fluid {

namespace {

constexpr double kShrink = 0.5, kGrow = -0.53;  // Taubin's filter: a step there, a longer one back

void checkSettings(std::span<const Vec3> positions, std::span<const Vec3f> velocities,
                   const SurfaceSettings& settings) {
  if (!(settings.radius > 0) || !std::isfinite(settings.radius))
    throw Error(ErrorKind::Usage, "the surface of a liquid needs the radius of its particles")
        .hint("give half the distance of particles at rest");
  if (!(settings.cell >= 0) || !std::isfinite(settings.cell))
    throw Error(ErrorKind::Usage, "the cells of a liquid's surface must have a positive size")
        .hint("leave it out for one radius of a particle");
  if (settings.cell > 4 * settings.radius)
    throw Error(ErrorKind::Usage,
                fmt::format("cells of {:g} m are too large for particles with a radius of {:g} m",
                            settings.cell, settings.radius))
        .hint(fmt::format("take at most two diameters, {:g} m", 4 * settings.radius));
  if (!velocities.empty() && velocities.size() != positions.size())
    throw Error(ErrorKind::Usage, "a liquid needs the velocity of each particle, or of none");
  if (const size_t bad = firstNonFinite(positions); bad < positions.size())
    throw Error(ErrorKind::Geometry, fmt::format("particle {} of the liquid is not finite", bad))
        .hint("a run that diverged ends with such frames: take an earlier one");
}

void smooth(LiquidSurface& surface, uint32_t steps) {
  const ProfileScope scope("smoothing");
  std::vector<Vec3>& positions = surface.mesh.positions;
  const geometry::MeshView view(surface.mesh);
  const geometry::Rows corners = geometry::vertexCorners(view);
  std::vector<Vec3> moved(positions.size());
  for (uint32_t k = 0; k < 2 * steps; ++k) {
    const double factor = k % 2 == 0 ? kShrink : kGrow;
    parallelFor(positions.size(), [&](size_t v) {
      Vec3 sum = Vec3::Zero();  // in a closed mesh the next corner of each face names each neighbour once
      for (const uint32_t corner : corners.row(v))
        sum += positions[surface.mesh.triangles[corner / 3][(corner % 3 + 1) % 3]];
      moved[v] = positions[v] + factor * (sum / double(corners.row(v).size()) - positions[v]);
    });
    positions.swap(moved);
  }
  const std::vector<Vec3> normals = geometry::vertexNormals(geometry::MeshView(surface.mesh));
  parallelFor(normals.size(), [&](size_t v) { surface.normals[v] = normals[v].cast<float>(); });
}

}  // namespace

SurfaceMethod surfaceMethodNamed(std::string_view name) {
  if (name == "anisotropic") return SurfaceMethod::Anisotropic;
  if (name == "averaged") return SurfaceMethod::Averaged;
  throw Error(ErrorKind::Usage, fmt::format("there is no way '{}' to make a surface", name))
      .hint("there are anisotropic and averaged");
}

LiquidSurface liquidSurface(std::span<const Vec3> positions, std::span<const Vec3f> velocities,
                            const SurfaceSettings& asked) {
  checkSettings(positions, velocities, asked);
  SurfaceSettings settings = asked;
  if (settings.cell == 0) settings.cell = settings.radius;
  const std::vector<ParticleShape> shapes = particleShapes(positions, settings);
  const BlockGrid grid(shapes, settings.cell, settings.mostCells);
  LiquidSurface surface = marchingCubes(grid, shapes, velocities);
  if (settings.smoothing > 0) smooth(surface, settings.smoothing);
  return surface;
}

}  // namespace sunder::fluid
