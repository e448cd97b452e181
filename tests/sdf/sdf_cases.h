// Fields with a formula, for tests of the room.
#pragma once

#include "sunder/sdf/field.h"
#include "sunder/sdf/hp/hp_build.h"

#include <cmath>
#include <functional>
#include <utility>

namespace sunder::sdf {

// Any function of a point; the gradient by central differences.
class FunctionField : public Field {
 public:
  FunctionField(std::function<double(const Vec3&)> f, const Box3& bounds)
      : f_(std::move(f)), bounds_(bounds) {}
  void values(std::span<const Vec3> points, std::span<double> out) const override {
    for (size_t i = 0; i < points.size(); ++i) out[i] = f_(points[i]);
  }
  void samples(std::span<const Vec3> points, std::span<FieldSample> out) const override {
    for (size_t i = 0; i < points.size(); ++i) {
      out[i].value = f_(points[i]);
      for (int d = 0; d < 3; ++d) {
        Vec3 step = Vec3::Zero();
        step[d] = 1e-6;
        out[i].gradient[d] = (f_(points[i] + step) - f_(points[i] - step)) / 2e-6;
      }
    }
  }
  Box3 bounds() const override { return bounds_; }

 private:
  std::function<double(const Vec3&)> f_;
  Box3 bounds_;
};

inline FunctionField torusField() {
  return {[](const Vec3& p) { return std::hypot(std::hypot(p.x(), p.z()) - 0.7, p.y()) - 0.3; },
          {{-1, -0.3, -1}, {1, 0.3, 1}}};
}

inline FunctionField boxField() {
  const Vec3 half(0.7, 0.5, 0.9);
  return {[half](const Vec3& p) {
            const Vec3 q = p.cwiseAbs() - half;
            return q.cwiseMax(0.0).norm() + std::min(q.maxCoeff(), 0.0);
          },
          {-half, half}};
}

inline constexpr double kVolume = 2.2 * 2.2 * 2.2;
inline Box3 testDomain() { return {Vec3::Constant(-1.1), Vec3::Constant(1.1)}; }

// The settings of the specification's reference table, for a squared error integrated over the domain.
inline HpSettings tableSettings(double tau) {
  HpSettings s;
  s.domain = testDomain();
  s.base = {4, 4, 4};
  s.guard = 0;
  s.stop = HpStop::Estimate;
  s.error = std::sqrt(tau / kVolume);
  return s;
}

inline double squared(double rms) { return rms * rms * kVolume; }

}  // namespace sunder::sdf
