#include "sunder/spatial/ccd/ccd.h"

#include "sunder/spatial/ccd/ccd_certificates.h"

#include <cassert>

namespace sunder::spatial {

using namespace ccd;

namespace {

constexpr double kLargestScale = 1e100;  // beyond this, products of three lengths come near overflow
constexpr double kTouching =
    1e-13;                          // of the scale: a gap that rounding soon hides, once the time is positive
constexpr uint32_t kPatience = 32;  // steps before a distance below the tolerance is taken for contact
constexpr uint32_t kTurnAfter = 6;  // steps before turning directions are tried: most queries end earlier

// The coordinate axes as directions, all corners at both times: one rounding each, so the sign is exact.
template <int N>
bool apartOnAxis(const Difference<N>& d, double separation) {
  const double limit = separation * (1 + 8 * kUnit);
  V3 lower = d.start[0], upper = d.start[0];
  const auto take = [&](V3 f) {
    lower = {std::min(lower.x, f.x), std::min(lower.y, f.y), std::min(lower.z, f.z)};
    upper = {std::max(upper.x, f.x), std::max(upper.y, f.y), std::max(upper.z, f.z)};
  };
  for (int i = 0; i < N; ++i) {
    take(d.start[i]);
    take(d.end[i]);
  }
  return lower.x > limit || lower.y > limit || lower.z > limit || upper.x < -limit || upper.y < -limit ||
         upper.z < -limit;
}

template <int N>
Nearest nearestAt(const Difference<N>& d, double t) {
  V3 f[N];
  for (int i = 0; i < N; ++i) f[i] = lerp(d.start[i], d.end[i], t);
  return nearest(f);
}

// All directions that features of the polygon suggest at time t: the latest end of a free interval that holds
// t, or t itself. Asked when the nearest point's own direction fails, which happens close to contact, where
// rounding decides which feature is nearest.
template <int N>
double lastResort(const Difference<N>& d, double t, double separation) {
  V3 f[N];
  for (int i = 0; i < N; ++i) f[i] = lerp(d.start[i], d.end[i], t);
  double until = t;
  const auto attempt = [&](V3 n) {
    const Free free = certify(d, scaled(n), separation);
    if (free.has(t)) until = std::max(until, free.to);
  };
  for (int i = 0; i < N; ++i) attempt(f[i]);
  if constexpr (N > 1) {
    V3 normal{0, 0, 0};
    if constexpr (N > 2) {
      normal = cross(lerp(d.side[0][0], d.side[0][1], t), lerp(d.side[1][0], d.side[1][1], t));
      attempt(normal);
      attempt(-1 * normal);
    }
    for (int i = 0; i < (N < 3 ? N - 1 : N); ++i) {
      const V3 e = f[(i + 1) % N] - f[i];
      const double ee = dot(e, e);
      if (!(ee > 0)) continue;
      attempt(perpendicular(f[i] - (dot(f[i], e) / ee) * e, e, ee));
      if constexpr (N > 2) {
        attempt(cross(normal, e));
        attempt(cross(e, normal));
      }
    }
  }
  return until;
}

template <int N>
CcdHit search(const Difference<N>& d, const CcdSettings& settings) {
  const double separation = settings.minSeparation, end = settings.maxTime;
  assert(separation >= 0 && end >= 0 && end <= 1);
  assert(d.finite());
  const double scale = d.scale();
  const CcdHit none{false, end, 0};
  if (!(scale < kLargestScale)) return {true, 0, scale};
  if (apartOnAxis(d, separation)) return none;

  Coplanarity plane{};
  if constexpr (N > 2) plane = coplanarity(d, separation);
  const double closeEnough = settings.tolerance * scale;
  const double touching = kTouching * scale;
  double t = 0;  // [0, t] is free, but for contact at t itself
  double stride = 0, reach = 0.9, closing = 0;
  Nearest at = nearestAt(d, t);
  for (uint32_t step = 0;; ++step) {
    const Free free = certify(d, at.direction, separation);
    double until = free.has(t) ? free.to : t;
    if (until >= end && until > t) return none;
    if constexpr (N > 2) {
      until = std::max(until, plane.freeUntil(t));
      if (until >= end && until > t) return none;
    }
    if (step == 0) {
      // The far end of the step looks back: often its direction frees what the first one leaves.
      const Free back = certify(d, nearestAt(d, end).direction, separation);
      if (back.from <= until && back.to >= end && until > t) return none;
    }
    const double gap = at.distance - separation;
    if (gap <= touching && t > 0) return {true, t, std::max(gap, 0.0)};
    Nearest next;
    bool turned = false;
    if (step >= kTurnAfter) {
      // As far as a turning direction may carry: most of the way to where the gap would close at its present
      // rate, and not far beyond what the fixed directions or the last turn achieved.
      double length = std::max(stride, 4 * (until - t));
      if (closing > 0) length = std::min(length, reach * gap / closing);
      const double ahead = std::min(t + length, end);
      if (ahead > until) {
        next = nearestAt(d, ahead);
        turned = certifyTurning(d, at.direction, next.direction, t, ahead, separation);
        if (turned && ahead >= end) return none;
        if (turned) until = ahead;
      }
      stride = turned ? 2 * length : length / 4;
      reach = turned ? 1 - (1 - reach) * (1 - reach) : reach / 2;
      reach = std::clamp(reach, 0.3, 0.9999);
    }
    if (!(until > t)) until = lastResort(d, t, separation);
    if (until >= end && until > t) return none;
    const bool stuck = !(until > t);
    if (stuck || (step >= kPatience && gap <= closeEnough) || step >= settings.maxIterations)
      return {true, t, std::max(gap, 0.0)};
    if (!turned) next = nearestAt(d, until);
    closing = (at.distance - next.distance) / (until - t);
    t = until;
    at = next;
  }
}

}  // namespace

CcdHit vertexVertex(const Vec3& p0, const Vec3& q0, const Vec3& p1, const Vec3& q1,
                    const CcdSettings& settings) {
  Difference<1> d{{difference(p0, q0)}, {difference(p1, q1)}, {}, {}};
  d.measure();
  return search(d, settings);
}

CcdHit vertexEdge(const Vec3& p0, const Vec3& a0, const Vec3& b0, const Vec3& p1, const Vec3& a1,
                  const Vec3& b1, const CcdSettings& settings) {
  Difference<2> d{{difference(p0, a0), difference(p0, b0)}, {difference(p1, a1), difference(p1, b1)}, {}, {}};
  d.measure();
  return search(d, settings);
}

CcdHit vertexFace(const Vec3& p0, const Vec3& a0, const Vec3& b0, const Vec3& c0, const Vec3& p1,
                  const Vec3& a1, const Vec3& b1, const Vec3& c1, const CcdSettings& settings) {
  return search(faceDifference(p0, a0, b0, c0, p1, a1, b1, c1), settings);
}

CcdHit edgeEdge(const Vec3& a0, const Vec3& b0, const Vec3& c0, const Vec3& d0, const Vec3& a1,
                const Vec3& b1, const Vec3& c1, const Vec3& d1, const CcdSettings& settings) {
  return search(edgeDifference(a0, b0, c0, d0, a1, b1, c1, d1), settings);
}

}  // namespace sunder::spatial
