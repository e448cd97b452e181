#include "sunder/geometry/triangulate.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/geometry/ear_clipping.h"
#include "sunder/geometry/predicates.h"

#include <numeric>

namespace sunder::geometry {

namespace {

std::vector<uint32_t> countedRing(size_t count) {
  std::vector<uint32_t> ring(count);
  std::iota(ring.begin(), ring.end(), 0u);
  return ring;
}

// The axis to look along: the normal's largest component by Newell's sums, or the smallest extent without
// area.
int viewAxis(std::span<const Vec3> polygon) {
  Vec3 normal = Vec3::Zero(), low = polygon[0], high = polygon[0];
  for (size_t i = 1; i + 1 < polygon.size(); ++i) {
    normal += (0.5 * polygon[i] - 0.5 * polygon[0]).cross(0.5 * polygon[i + 1] - 0.5 * polygon[0]);
  }
  for (const Vec3& p : polygon) {
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  int axis = 0;
  if (normal.allFinite() && normal != Vec3::Zero()) {
    normal.cwiseAbs().maxCoeff(&axis);
  } else {
    (0.5 * high - 0.5 * low).minCoeff(&axis);
  }
  return axis;
}

// Two triangles for a proper quadrilateral, along the shorter diagonal where both are inside. False: not
// proper.
bool splitQuad(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d, std::array<Triangle, 2>& out) {
  const Vec3 ac = c - a, bd = d - b, normal = ac.cross(bd);
  int axis = 0;
  normal.cwiseAbs().maxCoeff(&axis);
  const double facing = normal[axis];
  if (!(std::abs(facing) > 0) || !std::isfinite(facing)) return false;
  auto positive = [&](const Vec3& p, const Vec3& q, const Vec3& r) {
    const double turn = orient2d(p, q, r, axis);
    return facing > 0 ? turn > 0 : turn < 0;
  };
  const bool alongAc = positive(a, b, c) && positive(a, c, d);
  const bool alongBd = positive(a, b, d) && positive(b, c, d);
  if (!alongAc && !alongBd) return false;
  if (alongAc && (!alongBd || ac.squaredNorm() <= bd.squaredNorm())) {
    out = {Triangle{0, 1, 2}, Triangle{0, 2, 3}};
  } else {
    out = {Triangle{0, 1, 3}, Triangle{1, 2, 3}};
  }
  return true;
}

// Does the edge cd stop the view from a to b? Meeting in a common end does not.
bool hides(const Vec2& a, const Vec2& b, const Vec2& c, const Vec2& d) {
  if (std::max(c.x(), d.x()) < std::min(a.x(), b.x()) || std::max(a.x(), b.x()) < std::min(c.x(), d.x()) ||
      std::max(c.y(), d.y()) < std::min(a.y(), b.y()) || std::max(a.y(), b.y()) < std::min(c.y(), d.y())) {
    return false;
  }
  const int sc = sign(orient2d(a, b, c)), sd = sign(orient2d(a, b, d));
  if (sc * sd > 0) return false;
  const int sa = sign(orient2d(c, d, a)), sb = sign(orient2d(c, d, b));
  return (sc * sd < 0 && sa * sb < 0) || (sc == 0 && strictlyBetween(a, c, b)) ||
         (sd == 0 && strictlyBetween(a, d, b)) || (sa == 0 && strictlyBetween(c, a, d)) ||
         (sb == 0 && strictlyBetween(c, b, d));
}

// Rings as lists of point indices, with the region on their left; the first is the outside.
class HoleJoiner {
 public:
  HoleJoiner(std::span<const Vec2> points, std::vector<std::vector<uint32_t>> rings)
      : points_(points), rings_(std::move(rings)) {}

  // One ring of everything. False when some hole could not see the outside.
  bool join(std::vector<uint32_t>& joined) {
    joined = rings_[0];
    std::vector<std::pair<size_t, size_t>> order;  // ring, place of its largest corner
    for (size_t r = 1; r < rings_.size(); ++r) {
      size_t place = 0;
      for (size_t k = 1; k < rings_[r].size(); ++k) {
        if (before(at(r, place), at(r, k))) place = k;
      }
      order.push_back({r, place});
    }
    // The largest first: it always sees a corner of the outside, whatever holes are left.
    std::sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
      const Vec2 &p = at(a.first, a.second), &q = at(b.first, b.second);
      return before(q, p) || (p == q && a.first < b.first);
    });
    bool allSeen = true;
    for (size_t k = 0; k < order.size(); ++k) {
      const auto [r, place] = order[k];
      std::vector<uint32_t> hole = rings_[r];
      std::rotate(hole.begin(), hole.begin() + static_cast<ptrdiff_t>(place), hole.end());
      bool seen = false;
      const size_t bridge = bridgeTo(joined, hole, std::span(order).subspan(k + 1), seen);
      allSeen = allSeen && seen;
      hole.push_back(hole[0]);
      hole.push_back(joined[bridge]);
      joined.insert(joined.begin() + static_cast<ptrdiff_t>(bridge) + 1, hole.begin(), hole.end());
    }
    return allSeen;
  }

