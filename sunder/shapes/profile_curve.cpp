#include "sunder/shapes/profile_curve.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace sunder::shapes {

namespace {

constexpr int kParts = 64;  // of each piece, for length and turning
constexpr double kCorner = 0.01;

double angleBetween(const Vec2& a, const Vec2& b) {
  return std::abs(std::atan2(a.x() * b.y() - a.y() * b.x(), a.dot(b)));
}

}  // namespace

Vec2 Bezier::at(double u) const {
  const double v = 1 - u;
  return v * v * v * p[0] + 3 * u * v * v * p[1] + 3 * u * u * v * p[2] + u * u * u * p[3];
}

Vec2 Bezier::tangent(double u) const {
  const double v = 1 - u;
  const Vec2 d = v * v * (p[1] - p[0]) + 2 * u * v * (p[2] - p[1]) + u * u * (p[3] - p[2]);
  const double length = d.norm();
  return length > 0 ? Vec2(d / length) : Vec2((p[3] - p[0]).normalized());
}

std::array<Bezier, 2> splitBezier(const Bezier& curve, double u) {  // de Casteljau
  auto mix = [u](const Vec2& a, const Vec2& b) -> Vec2 { return (1 - u) * a + u * b; };
  const Vec2 a = mix(curve.p[0], curve.p[1]), b = mix(curve.p[1], curve.p[2]),
             c = mix(curve.p[2], curve.p[3]);
  const Vec2 ab = mix(a, b), bc = mix(b, c), middle = mix(ab, bc);
  return {Bezier{{curve.p[0], a, ab, middle}}, Bezier{{middle, bc, c, curve.p[3]}}};
}

ProfileCurve& ProfileCurve::line(const Vec2& to) {
  return curve(end_ + (to - end_) / 3, end_ + (to - end_) * (2.0 / 3), to);
}

ProfileCurve& ProfileCurve::curve(const Vec2& control1, const Vec2& control2, const Vec2& to) {
  pieces_.push_back({{end_, control1, control2, to}});
  end_ = to;
  return *this;
}

ProfileCurve& ProfileCurve::round(const Vec2& corner, const Vec2& to) {
  const double k = 4.0 / 3 * (std::sqrt(2.0) - 1);  // the cubic that meets the quarter circle in its middle
  return curve(end_ + k * (corner - end_), to + k * (corner - to), to);
}

std::vector<CurveNode> ProfileCurve::sample(int steps) const {
  assert(!pieces_.empty());
  const size_t count = pieces_.size() * kParts;
  std::vector<double> length(count), turning(count);
  double totalLength = 0, totalTurning = 0;
  for (size_t i = 0; i < count; ++i) {
    const Bezier& piece = pieces_[i / kParts];
    const double u0 = static_cast<double>(i % kParts) / kParts,
                 u1 = static_cast<double>(i % kParts + 1) / kParts;
    length[i] = (piece.at(u1) - piece.at(u0)).norm();
    turning[i] = angleBetween(piece.tangent(u0), piece.tangent(u1));
    totalLength += length[i];
    totalTurning += turning[i];
  }
  std::vector<double> measure(count + 1, 0.0);  // runs from 0 to about 1
  for (size_t i = 0; i < count; ++i)
    measure[i + 1] =
        measure[i] + (totalTurning > 1e-9 ? 0.5 * (length[i] / totalLength + turning[i] / totalTurning)
                                          : length[i] / totalLength);

  std::vector<CurveNode> nodes{{pieces_[0].p[0], pieces_[0].tangent(0)}};
  for (size_t first = 0; first < pieces_.size();) {
    size_t last = first;  // the smooth run of pieces [first, last]
    while (last + 1 < pieces_.size() &&
           angleBetween(pieces_[last].tangent(1), pieces_[last + 1].tangent(0)) < kCorner)
      ++last;
    const double from = measure[first * kParts], to = measure[(last + 1) * kParts];
    const int runSteps = std::max(1, static_cast<int>(std::lround(steps * (to - from) / measure.back())));
    size_t part = first * kParts;
    for (int k = 1; k < runSteps; ++k) {
      const double target = from + (to - from) * k / runSteps;
      while (part + 1 < (last + 1) * kParts && measure[part + 1] < target) ++part;
      const double inside =
          std::clamp((target - measure[part]) / (measure[part + 1] - measure[part]), 0.0, 1.0);
      const double u = (static_cast<double>(part % kParts) + inside) / kParts;
      nodes.push_back({pieces_[part / kParts].at(u), pieces_[part / kParts].tangent(u)});
    }
    nodes.push_back({pieces_[last].p[3], pieces_[last].tangent(1)});
    first = last + 1;
  }
  return nodes;
}

}  // namespace sunder::shapes
