#include "sunder/fluid/surface/shape_field.h"

namespace sunder::fluid {

namespace {

// 1 - q^2 from zero up, and half the gradient of q^2.
float within(const LocalShape& s, const Vec3f& point, Vec3f& slope) {
  const Vec3f x = point - s.centre;
  const float* m = s.metric;
  slope = {m[0] * x.x() + m[3] * x.y() + m[4] * x.z(), m[3] * x.x() + m[1] * x.y() + m[5] * x.z(),
           m[4] * x.x() + m[5] * x.y() + m[2] * x.z()};
  return std::max(1 - slope.dot(x), 0.0f);
}

bool reaches(const LocalShape& s, const Vec3f& lower, const Vec3f& upper) {
  for (int k = 0; k < 3; ++k)
    if (s.centre[k] + s.reach[k] < lower[k] || s.centre[k] - s.reach[k] > upper[k]) return false;
  return true;
}

}  // namespace

ShapeField::ShapeField(std::span<const ParticleShape> shapes, std::span<const uint32_t> members,
                       const Vec3& corner, double cell)
    : members_(members) {
  shapes_.reserve(members.size());
  for (const uint32_t member : members) shapes_.emplace_back(shapes[member], corner, cell);
}

void ShapeField::focusRow(const Vec3f& lower, const Vec3f& upper) {
  row_.clear();
  for (uint32_t k = 0; k < shapes_.size(); ++k)
    if (reaches(shapes_[k], lower, upper)) row_.push_back(k);
}

void ShapeField::focus(const Vec3f& lower, const Vec3f& upper) {
  near_.clear();
  for (const uint32_t k : row_)
    if (reaches(shapes_[k], lower, upper)) near_.push_back(k);
}

ShapeField::Sample ShapeField::at(const Vec3f& point) const {
  Sample sample;
  Vec3f slope;
  for (const uint32_t k : near_) {
    const float t = within(shapes_[k], point, slope), factor = shapes_[k].weight * t * t;
    sample.value += factor * t;
    sample.gradient -= 6 * factor * slope;
  }
  return sample;
}

Vec3f ShapeField::mean(const Vec3f& point, std::span<const Vec3f> ofParticles) const {
  Vec3f sum = Vec3f::Zero(), slope;
  float all = 0;
  for (const uint32_t k : near_) {
    const float t = within(shapes_[k], point, slope), weight = shapes_[k].weight * t * t * t;
    sum += weight * ofParticles[members_[k]];
    all += weight;
  }
  return all > 0 ? Vec3f(sum / all) : Vec3f::Zero();
}

}  // namespace sunder::fluid
