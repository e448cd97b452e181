#include "sunder/spatial/query/ray_queries.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/geometry/predicates.h"
#include "sunder/spatial/query/ray_kernel.h"

#include <algorithm>
#include <cmath>

namespace sunder::spatial {

namespace {

using geometry::orient3d;
using geometry::sign;
using kernels::ScaledRay;

const Vec3 kZero = Vec3::Zero();

// The ray with its direction scaled by a power of two, which changes no bit of any coordinate; `unit` is what
// t counts.
struct ExactRay {
  Vec3 origin, direction;
  double tMin, tMax;
  int exponent;
  int axis;  // of the direction's largest coordinate

  explicit ExactRay(const Ray& ray) : origin(ray.origin) {
    checkQueryPoint(ray.origin, "ray's origin");
    const double size = ray.direction.cwiseAbs().maxCoeff(&axis);
    if (!ray.direction.allFinite() || !(size > 0))
      throw Error(ErrorKind::Usage, "a ray's direction is finite and not zero");
    if (!(ray.tMin >= 0 && ray.tMin <= ray.tMax))
      throw Error(ErrorKind::Usage, "a ray has 0 <= tMin <= tMax");
    exponent = std::ilogb(size);
    for (int k = 0; k < 3; ++k) direction[k] = std::scalbn(ray.direction[k], -exponent);
    tMin = std::scalbn(ray.tMin, exponent);
    tMax = std::scalbn(ray.tMax, exponent);
  }
  ScaledRay scaled() const {
    return {{origin.x(), origin.y(), origin.z()}, {direction.x(), direction.y(), direction.z()}, tMin, tMax};
  }
  double along(const Vec3& point) const { return point[axis] / direction[axis]; }
};

// A point of the line within a triangle whose plane contains the line.
struct LinePoint {
  double t;
  Vec3 barycentric;
};

// `corner` relative to the origin of the ray. Hits where the ray enters the triangle.
RayHit hitWithinPlane(const ExactRay& ray, const Vec3 (&corner)[3]) {
  int axis = -1;
  for (int i = 0; i < 3 && axis < 0; ++i) axis = geometry::normalAxis(kZero, ray.direction, corner[i]);
  double side[3] = {0, 0, 0};  // all on the line when there is no axis
  if (axis >= 0)
    for (int i = 0; i < 3; ++i) side[i] = geometry::orient2d(kZero, ray.direction, corner[i], axis);
  LinePoint enter{std::numeric_limits<double>::infinity(), kZero};
  LinePoint exit{-std::numeric_limits<double>::infinity(), kZero};
  const auto offer = [&](double t, const Vec3& barycentric) {
    if (t < enter.t) enter = {t, barycentric};
    if (t > exit.t) exit = {t, barycentric};
  };
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3;
    if (side[i] == 0) offer(ray.along(corner[i]), Vec3::Unit(i));
    if (sign(side[i]) * sign(side[j]) >= 0) continue;
    const double share = side[i] / (side[i] - side[j]);
    Vec3 barycentric = kZero;
    barycentric[i] = 1 - share;
    barycentric[j] = share;
    offer(ray.along((1 - share) * corner[i] + share * corner[j]), barycentric);
  }
  RayHit hit;
  if (!(exit.t >= ray.tMin && enter.t <= ray.tMax && enter.t <= exit.t)) return hit;
  hit.triangle = 0;
  hit.t = std::max(enter.t, ray.tMin);
  const double share = hit.t > enter.t ? (hit.t - enter.t) / (exit.t - enter.t) : 0;
  hit.barycentric = (1 - share) * enter.barycentric + share * exit.barycentric;
  return hit;
}

// t in the unit of the scaled ray. No triangle's number yet: 0 for a hit.
RayHit hitTriangle(const ExactRay& ray, const Vec3& a, const Vec3& b, const Vec3& c) {
  const Vec3 corner[3] = {a - ray.origin, b - ray.origin, c - ray.origin};
  const double u = orient3d(kZero, ray.direction, corner[1], corner[2]);
  const double v = orient3d(kZero, ray.direction, corner[2], corner[0]);
  if ((u > 0 && v < 0) || (u < 0 && v > 0)) return {};
  const double w = orient3d(kZero, ray.direction, corner[0], corner[1]);
  const bool positive = u > 0 || v > 0 || w > 0, negative = u < 0 || v < 0 || w < 0;
  if (positive && negative) return {};
  if (!positive && !negative) return hitWithinPlane(ray, corner);
  const double sum = u + v + w;
  RayHit hit;
  hit.barycentric = Vec3(u / sum, v / sum, w / sum);
  hit.t = (hit.barycentric[0] * corner[0][ray.axis] + hit.barycentric[1] * corner[1][ray.axis] +
           hit.barycentric[2] * corner[2][ray.axis]) /
          ray.direction[ray.axis];
  if (ray.tMin == 0) {
    const int ahead = sign(orient3d(kZero, corner[0], corner[1], corner[2])) * (positive ? 1 : -1);
    if (ahead < 0) return {};
    hit.t = ahead == 0 ? 0 : std::max(hit.t, 0.0);
  }
  if (!(hit.t >= ray.tMin && hit.t <= ray.tMax)) return {};
  hit.triangle = 0;
  hit.front = negative;
  return hit;
}

bool earlier(const RayHit& a, const RayHit& b) { return a.t != b.t ? a.t < b.t : a.triangle < b.triangle; }

// Answers go to the visitor: visit(hit) returns the tMax to go on with, negative to stop.
template <class Visit>
struct VisitSink final : kernels::RaySink {
  const ExactRay& ray;
  const QueryView view;
  Visit visit;
  double tMax;

