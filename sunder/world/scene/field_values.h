// Solids by formulas, as values: the analytic fields of room sdf and their combinations.
#pragma once

#include "sunder/base/math.h"
#include "sunder/sdf/analytic_field.h"
#include "sunder/sdf/field_combine.h"

#include <span>
#include <vector>

namespace sunder::world {

enum class FieldKind {
  Sphere,
  Box,
  Cylinder,
  Capsule,
  Torus,
  Ellipsoid,
  Plane,
  Union,
  Intersection,
  Difference,  // the first part without the others
  SmoothUnion,
  Offset,
  Shell,
  Transform,
  Noise
};

// A formula, or a combination of `parts`. Each kind has some of the numbers; the others are not looked at.
struct FieldValue {
  FieldKind kind = FieldKind::Sphere;
  std::vector<FieldValue> parts = {};
  Vec3 centre = Vec3::Zero();                    // Sphere, Box, Torus, Ellipsoid
  Vec3 size = Vec3::Ones();                      // Box: its sides; Ellipsoid: its radii
  Vec3 from = Vec3::Zero(), to = Vec3::UnitY();  // Cylinder, Capsule
  Vec3 axis = Vec3::UnitY();                     // of unit length: Torus; Plane: its normal
  double radius = 0.5;                           // Sphere, Cylinder, Capsule; Torus: of the ring
  double tube = 0.1;                             // Torus
  double round = 0;                              // Box: radius of its edges
  double distance = 0;               // Offset; Plane: from the origin; Shell: thickness; SmoothUnion: width
  Vec3 position = Vec3::Zero();      // Transform
  Quat rotation = Quat::Identity();  // Transform, of unit length
  double scale = 1;                  // Transform
  sdf::NoiseSettings noise = {};     // Noise
};

// Throws Error (Usage, Geometry) for sizes that make no sense.
sdf::FieldPtr makeField(const FieldValue& value);
// The same where the fields of the parts are made already.
sdf::FieldPtr makeField(const FieldValue& value, std::span<const sdf::FieldPtr> parts);

// Formulas that the field consists of; noise counts as as many as it costs.
double fieldLeaves(const FieldValue& value);

}  // namespace sunder::world
