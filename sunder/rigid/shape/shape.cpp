#include "sunder/rigid/shape/shape.h"

#include "sunder/base/error.h"
#include "sunder/rigid/shape/shape_parts.h"
#include "sunder/sdf/analytic_field.h"
#include "sunder/shapes/lathe.h"
#include "sunder/shapes/round.h"
#include "sunder/shapes/wall.h"

#include <cmath>

#include <Eigen/Eigenvalues>
#include <fmt/format.h>

namespace sunder::rigid {

namespace {

constexpr size_t kPolyhedronPoints = 120;

void checkSize(double size, const char* what) {
  if (!(size > 0) || !std::isfinite(size))
    throw Error(ErrorKind::Usage, fmt::format("{} must be positive and finite, not {}", what, size));
}

void setVolume(geometry::MassProperties& mass, double volume, const Vec3& inertia) {
  mass.volume = mass.mass = volume;
  mass.inertia = inertia.asDiagonal();
}

void setPolyhedronPoints(ShapeParts& shape) {
  shape.setPoints(contactPoints(shape.surface_, kPolyhedronPoints, 1));
}

}  // namespace

void ShapeParts::setMassFrame() {
  massFrame_.position = mass_.centre;
  const Mat3& inertia = mass_.inertia;
  const double off = std::abs(inertia(0, 1)) + std::abs(inertia(0, 2)) + std::abs(inertia(1, 2));
  if (off <= 1e-10 * inertia.trace()) {
    massFrame_.rotation = Quat::Identity();
    principalInertia_ = inertia.diagonal();
    return;
  }
  const Eigen::SelfAdjointEigenSolver<Mat3> solver(inertia);
  Mat3 axes = solver.eigenvectors();
  if (axes.determinant() < 0) axes.col(0) = -axes.col(0);
  massFrame_.rotation = Quat(axes).normalized();
  principalInertia_ = solver.eigenvalues();
}

void ShapeParts::setOuterRadius() {
  outerRadius_ = 0;
  for (const Vec3& p : surface_.positions) outerRadius_ = std::max(outerRadius_, (p - mass_.centre).norm());
}

Box3 Shape::bounds(const Pose& pose) const {
  const Vec3& at = pose.position;
  switch (kind_) {
    case ShapeKind::Sphere:
      return {at - Vec3::Constant(radius_), at + Vec3::Constant(radius_)};
    case ShapeKind::Capsule: {
      const Vec3 reach = (pose.rotation * Vec3(0, halfExtent_.y(), 0)).cwiseAbs() + Vec3::Constant(radius_);
      return {at - reach, at + reach};
    }
    case ShapeKind::Box: {
      const Vec3 reach = pose.rotation.toRotationMatrix().cwiseAbs() * halfExtent_;
      return {at - reach, at + reach};
    }
    case ShapeKind::Hull: {
      const Mat3 turn = pose.rotation.toRotationMatrix();
      Box3 box;
      for (const Vec3& v : hull_->vertices) box.grow(Vec3(turn * v));
      return {box.lower + at, box.upper + at};
    }
    case ShapeKind::Plane: {
      Box3 box{Vec3::Constant(-Box3::kInfinity), Vec3::Constant(Box3::kInfinity)};
      const Vec3 normal = pose.rotation * Vec3::UnitY();
      for (int d = 0; d < 3; ++d) {
        if (normal[d] == 1) box.upper[d] = at[d];
        if (normal[d] == -1) box.lower[d] = at[d];
      }
      return box;
    }
    case ShapeKind::Solid: {
      // The turned box has corners far outside; the ball about the centre of mass cuts them off.
      const Vec3 middle = pose.point(localBounds_.center());
      const Vec3 reach = pose.rotation.toRotationMatrix().cwiseAbs() * (0.5 * localBounds_.extent());
      const Vec3 centre = pose.point(mass_.centre), ball = Vec3::Constant(outerRadius_);
      return {(middle - reach).cwiseMax(centre - ball), (middle + reach).cwiseMin(centre + ball)};
    }
  }
  return {};
}

ShapePtr makeSphere(double radius) {
  checkSize(radius, "the radius of a sphere");
  auto shape = std::make_shared<ShapeParts>(ShapeKind::Sphere);
  shape->radius_ = shape->pointRadius_ = shape->outerRadius_ = shape->innerRadius_ = radius;
  const double volume = 4 * kPi / 3 * radius * radius * radius;
  setVolume(shape->mass_, volume, Vec3::Constant(0.4 * volume * radius * radius));
  shape->setMassFrame();
  shape->field_ = sdf::makeSphereField(Vec3::Zero(), radius);
  const Vec3 centre = Vec3::Zero();
  shape->setTree(sdf::buildSphereTree({&centre, 1}));
  shape->setCores({});
  shape->localBounds_ = {Vec3::Constant(-radius), Vec3::Constant(radius)};
  shape->surface_ = shapes::makeIcosphere({.radius = radius, .frequency = 8});
  return shape;
}

ShapePtr makeCapsule(double halfLength, double radius) {
  checkSize(halfLength, "half the length of a capsule");
  checkSize(radius, "the radius of a capsule");
  auto shape = std::make_shared<ShapeParts>(ShapeKind::Capsule);
  const double h = halfLength, r = radius;
  shape->radius_ = shape->pointRadius_ = shape->innerRadius_ = r;
  shape->halfExtent_ = Vec3(0, h, 0);
  shape->outerRadius_ = h + r;
  const double tube = 2 * h * kPi * r * r, ball = 4 * kPi / 3 * r * r * r;
  const double along = r * r * (tube / 2 + 0.4 * ball);
  // A half ball's centre of mass is 3/8 r from its flat side.
  const double across = tube * (r * r / 4 + h * h / 3) + ball * (0.4 * r * r + h * h + 0.75 * h * r);
  setVolume(shape->mass_, tube + ball, Vec3(across, along, across));
  shape->setMassFrame();
  shape->field_ = sdf::makeCapsuleField(Vec3(0, -h, 0), Vec3(0, h, 0), r);
  const int parts = std::clamp(int(std::ceil(2 * h / r)), 2, 16);
  std::vector<Vec3> points;
  for (int i = 0; i <= parts; ++i) points.push_back(Vec3(0, -h + 2 * h * i / parts, 0));
  shape->setTree(sdf::buildSphereTree(points));
  shape->setCores(points);
  shape->localBounds_ = {Vec3(-r, -h - r, -r), Vec3(r, h + r, r)};
  shape->surface_ = shapes::makeCapsule({.radius = r, .length = 2 * h});
  return shape;
}

ShapePtr makeBox(const Vec3& halfExtent) {
  for (int d = 0; d < 3; ++d) checkSize(halfExtent[d], "half the side of a box");
  auto shape = std::make_shared<ShapeParts>(ShapeKind::Box);
  shape->halfExtent_ = halfExtent;
  shape->outerRadius_ = halfExtent.norm();
  shape->innerRadius_ = halfExtent.minCoeff();
  const double volume = 8 * halfExtent.prod();
  const Vec3 squares = halfExtent.cwiseAbs2();
  setVolume(shape->mass_, volume, volume / 3 * (Vec3::Constant(squares.sum()) - squares));
  shape->setMassFrame();
  shape->localBounds_ = {-halfExtent, halfExtent};
  shape->field_ = sdf::makeBoxField(shape->localBounds_);
  shape->hull_ = std::make_unique<HullTopology>(boxTopology(halfExtent));
  shape->surface_ = shapes::makeBox({.size = 2 * halfExtent});
  setPolyhedronPoints(*shape);
  const Vec3 room = halfExtent - Vec3::Constant(shape->innerRadius_);
  std::vector<Vec3> corners;
  for (int i = 0; i < 8; ++i)
    corners.push_back(room.cwiseProduct(Vec3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1)));
  shape->setCores(corners);
  return shape;
}