 private:
  const Vec2& at(size_t ring, size_t place) const { return points_[rings_[ring][place]]; }

  bool hiddenBy(const std::vector<uint32_t>& ring, const Vec2& a, const Vec2& b) const {
    for (size_t i = 0; i < ring.size(); ++i) {
      if (hides(a, b, points_[ring[i]], points_[ring[i + 1 == ring.size() ? 0 : i + 1]])) return true;
    }
    return false;
  }

  // Is x inside the angle at a place of a ring? Which copy of a repeated corner a bridge ends at depends on
  // it.
  bool inAngle(const std::vector<uint32_t>& ring, size_t place, const Vec2& x) const {
    const size_t n = ring.size();
    const Vec2 &p = points_[ring[(place + n - 1) % n]], &v = points_[ring[place]],
               &q = points_[ring[(place + 1) % n]];
    const bool leftOfIn = orient2d(p, v, x) > 0, leftOfOut = orient2d(v, q, x) > 0;
    return orient2d(p, v, q) > 0 ? leftOfIn && leftOfOut : leftOfIn || leftOfOut;
  }

  // The nearest place of `outside` that the hole's first corner sees; the nearest at all when there is none.
  size_t bridgeTo(const std::vector<uint32_t>& outside, const std::vector<uint32_t>& hole,
                  std::span<const std::pair<size_t, size_t>> later, bool& seen) const {
    const Vec2& from = points_[hole[0]];
    std::vector<std::pair<double, size_t>> candidates(outside.size());
    for (size_t i = 0; i < outside.size(); ++i) {
      candidates[i] = {(points_[outside[i]] - from).squaredNorm(), i};
    }
    std::sort(candidates.begin(), candidates.end());
    for (const auto& [distance, place] : candidates) {
      const Vec2& to = points_[outside[place]];
      if (!inAngle(outside, place, from) || !inAngle(hole, 0, to)) continue;
      if (hiddenBy(outside, from, to) || hiddenBy(hole, from, to)) continue;
      if (std::any_of(later.begin(), later.end(),
                      [&](const auto& o) { return hiddenBy(rings_[o.first], from, to); })) {
        continue;
      }
      seen = true;
      return place;
    }
    seen = false;
    return candidates[0].second;
  }

  std::span<const Vec2> points_;
  std::vector<std::vector<uint32_t>> rings_;
};

}  // namespace

Triangulation triangulate(std::span<const Vec2> polygon) {
  Triangulation result;
  if (polygon.size() < 3) return result;
  result.triangles.reserve(polygon.size() - 2);
  if (ringOrientation(polygon) > 0) {
    clipEars(polygon, countedRing(polygon.size()), result);
  } else {
    // Seen in a mirror it turns the other way, and the order of the corners stays.
    std::vector<Vec2> mirrored(polygon.begin(), polygon.end());
    for (Vec2& p : mirrored) p.x() = -p.x();
    clipEars(mirrored, countedRing(polygon.size()), result);
  }
  return result;
}

