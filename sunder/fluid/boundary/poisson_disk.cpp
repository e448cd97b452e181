#include "sunder/fluid/boundary/poisson_disk.h"

#include "sunder/base/bounds.h"
#include "sunder/base/error.h"
#include "sunder/base/random.h"
#include "sunder/geometry/mesh_view.h"
#include "sunder/sdf/point_samples.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include <fmt/core.h>

namespace sunder::fluid {

namespace {

constexpr double kDarts = 20;  // for each square of the spacing
constexpr uint64_t kOrderStream = 3;
constexpr uint32_t kNone = ~uint32_t(0);

// Cells as wide as the spacing that darts fall into, and which of the 27 around each there are.
class DartCells {
 public:
  DartCells(const std::vector<sdf::SurfaceSample>& darts, double edge) : edge_(edge) {
    Box3 box;
    for (const sdf::SurfaceSample& dart : darts) box.grow(dart.point);
    lower_ = box.lower;
    keys_.reserve(darts.size());
    for (const sdf::SurfaceSample& dart : darts) keys_.push_back(key(coordinates(dart.point)));
    std::sort(keys_.begin(), keys_.end());
    keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
    around_.resize(27 * keys_.size(), kNone);
    last_.assign(keys_.size(), kNone);
    for (size_t cell = 0; cell < keys_.size(); ++cell)
      for (int n = 0; n < 27; ++n)
        around_[27 * cell + size_t(n)] =
            find(keys_[cell] + key({uint64_t(n % 3), uint64_t(n / 3 % 3), uint64_t(n / 9)}) - key({1, 1, 1}));
  }

  uint32_t cellOf(const Vec3& point) const { return find(key(coordinates(point))); }
  std::span<const uint32_t> around(uint32_t cell) const { return {around_.data() + 27 * size_t(cell), 27}; }
  uint32_t& last(uint32_t cell) { return last_[cell]; }  // that stuck in the cell

 private:
  using Coordinates = std::array<uint64_t, 3>;
  // From 1 on, so that there are numbers below.
  Coordinates coordinates(const Vec3& point) const {
    Coordinates c;
    for (int k = 0; k < 3; ++k) c[size_t(k)] = uint64_t((point[k] - lower_[k]) / edge_) + 1;
    return c;
  }
  static uint64_t key(const Coordinates& c) { return (c[2] << 42) + (c[1] << 21) + c[0]; }
  uint32_t find(uint64_t key) const {
    const auto at = std::lower_bound(keys_.begin(), keys_.end(), key);
    return at != keys_.end() && *at == key ? uint32_t(at - keys_.begin()) : kNone;
  }

  double edge_;
  Vec3 lower_;
  std::vector<uint64_t> keys_;
  std::vector<uint32_t> around_, last_;
};

}  // namespace

std::vector<sdf::SurfaceSample> poissonDiskSamples(const geometry::TriMesh& mesh, double spacing,
                                                   uint64_t seed) {
  if (!(spacing > 0) || !std::isfinite(spacing))
    throw Error(ErrorKind::Usage, fmt::format("boundary particles {} m apart", spacing));
  const double count = std::ceil(kDarts * geometry::surfaceArea(mesh) / (spacing * spacing));
  const Box3 box = boundsOf(mesh.positions);
  if (count > kMostDarts || box.extent().maxCoeff() > 1e6 * spacing)
    throw Error(ErrorKind::Limit,
                fmt::format("a surface of {:.3g} m2 is too large for particles {:.3g} m apart",
                            geometry::surfaceArea(mesh), spacing))
        .hint("larger particles, or maps");
  const std::vector<sdf::SurfaceSample> darts =
      sdf::scatterOnSurface(mesh, size_t(std::max(count, kDarts)), seed);
  // They come triangle by triangle; thrown in that order they would line up.
  std::vector<std::pair<uint32_t, uint32_t>> order(darts.size());
  const RandomStream random(seed, kOrderStream);
  for (size_t i = 0; i < order.size(); ++i) order[i] = {random.at(i), uint32_t(i)};
  std::sort(order.begin(), order.end());

  DartCells cells(darts, spacing);
  std::vector<sdf::SurfaceSample> stuck;
  std::vector<uint32_t> before;  // in the same cell
  for (const auto& [key, dart] : order) {
    const Vec3& p = darts[dart].point;
    const uint32_t cell = cells.cellOf(p);
    bool free = true;
    for (const uint32_t near : cells.around(cell)) {
      if (near == kNone) continue;
      for (uint32_t s = cells.last(near); s != kNone && free; s = before[s])
        free = (stuck[s].point - p).squaredNorm() >= spacing * spacing;
      if (!free) break;
    }
    if (!free) continue;
    before.push_back(cells.last(cell));
    cells.last(cell) = uint32_t(stuck.size());
    stuck.push_back(darts[dart]);
  }
  return stuck;
}

std::vector<Vec3> poissonDisk(const geometry::TriMesh& mesh, double spacing, uint64_t seed) {
  std::vector<Vec3> points;
  for (const sdf::SurfaceSample& sample : poissonDiskSamples(mesh, spacing, seed))
    points.push_back(sample.point);
  return points;
}

}  // namespace sunder::fluid
