// A boundary that deforms, as points of its matter: each stands for a volume, as a particle of the liquid
// does, and adds V W to the density of particles nearby and V grad W to its gradient. So matter of any shape
// pushes the liquid out of exactly the room that it takes, edges, thin parts and tears included. Sums are
// those of boundary particles (Akinci et al. 2012, and Akinci, Cornelis, Akinci and Teschner 2013 for elastic
// solids), but points fill the matter instead of covering its surface, and their volumes are given by whoever
// owns them and not made from distances, which counts a surface as thicker than it is.
//
// Points move while the liquid flows. What the liquid does to them are impulses on each point, along the line
// between point and particle for pressures. BoundaryResponse says how the matter gives way to them.
//
// Cost of links: some microseconds a particle next to the boundary, 30 to 60 points each.
#pragma once

#include "sunder/base/math.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder::fluid {

// How matter gives way. Linear, symmetric and positive in the impulses: a mobility matrix.
class BoundaryResponse {
 public:
  virtual ~BoundaryResponse() = default;
  // The velocities that impulses on the points give to them, m/s.
  virtual void respond(std::span<const Vec3> impulses, std::span<Vec3> changes) = 0;
  // The same with every entry of the matrix replaced by an upper bound of its size: for impulses of these
  // sizes in whatever directions, what any point gets at most. The step of an iteration follows from it.
  virtual void bound(std::span<const double> impulses, std::span<double> changes) const = 0;
};

struct BoundarySamples {
  double support = 0;                       // of the kernel, m
  std::vector<Vec3> positions, velocities;  // in the world: at the end of a step, and during it
  std::vector<double> volumes;              // m^3
  BoundaryResponse* response = nullptr;     // none: moves as given, whatever the liquid does

  size_t size() const { return positions.size(); }
  void resize(size_t count);
};

// What a point adds to the density of a particle.
struct SampleLink {
  uint32_t sample = 0;
  float weight = 0;                // V W
  Vec3f gradient = Vec3f::Zero();  // V grad W, 1/m, with respect to the particle
};

// Links of particles near the boundary.
struct SampleLinks {
  std::vector<uint32_t> start;  // by particle that has any, and one more
  std::vector<SampleLink> links;

  std::span<const SampleLink> of(size_t number) const {
    return {links.data() + start[number], start[number + 1] - start[number]};
  }
  void clear();
};

// Particles at `place`, relative to `origin`, within the support of points: ascending, with the sums of
// their links (gradient and value). Same bits for any number of threads.
void findLinks(const BoundarySamples& samples, std::span<const Vec4f> place, const Vec3& origin,
               std::vector<uint32_t>& particles, std::vector<Vec4f>& sums, SampleLinks& links);

}  // namespace sunder::fluid
