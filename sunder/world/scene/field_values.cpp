#include "sunder/world/scene/field_values.h"

namespace sunder::world {

namespace {

constexpr double kOctaveLeaves = 35;  // formulas that an octave of noise costs as much as

}  // namespace

sdf::FieldPtr makeField(const FieldValue& v, std::span<const sdf::FieldPtr> parts) {
  const std::vector<sdf::FieldPtr> all(parts.begin(), parts.end());
  switch (v.kind) {
    case FieldKind::Sphere:
      return sdf::makeSphereField(v.centre, v.radius);
    case FieldKind::Box: {
      const Vec3 half = v.size / 2;
      const Box3 box{v.centre - half, v.centre + half};
      return v.round > 0 ? sdf::makeRoundedBoxField(box, v.round) : sdf::makeBoxField(box);
    }
    case FieldKind::Cylinder:
      return sdf::makeCylinderField(v.from, v.to, v.radius);
    case FieldKind::Capsule:
      return sdf::makeCapsuleField(v.from, v.to, v.radius);
    case FieldKind::Torus:
      return sdf::makeTorusField(v.centre, v.axis, v.radius, v.tube);
    case FieldKind::Ellipsoid:
      return sdf::makeEllipsoidField(v.centre, v.size);
    case FieldKind::Plane:
      return sdf::makePlaneField(v.axis, v.distance);
    case FieldKind::Union:
      return sdf::makeUnion(all);
    case FieldKind::Intersection:
      return sdf::makeIntersection(all);
    case FieldKind::Difference: {
      sdf::FieldPtr taken = all.at(1);
      if (all.size() > 2) taken = sdf::makeUnion({all.begin() + 1, all.end()});
      return sdf::makeDifference(all[0], taken);
    }
    case FieldKind::SmoothUnion: {
      sdf::FieldPtr field = all.at(0);
      for (size_t i = 1; i < all.size(); ++i) field = sdf::makeSmoothUnion(field, all[i], v.distance);
      return field;
    }
    case FieldKind::Offset:
      return sdf::makeOffset(all.at(0), v.distance);
    case FieldKind::Shell:
      return sdf::makeShell(all.at(0), v.distance);
    case FieldKind::Transform:
      return sdf::makeTransformed(all.at(0), v.rotation, v.position, v.scale);
    case FieldKind::Noise:
      break;
  }
  return sdf::makeDisplaced(all.at(0), v.noise);
}

sdf::FieldPtr makeField(const FieldValue& value) {
  std::vector<sdf::FieldPtr> parts;
  for (const FieldValue& part : value.parts) parts.push_back(makeField(part));
  return makeField(value, parts);
}

double fieldLeaves(const FieldValue& value) {
  if (value.parts.empty()) return 1;
  double leaves = value.kind == FieldKind::Noise ? kOctaveLeaves * value.noise.octaves : 0;
  // A turn costs about as much as a formula.
  if (value.kind == FieldKind::Transform && value.rotation.coeffs() != Quat::Identity().coeffs()) ++leaves;
  for (const FieldValue& part : value.parts) leaves += fieldLeaves(part);
  return leaves;
}

}  // namespace sunder::world
