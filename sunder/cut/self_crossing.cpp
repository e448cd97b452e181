#include "sunder/cut/self_crossing.h"

#include "sunder/base/disjoint_sets.h"
#include "sunder/base/error.h"
#include "sunder/cut/finish/attributes.h"
#include "sunder/cut/finish/self_regions.h"
#include "sunder/geometry/predicates.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include <fmt/format.h>

namespace sunder::cut {

namespace {

using geometry::PolygonSoup;
using geometry::sign;

class SelfCrossing {
 public:
  SelfCrossing(const PolygonSoup& mesh, const KernelMesh& kernel, const std::string& name, uint64_t most)
      : mesh_(mesh), kernel_(kernel), name_(name), all_(kernel, name, most) {}

  Resolved run() {
    findPatches();
    choose();
    separateSolids();
    return write();
  }

 private:
  struct Half {
    uint32_t low, high, region, corner;
    bool forward;  // runs from low to high, in the region as it is
  };

  // visit(half-edges) for each edge of regions that `wanted` says yes to.
  template <class Wanted, class Visit>
  void forEdges(Wanted&& wanted, Visit&& visit) const {
    std::vector<Half> halves;
    for (uint32_t r = 0; r < all_.size(); ++r) {
      if (!wanted(r)) continue;
      const auto c = all_.ring(r);
      for (uint32_t k = 0; k < c.size(); ++k) {
        const uint32_t a = c[k], b = c[(k + 1) % c.size()];
        halves.push_back({std::min(a, b), std::max(a, b), r, all_.offsets[r] + k, a < b});
      }
    }
    std::sort(halves.begin(), halves.end(), [](const Half& x, const Half& y) {
      return std::tie(x.low, x.high, x.corner) < std::tie(y.low, y.high, y.corner);
    });
    for (size_t begin = 0; begin < halves.size();) {
      size_t end = begin + 1;
      while (end < halves.size() && halves[end].low == halves[begin].low &&
             halves[end].high == halves[begin].high)
        ++end;
      visit(std::span<Half>(halves.data() + begin, end - begin));
      begin = end;
    }
  }

  // Regions that hang together across edges of two.
  void findPatches() {
    DisjointSets sets(all_.size());
    forEdges([](uint32_t) { return true; },
             [&](std::span<const Half> h) {
               if (h.size() == 2 && h[0].forward != h[1].forward) sets.unite(h[0].region, h[1].region);
             });
    for (uint32_t r = 0; r < all_.size(); ++r) patch_.push_back(sets.find(r));
  }

  // A point inside a region: the middle of an ear.
  std::optional<ExactPoint> pointInside(size_t r) const {
    const auto c = all_.ring(r);
    const int axis = all_.axis[all_.regionFace[r]];
    const Triangle& v = all_.triangles[all_.regionFace[r]];
    if (c.size() == 3) return all_.grid.middle(all_.exact(c[0]), all_.exact(c[1]), all_.exact(c[2]));
    const int way = all_.grid.turn(all_.exact(v[0]), all_.exact(v[1]), all_.exact(v[2]), axis);
    std::vector<ExactPoint> p;
    for (const uint32_t id : c) p.push_back(all_.exact(id));
    for (size_t i = 0; i < c.size(); ++i) {
      const size_t before = (i + c.size() - 1) % c.size(), after = (i + 1) % c.size();
      if (way * all_.grid.turn(p[before], p[i], p[after], axis) <= 0) continue;
      bool ear = true;
      for (size_t j = 0; j < c.size() && ear; ++j) {
        if (c[j] == c[before] || c[j] == c[i] || c[j] == c[after]) continue;
        ear = way * all_.grid.turn(p[before], p[i], p[j], axis) < 0 ||
              way * all_.grid.turn(p[i], p[after], p[j], axis) < 0 ||
              way * all_.grid.turn(p[after], p[before], p[j], axis) < 0;
      }
      if (ear) return all_.grid.middle(p[before], p[i], p[after]);
    }
    return {};
  }

  struct Winding {
    int front = 0, back = 0;
    bool doubled = false;  // several faces lie on each other here
  };

