// Axis-aligned boxes. An empty box has lower > upper, so that merging starts from it; boxes that touch
// overlap.
#pragma once

#include "sunder/base/math.h"

#include <limits>

namespace sunder {

template <class Scalar>
struct BoxT {
  using Vector = Eigen::Matrix<Scalar, 3, 1>;
  static constexpr Scalar kInfinity = std::numeric_limits<Scalar>::infinity();

  Vector lower = Vector::Constant(kInfinity);
  Vector upper = Vector::Constant(-kInfinity);

  bool empty() const { return lower.x() > upper.x() || lower.y() > upper.y() || lower.z() > upper.z(); }
  Vector center() const { return Scalar(0.5) * lower + Scalar(0.5) * upper; }
  Vector extent() const { return upper - lower; }
  Scalar diagonal() const { return empty() ? Scalar(0) : extent().norm(); }

  void grow(const Vector& point) {
    lower = lower.cwiseMin(point);
    upper = upper.cwiseMax(point);
  }
  void grow(const BoxT& other) {
    lower = lower.cwiseMin(other.lower);
    upper = upper.cwiseMax(other.upper);
  }
  bool contains(const Vector& point) const {
    return (lower.array() <= point.array()).all() && (point.array() <= upper.array()).all();
  }
  bool operator==(const BoxT& other) const { return lower == other.lower && upper == other.upper; }
};

using Box3 = BoxT<double>;
using Box3f = BoxT<float>;

template <class Scalar>
bool overlap(const BoxT<Scalar>& a, const BoxT<Scalar>& b) {
  return (a.lower.array() <= b.upper.array()).all() && (b.lower.array() <= a.upper.array()).all();
}

}  // namespace sunder
