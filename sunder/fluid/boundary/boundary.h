// What the fluid knows of solids. A boundary map says, for points in the frame of a body, how much the body
// adds to the density of a particle there, relative to the density of the fluid at rest, and the gradient of
// that: density_map.h for bodies of any shape, sampled_map.h for particles on their surface. A map may be
// shared by many bodies. Matter that deforms has no map but points that move (boundary_samples.h).
#pragma once

#include "sunder/base/box.h"
#include "sunder/base/math.h"
#include "sunder/fluid/boundary/boundary_samples.h"
#include "sunder/fluid/boundary/surface_samples.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace sunder::fluid {

inline Vec4f withFourth(const Vec3f& v, float w) { return {v.x(), v.y(), v.z(), w}; }

class BoundaryMap {
 public:
  virtual ~BoundaryMap() = default;
  // Points are (x, y, z, anything), results (gx, gy, gz, value). Const, in the calling thread.
  virtual void samples(std::span<const Vec4f> points, std::span<Vec4f> out) const = 0;
  virtual void values(std::span<const Vec4f> points, std::span<float> out) const = 0;
  virtual Box3 bounds() const = 0;  // outside of it there is nothing; may be infinite
  // Whether the density at the end of a step is looked up there, in every iteration, or predicted from value
  // and gradient at its start.
  virtual bool exact() const { return true; }
};
using BoundaryMapPtr = std::shared_ptr<const BoundaryMap>;

// A body as it is at the end of a step. What cannot be moved by the fluid has no inverse mass.
struct BoundaryBody {
  BoundaryMapPtr map;  // none, and no points: it is not there
  // In place of a map: matter that deforms. Of the values below it has friction and noSlip only.
  std::shared_ptr<BoundarySamples> points;
  Vec3 position = Vec3::Zero();  // of the frame of the map
  Mat3 rotation = Mat3::Identity();
  Vec3 centre = Vec3::Zero();  // of mass, in the world
  Vec3 velocity = Vec3::Zero(), spin = Vec3::Zero();
  double inverseMass = 0;
  Mat3 inverseInertia = Mat3::Zero();  // in the world
  double friction = 0;                 // Coulomb
  bool noSlip = false;                 // viscous fluid sticks to it (wall_viscosity.h)
  SurfaceSamplesPtr samples;           // none: no film under it (films.h)

  Vec3 velocityAt(const Vec3& point) const { return velocity + spin.cross(point - centre); }
  // Whether its density at the end of a step is looked up (BoundaryMap::exact).
  bool exact() const { return map && map->exact(); }
};

Box3 worldBounds(const BoundaryBody& body);  // of its map; may be infinite

// What the fluid does to a body in a step, about the centre of mass.
struct BoundaryImpulse {
  Vec3 linear = Vec3::Zero(), angular = Vec3::Zero();  // N s, N m s
};

// Particles near bodies: one entry for each particle and body whose map is not zero there, by body, then by
// particle.
struct BoundaryEntries {
  std::vector<uint32_t> bodyStart;  // by body, and one more
  std::vector<uint32_t> particle;
  std::vector<Vec4f> sample;       // gradient in the world and value
  std::vector<SampleLinks> links;  // by body; of bodies of points one a particle, in the order of entries

  void clear(size_t bodies);
};

// `place`: of particles, relative to `origin`.
void findEntries(std::span<const BoundaryBody> bodies, std::span<const Vec4f> place, const Vec3& origin,
                 BoundaryEntries& entries);

}  // namespace sunder::fluid
