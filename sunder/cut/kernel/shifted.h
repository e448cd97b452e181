// Signs that never are zero: the predicates of cutting, with the cutter moved by (e, e^2, e^3) for an
// infinitely small e > 0. Each predicate is linear in the shift, so its sign is that of the first entry that
// is not zero among its value and its three derivatives; all four are exact (geometry/predicates.h). Vertex
// on face, edge on edge, coplanar faces and equal meshes so become ordinary crossings. A translation keeps
// the cutter congruent, unlike a shift of single vertices.
//
// `Vertex of the mesh` and `vertex of the cutter` matter for the sign of the derivatives, which is why
// functions say which mesh moves. Cost: that of one orient3d, and up to three small determinants where it is
// zero.
#pragma once

#include "sunder/base/math.h"
#include "sunder/geometry/double_double.h"

#include <array>
#include <cstdint>

namespace sunder::cut {

// A triangle by its corners' positions.
struct Corners3 {
  const Vec3 *a, *b, *c;
};

// On which side of the plane of a triangle of the cutter is a vertex of the mesh, and the reverse: 1 where
// the normal points to, -1 on the other side; 0 only for a triangle without area.
int sideOfMeshVertex(const Vec3& vertex, const Corners3& cutterFace);
int sideOfCutterVertex(const Vec3& vertex, const Corners3& meshFace);

// How the line from p to q, of the mesh, passes the line from a to b, of the cutter: the sign of
// (q-p) . ((a-p) x (b-p)). 0 only where the lines are parallel.
int passing(const Vec3& p, const Vec3& q, const Vec3& a, const Vec3& b);

// Where an edge from p to q crosses the plane of a face: the part t of the edge before it, correctly rounded
// up to a few units of the last place, and a bound of its error. The ends must be on different sides, which
// they also are when a shift put them there.
struct Crossing {
  double t = 0, error = 0;
  Vec3 position;  // the same bits when p and q change places
};
Crossing crossing(const Vec3& p, const Vec3& q, const Corners3& face);

// The same for many edges and one face, whose corners must stay where they are: the same bits.
class AccuratePlane {
 public:
  // Six times the volume that a point spans with the face, to about 100 bits, and how far it is away.
  struct Side {
    geometry::DoubleDouble value;
    double reach[3];
  };

  explicit AccuratePlane(const Corners3& face);
  Side sideOf(const Vec3& p) const;
  Crossing crossing(const Vec3& p, const Vec3& q) const { return crossing(p, q, sideOf(p), sideOf(q)); }
  Crossing crossing(const Vec3& p, const Vec3& q, const Side& sideP, const Side& sideQ) const;

 private:
  const Vec3* origin_;
  geometry::DoubleDouble normal_[3];
  double size_[3];  // largest components of the edges
};

// Which of two faces of one mesh does an edge of the other cross first on its way from p to q? -1 the first,
// 1 the second, 0 where even the shift cannot tell: faces in one plane. `cutterEdge` says that the cutter has
// the edge.
int compareCrossings(const Vec3& p, const Vec3& q, const Corners3& first, const Corners3& second,
                     bool cutterEdge);

// The direction of the line in which the planes of two triangles meet: normal(first) x normal(second), of
// unit length, to about 100 bits before the last rounding, as the planes may almost be one. Zero where a
// triangle has no area or the planes are parallel.
Vec3 meetingDirection(const Corners3& first, const Corners3& second);

}  // namespace sunder::cut
