// Solids given by formulas, as fields: to test other fields with, to build scenes from, and as the leaves of
// combinations (field_combine.h). Made by functions and held by shared_ptr<const Field>.
//
// Exact signed distances everywhere, inside and outside: sphere, box, rounded box, plane, capsule, torus,
// cylinder. A bound only: ellipsoid (same sign and zero set as the distance, never larger than it in absolute
// value, Lipschitz constant 1); exact distance to an ellipsoid is what MeshField or HpField are for.
//
// Gradients are the exact derivatives. Where a formula has none (centres, medial planes, edges seen from
// inside) it is that of one of the sides, of unit length; the ellipsoid's is shorter.
//
// Each maker throws Error (Usage) for sizes that are not positive and finite, naming the value.
// Cost: 3 to 20 ns a point.
#pragma once

#include "sunder/sdf/field.h"

namespace sunder::sdf {

// A field that knows how far its level sets reach: {p : value(p) <= level} lies in boundsAt(level). Needed
// where a value is only a bound of the distance, since then the solid grown by d is not the level set of d.
class FormulaField : public Field {
 public:
  virtual Box3 boundsAt(double level) const = 0;
  Box3 bounds() const override { return boundsAt(0); }
};

// boundsAt() of a formula; for any other field its box grown by `level`, which holds for fields whose values
// outside are distances.
Box3 boundsAt(const Field& field, double level);

FieldPtr makeSphereField(const Vec3& centre, double radius);
FieldPtr makeBoxField(const Box3& box);
// The box with its edges rounded; radius at most half the shortest side.
FieldPtr makeRoundedBoxField(const Box3& box, double radius);
// All points with normal . p <= offset; the normal need not be of unit length (offset is then scaled alike).
FieldPtr makePlaneField(const Vec3& normal, double offset);
// All points within `radius` of the segment; a ball where both ends are the same.
FieldPtr makeCapsuleField(const Vec3& from, const Vec3& to, double radius);
// A tube around the circle with the given axis; tube <= ring.
FieldPtr makeTorusField(const Vec3& centre, const Vec3& axis, double ring, double tube);
// Flat ends at `from` and `to`.
FieldPtr makeCylinderField(const Vec3& from, const Vec3& to, double radius);
FieldPtr makeEllipsoidField(const Vec3& centre, const Vec3& radii);

}  // namespace sunder::sdf
