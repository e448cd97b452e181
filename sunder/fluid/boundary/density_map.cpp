#include "sunder/fluid/boundary/density_map.h"

#include "sunder/base/error.h"
#include "sunder/fluid/boundary/boundary_quadrature.h"
#include "sunder/fluid/boundary/density_map_build.h"
#include "sunder/fluid/boundary/density_map_kernel.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace sunder::fluid {

namespace {

// Settings with the cell filled in.
DensityMapSettings checked(DensityMapSettings s) {
  if (!(s.support > 0) || !std::isfinite(s.support))
    throw Error(ErrorKind::Usage, fmt::format("a boundary map for a kernel support of {} m", s.support))
        .hint("the support of a fluid is twice the diameter of its particles");
  if (s.cell == 0) s.cell = 0.5 * s.support;
  if (!(s.cell > 0) || !(s.cell <= s.support))
    throw Error(ErrorKind::Usage,
                fmt::format("cells of {} m for a boundary map with a support of {} m", s.cell, s.support))
        .hint("take a half or a quarter of the support");
  if (!(s.offset >= -1 && s.offset <= 1))
    throw Error(ErrorKind::Usage, fmt::format("a boundary map with an offset of {} supports", s.offset))
        .hint("0.5 puts the wall on the geometry, less is farther from it; -1 to 1 are possible");
  return s;
}

}  // namespace

// In the middle of a plate of thickness 2m the profile 1 - offset + m - |s| is averaged by the kernel, which
// makes 1 - offset + m - 2 G(1) where it is not cut off, that is for offset <= m.
double thinWallOffset(double thickness, double support) {
  constexpr double kTop = 1.1;
  const double half = 0.5 * std::max(thickness, 0.0) / support;
  return std::min(0.5, 1 - kTop + half - 2 * planeBoundaryDensity(1).value);
}

DensityMap::DensityMap(const sdf::Field& field, const Box3& domain, const DensityMapSettings& settings)
    : settings_(checked(settings)) {
  if (domain.empty() || !domain.lower.allFinite() || !domain.upper.allFinite())
    throw Error(ErrorKind::Usage, "a boundary map needs a domain with finite, ordered corners")
        .hint("the box that particles can come to");
  MapParts parts = buildDensityMap(field, domain, settings_);
  report_ = parts.report;
  bounds_ = parts.bounds;
  codes_ = std::move(parts.codes);
  nodes_ = std::move(parts.nodes);
  deep_ = std::move(parts.deep);
}

size_t DensityMap::bytes() const {
  return codes_.size() * sizeof(int32_t) + nodes_.size() * sizeof(MapCell) + deep_.size() * sizeof(Vec4f);
}

kernels::MapView DensityMap::view() const {
  kernels::MapView view;
  for (int d = 0; d < 3; ++d) {
    view.lower[d] = float(bounds_.lower[d]);
    view.cells[d] = int32_t(report_.cells[size_t(d)]);
  }
  view.perCell = float(1 / settings_.cell);
  view.cell = float(settings_.cell);
  view.codes = codes_.data();
  view.nodes = nodes_.empty() ? nullptr : nodes_.front().values;
  view.deep = deep_.empty() ? nullptr : deep_.front().data();
  return view;
}

void DensityMap::samples(std::span<const Vec4f> points, std::span<Vec4f> out) const {
  sdf::requireSameSize(points.size(), out.size());
  if (codes_.empty())
    std::fill(out.begin(), out.end(), Vec4f::Zero());
  else if (!points.empty())
    kernels::mapSamples(view(), points.front().data(), points.size(), out.front().data());
}

void DensityMap::values(std::span<const Vec4f> points, std::span<float> out) const {
  sdf::requireSameSize(points.size(), out.size());
  if (codes_.empty())
    std::fill(out.begin(), out.end(), 0.0f);
  else if (!points.empty())
    kernels::mapValues(view(), points.front().data(), points.size(), out.data());
}

PlaneMap::PlaneMap(const Vec3& normal, double planeOffset, const DensityMapSettings& settings) {
  const DensityMapSettings s = checked(settings);
  const double length = normal.norm();
  if (!(length > 0) || !std::isfinite(length) || !std::isfinite(planeOffset))
    throw Error(ErrorKind::Usage, "a plane needs a finite normal that is not zero, and a finite offset");
  const double scale = (s.outside ? -1 : 1) / (length * s.support);
  slope_ = scale * normal;
  constant_ = s.offset - scale * planeOffset;
}

void PlaneMap::samples(std::span<const Vec4f> points, std::span<Vec4f> out) const {
  sdf::requireSameSize(points.size(), out.size());
  for (size_t i = 0; i < points.size(); ++i) {
    const Vec3 p = points[i].head<3>().cast<double>();
    const PlaneDensity density = planeBoundaryDensity(slope_.dot(p) + constant_);
    out[i].head<3>() = (density.slope * slope_).cast<float>();
    out[i][3] = float(density.value);
  }
}

void PlaneMap::values(std::span<const Vec4f> points, std::span<float> out) const {
  sdf::requireSameSize(points.size(), out.size());
  for (size_t i = 0; i < points.size(); ++i) {
    const Vec3 p = points[i].head<3>().cast<double>();
    out[i] = float(planeBoundaryDensity(slope_.dot(p) + constant_).value);
  }
}

}  // namespace sunder::fluid
