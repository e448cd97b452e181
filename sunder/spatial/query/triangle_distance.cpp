#include "sunder/spatial/query/triangle_distance.h"

#include "sunder/spatial/query/nearest_on_triangle.h"

#include <limits>

namespace sunder::spatial {

using geometry::FeatureKind;
using geometry::TriangleCorners;
using geometry::TriangleFeature;

namespace {

TriangleFeature featureOf(uint8_t region) {
  if (region == kRegionFace) return {FeatureKind::Face, 0};
  if (region >= 3) return {FeatureKind::Edge, static_cast<uint8_t>(region - 3)};
  return {FeatureKind::Vertex, region};
}

Vec3 vector(D3 v) { return {v.x, v.y, v.z}; }

TriangleFeature onEdge(int edge, double t) {
  if (t == 0) return {FeatureKind::Vertex, static_cast<uint8_t>(edge)};
  if (t == 1) return {FeatureKind::Vertex, static_cast<uint8_t>((edge + 1) % 3)};
  return {FeatureKind::Edge, static_cast<uint8_t>(edge)};
}

struct Parameters {
  double s, t, squared;
};

Parameters nearestOfSegments(D3 a0, D3 a1, D3 b0, D3 b1) {
  const D3 a = a1 - a0, b = b1 - b0, r = b0 - a0;
  Parameters best{0, 0, std::numeric_limits<double>::infinity()};
  const auto offer = [&](double s, double t, D3 difference) {
    const double squared = dot(difference, difference);
    if (squared < best.squared) best = {s, t, squared};
  };
  // Each end against the other segment; an end that is nearest to an end is a difference of corners.
  const auto offerEnd = [&](bool firstsEnd, double end, D3 point, D3 from, D3 to, D3 side) {
    const double t = nearestOnSegment(side, point - from);
    const D3 difference = t == 0 ? point - from : t == 1 ? point - to : point - from - t * side;
    if (firstsEnd)
      offer(end, t, difference);
    else
      offer(t, end, difference);
  };
  offerEnd(true, 0, a0, b0, b1, b);
  offerEnd(true, 1, a1, b0, b1, b);
  offerEnd(false, 0, b0, a0, a1, a);
  offerEnd(false, 1, b1, a0, a1, a);
  // The crossing, by the determinants that lose least: of the sides' normal.
  const D3 n = cross(a, b);
  const double nn = dot(n, n);
  if (nn > 0) {
    const double s = dot(cross(r, b), n) / nn, t = dot(cross(r, a), n) / nn;
    if (s > 0 && s < 1 && t > 0 && t < 1) offer(s, t, r + t * b - s * a);
  }
  return best;
}

}  // namespace

PointOnTriangle closestPointOnTriangle(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c) {
  const PlainTriangle triangle{{plain(a), plain(b), plain(c)}};
  const NearestOnTriangle nearest = nearestOnTriangle(plain(p), triangle);
  PointOnTriangle result;
  result.squaredDistance = nearest.squared;
  result.barycentric = {nearest.weight[0], nearest.weight[1], nearest.weight[2]};
  result.feature = featureOf(nearest.region);
  const Vec3* corner[3] = {&a, &b, &c};
  if (nearest.region < 3)
    result.point = *corner[nearest.region];
  else if (nearest.region == kRegionFace)
    result.point = a + nearest.weight[1] * (b - a) + nearest.weight[2] * (c - a);
  else {
    const int from = nearest.region - 3, to = (from + 1) % 3;
    result.point = *corner[from] + nearest.weight[to] * (*corner[to] - *corner[from]);
  }
  return result;
}

SegmentDistance segmentDistance(const Vec3& a0, const Vec3& a1, const Vec3& b0, const Vec3& b1) {
  const Parameters p = nearestOfSegments(plain(a0), plain(a1), plain(b0), plain(b1));
  const auto at = [](const Vec3& from, const Vec3& to, double t) -> Vec3 {
    return t == 0 ? from : t == 1 ? to : from + t * (to - from);
  };
  return {at(a0, a1, p.s), at(b0, b1, p.t), p.s, p.t, p.squared};
}

TriangleDistance triangleDistance(const TriangleCorners& first, const TriangleCorners& second) {
  if (geometry::intersect(first, second)) {
    const geometry::TriangleMeeting meeting = geometry::meeting(first, second);
    const geometry::MeetingPoint& point = meeting.points().front();
    return {point.position, point.position, point.onFirst, point.onSecond, 0};
  }
  TriangleDistance best;
  best.squaredDistance = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const Vec3 &a0 = first[size_t(i)], &a1 = first[size_t((i + 1) % 3)];
      const Vec3 &b0 = second[size_t(j)], &b1 = second[size_t((j + 1) % 3)];
      const Parameters p = nearestOfSegments(plain(a0), plain(a1), plain(b0), plain(b1));
      if (!(p.squared < best.squaredDistance)) continue;
      const D3 onA = plain(a0) + p.s * (plain(a1) - plain(a0));
      const D3 onB = plain(b0) + p.t * (plain(b1) - plain(b0));
      best = {p.s == 1 ? a1 : vector(onA), p.t == 1 ? b1 : vector(onB), onEdge(i, p.s), onEdge(j, p.t),
              p.squared};
    }
  for (int i = 0; i < 3; ++i) {
    const auto vertex = TriangleFeature{FeatureKind::Vertex, static_cast<uint8_t>(i)};
    const PointOnTriangle a = closestPointOnTriangle(first[size_t(i)], second[0], second[1], second[2]);
    if (a.squaredDistance < best.squaredDistance)
      best = {first[size_t(i)], a.point, vertex, a.feature, a.squaredDistance};
    const PointOnTriangle b = closestPointOnTriangle(second[size_t(i)], first[0], first[1], first[2]);
    if (b.squaredDistance < best.squaredDistance)
      best = {b.point, second[size_t(i)], b.feature, vertex, b.squaredDistance};
  }
  return best;
}

}  // namespace sunder::spatial
