#include "sunder/fluid/boundary/sampled_map.h"

#include "sunder/base/bounds.h"
#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/fluid/boundary/sampled_map_kernel.h"
#include "sunder/fluid/kernel.h"
#include "sunder/spatial/points/point_grid.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/core.h>

namespace sunder::fluid {

SampledMap::SampledMap(std::span<const Vec3> particles, double support)
    : count_(particles.size()), support_(float(support)) {
  if (!(support > 0) || !std::isfinite(support) || particles.empty())
    throw Error(ErrorKind::Usage,
                fmt::format("{} boundary particles for a support of {} m", particles.size(), support));
  bounds_ = boundsOf(particles);
  const Vec3 extent = bounds_.extent() / support;
  if (!(extent.array() + 1).isFinite().all() || (extent.array() + 1).prod() > kMostCells)
    throw Error(ErrorKind::Limit, "boundary particles are spread too far for the support of the fluid")
        .hint("larger particles, or maps");
  lower_ = bounds_.lower.cast<float>();
  for (int k = 0; k < 3; ++k) cells_[k] = int32_t(extent[k]) + 1;
  bounds_.lower.array() -= support;
  bounds_.upper.array() += support;

  std::vector<float> volume(count_);
  spatial::NeighbourRows rows;
  spatial::pointNeighbours(particles, support, rows);
  const CubicKernel kernel(support);
  parallelFor(count_, [&](size_t i) {
    double sum = kernel.value(0);
    for (const uint32_t j : rows.row(i)) sum += kernel.value((particles[i] - particles[j]).norm());
    volume[i] = float(1 / sum);
  });

  std::vector<uint32_t> cell(count_), order(count_);
  const float perCell = 1 / support_;
  for (size_t i = 0; i < count_; ++i) {
    int32_t c[3];
    for (int k = 0; k < 3; ++k)
      c[k] = std::clamp(int32_t((float(particles[i][k]) - lower_[k]) * perCell), 0, cells_[k] - 1);
    cell[i] = uint32_t((c[2] * cells_[1] + c[1]) * cells_[0] + c[0]);
  }
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return cell[a] < cell[b]; });
  start_.assign(size_t(cells_[0]) * size_t(cells_[1]) * size_t(cells_[2]) + 1, 0);
  for (const uint32_t c : cell) ++start_[c + 1];
  std::partial_sum(start_.begin(), start_.end(), start_.begin());
  for (std::vector<float>* array : {&x_, &y_, &z_, &volume_}) array->assign(count_ + 8, 0);
  for (size_t s = 0; s < count_; ++s) {
    x_[s] = float(particles[order[s]].x());
    y_[s] = float(particles[order[s]].y());
    z_[s] = float(particles[order[s]].z());
    volume_[s] = volume[order[s]];
  }
}

size_t SampledMap::bytes() const { return 4 * x_.size() * sizeof(float) + start_.size() * sizeof(uint32_t); }

void SampledMap::samples(std::span<const Vec4f> points, std::span<Vec4f> out) const {
  const kernels::ParticleRuns particles{x_.data(), y_.data(), z_.data(), volume_.data(), support_};
  const float perCell = 1 / support_;
  for (size_t i = 0; i < points.size(); ++i) {
    out[i].setZero();
    int32_t c[3];
    bool near = true;
    for (int k = 0; k < 3; ++k) {
      const float at = (points[i][k] - lower_[k]) * perCell;
      near = near && at >= -1 && at <= float(cells_[k] + 1);
      c[k] = near ? int32_t(std::floor(at)) : 0;
    }
    if (!near) continue;
    // Cells along x are one run.
    const int32_t left = std::max(c[0] - 1, 0), right = std::min(c[0] + 1, cells_[0] - 1);
    if (left > right) continue;
    kernels::ParticleRun runs[9];
    size_t count = 0;
    for (int32_t z = std::max(c[2] - 1, 0); z <= std::min(c[2] + 1, cells_[2] - 1); ++z)
      for (int32_t y = std::max(c[1] - 1, 0); y <= std::min(c[1] + 1, cells_[1] - 1); ++y) {
        const size_t row = size_t(z * cells_[1] + y) * size_t(cells_[0]);
        const kernels::ParticleRun run{start_[row + size_t(left)], start_[row + size_t(right) + 1]};
        if (run.begin < run.end) runs[count++] = run;
      }
    if (count > 0) out[i] = kernels::sumRuns(particles, points[i], runs, count);
  }
}

void SampledMap::values(std::span<const Vec4f> points, std::span<float> out) const {
  std::vector<Vec4f> all(points.size());
  samples(points, all);
  for (size_t i = 0; i < all.size(); ++i) out[i] = all[i].w();
}

}  // namespace sunder::fluid