  // Around the points next to p, which is inside a region of face t. By a ray along the axis that the face is
  // steepest to, moved sideways by (e, e^2) so that it meets no edges.
  Winding windingAt(const ExactPoint& p, uint32_t t) const {
    const int axis = all_.axis[t], i = (axis + 1) % 3, j = (axis + 2) % 3;
    const double slack =
        1e-13 * kernel_.bounds.lower.cwiseAbs().cwiseMax(kernel_.bounds.upper.cwiseAbs()).maxCoeff();
    const auto upOf = [&](uint32_t f) {
      const Triangle& v = all_.triangles[f];
      return all_.grid.turn(all_.grid.point(all_.at(v[0])), all_.grid.point(all_.at(v[1])),
                            all_.grid.point(all_.at(v[2])), axis);
    };
    const int own = upOf(t);
    int beyond = 0, through = 0, count = 0;
    for (uint32_t f = 0; f < all_.triangles.size(); ++f) {
      if (all_.isFlat(f)) continue;
      const Vec3 &a = all_.at(all_.triangles[f][0]), &b = all_.at(all_.triangles[f][1]),
                 &c = all_.at(all_.triangles[f][2]);
      const auto misses = [&](int k) {
        return p.at[k] < std::min({a[k], b[k], c[k]}) - slack ||
               p.at[k] > std::max({a[k], b[k], c[k]}) + slack;
      };
      if (misses(i) || misses(j) || p.at[axis] > std::max({a[axis], b[axis], c[axis]}) + slack) continue;
      const int up = upOf(f);
      if (up == 0) continue;
      const Vec3* const corner[] = {&a, &b, &c};
      bool hit = true;
      for (size_t k = 0; k < 3 && hit; ++k) {
        const Vec3 &from = *corner[k], &to = *corner[(k + 1) % 3];
        int s = all_.grid.turn(all_.grid.point(from), all_.grid.point(to), p, axis);
        if (s == 0) s = from[j] != to[j] ? sign(from[j] - to[j]) : sign(to[i] - from[i]);
        hit = s == up;
      }
      if (!hit) continue;
      const int side = all_.grid.side(all_.planeOf(f), p);
      if (side == 0) {
        through += up * own;
        ++count;
      } else if (side * up < 0) {
        beyond += up;
      }
    }
    // Along the axis there is the front of a face that looks that way.
    Winding w;
    w.front = own > 0 ? beyond : beyond - through;
    w.back = own > 0 ? beyond + through : beyond;
    w.doubled = count > 1;
    return w;
  }

  void choose() {
    // For each patch its smallest region that has an ear.
    std::vector<uint32_t> order(all_.size());
    for (uint32_t r = 0; r < order.size(); ++r) order[r] = r;
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return all_.ring(a).size() < all_.ring(b).size(); });
    std::map<uint32_t, int8_t> keep;  // by patch: 1 as it is, -1 turned over
    bool doubled = false;
    for (const uint32_t r : order) {
      if (keep.count(patch_[r]) != 0) continue;
      const auto p = pointInside(r);
      if (!p) continue;
      const Winding w = windingAt(*p, all_.regionFace[r]);
      const bool front = w.front >= 1, back = w.back >= 1;
      keep[patch_[r]] = static_cast<int8_t>(back == front ? 0 : back ? 1 : -1);
      doubled = doubled || w.doubled;
    }
    for (uint32_t r = 0; r < all_.size(); ++r) {
      const auto k = keep.find(patch_[r]);
      if (k == keep.end())
        throw Error(ErrorKind::Geometry,
                    fmt::format("the {} crosses itself at face {} so that no inside is found", name_,
                                kernel_.sourceOf(all_.regionFace[r])));
      keep_.push_back(k->second);
    }
    if (!doubled) return;
    // Of regions on each other the first one stays.
    std::map<std::vector<uint32_t>, uint32_t> first;
    for (uint32_t r = 0; r < all_.size(); ++r) {
      if (keep_[r] == 0) continue;
      std::vector<uint32_t> key(all_.ring(r).begin(), all_.ring(r).end());
      std::sort(key.begin(), key.end());
      if (!first.try_emplace(std::move(key), r).second) keep_[r] = 0;
    }
  }

  // Where solids touch along an edge, faces pair up around the inside of each, and each pair gets a vertex of
  // its own in the middle of the edge.
  void separateSolids() {
    middle_.assign(all_.corners.size(), kNoIndex);
    forEdges([&](uint32_t r) { return keep_[r] != 0; },
             [&](std::span<Half> h) {
               if (h.size() > 2) separateEdge(h);
             });
  }

