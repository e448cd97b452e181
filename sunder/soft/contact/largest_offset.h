// Contact by the rule that was published with the cage method (Clack 2012), kept for comparison: after a
// step, each sphere that is inside an obstacle asks for an offset o = depth * normal; a vertex takes the
// largest of the offsets that the spheres of its tetrahedra ask of it, and the velocity response of that same
// sphere. All spheres are tested first, then one correction is made, so offsets do not add up.
//
// A sphere's offset is shared out by  w_i = (b_i / m_i) / sum_j (b_j^2 / m_j), with its barycentric weights b
// and the masses m, so one sphere moves by o exactly and the momentum of its velocity change is that of a
// mass m_eff = 1 / sum_j (b_j^2 / m_j). (The publication does not say how an offset is shared out, and its
// formulas for normal and tangential parts are dimensionally wrong.)
#pragma once

#include "sunder/geometry/mesh.h"
#include "sunder/soft/contact/contact_sphere.h"
#include "sunder/soft/contact/obstacle.h"

#include <array>
#include <span>

namespace sunder::soft {

// The weights w_i, and the mass m_eff. Masses may be infinite; one of those with b_i != 0 must not be.
struct OffsetShares {
  std::array<double, 4> weights{};
  double mass = 0;
};
OffsetShares offsetShares(const std::array<double, 4>& barycentric, const std::array<double, 4>& masses);

// What a velocity becomes at a contact with a body that stands still: restitution e of the normal part,
// Coulomb friction of the tangential one. Unchanged where it does not approach.
Vec3 respond(const Vec3& velocity, const Vec3& normal, double restitution, double friction);

struct OffsetOutcome {
  uint32_t hits = 0;             // spheres inside an obstacle
  uint32_t vertices = 0;         // moved
  double deepest = 0;            // m, before the correction
  Vec3 momentum = Vec3::Zero();  // that the vertices gained
};

// One correction. Obstacles are where `after` says; they do not feel it. Throws Error (Usage) for arrays that
// do not fit together.
OffsetOutcome applyLargestOffset(std::span<const geometry::Tetrahedron> tets,
                                 std::span<const ContactSphere> spheres, std::span<const ContactBody> bodies,
                                 std::span<const ObstacleBody> obstacles, std::span<const double> masses,
                                 std::span<Vec3> positions, std::span<Vec3> velocities);

}  // namespace sunder::soft
