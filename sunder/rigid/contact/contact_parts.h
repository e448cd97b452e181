// What the contact tests of different kinds of shapes share. Not for use outside this room.
//
// A test of two kinds appends its contacts with normals from the first shape to the second; contact.cpp calls
// it with the shapes in the order of their kinds and turns the results where they came the other way round.
#pragma once

#include "sunder/rigid/contact/contact.h"

namespace sunder::rigid {

inline constexpr double kUnreliable = 0.1;  // gradients of fields that are shorter have no direction

struct PairQuery {
  const ShapeHead& headA;
  const Pose& poseA;
  const ShapeHead& headB;
  const Pose& poseB;
  double margin;
  const SelectionSettings& selection;
  PairMemory& memory;
  ContactScratch& scratch;
  std::vector<Contact>& out;
  PairGap* gap;
  const Shape& a = *headA.shape;
  const Shape& b = *headB.shape;
};

void contactSphereSphere(const PairQuery& q);
void contactSphereCapsule(const PairQuery& q);
void contactSpherePolyhedron(const PairQuery& q);
void contactSpherePlane(const PairQuery& q);
void contactSphereSolid(const PairQuery& q);
void contactCapsuleCapsule(const PairQuery& q);
void contactCapsulePolyhedron(const PairQuery& q);
void contactCapsulePlane(const PairQuery& q);
void contactCapsuleSolid(const PairQuery& q);
void contactBoxBox(const PairQuery& q);
void contactBoxPlane(const PairQuery& q);
void contactPolyhedra(const PairQuery& q);
void contactHullPlane(const PairQuery& q);
void contactPlaneSolid(const PairQuery& q);
void contactFields(const PairQuery& q);  // points of each against the field of the other

// Of points in a plane with their heights (the lowest matters most), the four that span most of the area;
// returns their numbers in `kept`, ordered by choice. More than four points. Small motions do not change the
// choice between points of equal height.
struct FlatPoint {
  double x, y, height;
};
// Heights that differ by less than the slope `level` count as equal: a fixed direction then decides.
void chooseFour(std::span<const FlatPoint> points, uint32_t (&kept)[4], double level = 1e-4);
// For faces of two boxes: those that rest on each other and sway a little keep the same four points, and with
// them their impulses. With 1e-4 half of the stacks of turned boxes went on swaying.
inline constexpr double kLevelFaces = 0.005;

// Two closest points of segments; parameters along a and b in [-1, 1] from middles and half vectors.
struct SegmentPair {
  double s, t;
};
SegmentPair closestOnSegments(const Vec3& middleA, const Vec3& halfA, const Vec3& middleB, const Vec3& halfB);

// A unit vector where `v` is too short to be one.
inline Vec3 directionOr(const Vec3& v, const Vec3& instead) {
  const double length = v.norm();
  return length > 1e-12 ? Vec3(v / length) : instead;
}
// From the centre of mass of A to that of B; up where they coincide.
Vec3 centreDirection(const PairQuery& q);

}  // namespace sunder::rigid
