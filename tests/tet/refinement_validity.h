// When the flips of the refinement (refinement.h) give positive tetrahedra: the exact criterion, before
// anything is split. Specification 07, M6.6.
//
// A face (b, c, d) between two tetrahedra with the opposite corners o1 and o2: let q be the barycentric
// coordinates, in the face, of the point where the line o1 o2 meets its plane. The line between the centroids
// meets it at p_i = (1 + q_i) / 4. The face flip (B) is valid iff all q_i > -1, and the corner flip (D) at
// corner i iff besides q_i < 5/3.
#pragma once

#include "sunder/base/math.h"

namespace sunder::tet {

// q; the corners o1, o2 must lie on different sides of the plane.
inline Vec3 lineInFace(const Vec3& b, const Vec3& c, const Vec3& d, const Vec3& o1, const Vec3& o2) {
  const Vec3 way = o2 - o1;
  const auto volume = [&](const Vec3& x, const Vec3& y) { return way.dot((x - o1).cross(y - o1)); };
  const Vec3 weights(volume(c, d), volume(d, b), volume(b, c));
  return weights / weights.sum();
}

inline bool faceFlipValid(const Vec3& q) { return q.minCoeff() > -1; }
inline bool cornerFlipValid(const Vec3& q, int corner) { return faceFlipValid(q) && q[corner] < 5.0 / 3; }

}  // namespace sunder::tet
