#include "sunder/soft/contact/obstacle.h"

#include "sunder/base/error.h"

#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace sunder::soft {

namespace {

class PlaneObstacle final : public Obstacle {
 public:
  PlaneObstacle(const Vec3& normal, double offset) : normal_(normal), offset_(offset) {}
  ObstacleSample at(const Vec3& point) const override { return {normal_.dot(point) - offset_, normal_}; }
  Box3 bounds() const override {
    constexpr double kEndless = std::numeric_limits<double>::infinity();
    return {Vec3::Constant(-kEndless), Vec3::Constant(kEndless)};
  }

 private:
  Vec3 normal_;
  double offset_;
};

class SphereObstacle final : public Obstacle {
 public:
  SphereObstacle(const Vec3& centre, double radius) : centre_(centre), radius_(radius) {}
  ObstacleSample at(const Vec3& point) const override {
    const Vec3 way = point - centre_;
    const double length = way.norm();
    if (length == 0) return {-radius_, Vec3::UnitY()};
    return {length - radius_, way / length};
  }
  Box3 bounds() const override {
    return {centre_ - Vec3::Constant(radius_), centre_ + Vec3::Constant(radius_)};
  }

 private:
  Vec3 centre_;
  double radius_;
};

class FieldObstacle final : public Obstacle {
 public:
  explicit FieldObstacle(sdf::FieldPtr field) : field_(std::move(field)) {}
  ObstacleSample at(const Vec3& point) const override {
    const sdf::FieldSample sample = field_->sample(point);
    const double length = sample.gradient.norm();
    if (!(length > 0)) return {sample.value, Vec3::UnitY()};
    return {sample.value, sample.gradient / length};
  }
  Box3 bounds() const override { return field_->bounds(); }

 private:
  sdf::FieldPtr field_;
};

}  // namespace

ObstaclePtr makePlaneObstacle(const Vec3& normal, double offset) {
  const double length = normal.norm();
  if (!(length > 0) || !std::isfinite(length) || !std::isfinite(offset))
    throw Error(ErrorKind::Usage, fmt::format("a plane with the normal ({}, {}, {}) and offset {}",
                                              normal.x(), normal.y(), normal.z(), offset))
        .hint("the normal must have a length, and all numbers must be finite");
  return std::make_shared<PlaneObstacle>(normal / length, offset / length);
}

ObstaclePtr makeSphereObstacle(const Vec3& centre, double radius) {
  if (!(radius > 0) || !std::isfinite(radius) || !centre.allFinite())
    throw Error(ErrorKind::Usage, fmt::format("an obstacle that is a sphere of radius {}", radius))
        .hint("radius and centre must be finite, the radius positive");
  return std::make_shared<SphereObstacle>(centre, radius);
}

ObstaclePtr makeFieldObstacle(sdf::FieldPtr field) {
  if (!field) throw Error(ErrorKind::Usage, "an obstacle without a distance field");
  return std::make_shared<FieldObstacle>(std::move(field));
}

ObstaclePose moved(const ObstaclePose& pose, const Vec3& centre, const Vec3& move, const Vec3& turn) {
  const double angle = turn.norm();
  const double half = 0.5 * angle;
  const double ratio = half < 1e-4 ? 1 - half * half / 6 : std::sin(half) / half;
  const Vec3 part = 0.5 * ratio * turn;
  const Quat by(std::cos(half), part.x(), part.y(), part.z());
  ObstaclePose result;
  result.rotation = (by * pose.rotation).normalized();
  result.position = pose.point(centre) + move - result.rotation * centre;
  return result;
}

Vec3 rotationVector(const Quat& from, const Quat& to) {
  Quat turn = to * from.conjugate();
  if (turn.w() < 0) turn.coeffs() = -turn.coeffs();
  const double sine = turn.vec().norm();
  if (sine < 1e-9) return 2 * turn.vec();
  return turn.vec() * (2 * std::atan2(sine, turn.w()) / sine);
}

}  // namespace sunder::soft
