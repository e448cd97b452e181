// What pulls a solid apart at its vertices: the separation tensor of O'Brien and Hodgins 1999 ("Graphical
// modeling and animation of brittle fracture"), without remeshing as in Parker and O'Brien 2009.
//
// The stress of each tetrahedron is split into its tensile and its compressive part; each part is a force on
// each corner. At a vertex with forces f+ and f- of its tetrahedra
//
//   S = 1/2 [ -m(sum f+) + sum m(f+) + m(sum f-) - sum m(f-) ],   m(f) = f f^T / |f|
//
// whose largest eigenvalue is the force that separates the vertex, across the plane normal to its
// eigenvector. A load that nothing balances gives zero, two opposite tensile loads f give |f|, two opposite
// compressive ones -|f|. (The published formula misses m() in the sums and has the third sign wrong.)
//
// The force depends on the size of the elements. Divided by the area that it pulls at, which is the
// projection of the tetrahedra around the vertex on that plane, it is a stress: in a uniform state of one
// tension, that tension exactly, on any mesh, inside and at free boundaries.
#pragma once

#include "sunder/fem/elements.h"
#include "sunder/fem/sparse_pattern.h"

#include <span>

namespace sunder::soft {

struct Separation {
  double force = 0;             // N; the largest eigenvalue, 0 where it is negative
  Vec3 normal = Vec3::UnitX();  // where things are now, a unit vector
  double area = 0;              // m^2 at rest that the force pulls at
  double stress() const { return area > 0 ? force / area : 0; }
};

// S of one vertex.
Mat3 separationTensor(std::span<const Vec3> tensile, std::span<const Vec3> compressive);

// Of every vertex of a mesh. `biot` is the stress of each tetrahedron in the frame of its shape at rest (the
// first Piola stress without its rotation), `rotations` takes it to where things are now. Vertices of fewer
// than two tetrahedra have none. Parallel; same bits for any number of threads.
void separations(const fem::SparsePattern& pattern, std::span<const fem::Element> elements,
                 std::span<const Mat3> biot, std::span<const Mat3> rotations, std::span<Separation> result);

}  // namespace sunder::soft
