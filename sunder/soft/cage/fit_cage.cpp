#include "sunder/soft/cage/fit_cage.h"

#include "sunder/base/stop.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/spatial/tree/tree_query.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace sunder::soft {

namespace {

constexpr int kFitRounds = 3;

class CageFitter {
 public:
  CageFitter(const ClipSurface& surface, const Solid& solid, double margin, geometry::TetMesh& cage)
      : surface_(surface), solid_(solid), margin_(margin), cage_(cage) {
    const geometry::TetBoundary boundary = geometry::boundarySurface(cage);
    const size_t n = cage.positions.size();
    tets_ = geometry::groupBy<uint32_t>(
        4 * cage.tets.size(), n, [&](size_t i) { return cage.tets[i / 4][i % 4]; },
        [](size_t i) { return uint32_t(i / 4); });
    const auto& outside = boundary.surface.triangles;
    faces_ = geometry::groupBy<std::array<uint32_t, 2>>(
        3 * outside.size(), n, [&](size_t i) { return boundary.vertexSource[outside[i / 3][i % 3]]; },
        [&](size_t i) {
          const geometry::Triangle& t = outside[i / 3];
          return std::array<uint32_t, 2>{boundary.vertexSource[t[(i % 3 + 1) % 3]],
                                         boundary.vertexSource[t[(i % 3 + 2) % 3]]};
        });
  }

  uint32_t run() {
    std::vector<uint8_t> moved(cage_.positions.size(), 0);
    for (int round = 0; round < kFitRounds; ++round) {
      bool any = false;
      for (uint32_t v = 0; v < cage_.positions.size(); ++v) {
        if (faces_.row(v).empty()) continue;
        checkStop();
        if (!moveVertex(v)) continue;
        moved[v] = 1;
        any = true;
      }
      if (!any) break;
    }
    return uint32_t(std::count(moved.begin(), moved.end(), uint8_t(1)));
  }

 private:
  double quality(uint32_t tet) const {
    const geometry::Tetrahedron& t = cage_.tets[tet];
    return meanRatio(cage_.positions[t[0]], cage_.positions[t[1]], cage_.positions[t[2]],
                     cage_.positions[t[3]]);
  }

  // Whether the tetrahedron (a, b, c, d), of either winding, holds a part of the surface.
  bool holdsSurface(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
    geometry::TetMesh& swept = swept_;
    swept.positions = {a, b, c, d};
    swept.tets = {{0, 1, 2, 3}};
    const double volume = geometry::signedVolume(a, b, c, d);
    if (volume == 0) return false;
    if (volume < 0) std::swap(swept.tets[0][2], swept.tets[0][3]);
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    Box3f box;
    for (const Vec3& p : swept.positions)
      for (int k = 0; k < 3; ++k) {
        const float x = static_cast<float>(p[k]);
        box.lower[k] = std::min(box.lower[k], std::nextafter(x, -kInfinity));
        box.upper[k] = std::max(box.upper[k], std::nextafter(x, kInfinity));
      }
    candidates_.clear();
    uint64_t tests = 0;
    spatial::kernels::overlappingPrimitives(solid_.query().tree(), box, candidates_, tests);
    return std::any_of(candidates_.begin(), candidates_.end(),
                       [&](uint32_t t) { return clipTriangle(surface_, t, swept, 0).size != 0; });
  }

  bool moveVertex(uint32_t v) {
    const Vec3 from = cage_.positions[v];
    const spatial::ClosestPoint closest = solid_.query().closest(from);
    const double distance = std::sqrt(closest.squaredDistance);
    if (!(distance > 2 * margin_)) return false;
    const Vec3 way = (closest.point - from) / distance;
    for (const double share : {1.0, 0.7, 0.45, 0.25}) {
      const double length = share * (distance - margin_);
      if (length < 0.02 * distance) break;
      const Vec3 to = from + length * way, beyond = to + margin_ * way;
      if (!keepsQuality(v, to)) continue;
      const bool blocked = std::any_of(faces_.row(v).begin(), faces_.row(v).end(), [&](const auto& other) {
        return holdsSurface(from, beyond, cage_.positions[other[0]], cage_.positions[other[1]]);
      });
      if (blocked) continue;
      cage_.positions[v] = to;
      return true;
    }
    return false;
  }

  bool keepsQuality(uint32_t v, const Vec3& to) {
    const Vec3 from = cage_.positions[v];
    for (const uint32_t t : tets_.row(v)) {
      const double before = quality(t);
      cage_.positions[v] = to;
      const double after = quality(t);
      cage_.positions[v] = from;
      if (after < std::min(before, kLeastQuality)) return false;
    }
    return true;
  }

  const ClipSurface& surface_;
  const Solid& solid_;
  double margin_;
  geometry::TetMesh& cage_;
  geometry::Rows tets_;                              // by vertex
  geometry::RowsOf<std::array<uint32_t, 2>> faces_;  // by vertex: the other two of its faces outside
  geometry::TetMesh swept_;
  std::vector<uint32_t> candidates_;
};

}  // namespace

double meanRatio(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  const double volume = geometry::signedVolume(a, b, c, d);
  if (!(volume > 0)) return 0;
  const double edges = (b - a).squaredNorm() + (c - a).squaredNorm() + (d - a).squaredNorm() +
                       (c - b).squaredNorm() + (d - b).squaredNorm() + (d - c).squaredNorm();
  const double root = std::cbrt(3 * volume);
  return 12 * root * root / edges;
}

uint32_t fitCage(const ClipSurface& surface, const Solid& solid, double margin, geometry::TetMesh& cage) {
  return CageFitter(surface, solid, margin, cage).run();
}

}  // namespace sunder::soft
