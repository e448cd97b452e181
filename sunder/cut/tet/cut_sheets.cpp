#include "sunder/cut/tet/cut_sheets.h"

#include "sunder/base/error.h"
#include "sunder/geometry/predicates.h"
#include "sunder/geometry/rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace sunder::cut {

using geometry::u32;

uint32_t CutSheets::add(const geometry::TriMesh& sheet) {
  for (size_t v = 0; v < sheet.positions.size(); ++v)
    if (!(sheet.positions[v].cwiseAbs().maxCoeff() <= 1e37) || !sheet.positions[v].allFinite())
      throw Error(ErrorKind::Geometry, fmt::format("sheet: vertex {} is not finite or beyond 1e37", v));
  for (size_t f = 0; f < sheet.triangles.size(); ++f)
    for (const uint32_t v : sheet.triangles[f])
      if (v >= sheet.positions.size())
        throw Error(ErrorKind::Geometry, fmt::format("sheet: face {} refers to vertex {}, but there are {}",
                                                     f, v, sheet.positions.size()));
  for (const geometry::Triangle& t : sheet.triangles) {
    geometry::Triangle named;
    for (size_t k = 0; k < 3; ++k) {
      const Vec3& p = sheet.positions[t[k]];
      const auto [entry, added] = numberOf_.try_emplace({p.x(), p.y(), p.z()}, u32(points_.size()));
      if (added) points_.push_back(p);
      named[k] = entry->second;
    }
    triangles_.push_back(named);
    const Vec3 &a = points_[named[0]], &b = points_[named[1]], &c = points_[named[2]];
    const int axis = geometry::normalAxis(a, b, c);
    axis_.push_back(static_cast<int8_t>(axis));
    turn_.push_back(static_cast<int8_t>(axis < 0 ? 0 : geometry::sign(geometry::orient2d(a, b, c, axis))));
    planes_.emplace_back(corners(u32(triangles_.size() - 1)));
  }
  first_.push_back(u32(triangles_.size()));
  return sheets() - 1;
}

// Its points stay.
void CutSheets::removeLast() {
  first_.pop_back();
  triangles_.resize(first_.back());
  axis_.resize(first_.back());
  turn_.resize(first_.back());
  planes_.erase(planes_.begin() + first_.back(), planes_.end());
}

uint32_t CutSheets::sheetOf(uint32_t face) const {
  return u32(std::upper_bound(first_.begin(), first_.end(), face) - first_.begin()) - 1;
}

bool CutSheets::clearlyMisses(uint32_t face, const std::array<Vec3, 4>& tet) const {
  const geometry::Triangle& t = triangles_[face];
  const Vec3& a = points_[t[0]];
  const Vec3 u = points_[t[1]] - a, v = points_[t[2]] - a, n = u.cross(v);
  const double length = n.norm(), sides = u.norm() * v.norm();
  // The normal of a thin triangle is not good enough to tell by.
  if (!(length > 1e-5 * sides) || !(length > 1e-280)) return false;
  double least = std::numeric_limits<double>::infinity(), most = -least, far = 0;
  for (const Vec3& p : tet) {
    const Vec3 d = p - a;
    const double side = n.dot(d);
    least = std::min(least, side);
    most = std::max(most, side);
    far = std::max(far, d.norm());
  }
  const double margin = 1e-9 * length * far;
  return least > margin || most < -margin;
}

}  // namespace sunder::cut
