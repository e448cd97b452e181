#include "sunder/cut/tet/tet_measure.h"

#include <cmath>

namespace sunder::cut {

namespace {

// Of the triangles between a polygon and a point. Single numbers: vectors that are written in parts and read
// as a whole make the processor wait.
struct Sums {
  double x = 0, y = 0, z = 0;     // twice the area
  double volume = 0;              // six times
  double mx = 0, my = 0, mz = 0;  // 24 times the first moment
};

Sums sumsOf(std::span<const Vec3> ring, const Vec3& origin) {
  Sums s;
  const double ox = origin.x(), oy = origin.y(), oz = origin.z();
  const double ax = ring[0].x() - ox, ay = ring[0].y() - oy, az = ring[0].z() - oz;
  double bx = ring[1].x() - ox, by = ring[1].y() - oy, bz = ring[1].z() - oz;
  for (size_t i = 1; i + 1 < ring.size(); ++i) {
    const double cx = ring[i + 1].x() - ox, cy = ring[i + 1].y() - oy, cz = ring[i + 1].z() - oz;
    const double ux = bx - ax, uy = by - ay, uz = bz - az, vx = cx - ax, vy = cy - ay, vz = cz - az;
    const double nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
    const double v = ax * nx + ay * ny + az * nz;
    s.x += nx;
    s.y += ny;
    s.z += nz;
    s.volume += v;
    s.mx += v * (ax + bx + cx);
    s.my += v * (ay + by + cy);
    s.mz += v * (az + bz + cz);
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
      s = sumsOf(cut.cornersOf(p), tet[0]);
      area = 0.5 * std::sqrt(s.x * s.x + s.y * s.y + s.z * s.z);
    }
    TetFragment& f = cut.fragments[p.fragment];
    const double sign = p.reversed ? -1 : 1, half = 0.5 * sign;
    p.area = Vec3(half * s.x, half * s.y, half * s.z);
    f.volume += sign * s.volume;
    f.centroid.x() += sign * s.mx;
    f.centroid.y() += sign * s.my;
    f.centroid.z() += sign * s.mz;
    (p.face == kTetLid ? f.lidArea : f.faceArea[p.face]) += area;
  }
  for (TetFragment& f : cut.fragments) {
    f.volume /= 6;
    if (f.volume > 0)
      f.centroid = tet[0] + f.centroid / (24 * f.volume);
    else
      f.centroid = 0.25 * (tet[0] + tet[1] + tet[2] + tet[3]);
  }
}

}  // namespace sunder::cut
