// What the fluid and the bodies know of each other. Bodies are boundary maps (boundary.h: density maps of
// Koschier and Bender 2017, or surface particles of Akinci et al. 2012); what a particle gets from a body,
// the body loses.
//
// Bodies that can move do so while pressures are found: each iteration sees them as fast as the impulses so
// far have made them. With their velocity held until the next step, light bodies would be thrown to and fro.
// Matter that deforms does the same at each of its points (boundary_samples.h).
#pragma once

#include "sunder/base/math.h"
#include "sunder/fluid/boundary/boundary.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace sunder::fluid {

// Power norm (sum of v^p)^(1/p) of the densities that several bodies add to one particle (body_density.h).
struct DensityNorm {
  Vec3f directions = Vec3f::Zero();  // sum of the unit gradients
  Vec3f gradient = Vec3f::Zero();    // of the norm, 1/m
  float count = 0;                   // of bodies with a gradient there
  float power = 4;                   // p: 4 for bodies on one side, down to 1 for bodies on opposite sides
  float largest = 0, sum = 0;        // of the values; of their terms

  float term(float value) const;  // relative to the largest: powers of next to nothing would be nothing
  float value(float terms) const;
};

// Of a body of points, by point: what the step did to it so far, and what became of its velocity by that.
struct SampleMotion {
  std::vector<Vec3> impulses, changes;  // N s, m/s
};

struct BodyCoupling {
  // Given by the owner, as they are at the end of the step.
  std::vector<BoundaryBody> bodies;
  bool fixed = false;  // no body gives way: while particles are only moved apart (relaxation.h)

  // Of this step, by body.
  std::vector<BoundaryImpulse> impulses;
  std::vector<SampleMotion> sampleMotions;  // empty but for bodies of points

  // Made by findBodies() (body_density.h) for the places of the particles then.
  BoundaryEntries entries;     // samples of maps, of several bodies weighted so that they add up
  std::vector<Vec4f> density;  // of all bodies, by particle: gradient, 1/m, and value relative to rest
  std::vector<uint32_t>
      normNumber;  // by particle: place in `norms` plus one; 0: at most one exact map is near
  std::vector<DensityNorm> norms;

  bool movable(size_t body) const {
    const BoundaryBody& b = bodies[body];
    return !fixed && (b.points ? b.points->response != nullptr : b.inverseMass > 0);
  }
  bool touches(size_t body) const {  // whether a particle is near
    return body + 1 < entries.bodyStart.size() && entries.bodyStart[body + 1] > entries.bodyStart[body];
  }
  bool touchesMovable() const;
  // At a point of a rigid body, m/s, with what the step did to it so far.
  Vec3 velocityAt(size_t body, const Vec3& point) const;
  // The same for any body, next to a particle (number of an entry) at a place: the mean over points.
  Vec3 velocityNextTo(size_t body, uint32_t entry, const Vec3& place) const;
  // Gradient times velocity, 1/s: what the motion of the body takes off the rate of the density there.
  double rateAt(size_t body, uint32_t entry, const Vec3& place) const;
  const DensityNorm* norm(size_t particle) const {  // none: at most one exact map is near
    return normNumber[particle] == 0 ? nullptr : &norms[normNumber[particle] - 1];
  }

  void clearImpulses();
  void addImpulse(size_t body, const Vec3& point, const Vec3& impulse);
  // By a particle next to it that rubs on it; spread over the points of a body that has such. Those feel it
  // once respond() was called.
  void rub(size_t body, uint32_t entry, const Vec3& place, const Vec3& impulse);
  // Brings the velocities of a body's points up to date with the impulses; nothing for other bodies.
  void respond(size_t body);
  size_t bytes() const;
};

// Impulses of a pressure on the movable bodies, or on the others. `scale`: reference density times volume of
// a particle times dt, kg s; `stiffness`: pressure over reference density, by particle.
void addPressureImpulses(double scale, std::span<const Vec3> positions, std::span<const float> stiffness,
                         bool ofMovable, BodyCoupling& coupling);

// Adds to the reciprocal factors of particles (pressure_system.h) what pressing a movable body away does to
// their density. Negative ones are left alone. `scale`: reference density times volume of a particle, kg.
void addMobility(const BodyCoupling& coupling, double scale, std::span<const Vec3> positions,
                 std::span<float> factor);

// How much a body of points moves along with what rubs on it, if all that is near does so at a time: by entry
// of the body, what a unit of velocity that each particle loses gives to the points next to it, at most.
// Empty for rigid bodies, which feel one particle after the other. `mass` of the particle of an entry, kg.
std::vector<double> rubbedAlong(const BodyCoupling& coupling, size_t body,
                                const std::function<double(uint32_t particle)>& mass);

// The largest of the mean errors next to each movable body, errors from zero up: few particles carry a body,
// and hide in the mean over all.
double meanErrorAtBodies(const BodyCoupling& coupling, std::span<const float> errors);

}  // namespace sunder::fluid
