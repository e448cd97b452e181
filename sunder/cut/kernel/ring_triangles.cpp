#include "sunder/cut/kernel/ring_triangles.h"

#include "sunder/base/index.h"
#include "sunder/cut/kernel/flip_diagonals.h"
#include "sunder/geometry/predicates.h"
#include "sunder/geometry/rows.h"
#include "sunder/geometry/triangulate.h"

#include <algorithm>

namespace sunder::cut {

namespace {

using geometry::orient2d;
using geometry::u32;

// Do the open segments share a point, or does an end of the second lie within the first?
bool blocks(const Vec2& a, const Vec2& b, const Vec2& c, const Vec2& d) {
  const double abc = orient2d(a, b, c), abd = orient2d(a, b, d);
  if ((abc > 0 && abd > 0) || (abc < 0 && abd < 0)) return false;
  const double cda = orient2d(c, d, a), cdb = orient2d(c, d, b);
  if ((cda > 0 && cdb < 0) || (cda < 0 && cdb > 0)) return true;
  const auto within = [&](const Vec2& p, double turn) {
    return turn == 0 && p != a && p != b && (p - a).dot(b - a) > 0 && (p - b).dot(a - b) > 0;
  };
  return within(c, abc) || within(d, abd);
}

class Splitter {
 public:
  explicit Splitter(std::span<const Vec3> ring) : ring_(ring), flat_(flattened(ring)) {}

  void run(const std::vector<uint32_t>& corners, std::vector<geometry::Triangle>& out) {
    const size_t n = corners.size();
    for (size_t tip = 0; tip < n && n > 3; ++tip) {
      if (!isTip(corners, tip)) continue;
      const size_t seen = partner(corners, tip);
      if (seen == n) continue;
      std::vector<uint32_t> left, right;
      for (size_t i = tip;; i = (i + 1) % n) {
        left.push_back(corners[i]);
        if (i == seen) break;
      }
      for (size_t i = seen;; i = (i + 1) % n) {
        right.push_back(corners[i]);
        if (i == tip) break;
      }
      run(left, out);
      run(right, out);
      return;
    }
    std::vector<Vec3> positions;
    for (const uint32_t c : corners) positions.push_back(ring_[c]);
    auto made = geometry::triangulate(std::span<const Vec3>(positions));
    flipDiagonals(flattened(positions), made.triangles);
    clean_ = clean_ && made.clean;
    for (const geometry::Triangle& t : made.triangles)
      out.push_back({corners[t[0]], corners[t[1]], corners[t[2]]});
  }

  bool clean() const { return clean_; }

 private:
  const Vec2& at(const std::vector<uint32_t>& corners, size_t i) const {
    return flat_[corners[i % corners.size()]];
  }

  // The ring comes back from here the way it came. Corners in one place count as one, the first of them.
  bool isTip(const std::vector<uint32_t>& corners, size_t i) const {
    const size_t n = corners.size();
    const Vec2 &p = at(corners, i), &before = at(corners, i + n - 1);
    if (before == p) return false;
    for (size_t k = 1; k < n; ++k)
      if (const Vec2& after = at(corners, i + k); after != p) return after == before;
    return false;
  }

  // The nearest corner that the tip sees, or the number of corners.
  size_t partner(const std::vector<uint32_t>& corners, size_t tip) const {
    const size_t n = corners.size();
    const Vec2& p = at(corners, tip);
    std::vector<uint32_t> order;
    for (size_t i = 2; i + 1 < n; ++i) order.push_back(u32((tip + i) % n));
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return (at(corners, a) - p).squaredNorm() < (at(corners, b) - p).squaredNorm();
    });
    for (const uint32_t w : order)
      if (sees(corners, tip, w)) return w;
    return n;
  }

  bool sees(const std::vector<uint32_t>& corners, size_t tip, size_t w) const {
    const size_t n = corners.size();
    const Vec2 &p = at(corners, tip), &q = at(corners, w), &back = at(corners, tip + n - 1);
    const Vec2 &before = at(corners, w + n - 1), &after = at(corners, w + 1);
    if (p == q || (orient2d(p, back, q) == 0 && (q - p).dot(back - p) > 0)) return false;
    const bool leftOfOut = orient2d(q, after, p) > 0, leftOfIn = orient2d(before, q, p) > 0;
    const double turn = orient2d(before, q, after);
    const bool straight = turn == 0 && (before - q).dot(after - q)<0, convex = turn> 0 || straight;
    // A spike without area has no inside; only tips have it all around.
    if (turn == 0 && !straight && before != after) return false;
    if (before != after && !(convex ? leftOfOut && leftOfIn : leftOfOut || leftOfIn)) return false;
    for (size_t i = 0; i < n; ++i)
      if (blocks(p, q, at(corners, i), at(corners, i + 1))) return false;
    return true;
  }

  std::span<const Vec3> ring_;
  std::vector<Vec2> flat_;
  bool clean_ = true;
};

}  // namespace

std::vector<geometry::Triangle> ringTriangles(std::span<const Vec3> ring, bool& clean) {
  const size_t n = ring.size();
  bool tips = false;
  for (size_t i = 0; i < n && !tips; ++i) {
    const Vec3 &p = ring[i], &before = ring[(i + n - 1) % n];
    size_t k = 1;
    while (k < n && ring[(i + k) % n] == p) ++k;
    tips = before != p && ring[(i + k) % n] == before;
  }
  if (!tips) {
    geometry::Triangulation made = geometry::triangulate(ring);
    flipDiagonals(flattened(ring), made.triangles);
    clean = clean && made.clean;
    return std::move(made.triangles);
  }
  std::vector<uint32_t> corners(n);
  for (size_t i = 0; i < n; ++i) corners[i] = u32(i);
  std::vector<geometry::Triangle> triangles;
  Splitter splitter(ring);
  splitter.run(corners, triangles);
  clean = clean && splitter.clean();
  return triangles;
}

bool repeatsCorner(std::span<const geometry::Triangle> triangles, std::span<const uint32_t> ids) {
  return std::any_of(triangles.begin(), triangles.end(), [&](const geometry::Triangle& t) {
    return ids[t[0]] == ids[t[1]] || ids[t[1]] == ids[t[2]] || ids[t[2]] == ids[t[0]];
  });
}

SpokeTriangles spokeTriangles(std::span<const uint32_t> ids) {
  const uint32_t n = u32(ids.size());
  SpokeTriangles out;
  out.copyOf.push_back(0);  // the hub
  const uint32_t hub = n;
  std::vector<uint32_t> order(n), spoke(n, kNoIndex);
  for (uint32_t i = 0; i < n; ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return ids[a] < ids[b] || (ids[a] == ids[b] && a < b); });
  for (uint32_t k = 1; k < n; ++k)
    if (ids[order[k]] == ids[order[k - 1]]) {
      spoke[order[k]] = n + u32(out.copyOf.size());
      out.copyOf.push_back(order[k]);
    }
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t j = (i + 1) % n, a = spoke[i], b = spoke[j];
    if (a == kNoIndex && b == kNoIndex) {
      out.triangles.push_back({hub, i, j});
    } else if (b == kNoIndex) {
      out.triangles.push_back({hub, a, j});
      out.triangles.push_back({a, i, j});
    } else if (a == kNoIndex) {
      out.triangles.push_back({hub, i, b});
      out.triangles.push_back({i, j, b});
    } else {
      out.triangles.push_back({hub, a, b});
      out.triangles.push_back({a, i, j});
      out.triangles.push_back({a, j, b});
    }
  }
  return out;
}

}  // namespace sunder::cut
