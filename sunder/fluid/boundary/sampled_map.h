// Boundaries of particles (Akinci et al. 2012), behind the interface of maps: for comparison with density
// maps. Particles cover the surface of a body (poisson_disk.h) and stand for the volumes V_b = 1 / sum W, so
// that crowded ones count less; they add sum V_b W to the density of fluid nearby and sum V_b grad W to its
// gradient. Particles keep still in the frame of the body, so both sums are taken once a step; what the body
// adds at the end of the step is predicted from them, as published (exact() is false).
//
// The fluid's side is not known to particles on a surface: deep inside of a body nothing pushes out.
//
// Cost: some 100 ns a point near the surface, by a grid of cells as wide as the support. Memory: 16 bytes a
// particle and 4 a cell. Immutable; the same bits for any number of threads and on every vector target.
#pragma once

#include "sunder/fluid/boundary/boundary.h"

#include <span>
#include <vector>

namespace sunder::fluid {

class SampledMap : public BoundaryMap {
 public:
  // Throws Error (Usage) for a support that is not positive or no particles, (Limit) for particles that are
  // spread over more than kMostCells.
  SampledMap(std::span<const Vec3> particles, double support);

  static constexpr double kMostCells = double(1 << 28);

  void samples(std::span<const Vec4f> points, std::span<Vec4f> out) const override;
  void values(std::span<const Vec4f> points, std::span<float> out) const override;
  Box3 bounds() const override { return bounds_; }
  bool exact() const override { return false; }

  size_t size() const { return count_; }
  double volume(size_t particle) const { return double(volume_[particle]); }  // in the order of cells
  size_t bytes() const;

 private:
  size_t count_;
  float support_;
  Box3 bounds_;
  Vec3f lower_;  // of the grid
  int32_t cells_[3] = {};
  std::vector<uint32_t> start_;            // by cell, x first
  std::vector<float> x_, y_, z_, volume_;  // by cell; eight more of no volume
};

}  // namespace sunder::fluid
