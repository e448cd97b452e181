// Smooth outlines in (r, y), made of cubic Bezier pieces, and their sampling. Private to the room.
//
// sample() spreads nodes so that each step has the same sum of its share of the length and its share of the
// turning; corners between pieces always get a node. Cost: linear in pieces and nodes.
#pragma once

#include "sunder/base/math.h"

#include <array>
#include <vector>

namespace sunder::shapes {

struct Bezier {
  std::array<Vec2, 4> p;

  Vec2 at(double u) const;
  Vec2 tangent(double u) const;  // unit; the control points may not all coincide
};

std::array<Bezier, 2> splitBezier(const Bezier& curve, double u);

struct CurveNode {
  Vec2 point;
  Vec2 tangent;                                               // unit, in the direction of travel
  Vec2 right() const { return {tangent.y(), -tangent.x()}; }  // away from the axis where the curve climbs
};

class ProfileCurve {
 public:
  explicit ProfileCurve(const Vec2& start) : end_(start) {}

  ProfileCurve& line(const Vec2& to);
  ProfileCurve& curve(const Vec2& control1, const Vec2& control2, const Vec2& to);
  // A quarter of an ellipse that leaves along the corner's first leg and arrives along its second.
  ProfileCurve& round(const Vec2& corner, const Vec2& to);

  const Vec2& end() const { return end_; }
  // At least `steps` steps, more where corners need them; the first and the last node are the ends.
  std::vector<CurveNode> sample(int steps) const;

 private:
  std::vector<Bezier> pieces_;
  Vec2 end_;
};

}  // namespace sunder::shapes
