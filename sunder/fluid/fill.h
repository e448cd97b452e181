// Where fluid starts: particles on a cubic lattice, one for each cube of `spacing`, which is the diameter of
// a particle. The volume of a block of n particles is n spacing^3.
#pragma once

#include "sunder/base/box.h"
#include "sunder/base/math.h"
#include "sunder/sdf/field.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace sunder::fluid {

inline constexpr uint64_t kMostParticles = 200'000'000;

// As many as fit along each axis, at least one; the lattice is centred in the box. Throws Error (Usage) for a
// box or a spacing that is not finite and positive, Error (Limit) for more than kMostParticles.
std::vector<Vec3> fillBox(const Box3& box, double spacing);

// Lattice points of the box whose distance from the surface of the field is at least `clearance`: inside of
// it, or outside where `outside` is set (the room that solids leave). Up to the level of the box.
std::vector<Vec3> fillField(const sdf::Field& field, const Box3& box, double spacing, double clearance,
                            bool outside);

// Marks the points that are in solids.
using FindSolid = std::function<void(std::span<const Vec3> points, std::span<uint8_t> solid)>;

// Pours into a container: lattice points of the box that hang together with the one nearest to `from` without
// passing through solids. The top of the box is the level of the liquid. Throws Error (Geometry) where the
// liquid would run out through a side or the bottom of the box, or `from` is in a solid. O(points of the
// box).
std::vector<Vec3> pour(const Box3& box, double spacing, const Vec3& from, const FindSolid& findSolid);
// Where such a liquid would run out; nothing where it stays, or where `from` is in a solid.
std::optional<Vec3> findLeak(const Box3& box, double spacing, const Vec3& from, const FindSolid& findSolid);

}  // namespace sunder::fluid
