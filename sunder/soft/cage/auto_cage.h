// A cage around a surface, made without help: about the wished number of tetrahedra, all of which hold a part
// of the solid.
//
// Method: a body-centred cubic lattice, whose tetrahedra are nearly regular, is laid over the solid, turned,
// shifted and stretched in many ways; of those with the wished count the one that cuts the surface into the
// fewest copies is kept, and the tetrahedra that hold nothing of the solid are left out. Then the vertices of
// the outside move towards the surface as long as no tetrahedron gets flat and the surface stays inside. (The
// source draws its cages by hand.) What is inside is decided by the winding number, so that surfaces may
// cross themselves, have several parts, and small holes.
//
// Guarantee: every point of the surface lies in a tetrahedron; every tetrahedron holds a part of the solid
// and is positive; same cage for any number of threads. The count is within a quarter of the wish where the
// shape allows it; a solid of many parts needs at least a tetrahedron for each, and more are made then.
//
// Cost: about a second for 5,000 triangles and 11 s for 1.3 million (one thread of a busy machine), growing
// with the number of triangles; trials use a sample of the surface.
#pragma once

#include "sunder/geometry/mesh.h"
#include "sunder/soft/cage/cage.h"

#include <cstdint>

namespace sunder::soft {

inline constexpr uint32_t kLeastCageTets = 1, kMostCageTets = 100'000;

struct CageSettings {
  uint32_t tets = 100;    // wished
  double margin = 0.002;  // free space between surface and outside, as a share of the longest side of the box
  bool fit = true;        // move the vertices of the outside towards the surface
};

struct CageReport {
  uint32_t wished = 0;
  uint32_t tets = 0, vertices = 0;
  uint32_t inside = 0;       // tetrahedra without surface, all solid
  uint32_t trials = 0;       // lattices that were compared
  double edge = 0;           // of the lattice's cubes, m
  double volume = 0;         // of the cage, m^3
  double solid = 0;          // share of the cage's volume that is solid
  double smallestAngle = 0;  // dihedral, degrees
  uint32_t moved = 0;        // vertices moved towards the surface
  bool closed = true;        // the surface is watertight; else the winding number tells inside
};

// Throws Error (Usage) for settings that make no sense, (Limit) for more than kMostCageTets, (Geometry) for a
// surface without triangles, with coordinates that are not finite, or so open that it has no inside.
Cage makeCageAround(const geometry::TriMesh& surface, const CageSettings& settings,
                    CageReport* report = nullptr);

}  // namespace sunder::soft
