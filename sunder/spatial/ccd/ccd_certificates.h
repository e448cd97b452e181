// The pieces of the continuous collision tests (ccd.h): the difference polygon of two moving features, its
// point nearest to the origin, and the three certificates that a stretch of time is free of contact. Internal
// to the room.
//
// Rounding. A difference of two coordinates is the correctly rounded exact one, so errors are relative to
// differences, not to the distance from the origin of the world. kUnit is half an ulp of 1. Each bound below
// counts the roundings of its formula and is rounded up itself by a margin of at least a quarter; kTiny
// covers products that underflow. Comparisons are written so that a NaN certifies nothing.
#pragma once

#include "sunder/base/math.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sunder::spatial::ccd {

inline constexpr double kUnit = 0x1p-53;
inline constexpr double kTiny = std::numeric_limits<double>::min();
inline constexpr double kForever = 2;  // any time after the step

struct V3 {
  double x, y, z;
};
inline V3 operator+(V3 a, V3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline V3 operator-(V3 a, V3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline V3 operator*(double s, V3 a) { return {s * a.x, s * a.y, s * a.z}; }
inline double dot(V3 a, V3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline V3 cross(V3 a, V3 b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
inline V3 maxAbs(V3 a, V3 b) {
  return {std::max(a.x, std::abs(b.x)), std::max(a.y, std::abs(b.y)), std::max(a.z, std::abs(b.z))};
}
inline double largest(V3 a) { return std::max({std::abs(a.x), std::abs(a.y), std::abs(a.z)}); }
inline V3 difference(const Vec3& a, const Vec3& b) { return {a.x() - b.x(), a.y() - b.y(), a.z() - b.z()}; }
inline V3 lerp(V3 a, V3 b, double t) { return (1 - t) * a + t * b; }

// The difference of two features with N pairs of corners (1: vertices, 2: vertex and edge, 3: vertex and
// face, 4: two edges) as a planar convex polygon, corners in order around it.
template <int N>
struct Difference {
  V3 start[N], end[N];
  V3 side[2][2];  // sides 0 -> 1 and 0 -> N-1, each at start and end, straight from the coordinates; if N > 2
  V3 reach;       // largest absolute coordinates of all corners

  void measure() {
    reach = {0, 0, 0};
    for (int i = 0; i < N; ++i) reach = maxAbs(maxAbs(reach, start[i]), end[i]);
  }
  double scale() const { return largest(reach); }
  bool finite() const {
    double sum = 0;  // zero times a number is zero, times anything else is not
    for (int i = 0; i < N; ++i) sum += dot(start[i], {0, 0, 0}) + dot(end[i], {0, 0, 0});
    return sum == 0;
  }
};

inline Difference<3> faceDifference(const Vec3& p0, const Vec3& a0, const Vec3& b0, const Vec3& c0,
                                    const Vec3& p1, const Vec3& a1, const Vec3& b1, const Vec3& c1) {
  Difference<3> d{{difference(p0, a0), difference(p0, b0), difference(p0, c0)},
                  {difference(p1, a1), difference(p1, b1), difference(p1, c1)},
                  {{difference(a0, b0), difference(a1, b1)}, {difference(a0, c0), difference(a1, c1)}},
                  {}};
  d.measure();
  return d;
}

inline Difference<4> edgeDifference(const Vec3& a0, const Vec3& b0, const Vec3& c0, const Vec3& d0,
                                    const Vec3& a1, const Vec3& b1, const Vec3& c1, const Vec3& d1) {
  Difference<4> d{{difference(a0, c0), difference(b0, c0), difference(b0, d0), difference(a0, d0)},
                  {difference(a1, c1), difference(b1, c1), difference(b1, d1), difference(a1, d1)},
                  {{difference(b0, a0), difference(b1, a1)}, {difference(c0, d0), difference(c1, d1)}},
                  {}};
  d.measure();
  return d;
}

// --- Certificate 1: a fixed direction
// -----------------------------------------------------------------------------

struct Free {
  double from, to;  // closed interval of times; empty if from > to
  bool has(double t) const { return from <= t && t <= to; }
};

// What a dot product of `n` with a corner may be wrong by, plus what it must exceed for the separation.
template <int N>
double threshold(const Difference<N>& d, V3 n, double separation) {
  const double error =
      8 * kUnit * (std::abs(n.x) * d.reach.x + std::abs(n.y) * d.reach.y + std::abs(n.z) * d.reach.z) + kTiny;
  return separation > 0 ? error + separation * std::sqrt(dot(n, n)) * (1 + 16 * kUnit) * (1 + 16 * kUnit)
                        : error;
}

template <int N>
Free certify(const Difference<N>& d, V3 n, double separation) {
  const double limit = threshold(d, n, separation);
  Free free{0, kForever};
  for (int i = 0; i < N; ++i) {
    const double atStart = dot(n, d.start[i]) - limit, atEnd = dot(n, d.end[i]) - limit;
    if (atStart > 0) {
      if (!(atEnd > 0)) free.to = std::min(free.to, atStart / (atStart - atEnd) * (1 - 8 * kUnit));
    } else if (atEnd > 0) {
      free.from = std::max(free.from, atStart / (atStart - atEnd) * (1 + 8 * kUnit));
    } else {
      return {1, 0};
    }
  }
  return free;
}

// --- Certificate 2: the coplanarity cubic
// -------------------------------------------------------------------------- det(side, side, corner) as a
// cubic in Bernstein form over the step, for polygons (N > 2). Where it exceeds the error and separation *
// |normal|, the plane of the polygon misses the origin.
struct Coplanarity {
  double b[4];
  double limit;

  // The latest time up to which [t, 1] is free; t itself if nothing can be said.
  double freeUntil(double t) const {
    const double u = 1 - t;
    const double l0 = u * b[0] + t * b[1], l1 = u * b[1] + t * b[2], l2 = u * b[2] + t * b[3];
    const double m0 = u * l0 + t * l1, m1 = u * l1 + t * l2;
    const double first = u * m0 + t * m1;
    const double sign = first < 0 ? -1 : 1;
    const double c[4] = {sign * first - limit, sign * m1 - limit, sign * l2 - limit, sign * b[3] - limit};
    if (!(c[0] > 0)) return t;
    // Where the convex hull of the control points first meets zero: on a segment from a positive one down to
    // another.
    double s = kForever;
    for (int j = 1; j < 4; ++j) {
      if (c[j] > 0) continue;
      for (int i = 0; i < j; ++i)
        if (c[i] > 0) s = std::min(s, (i + (j - i) * (c[i] / (c[i] - c[j]))) / 3);
    }
    return s == kForever ? kForever : (t + s * u) * (1 - 16 * kUnit);
  }
};

template <int N>
Coplanarity coplanarity(const Difference<N>& d, double separation) {
  static_assert(N > 2);
  const V3 a0 = d.side[0][0], a1 = d.side[0][1], c0 = d.side[1][0], c1 = d.side[1][1];
  const V3 f0 = d.start[0], f1 = d.end[0];
  const V3 n0 = cross(a0, c0), n1 = cross(a0, c1) + cross(a1, c0), n2 = cross(a1, c1);
  Coplanarity p;
  p.b[0] = dot(n0, f0);
  p.b[1] = (dot(n0, f1) + dot(n1, f0)) / 3;
  p.b[2] = (dot(n1, f1) + dot(n2, f0)) / 3;
  p.b[3] = dot(n2, f1);
  // A determinant has six terms with nine roundings each; a mixed coefficient averages three of them. The
  // largest coefficient is below six of these products, and the subdivision in freeUntil adds ten roundings
  // of it.
  const double sides = std::max(largest(a0), largest(a1)) * std::max(largest(c0), largest(c1));
  const double reach = std::max(largest(f0), largest(f1));
  p.limit = 160 * kUnit * (sides * reach) + kTiny * (1 + reach + sides);
  if (separation > 0) {
    const double normal =
        std::sqrt(std::max({dot(n0, n0), dot(n1, n1) / 4, dot(n2, n2)})) + 16 * kUnit * sides;
    p.limit += separation * normal * (1 + 16 * kUnit) + kTiny;
  }
  return p;
}

// --- Certificate 3: a direction that turns
// -------------------------------------------------------------------------

// True if [t, s] is free by the direction that goes linearly from n (at t) to m (at s).
template <int N>
bool certifyTurning(const Difference<N>& d, V3 n, V3 m, double t, double s, double separation) {
  // Corners at t and s carry three more roundings than those at the ends of the step.
  const double limit =
      2 * std::max(threshold(d, n, 0), threshold(d, m, 0)) +
      (separation > 0 ? std::max(threshold(d, n, separation), threshold(d, m, separation)) : 0);
  for (int i = 0; i < N; ++i) {
    const V3 a = lerp(d.start[i], d.end[i], t), b = lerp(d.start[i], d.end[i], s);
    if (!(dot(n, a) > limit) || !(dot(m, b) > limit) || !(0.5 * (dot(n, b) + dot(m, a)) > limit))
      return false;
  }
  return true;
}

// --- Where to look: the nearest point
// ------------------------------------------------------------------------------ Only a guess for the
// certificates; its errors cost steps, never correctness.

struct Nearest {
  V3 direction;  // from the origin to the polygon, largest coordinate 1; zero if they touch
  double distance;
};

inline V3 scaled(V3 n) {
  const double m = largest(n);
  return m > 0 ? (1 / m) * n : n;
}

// Unit-size direction perpendicular to `e`, next to n: near contact n comes from cancellation, and a small
// tilt towards the far end of a long edge would hide a small distance.
inline V3 perpendicular(V3 n, V3 e, double ee) {
  n = scaled(n);
  return n - (dot(n, e) / ee) * e;
}

template <int N>
Nearest nearest(const V3 (&f)[N]) {
  if constexpr (N > 2) {
    const V3 a = f[1] - f[0], c = f[N - 1] - f[0];
    const V3 normal = cross(a, c);
    const double nn = dot(normal, normal);
    if (nn > 1e-24 * dot(a, a) * dot(c, c)) {
      bool inside = true;
      for (int i = 0; i < N; ++i) inside = inside && dot(normal, cross(f[i], f[(i + 1) % N])) >= 0;
      if (inside) {
        const double height = dot(normal, f[0]);
        return {scaled(height < 0 ? -1 * normal : normal), std::abs(height) / std::sqrt(nn)};
      }
    }
  }
  if constexpr (N == 1) return {scaled(f[0]), std::sqrt(dot(f[0], f[0]))};
  double best = std::numeric_limits<double>::infinity();
  V3 point{0, 0, 0}, edge{0, 0, 0};
  double edgeSquared = 0;  // of the edge whose inside is nearest; 0 if a corner is
  constexpr int kEdges = N < 3 ? N - 1 : N;
  for (int i = 0; i < kEdges; ++i) {
    const V3 a = f[i], e = f[(i + 1) % N] - a;
    const double ee = dot(e, e), ae = -dot(a, e);
    const bool interior = ae > 0 && ae < ee;
    const V3 c = interior ? a + (ae / ee) * e : (ae > 0 ? f[(i + 1) % N] : a);
    const double cc = dot(c, c);
    if (cc < best) {
      best = cc;
      point = c;
      edge = e;
      edgeSquared = interior ? ee : 0;
    }
  }
  return {edgeSquared > 0 ? perpendicular(point, edge, edgeSquared) : scaled(point), std::sqrt(best)};
}

}  // namespace sunder::spatial::ccd
