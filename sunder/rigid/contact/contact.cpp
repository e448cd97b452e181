#include "sunder/rigid/contact/contact.h"

#include "sunder/rigid/contact/contact_parts.h"

#include <utility>

namespace sunder::rigid {

namespace {

using Test = void (*)(const PairQuery&);

void nothing(const PairQuery&) {}

// Rows: the kind of the first shape; columns: of the second, from the same kind on.
constexpr Test kTests[6][6] = {
    {contactSphereSphere, contactSphereCapsule, contactSpherePolyhedron, contactSpherePolyhedron,
     contactSpherePlane, contactSphereSolid},
    {nullptr, contactCapsuleCapsule, contactCapsulePolyhedron, contactCapsulePolyhedron, contactCapsulePlane,
     contactCapsuleSolid},
    {nullptr, nullptr, contactBoxBox, contactPolyhedra, contactBoxPlane, contactFields},
    {nullptr, nullptr, nullptr, contactPolyhedra, contactHullPlane, contactFields},
    {nullptr, nullptr, nullptr, nullptr, nothing, contactPlaneSolid},
    {nullptr, nullptr, nullptr, nullptr, nullptr, contactFields},
};

}  // namespace

Vec3 centreDirection(const PairQuery& q) {
  return directionOr(q.poseB.point(q.b.mass().centre) - q.poseA.point(q.a.mass().centre), Vec3::UnitY());
}

void findContacts(const ShapeHead& a, const Pose& poseA, const ShapeHead& b, const Pose& poseB, double margin,
                  const SelectionSettings& selection, PairMemory& memory, ContactScratch& scratch,
                  std::vector<Contact>& out, PairGap* gap) {
  if (a.kind <= b.kind) {
    kTests[size_t(a.kind)][size_t(b.kind)](
        {a, poseA, b, poseB, margin, selection, memory, scratch, out, gap});
    return;
  }
  const size_t before = out.size();
  std::swap(memory.limitA, memory.limitB);
  kTests[size_t(b.kind)][size_t(a.kind)]({b, poseB, a, poseA, margin, selection, memory, scratch, out, gap});
  std::swap(memory.limitA, memory.limitB);
  for (size_t i = before; i < out.size(); ++i) out[i].normal = -out[i].normal;
}

}  // namespace sunder::rigid
