// Where two triangles in space meet. The decision, the kind of the intersection and the features it lies on
// come from exact predicates only, so they are right for all finite coordinates; positions of new points are
// computed in doubles, corners keep their bits. Triangles are closed: touching counts. A triangle without
// area is the segment or point that its corners span.
//
// Cost: two triangles whose planes keep them apart, 6 calls of orient3d at most; crossing ones 8 to 10.
// Follows the interval test of Guigue and Devillers 2003 ("Fast and robust triangle-triangle overlap test
// using orientation predicates"), extended by the features; coplanar pairs are intersected as convex polygons
// by their corners and edge crossings.
#pragma once

#include "sunder/base/math.h"

#include <array>
#include <cstdint>
#include <span>

namespace sunder::geometry {

using TriangleCorners = std::array<Vec3, 3>;

enum class FeatureKind : uint8_t { Vertex, Edge, Face };

// A part of a triangle, always the smallest that holds the point. Edge i runs from corner i to corner (i + 1)
// % 3.
struct TriangleFeature {
  FeatureKind kind = FeatureKind::Face;
  uint8_t index = 0;  // 0 for the face
  bool operator==(const TriangleFeature&) const = default;
};

struct MeetingPoint {
  Vec3 position = Vec3::Zero();
  TriangleFeature onFirst, onSecond;
};

enum class MeetingKind : uint8_t { None, Point, Segment, Polygon };

struct TriangleMeeting {
  MeetingKind kind = MeetingKind::None;
  uint8_t count = 0;  // 0, 1, 2, or 3 to 6
  // Point: one. Segment: its ends; for two triangles in different planes in the direction normal(first) x
  // normal(second). Polygon: its corners, counter-clockwise in the first triangle. Every one is a corner of
  // the intersection, and they are pairwise different.
  std::array<MeetingPoint, 6> storage;

  std::span<const MeetingPoint> points() const { return {storage.data(), count}; }
};

bool intersect(const TriangleCorners& first, const TriangleCorners& second);

// Triangles without area name the edge between their two extreme corners, or their first corner when all are
// equal.
TriangleMeeting meeting(const TriangleCorners& first, const TriangleCorners& second);

}  // namespace sunder::geometry
