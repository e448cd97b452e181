#include "sunder/sdf/analytic_field.h"

#include "sunder/base/error.h"

#include <cassert>
#include <cmath>

#include <fmt/format.h>

namespace sunder::sdf {

namespace {

void checkSize(double size, const char* what) {
  if (!(size > 0) || !std::isfinite(size))
    throw Error(ErrorKind::Usage, fmt::format("{} must be positive and finite, not {}", what, size));
}

void checkFinite(const Vec3& v, const char* what) {
  if (!v.allFinite()) throw Error(ErrorKind::Usage, fmt::format("{} must be finite", what));
}

Box3 grown(const Box3& box, double by) {
  return {box.lower - Vec3::Constant(by), box.upper + Vec3::Constant(by)};
}

// Of unit length; `instead` where there is no direction.
Vec3 direction(const Vec3& v, double length, const Vec3& instead) {
  return length > 0 ? Vec3(v / length) : instead;
}

// A shape answers at(point); this makes a field of it.
template <class Shape>
class Formula final : public FormulaField {
 public:
  explicit Formula(Shape shape) : shape_(std::move(shape)) {}

  void values(std::span<const Vec3> points, std::span<double> out) const override {
    assert(points.size() == out.size());
    for (size_t i = 0; i < points.size(); ++i) out[i] = shape_.at(points[i]).value;
  }
  void samples(std::span<const Vec3> points, std::span<FieldSample> out) const override {
    assert(points.size() == out.size());
    for (size_t i = 0; i < points.size(); ++i) out[i] = shape_.at(points[i]);
  }
  Box3 boundsAt(double level) const override { return shape_.boundsAt(level); }

 private:
  Shape shape_;
};

template <class Shape>
FieldPtr makeFormula(Shape shape) {
  return std::make_shared<Formula<Shape>>(std::move(shape));
}

struct Sphere {
  Vec3 centre;
  double radius;

  FieldSample at(const Vec3& p) const {
    const Vec3 d = p - centre;
    const double r = d.norm();
    return {r - radius, direction(d, r, Vec3::UnitX())};
  }
  Box3 boundsAt(double level) const { return grown({centre, centre}, radius + level); }
};

// A box of half sides `half`, grown by `radius` with round edges.
struct RoundedBox {
  Vec3 centre, half;
  double radius;

  FieldSample at(const Vec3& p) const {
    const Vec3 d = p - centre, q = d.cwiseAbs() - half;
    const Vec3 side = d.array().sign().matrix() + (d.array() == 0).cast<double>().matrix();
    int axis;
    const double deepest = q.maxCoeff(&axis);
    if (deepest <= 0) {
      Vec3 normal = Vec3::Zero();
      normal[axis] = side[axis];
      return {deepest - radius, normal};
    }
    const Vec3 out = q.cwiseMax(0);
    const double distance = out.norm();
    return {distance - radius, side.cwiseProduct(out) / distance};
  }
  Box3 boundsAt(double level) const { return grown({centre - half, centre + half}, radius + level); }
};

struct Plane {
  Vec3 normal;  // of unit length
  double offset;

  FieldSample at(const Vec3& p) const { return {normal.dot(p) - offset, normal}; }
  Box3 boundsAt(double level) const {
    Box3 box{Vec3::Constant(-Box3::kInfinity), Vec3::Constant(Box3::kInfinity)};
    for (int d = 0; d < 3; ++d) {
      if (normal[d] == 1) box.upper[d] = offset + level;
      if (normal[d] == -1) box.lower[d] = -offset - level;
    }
    return box;
  }
};

struct Capsule {
  Vec3 from, along;
  double perSquaredLength, radius;  // 0 for a ball

  FieldSample at(const Vec3& p) const {
    const Vec3 d = p - from;
    const double t = std::clamp(d.dot(along) * perSquaredLength, 0.0, 1.0);
    const Vec3 out = d - t * along;
    const double r = out.norm();
    const Vec3 across = along.isZero(0) ? Vec3::UnitX() : Vec3(along.unitOrthogonal());
    return {r - radius, direction(out, r, across)};
  }
  Box3 boundsAt(double level) const {
    Box3 box;
    box.grow(from);
    box.grow(Vec3(from + along));
    return grown(box, radius + level);
  }
};

// Distance from an axis through `centre`: how far along, how far away, in which direction.
struct AxisPlace {
  double along, away;
  Vec3 outward;

  AxisPlace(const Vec3& centre, const Vec3& axis, const Vec3& p) {
    const Vec3 d = p - centre;
    along = d.dot(axis);
    const Vec3 across = d - along * axis;
    away = across.norm();
    outward = away > 0 ? Vec3(across / away) : Vec3(axis.unitOrthogonal());
  }
};

// Half the extent of a disc of radius 1 across the axis.
Vec3 discExtent(const Vec3& axis) { return (Vec3::Ones() - axis.cwiseProduct(axis)).cwiseMax(0).cwiseSqrt(); }

struct Torus {
  Vec3 centre, axis;
  double ring, tube;