ShapePtr makePlane() {
  constexpr double kDrawn = 100;
  auto shape = std::make_shared<ShapeParts>(ShapeKind::Plane);
  shape->outerRadius_ = shape->innerRadius_ = Box3::kInfinity;
  shape->field_ = sdf::makePlaneField(Vec3::UnitY(), 0);
  shape->localBounds_ = shape->field_->bounds();
  shape->flatSides_ = {{Vec3::UnitY(), Vec3::Zero(), 0, 0}};
  shape->surface_.positions = {
      {-kDrawn, 0, -kDrawn}, {-kDrawn, 0, kDrawn}, {kDrawn, 0, kDrawn}, {kDrawn, 0, -kDrawn}};
  shape->surface_.triangles = {{0, 1, 2}, {0, 2, 3}};
  return shape;
}

ShapePtr makeHull(std::span<const Vec3> points) {
  auto shape = std::make_shared<ShapeParts>(ShapeKind::Hull);
  shape->hull_ = std::make_unique<HullTopology>(hullTopology(points));
  shape->surface_ = hullSurface(*shape->hull_);
  shape->mass_ = geometry::massProperties(shape->surface_);
  shape->setMassFrame();
  shape->setOuterRadius();
  shape->localBounds_ = geometry::bounds(shape->surface_.positions);
  shape->field_ = makeHullField(*shape->hull_);
  shape->innerRadius_ = -shape->field_->value(shape->mass_.centre);
  setPolyhedronPoints(*shape);
  std::vector<Vec3> corners;
  for (const Vec3& v : shape->hull_->vertices) corners.push_back(0.5 * (v + shape->mass_.centre));
  shape->setCores(corners);
  return shape;
}

}  // namespace sunder::rigid