  VisitSink(const ExactRay& r, const QueryView& q, Visit v) : ray(r), view(q), visit(v), tMax(r.tMax) {}
  double leaf(uint32_t leaf) override {
    const PlainTriangle& t = view.triangles[leaf];
    const auto vector = [](D3 p) { return Vec3(p.x, p.y, p.z); };
    RayHit hit = hitTriangle(ray, vector(t.corner[0]), vector(t.corner[1]), vector(t.corner[2]));
    if (hit) {
      hit.triangle = view.tree->primitive(leaf);
      tMax = visit(hit);
    }
    return tMax;
  }
};

template <class Visit>
void forEachHit(const MeshQuery& mesh, const ExactRay& ray, Visit&& visit) {
  VisitSink<Visit&> sink(ray, mesh.view(), visit);
  kernels::traverseRay(mesh.view(), ray.scaled(), sink);
}

RayHit unscaled(RayHit hit, const ExactRay& ray) {
  if (hit) hit.t = std::scalbn(hit.t, -ray.exponent);
  return hit;
}

}  // namespace

RayHit firstHit(const MeshQuery& mesh, const Ray& ray) {
  const ExactRay exact(ray);
  RayHit best;
  forEachHit(mesh, exact, [&](const RayHit& hit) {
    if (earlier(hit, best)) best = hit;
    return best.t;
  });
  return unscaled(best, exact);
}

bool anyHit(const MeshQuery& mesh, const Ray& ray) {
  bool found = false;
  forEachHit(mesh, ExactRay(ray), [&](const RayHit&) {
    found = true;
    return -1.0;
  });
  return found;
}

std::vector<RayHit> allHits(const MeshQuery& mesh, const Ray& ray) {
  const ExactRay exact(ray);
  std::vector<RayHit> hits;
  forEachHit(mesh, exact, [&](const RayHit& hit) {
    hits.push_back(unscaled(hit, exact));
    return exact.tMax;
  });
  std::sort(hits.begin(), hits.end(), earlier);
  return hits;
}

void firstHits(const MeshQuery& mesh, std::span<const Ray> rays, std::span<RayHit> hits) {
  if (rays.size() != hits.size()) throw Error(ErrorKind::Usage, "as many hits as rays are needed");
  parallelFor(
      rays.size(), [&](size_t i) { hits[i] = firstHit(mesh, rays[i]); }, 256);
}

RayHit intersectTriangle(const Ray& ray, const Vec3& a, const Vec3& b, const Vec3& c, uint32_t triangle) {
  const ExactRay exact(ray);
  RayHit hit = unscaled(hitTriangle(exact, a, b, c), exact);
  if (hit) hit.triangle = triangle;
  return hit;
}

}  // namespace sunder::spatial
