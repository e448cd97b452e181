#include "sunder/cut/kernel/flip_diagonals.h"

#include "sunder/base/index.h"
#include "sunder/geometry/predicates.h"
#include "sunder/geometry/rows.h"
#include "sunder/geometry/vector_area.h"

#include <algorithm>
#include <array>

namespace sunder::cut {

namespace {

using geometry::orient2d;
using geometry::Triangle;
using geometry::u32;

class Flipper {
 public:
  Flipper(std::span<const Vec2> points, std::span<Triangle> triangles)
      : points_(points), triangles_(triangles) {
    // Diagonals are those half-edges that have an opposite.
    struct Side {
      uint32_t low, high, halfedge;
      auto operator<=>(const Side&) const = default;
    };
    std::vector<Side> sides;
    twin_.assign(3 * triangles.size(), kNoIndex);
    for (uint32_t h = 0; h < twin_.size(); ++h) {
      const uint32_t a = at(h), b = at(next(h));
      sides.push_back({std::min(a, b), std::max(a, b), h});
    }
    std::sort(sides.begin(), sides.end());
    for (size_t i = 1; i < sides.size(); ++i)
      if (sides[i].low == sides[i - 1].low && sides[i].high == sides[i - 1].high)
        link(sides[i].halfedge, sides[i - 1].halfedge);
    for (uint32_t h = 0; h < twin_.size(); ++h)
      if (twin_[h] != kNoIndex && h < twin_[h]) stack_.push_back(h);
  }

  void run() {
    // Exact signs make Lawson's flips end; the limit guards against points on one circle in a ring that
    // crosses itself.
    size_t left = 64 + 8 * triangles_.size() * triangles_.size();
    while (!stack_.empty() && left > 0) {
      const uint32_t h = stack_.back();
      stack_.pop_back();
      if (twin_[h] == kNoIndex || !shouldFlip(h)) continue;
      flip(h);
      --left;
    }
  }

 private:
  static uint32_t next(uint32_t h) { return h % 3 == 2 ? h - 2 : h + 1; }
  static uint32_t previous(uint32_t h) { return h % 3 == 0 ? h + 2 : h - 1; }
  uint32_t& at(uint32_t h) { return triangles_[h / 3][h % 3]; }
  void link(uint32_t h, uint32_t g) {
    if (h != kNoIndex) twin_[h] = g;
    if (g != kNoIndex) twin_[g] = h;
  }

  bool shouldFlip(uint32_t h) {
    const uint32_t g = twin_[h];
    const Vec2 &a = points_[at(h)], &b = points_[at(next(h))], &c = points_[at(previous(h))],
               &d = points_[at(previous(g))];
    // c and d are to be joined: both new triangles must have area.
    if (!(orient2d(c, a, d) > 0 && orient2d(d, b, c) > 0)) return false;
    if (!(orient2d(a, b, c) > 0 && orient2d(b, a, d) > 0)) return true;
    return geometry::incircle(a, b, c, d) > 0;
  }

  // Triangles (a, b, c) and (b, a, d) become (d, c, a) and (c, d, b).
  void flip(uint32_t h) {
    const uint32_t g = twin_[h];
    const uint32_t a = at(h), b = at(next(h)), c = at(previous(h)), d = at(previous(g));
    const uint32_t bc = twin_[next(h)], ca = twin_[previous(h)], ad = twin_[next(g)], db = twin_[previous(g)];
    const uint32_t t = h / 3, s = g / 3;
    triangles_[t] = {d, c, a};
    triangles_[s] = {c, d, b};
    link(3 * t, 3 * s);
    link(3 * t + 1, ca);
    link(3 * t + 2, ad);
    link(3 * s + 1, db);
    link(3 * s + 2, bc);
    for (const uint32_t side : {3 * t + 1, 3 * t + 2, 3 * s + 1, 3 * s + 2})
      if (twin_[side] != kNoIndex) stack_.push_back(side);
  }

  std::span<const Vec2> points_;
  std::span<Triangle> triangles_;
  std::vector<uint32_t> twin_, stack_;
};

}  // namespace

void flipDiagonals(std::span<const Vec2> points, std::span<Triangle> triangles) {
  if (triangles.size() > 1) Flipper(points, triangles).run();
}

Vec2 FlatView::operator()(const Vec3& p) const {
  Vec2 q = geometry::withoutAxis(p, axis);
  if (flip) q.x() = -q.x();
  return q;
}

FlatView flatView(std::span<const Vec3> ring) {
  const Vec3 normal =
      geometry::twiceVectorArea(ring.size(), [&](size_t i) -> const Vec3& { return ring[i]; });
  FlatView view;
  normal.cwiseAbs().maxCoeff(&view.axis);
  view.flip = normal[view.axis] < 0;
  return view;
}

std::vector<Vec2> flattened(std::span<const Vec3> ring) {
  const FlatView view = flatView(ring);
  std::vector<Vec2> flat;
  flat.reserve(ring.size());
  for (const Vec3& p : ring) flat.push_back(view(p));
  return flat;
}

}  // namespace sunder::cut
