// The surface where a field has a given value, as a closed triangle mesh: marching tetrahedra (Doi and Koide
// 1991) on the body-centred cubic lattice, whose tetrahedra are nearly regular.
//
// Guarantee: the mesh is a closed manifold, watertight and oriented outwards, for any field. Proof: a
// tetrahedron with signs at its corners holds nothing, a triangle or a quadrilateral, whose sides lie in its
// faces; in a face with two signs there is exactly one such side, the same seen from both tetrahedra; around
// a lattice edge with two signs the pieces form one ring. The outermost layer of the lattice counts as
// outside, so the surface ends nowhere; where the field says inside there, the solid is cut off and the
// report says so. Vertices lie on lattice edges, where the field changes sign, found by bisection and
// secants.
//
// Cost: blocks of cells that the field at their middle shows to be far from the surface are skipped (fields
// are 1-Lipschitz, up to `slack`), so O(cells near the surface) samples; where the surface goes on into such
// a block, the field being steeper than that or not continuous, it is followed. Same bits for any number of
// threads.
#pragma once

#include "sunder/geometry/mesh.h"
#include "sunder/sdf/field.h"

namespace sunder::sdf {

struct IsosurfaceSettings {
  double edge = 0;      // of the lattice's cubes; 0: a hundredth of the longest side of the box
  double value = 0;     // of the field on the surface
  Box3 box = {};        // empty: the field's bounds, grown by the value
  double slack = 0.1;   // how much steeper than 1 the field may be, and the share of a block it may err
  bool skipFar = true;  // off for fields that are not distances
  uint64_t mostCells = uint64_t(1) << 31;
  // The budget of work: samples of the field. More are refused before they are taken, where the blocks to
  // look into are known.
  uint64_t mostSamples = UINT64_MAX;
};

struct IsosurfaceReport {
  uint64_t cells = 0, samples = 0;
  bool cutOff = false;          // the box ends inside the solid
  double rms = 0, largest = 0;  // |field - value| at the triangles' centres
};

// Throws Error (Usage) for settings that make no sense, Error (Limit) where the lattice is too large or the
// budget does not suffice, naming an edge that would do.
geometry::TriMesh isosurface(const Field& field, const IsosurfaceSettings& settings,
                             IsosurfaceReport& report);

}  // namespace sunder::sdf
