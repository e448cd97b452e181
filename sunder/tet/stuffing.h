// Fills the solid of a signed distance field with tetrahedra: isosurface stuffing (Labelle and Shewchuk 2007,
// "Isosurface stuffing: fast tetrahedral meshes with good dihedral angles"). The tetrahedra of a body-centred
// cubic lattice are taken where they lie inside; lattice points next to the surface are moved onto it, and
// what the surface still crosses is cut by stencils.
//
// Guarantee: tetrahedra are positive, two of them share a vertex, an edge, a face or nothing, and the
// boundary is a closed manifold for any field: where it touches itself, which is where walls or gaps are
// thinner than an edge or two, vertices are doubled, and the report says how many. Dihedral angles, with the
// default alphas: the paper states 10.78 to 164.74 degrees; with the stencils here, which halve
// quadrilaterals by its parity rule, a random search over all positions of moved points and cuts
// (tests/tet/stencils_test.cpp) finds 9.317 to 161.64 as the extremes, a bound that is found, not proven;
// kFillSmallestAngle and kFillLargestAngle are these. The tests' distance fields of smooth solids, of a box
// and of a thin shell stay within the paper's figures. Vertices on the boundary have the field's value zero
// up to 1e-5 edges.
//
// Graded: `levels` > 0 makes tetrahedra up to 2^levels times longer inside, in a balanced octree with the
// paper's bisected and quadrisected tetrahedra and half pyramids in between. We deviate from the paper in
// keeping all cells around a crossed lattice point at the finest level, so that tetrahedra of the
// transition are never distorted (their angles are 45 to 120 degrees, tested) and the bounds of the uniform
// mesh hold for the graded one too; the paper's graded mesh allows distorted transitions, with weaker bounds.
//
// Sharp: with `sharp` vertices next to a crease or corner of the field are moved there (the quadratic error
// of dual contouring, Ju et al. 2002), each only if all angles around it stay between kSharpSmallestAngle
// and kSharpLargestAngle; these are the bounds of that option.
//
// Cost: blocks that the field at their middle shows to be far from the surface are not sampled (fields are
// 1-Lipschitz, up to `slack`). Same bits for any number of threads.
#pragma once

#include "sunder/geometry/mesh.h"
#include "sunder/sdf/field.h"

#include <array>

namespace sunder::tet {

inline constexpr double kFillSmallestAngle = 9.31, kFillLargestAngle = 161.65;  // degrees
inline constexpr double kSharpSmallestAngle = 8.0, kSharpLargestAngle = 166.0;  // degrees
inline constexpr int kMostLevels = 8;

struct FillSettings {
  double edge = 0;  // of the lattice's cubes at the surface; 0: a fiftieth of the longest side
  int levels = 0;   // of grading, 0 (uniform) to kMostLevels
  Box3 box = {};    // what is outside is cut off; empty: the field's bounds, nothing cut
  double alphaLong = 0.24999, alphaShort = 0.41189;  // share of an edge within which a point is moved
  bool sharp = false;
  double creaseAngle = 30;  // degrees between gradients that make a feature sharp
  double slack = 0.1;       // how much steeper than 1 the field may be, and the share of a block it may err
  bool skipFar = true;      // off for fields that are not distances
  bool manifold = true;     // double vertices in which the boundary touches itself (manifold.h)
  uint64_t mostCells = uint64_t(1) << 34;
  // The budget of work: tetrahedra. More are refused before the field is sampled and they are made.
  uint64_t mostTets = UINT64_MAX;
};

struct FillReport {
  uint64_t latticeCells = 0, samples = 0;
  uint64_t crossed = 0, jumps = 0;  // lattice edges whose ends have different signs; those without a zero
  size_t vertices = 0, tets = 0;
  size_t warped = 0;                             // lattice points moved onto the surface
  size_t cutPoints = 0;                          // vertices made on lattice edges
  size_t doubled = 0;                            // vertices made by doubling others
  size_t irregular = 0;                          // tetrahedra with a moved or made vertex
  std::array<size_t, kMostLevels + 1> leaves{};  // cells of each size that hold tetrahedra, finest first
  size_t sharpCandidates = 0, sharpMoved = 0;
  bool cutOff = false;                           // the solid goes on outside the box
  double smallestAngle = 180, largestAngle = 0;  // dihedral, degrees
};

// Throws Error (Usage) for settings that make no sense, Error (Limit) where the lattice is too large, Error
// (Numerical) where the field answers with something that is not finite, Error (Geometry) where a distance
// field changes its sign by jumping at more than a quarter of the crossed edges: that of an open sheet, which
// has no inside. A field that is nowhere negative gives an empty mesh.
geometry::TetMesh fill(const sdf::Field& field, const FillSettings& settings, FillReport& report);

}  // namespace sunder::tet