Triangulation triangulate(std::span<const Vec3> polygon) {
  Triangulation result;
  if (polygon.size() < 3) return result;
  if (polygon.size() == 4) {
    std::array<Triangle, 2> two;
    if (splitQuad(polygon[0], polygon[1], polygon[2], polygon[3], two)) {
      result.triangles.assign(two.begin(), two.end());
      return result;
    }
  }
  const int axis = viewAxis(polygon);
  std::vector<Vec2> flat;
  flat.reserve(polygon.size());
  for (const Vec3& p : polygon) flat.push_back(withoutAxis(p, axis));
  return triangulate(std::span<const Vec2>(flat));
}

Triangulation triangulate(std::span<const Vec2> outer, std::span<const std::vector<Vec2>> holes) {
  std::vector<Vec2> points;
  std::vector<std::vector<uint32_t>> rings;
  auto addRing = [&](std::span<const Vec2> loop, int wanted) {
    if (loop.size() < 3) {
      throw Error(ErrorKind::Geometry, rings.empty() ? "the outer loop has fewer than three corners"
                                                     : "hole " + std::to_string(rings.size() - 1) +
                                                           " has fewer than three corners");
    }
    std::vector<uint32_t> ring = countedRing(loop.size());
    for (uint32_t& i : ring) i += static_cast<uint32_t>(points.size());
    if (ringOrientation(loop) != wanted) std::reverse(ring.begin(), ring.end());
    points.insert(points.end(), loop.begin(), loop.end());
    rings.push_back(std::move(ring));
  };
  addRing(outer, 1);
  for (const std::vector<Vec2>& hole : holes) addRing(hole, -1);
  Triangulation result;
  std::vector<uint32_t> joined;
  result.clean = HoleJoiner(points, std::move(rings)).join(joined);
  result.triangles.reserve(joined.size() - 2);
  clipEars(points, joined, result);
  return result;
}

TriMesh toTriMesh(const PolygonSoup& soup, std::vector<uint32_t>* sourceFace) {
  const size_t faces = soup.faceCount();
  std::vector<uint32_t> start(faces + 1, 0);
  for (size_t f = 0; f < faces; ++f) {
    const size_t corners = soup.face(f).size();
    start[f + 1] = start[f] + static_cast<uint32_t>(corners < 3 ? 0 : corners - 2);
  }
  for (size_t k = 0; k < soup.corners.size(); ++k) {
    if (soup.corners[k] >= soup.positions.size()) {
      throw Error(ErrorKind::Geometry, "corner " + std::to_string(k) + " refers to vertex " +
                                           std::to_string(soup.corners[k]) + ", but there are only " +
                                           std::to_string(soup.positions.size()));
    }
  }
  TriMesh mesh;
  mesh.positions = soup.positions;
  mesh.triangles.resize(start[faces]);
  if (sourceFace) sourceFace->resize(start[faces]);
  parallelBlocks(faces, 1024, [&](size_t begin, size_t end) {
    std::vector<Vec3> polygon;
    for (size_t f = begin; f < end; ++f) {
      const std::span<const uint32_t> face = soup.face(f);
      Triangle* out = mesh.triangles.data() + start[f];
      if (sourceFace)
        std::fill(sourceFace->begin() + start[f], sourceFace->begin() + start[f + 1], uint32_t(f));
      if (face.size() < 3) continue;
      if (face.size() == 3) {
        *out = {face[0], face[1], face[2]};
        continue;
      }
      const auto& x = soup.positions;
      std::array<Triangle, 2> two;
      if (face.size() == 4 && splitQuad(x[face[0]], x[face[1]], x[face[2]], x[face[3]], two)) {
        for (const Triangle& t : two) *out++ = {face[t[0]], face[t[1]], face[t[2]]};
        continue;
      }
      polygon.clear();
      for (const uint32_t v : face) polygon.push_back(x[v]);
      for (const Triangle& t : triangulate(polygon).triangles) *out++ = {face[t[0]], face[t[1]], face[t[2]]};
    }
  });
  return mesh;
}

}  // namespace sunder::geometry
