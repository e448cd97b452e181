// Flat walls by the closed form of specification 10, E.2: a map without a grid for tests of the solver.
#pragma once

#include "sunder/fluid/boundary/boundary.h"
#include "sunder/fluid/boundary/boundary_quadrature.h"

#include <memory>
#include <vector>

namespace sunder::fluid {

struct Wall {
  Vec3 normal;  // into the fluid
  double offset;
};

class WallMap : public BoundaryMap {
 public:
  // `shift` supports are added to the distance.
  WallMap(std::vector<Wall> walls, double support, double shift = 0.5)
      : walls_(std::move(walls)), support_(support), shift_(shift) {}
  void samples(std::span<const Vec4f> points, std::span<Vec4f> out) const override {
    for (size_t i = 0; i < points.size(); ++i) {
      Vec4 sum = Vec4::Zero();
      for (const Wall& wall : walls_) {
        const Vec3 p = points[i].head<3>().cast<double>();
        const PlaneDensity d = planeBoundaryDensity((wall.normal.dot(p) - wall.offset) / support_ + shift_);
        sum.head<3>() += d.slope / support_ * wall.normal;
        sum.w() += d.value;
      }
      out[i] = sum.cast<float>();
    }
  }
  void values(std::span<const Vec4f> points, std::span<float> out) const override {
    std::vector<Vec4f> all(points.size());
    samples(points, all);
    for (size_t i = 0; i < all.size(); ++i) out[i] = all[i].w();
  }
  Box3 bounds() const override { return {Vec3::Constant(-Box3::kInfinity), Vec3::Constant(Box3::kInfinity)}; }

 private:
  std::vector<Wall> walls_;
  double support_, shift_;
};

// The inside of a box.
inline BoundaryMapPtr tankMap(const Box3& box, double support, double shift = 0.5) {
  std::vector<Wall> walls;
  for (int d = 0; d < 3; ++d) {
    walls.push_back({Vec3::Unit(d), box.lower[d]});
    walls.push_back({-Vec3::Unit(d), -box.upper[d]});
  }
  return std::make_shared<const WallMap>(walls, support, shift);
}

}  // namespace sunder::fluid