  FieldSample at(const Vec3& p) const {
    const AxisPlace place(centre, axis, p);
    const double x = place.away - ring, r = std::sqrt(x * x + place.along * place.along);
    return {r - tube, direction(x * place.outward + place.along * axis, r, axis)};
  }
  Box3 boundsAt(double level) const {
    const Vec3 reach = ring * discExtent(axis);
    return grown({centre - reach, centre + reach}, tube + level);
  }
};

struct Cylinder {
  Vec3 centre, axis;
  double half, radius;

  FieldSample at(const Vec3& p) const {
    const AxisPlace place(centre, axis, p);
    const Vec3 end = place.along < 0 ? Vec3(-axis) : axis;
    const double x = place.away - radius, y = std::abs(place.along) - half;
    if (x <= 0 && y <= 0) return x > y ? FieldSample{x, place.outward} : FieldSample{y, end};
    const double outX = std::max(x, 0.0), outY = std::max(y, 0.0);
    const double r = std::sqrt(outX * outX + outY * outY);
    return {r, (outX * place.outward + outY * end) / r};
  }
  Box3 boundsAt(double level) const {
    const Vec3 reach = half * axis.cwiseAbs() + radius * discExtent(axis);
    return grown({centre - reach, centre + reach}, level);
  }
};

// (|p / radii| - 1) times the smallest radius.
struct Ellipsoid {
  Vec3 centre, radii;
  double smallest;

  FieldSample at(const Vec3& p) const {
    const Vec3 q = (p - centre).cwiseQuotient(radii);
    const double r = q.norm();
    return {(r - 1) * smallest, smallest * direction(q, r, Vec3::UnitX()).cwiseQuotient(radii)};
  }
  Box3 boundsAt(double level) const {
    const Vec3 reach = radii * (1 + level / smallest);
    return {centre - reach, centre + reach};
  }
};

}  // namespace

Box3 boundsAt(const Field& field, double level) {
  if (const auto* formula = dynamic_cast<const FormulaField*>(&field)) return formula->boundsAt(level);
  return grown(field.bounds(), level);
}

FieldPtr makeSphereField(const Vec3& centre, double radius) {
  checkFinite(centre, "a sphere's centre");
  checkSize(radius, "a sphere's radius");
  return makeFormula(Sphere{centre, radius});
}

FieldPtr makeBoxField(const Box3& box) {
  checkFinite(box.lower, "a box's corner");
  checkFinite(box.upper, "a box's corner");
  checkSize(box.extent().minCoeff(), "a box's shortest side");
  return makeFormula(RoundedBox{box.center(), 0.5 * box.extent(), 0});
}

FieldPtr makeRoundedBoxField(const Box3& box, double radius) {
  checkFinite(box.lower, "a box's corner");
  checkFinite(box.upper, "a box's corner");
  const double shortest = box.extent().minCoeff();
  checkSize(shortest, "a box's shortest side");
  checkSize(radius, "the radius of a box's edges");
  if (radius > shortest / 2)
    throw Error(ErrorKind::Usage,
                fmt::format("edges of radius {} do not fit a box of side {}", radius, shortest))
        .hint("the radius can be half the shortest side at most");
  return makeFormula(RoundedBox{box.center(), 0.5 * box.extent() - Vec3::Constant(radius), radius});
}

FieldPtr makePlaneField(const Vec3& normal, double offset) {
  const double length = normal.norm();
  checkSize(length, "the length of a plane's normal");
  if (!std::isfinite(offset)) throw Error(ErrorKind::Usage, "a plane's offset must be finite");
  return makeFormula(Plane{normal / length, offset / length});
}

FieldPtr makeCapsuleField(const Vec3& from, const Vec3& to, double radius) {
  checkFinite(from, "a capsule's end");
  checkFinite(to, "a capsule's end");
  checkSize(radius, "a capsule's radius");
  const Vec3 along = to - from;
  const double squared = along.squaredNorm();
  return makeFormula(Capsule{from, along, squared > 0 ? 1 / squared : 0, radius});
}

FieldPtr makeTorusField(const Vec3& centre, const Vec3& axis, double ring, double tube) {
  checkFinite(centre, "a torus' centre");
  checkSize(axis.norm(), "the length of a torus' axis");
  checkSize(ring, "a torus' radius");
  checkSize(tube, "the radius of a torus' tube");
  if (tube > ring)
    throw Error(ErrorKind::Usage,
                fmt::format("a torus of radius {} has no room for a tube of {}", ring, tube))
        .hint("the tube's radius can be the ring's at most");
  return makeFormula(Torus{centre, axis.normalized(), ring, tube});
}

FieldPtr makeCylinderField(const Vec3& from, const Vec3& to, double radius) {
  checkFinite(from, "a cylinder's end");
  checkFinite(to, "a cylinder's end");
  const double length = (to - from).norm();
  checkSize(length, "a cylinder's length");
  checkSize(radius, "a cylinder's radius");
  return makeFormula(Cylinder{0.5 * (from + to), (to - from) / length, length / 2, radius});
}

FieldPtr makeEllipsoidField(const Vec3& centre, const Vec3& radii) {
  checkFinite(centre, "an ellipsoid's centre");
  for (int d = 0; d < 3; ++d) checkSize(radii[d], "an ellipsoid's radius");
  return makeFormula(Ellipsoid{centre, radii, radii.minCoeff()});
}

}  // namespace sunder::sdf
