#include "sunder/cut/tet/tet_measure.h"

#include <cmath>

namespace sunder::cut {

namespace {

// Of the triangles between a polygon and a point. Single numbers: vectors that are written in parts and read
// as a whole make the processor wait.
struct Sums {
  double x = 0, y = 0, z = 0;                             // twice the area
  double volume = 0;                                      // six times
  double mx = 0, my = 0, mz = 0;                          // 24 times the first moment
  double xx = 0, yy = 0, zz = 0, xy = 0, yz = 0, zx = 0;  // 120 times the second
};

// Without second moments where the origin lies in the plane of the ring, which adds none.
template <bool kSecond>
Sums sumsOf(std::span<const Vec3> ring, const Vec3& origin) {
  Sums s;
  const double ox = origin.x(), oy = origin.y(), oz = origin.z();
  const double ax = ring[0].x() - ox, ay = ring[0].y() - oy, az = ring[0].z() - oz;
  double bx = ring[1].x() - ox, by = ring[1].y() - oy, bz = ring[1].z() - oz;
  // Products of the first corner, and of the one before.
  const double axx = ax * ax, ayy = ay * ay, azz = az * az, axy = ax * ay, ayz = ay * az, azx = az * ax;
  double bxx = axx + bx * bx, byy = ayy + by * by, bzz = azz + bz * bz, bxy = axy + bx * by,
         byz = ayz + by * bz, bzx = azx + bz * bx;
  for (size_t i = 1; i + 1 < ring.size(); ++i) {
    const double cx = ring[i + 1].x() - ox, cy = ring[i + 1].y() - oy, cz = ring[i + 1].z() - oz;
    const double ux = bx - ax, uy = by - ay, uz = bz - az, vx = cx - ax, vy = cy - ay, vz = cz - az;
    const double nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
    const double v = ax * nx + ay * ny + az * nz;
    s.x += nx;
    s.y += ny;
    s.z += nz;
    s.volume += v;
    const double sx = ax + bx + cx, sy = ay + by + cy, sz = az + bz + cz;
    s.mx += v * sx;
    s.my += v * sy;
    s.mz += v * sz;
    if constexpr (kSecond) {
      const double cxx = cx * cx, cyy = cy * cy, czz = cz * cz, cxy = cx * cy, cyz = cy * cz, czx = cz * cx;
      s.xx += v * (bxx + cxx + sx * sx);
      s.yy += v * (byy + cyy + sy * sy);
      s.zz += v * (bzz + czz + sz * sz);
      s.xy += v * (bxy + cxy + sx * sy);
      s.yz += v * (byz + cyz + sy * sz);
      s.zx += v * (bzx + czx + sz * sx);
      bxx = axx + cxx;
      byy = ayy + cyy;
      bzz = azz + czz;
      bxy = axy + cxy;
      byz = ayz + cyz;
      bzx = azx + czx;
    }
    bx = cx;
    by = cy;
    bz = cz;
  }
  return s;
}

}  // namespace

void measure(const std::array<Vec3, 4>& tet, TetCut& cut) {
  Sums s;
  double area = 0;
  for (TetPiece& p : cut.pieces) {
    if (!p.reversed) {
      const bool through = p.face != kTetLid && p.face != 0;  // the plane of the face has corner 0
      s = through ? sumsOf<false>(cut.cornersOf(p), tet[0]) : sumsOf<true>(cut.cornersOf(p), tet[0]);
      area = 0.5 * std::sqrt(s.x * s.x + s.y * s.y + s.z * s.z);
    }
    TetFragment& f = cut.fragments[p.fragment];
    const double sign = p.reversed ? -1 : 1, half = 0.5 * sign;
    p.area = Vec3(half * s.x, half * s.y, half * s.z);
    f.volume += sign * s.volume;
    f.centroid.x() += sign * s.mx;
    f.centroid.y() += sign * s.my;
    f.centroid.z() += sign * s.mz;
    f.second(0, 0) += sign * s.xx;
    f.second(1, 1) += sign * s.yy;
    f.second(2, 2) += sign * s.zz;
    f.second(0, 1) += sign * s.xy;
    f.second(1, 2) += sign * s.yz;
    f.second(0, 2) += sign * s.zx;
    (p.face == kTetLid ? f.lidArea : f.faceArea[p.face]) += area;
  }
  for (TetFragment& f : cut.fragments) {
    f.volume /= 6;
    if (!(f.volume > 0)) {
      f.centroid = 0.25 * (tet[0] + tet[1] + tet[2] + tet[3]);
      f.second.setZero();
      continue;
    }
    const Vec3 centroid = f.centroid / (24 * f.volume);
    f.centroid = tet[0] + centroid;
    for (int i = 0; i < 3; ++i)
      for (int j = i; j < 3; ++j) {
        const double about = f.second(i, j) / 120 - f.volume * centroid[i] * centroid[j];
        f.second(i, j) = f.second(j, i) = about;
      }
  }
}

}  // namespace sunder::cut
