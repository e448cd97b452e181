#include "sunder/sdf/field.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/sdf/near_field.h"

namespace sunder::sdf {

void requireSameSize(size_t points, size_t results) {
  if (points != results) throw Error(ErrorKind::Usage, "a field needs as many results as points");
}

std::unique_ptr<NearField> Field::near(const Box3&, double) const { return nullptr; }

void valuesOf(const Field& field, std::span<const Vec3> points, std::span<double> out) {
  requireSameSize(points.size(), out.size());
  parallelBlocks(points.size(), field.batchSize(), [&](size_t begin, size_t end) {
    field.values(points.subspan(begin, end - begin), out.subspan(begin, end - begin));
  });
}

void samplesOf(const Field& field, std::span<const Vec3> points, std::span<FieldSample> out) {
  requireSameSize(points.size(), out.size());
  parallelBlocks(points.size(), field.batchSize(), [&](size_t begin, size_t end) {
    field.samples(points.subspan(begin, end - begin), out.subspan(begin, end - begin));
  });
}

}  // namespace sunder::sdf
