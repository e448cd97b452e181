// Rays against a triangle mesh: the first hit, whether there is any, all of them.
//
// Triangles are closed and seen from both sides; one without area is the segment or point that it spans. A
// ray never slips through an edge or corner that triangles share: corners are taken relative to the ray's
// origin (one rounding of the difference, the same for every triangle at a corner), and whether the line
// meets a triangle is then decided exactly (geometry/predicates.h), also for rays within a triangle's plane,
// which hit where they enter it. With tMin = 0 the side of the origin is decided exactly as well. The
// parameter t is computed in double.
//
// Directions need not have unit length: the hit is at origin + t * direction, tMin <= t <= tMax. Throws Error
// (Usage) for coordinates that are not finite or beyond 1e37, a zero direction, and tMin that is negative or
// above tMax. Answers do not depend on the tree, threads or vector unit: equal t, smaller triangle first.
//
// Method: slabs (Kay and Kajiya 1986) on eight boxes at a time, widened as by Ize 2013 ("Robust BVH ray
// traversal") and for the rounding of the origin; edge functions of eight triangles at a time in float with
// an error bound as a filter; then the sign tests of Woop, Benthin and Wald 2013 ("Watertight ray/triangle
// intersection"), with exact signs in place of their shear and double fallback.
//
// Cost: 0.6 us for the first hit on 500,000 triangles, rays in random order.
#pragma once

#include "sunder/spatial/query/mesh_queries.h"

#include <limits>
#include <span>
#include <vector>

namespace sunder::spatial {

struct Ray {
  Vec3 origin = Vec3::Zero();
  Vec3 direction = Vec3::UnitX();
  double tMin = 0;
  double tMax = std::numeric_limits<double>::infinity();
};

struct RayHit {
  uint32_t triangle = kNoIndex;
  double t = std::numeric_limits<double>::infinity();
  Vec3 barycentric = Vec3::Zero();
  bool front = false;  // the ray comes from the side that the triangle's normal points to

  explicit operator bool() const { return triangle != kNoIndex; }
};

RayHit firstHit(const MeshQuery& mesh, const Ray& ray);
bool anyHit(const MeshQuery& mesh, const Ray& ray);
std::vector<RayHit> allHits(const MeshQuery& mesh, const Ray& ray);  // by (t, triangle)

// Many rays, in parallel; the spans have the same size.
void firstHits(const MeshQuery& mesh, std::span<const Ray> rays, std::span<RayHit> hits);

// The test of a single triangle that all of these use.
RayHit intersectTriangle(const Ray& ray, const Vec3& a, const Vec3& b, const Vec3& c, uint32_t triangle = 0);

}  // namespace sunder::spatial
