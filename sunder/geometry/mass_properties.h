// Volume, centre of mass and inertia of solids given by a closed surface or by tetrahedra.
//
// Exact for polyhedra up to rounding: the integrals of 1, x and x x^T over the signed tetrahedra that each
// triangle spans with a common point, summed in a fixed order (Mirtich 1996 and Tonon 2004 give the same
// numbers). The common point is the middle of the bounding box, so a body far from the origin loses no
// digits. A polygon that is not flat counts as the fan from its first corner. O(faces), parallel.
//
// The surface must be closed and consistently oriented (mesh_report.h tells); the numbers of an open one mean
// nothing. A surface turned inside out gives a negative volume and mass.
#pragma once

#include "sunder/geometry/mesh_view.h"

namespace sunder::geometry {

struct MassProperties {
  double volume = 0;            // m^3
  double mass = 0;              // kg; equals the volume at density 1
  Vec3 centre = Vec3::Zero();   // centre of mass, m
  Mat3 inertia = Mat3::Zero();  // about the centre, kg m^2
};

MassProperties massProperties(const MeshView& closedSurface, double density = 1);
MassProperties massProperties(const TetMesh& mesh, double density = 1);

// The same body of another density (kg/m^3).
MassProperties withDensity(MassProperties body, double density);

// Inertia about any point, by the parallel axis theorem.
Mat3 inertiaAbout(const MassProperties& body, const Vec3& point);

// Two bodies taken as one; `subtract` takes a body that is part of `a` away.
MassProperties combine(const MassProperties& a, const MassProperties& b);
MassProperties subtract(const MassProperties& a, const MassProperties& b);

// The body turned by `rotation`, then moved.
MassProperties transformed(const MassProperties& body, const Mat3& rotation, const Vec3& translation);

}  // namespace sunder::geometry
