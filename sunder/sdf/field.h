// A signed distance field: negative inside, positive outside, zero on the surface. The one interface through
// which bodies, particles and fluids ask where a surface is. Exact distances to meshes (mesh_field.h),
// hp-adaptive fields (hp/hp_field.h), meshes (mesh_field.h) and formulas (analytic_field.h) all are one.
//
// values() and samples() are const, run in the calling thread and may be called from many threads at once;
// points close to each other in the order of the span are answered faster. valuesOf() and samplesOf() spread
// a long list over threads. Points must be finite.
#pragma once

#include "sunder/base/box.h"
#include "sunder/base/math.h"

#include <memory>
#include <span>
#include <vector>

namespace sunder::sdf {

struct FieldSample {
  double value = 0;
  Vec3 gradient = Vec3::Zero();
};

class NearField;

class Field {
 public:
  virtual ~Field() = default;

  virtual void values(std::span<const Vec3> points, std::span<double> out) const = 0;
  virtual void samples(std::span<const Vec3> points, std::span<FieldSample> out) const = 0;

  // A box that holds everything inside; infinite sides for solids without end.
  virtual Box3 bounds() const = 0;

  // How many points a batch should have at least to be answered at full speed.
  virtual size_t batchSize() const { return 1024; }

  // Points half-way through walls and gaps thinner than `thickness`, densely along them: where an
  // approximation may lose the sign. None where the field does not know its thin places.
  virtual std::vector<Vec3> thinPlaces(double thickness) const {
    (void)thickness;
    return {};
  }

  // The same field for very many questions in one domain, answered from exact cached distance samples at most
  // `spacing` apart and what is near them: much faster and not exact (near_field.h). Nothing where the field
  // knows no such way. Lives no longer than the field.
  virtual std::unique_ptr<NearField> near(const Box3& domain, double spacing) const;

  double value(const Vec3& point) const {
    double out;
    values({&point, 1}, {&out, 1});
    return out;
  }
  FieldSample sample(const Vec3& point) const {
    FieldSample out;
    samples({&point, 1}, {&out, 1});
    return out;
  }
};

using FieldPtr = std::shared_ptr<const Field>;

// Throws Error (Usage) where a batch does not have as many results as points: what every field does first.
void requireSameSize(size_t points, size_t results);

// All threads, in blocks of neighbouring points. Throws Error (Usage) where the spans differ in size.
void valuesOf(const Field& field, std::span<const Vec3> points, std::span<double> out);
void samplesOf(const Field& field, std::span<const Vec3> points, std::span<FieldSample> out);

}  // namespace sunder::sdf
