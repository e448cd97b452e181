// Fields made of fields. They hold their parts by shared_ptr, answer in blocks, and give exact gradients;
// where two parts tie, the first one's.
//
// What they are, given parts whose values are exact distances (E), or bounds with Lipschitz constant at most
// 1 and the right sign (B); all of them keep B:
//
//   transform     E everywhere stays E (rigid motion and one scale for all axes)
//   union         E outside, B inside: depth is that into one part, never more than the depth into the union
//   intersection  E inside, B outside
//   difference    B
//   smooth union  B; contains the union, and bulges by at most width / 4 where the parts' values are equal
//   offset        B; outward offsets of E are E outside
//   shell         B; E near a smooth surface, where the shell's middle is the nearest part
//   displaced     B; values are divided by the largest slope the noise can add, so they are smaller than
//                 distances by about that
//
// Makers throw Error (Usage) for parts that are missing and sizes that are not positive. Cost: that of the
// parts and some ns.
#pragma once

#include "sunder/sdf/analytic_field.h"

#include <vector>

namespace sunder::sdf {

FieldPtr makeUnion(std::vector<FieldPtr> parts);
FieldPtr makeIntersection(std::vector<FieldPtr> parts);
FieldPtr makeDifference(FieldPtr from, FieldPtr taken);

// min(a, b) - h^2 width / 4 with h = max(0, 1 - |a - b| / width): quadratic blending.
FieldPtr makeSmoothUnion(FieldPtr a, FieldPtr b, double width);

// The level set of `distance`: grown where positive, shrunk where negative.
FieldPtr makeOffset(FieldPtr part, double distance);

// All points whose value is within half the thickness of 0.
FieldPtr makeShell(FieldPtr part, double thickness);

// p -> rotation * (scale * p) + translation of the part's points.
FieldPtr makeTransformed(FieldPtr part, const Quat& rotation, const Vec3& translation, double scale = 1);

struct NoiseSettings {
  double amplitude = 0.05;  // m: the surface moves by at most about 0.87 of it, all octaves together
  double wavelength = 0.2;  // m, of the first octave
  int octaves = 3;          // each with half the wavelength and half the height of the one before
  uint64_t seed = 1;
};
FieldPtr makeDisplaced(FieldPtr part, const NoiseSettings& settings);

}  // namespace sunder::sdf