  void separateEdge(std::span<Half> halves) {
    std::vector<ExactPlane3> planes;
    for (const Half& h : halves) planes.push_back(all_.planeOf(all_.regionFace[h.region]));
    // Which component of the edge's direction is not zero, and its sign.
    const ExactPoint from = all_.exact(halves[0].low), to = all_.exact(halves[0].high);
    int axis = 0;
    while (axis < 2 && all_.grid.compare(from, to, axis) == 0) ++axis;
    const int along = all_.grid.compare(to, from, axis), i = (axis + 1) % 3, j = (axis + 2) % 3;
    const auto way = [&](size_t a, size_t b) { return halves[a].forward == halves[b].forward ? 1 : -1; };
    // The turn from one face to another around the edge, and whether they are on the same side of it.
    const auto turn = [&](size_t a, size_t b) {
      const auto &n = planes[a].n, &m = planes[b].n;
      return way(a, b) * along * (n[i] * m[j] - n[j] * m[i]).sign();
    };
    const auto dot = [&](size_t a, size_t b) {
      const auto &n = planes[a].n, &m = planes[b].n;
      return way(a, b) * ((n[0] * m[0] + n[1] * m[1]) + n[2] * m[2]).sign();
    };
    const auto quarter = [&](size_t a) {
      const int t = turn(0, a);
      return t > 0 ? 1 : t < 0 ? 3 : dot(0, a) > 0 ? 0 : 2;
    };
    std::vector<size_t> order(halves.size());
    for (size_t k = 0; k < order.size(); ++k) order[k] = k;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      const int qa = quarter(a), qb = quarter(b);
      return qa != qb ? qa < qb : a != b && turn(a, b) > 0;
    });
    // After a face that runs against the edge, as it is kept, comes the inside.
    const auto runsAlong = [&](size_t k) { return halves[k].forward == (keep_[halves[k].region] > 0); };
    for (size_t k = 0; k < order.size(); ++k) {
      const size_t a = order[k], b = order[(k + 1) % order.size()];
      if (runsAlong(a) || !runsAlong(b)) continue;
      middle_[halves[a].corner] = middle_[halves[b].corner] = u32(middles_.size());
      middles_.push_back(0.5 * (from.at + to.at));
    }
  }

  Resolved write() const {
    // Polygons all of whose triangles are whole and stay are one face again.
    std::vector<uint32_t> left(mesh_.faceCount(), 0);
    for (uint32_t t = 0; t < all_.triangles.size(); ++t) ++left[kernel_.sourceOf(t)];
    for (uint32_t r = 0; r < all_.size(); ++r)
      if (keep_[r] == 1 && !all_.isDivided(all_.regionFace[r]) &&
          std::all_of(middle_.begin() + all_.offsets[r], middle_.begin() + all_.offsets[r + 1],
                      [](uint32_t m) { return m == kNoIndex; }))
        --left[kernel_.sourceOf(all_.regionFace[r])];
    CutResult out;
    std::vector<uint32_t> number(kernel_.positions.size() + all_.points.size(), kNoIndex);
    const auto vertexOf = [&](uint32_t id) {
      if (number[id] != kNoIndex) return number[id];
      const bool vertex = id < kernel_.positions.size();
      out.mesh.positions.push_back(vertex ? all_.at(id) : all_.points[id - u32(kernel_.positions.size())].at);
      out.vertexFrom.push_back(vertex ? VertexFrom::Mesh : VertexFrom::Seam);
      out.sourceVertex.push_back(vertex ? kernel_.sourceVertex(id) : kNoIndex);
      return number[id] = u32(out.mesh.positions.size() - 1);
    };
    for (const Vec3& p : middles_) {
      out.mesh.positions.push_back(p);
      out.vertexFrom.push_back(VertexFrom::Seam);
      out.sourceVertex.push_back(kNoIndex);
    }
    std::vector<uint32_t> face;
    std::vector<uint8_t> written(mesh_.faceCount(), 0);
    for (uint32_t r = 0; r < all_.size(); ++r) {
      if (keep_[r] == 0) continue;
      const uint32_t source = kernel_.sourceOf(all_.regionFace[r]);
      face.clear();
      if (left[source] == 0) {
        if (written[source]) continue;
        written[source] = 1;
        for (const uint32_t v : mesh_.face(source)) face.push_back(vertexOf(all_.vertexName[v]));
      } else {
        for (uint32_t c = all_.offsets[r]; c < all_.offsets[r + 1]; ++c) {
          face.push_back(vertexOf(all_.corners[c]));
          if (middle_[c] != kNoIndex) face.push_back(middle_[c]);
        }
        if (keep_[r] < 0) std::reverse(face.begin(), face.end());
      }
      out.mesh.addFace(face);
      out.sourceFace.push_back(source);
    }
    out.fromCutter.assign(out.sourceFace.size(), 0);
    transferAttributes(mesh_, mesh_, out);
    if (!mesh_.faceGroup.empty()) out.mesh.groupNames = mesh_.groupNames;
    return {std::move(out.mesh), std::move(out.sourceFace), std::move(out.sourceVertex)};
  }

  const PolygonSoup& mesh_;
  const KernelMesh& kernel_;
  std::string name_;
  SelfRegions all_;
  std::vector<uint32_t> patch_;   // per region
  std::vector<int8_t> keep_;      // per region: 1 as it is, -1 turned over, 0 not
  std::vector<uint32_t> middle_;  // per corner: a vertex in the middle of the edge after it
  std::vector<Vec3> middles_;
};

}  // namespace

Resolved resolveByWinding(const PolygonSoup& mesh, const KernelMesh& kernel, const std::string& name,
                          uint64_t most) {
  return SelfCrossing(mesh, kernel, name, most).run();
}

}  // namespace sunder::cut
