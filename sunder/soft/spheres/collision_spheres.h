// Spheres in the tetrahedra of a cage that stand for the solid in contacts. Each belongs to one tetrahedron
// and moves with its corners, so a piece that breaks off takes its spheres along.
//
// Centres lie on a grid of the tetrahedron, two radii apart, where they are inside both the tetrahedron and
// its part of the solid. The radius is halved until there are three, as three points rest on a plane (Clack
// 2012). Spheres whose 26 neighbours in the same grid are there, and that are one spacing away from the
// surface, are left out: no other body ever reaches them, because tetrahedra break off whole.
//
// We deviate in two ways, both can be switched off: spheres do not stick out of the surface, their radius is
// the distance to it where that is less; and more spheres touch the surface from inside, one for each cell of
// the grid that it crosses, so that contacts meet the outline.
//
// Guarantees: no centre outside the solid or the tetrahedron; at least three spheres in every tetrahedron
// that holds a share of 1e-9 of itself; ascending by tetrahedron; same bits for any number of threads.
#pragma once

#include "sunder/sdf/mesh_field.h"
#include "sunder/soft/walls/walls.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sunder::soft {

struct SphereSettings {
  double radius = 0;  // m; 0: a 40th of the longest side of the surface's box
  uint32_t mostHalvings = 6;
  bool fit = true;      // no sphere sticks out
  bool tangent = true;  // spheres that touch the surface
  bool cull = true;
  size_t most = size_t(1) << 22;  // spheres before culling; more is an Error (Limit)
};

enum class SphereKind : uint8_t { Grid, Tangent, Sliver };

struct SphereCounts {
  size_t grid = 0, tangent = 0, sliver = 0;  // spheres by kind
  size_t culled = 0;
  size_t empty = 0;     // tetrahedra without solid, which have none
  size_t halved = 0;    // tetrahedra whose radius was halved
  size_t bare = 0;      // tetrahedra with solid that still have fewer than three: thinner than rounding
  size_t few = 0;       // tetrahedra where even the smallest grid has fewer than three: slivers
  double smallest = 0;  // radius, m
};

struct CollisionSpheres {
  double radius = 0;               // m, that was asked for
  std::vector<uint32_t> start{0};  // by tetrahedron: its spheres are start[t] .. start[t + 1] - 1
  std::vector<uint32_t> tets;      // by sphere
  std::vector<Vec4> weights;       // barycentric centre in its tetrahedron
  std::vector<double> radii;       // m
  std::vector<SphereKind> kinds;
  SphereCounts counts;

  size_t size() const { return tets.size(); }
  // What is doubtful, in sentences.
  std::vector<std::string> warnings() const;
};

// `solid` is the exact distance to `surface`. Throws Error (Usage) for settings that are not finite and
// positive or parts that do not belong together.
CollisionSpheres makeSpheres(const geometry::TriMesh& surface, const Cage& cage, const SurfaceCopies& copies,
                             const Walls& walls, const sdf::MeshField& solid,
                             const SphereSettings& settings = {});

}  // namespace sunder::soft
