#include "sunder/cut/self_crossing.h"

#include "sunder/base/error.h"
#include "sunder/cut/attributes.h"
#include "sunder/cut/face_graph.h"
#include "sunder/geometry/disjoint_sets.h"
#include "sunder/geometry/predicates.h"
#include "sunder/spatial/overlap_pairs.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace sunder::cut {

namespace {

using geometry::orient3d;
using geometry::PolygonSoup;
using geometry::sign;

// A line that several faces have: an edge, by its vertices, or where two faces cross, by the faces.
struct Line {
  uint32_t low, high;
  bool crossing = false;
  auto operator<=>(const Line&) const = default;
};
Line edgeBetween(uint32_t a, uint32_t b) { return {std::min(a, b), std::max(a, b)}; }
using PointsOnLines = std::map<Line, std::set<uint32_t>>;
using Rows = std::vector<std::vector<uint32_t>>;

class SelfCrossing {
 public:
  SelfCrossing(const PolygonSoup& mesh, const KernelMesh& kernel, const std::string& name)
      : mesh_(mesh), kernel_(kernel), name_(name), grid_(kernel.positions, name), points_(grid_) {}

  Resolved run() {
    nameVertices();
    for (const auto& p : overlappingPairs()) crossPair(p.a, p.b);
    divideFaces();
    findPatches();
    choose();
    separateSolids();
    return write();
  }

 private:
  // Equal positions have one name, the lowest of their vertices.
  void nameVertices() {
    const size_t count = kernel_.positions.size();
    std::vector<uint32_t> order(count);
    for (uint32_t v = 0; v < count; ++v) order[v] = v;
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      const Vec3 &p = kernel_.positions[a], &q = kernel_.positions[b];
      if (p == q) return a < b;
      return std::lexicographical_compare(p.data(), p.data() + 3, q.data(), q.data() + 3);
    });
    vertexName_.resize(count);
    for (size_t i = 0; i < count; ++i) {
      const bool again = i > 0 && kernel_.positions[order[i]] == kernel_.positions[order[i - 1]];
      vertexName_[order[i]] = again ? vertexName_[order[i - 1]] : order[i];
    }
    for (uint32_t t = 0; t < kernel_.triangles.size(); ++t) {
      Triangle named;
      for (size_t k = 0; k < 3; ++k) named[k] = vertexName_[kernel_.triangles[t][k]];
      triangles_.push_back(named);
      axis_.push_back(static_cast<int8_t>(geometry::normalAxis(at(named[0]), at(named[1]), at(named[2]))));
    }
  }

  const Vec3& at(uint32_t vertex) const { return kernel_.positions[vertex]; }
  bool isFlat(uint32_t t) const { return axis_[t] < 0; }  // no area

  std::vector<spatial::PrimitivePair> overlappingPairs() const {
    spatial::OiTree tree;
    spatial::OiTreeBuilder builder;
    builder.build(tree,
                  spatial::TriangleLeaves{.positions = kernel_.positions, .triangles = kernel_.triangles});
    spatial::PairList list;
    spatial::selfOverlapPairs(tree, list);
    std::vector<spatial::PrimitivePair> pairs(list.pairs().begin(), list.pairs().end());
    for (auto& p : pairs)
      if (p.a > p.b) std::swap(p.a, p.b);
    std::sort(pairs.begin(), pairs.end(),
              [](const auto& x, const auto& y) { return x.a < y.a || (x.a == y.a && x.b < y.b); });
    return pairs;
  }

  uint32_t pointOfVertex(uint32_t vertex) {
    const auto [entry, added] = pointOf_.try_emplace(vertex, kNoIndex);
    if (!added) return entry->second;
    const uint32_t p = points_.add(grid_.point(at(vertex)));
    vertexOf_[p] = vertex;
    return entry->second = p;
  }

  FaceGraph& faceOf(uint32_t t) {
    const auto [entry, added] = faces_.try_emplace(t);
    FaceGraph& face = entry->second;
    if (!added) return face;
    for (size_t k = 0; k < 3; ++k) face.corners[k] = pointOfVertex(triangles_[t][k]);
    face.axis = axis_[t];
    const auto& c = face.corners;
    face.turned = grid_.turn(points_[c[0]], points_[c[1]], points_[c[2]], face.axis) < 0;
    return face;
  }

  ExactPlane3 planeOf(uint32_t t) const {
    const Triangle& v = triangles_[t];
    return grid_.plane(at(v[0]), at(v[1]), at(v[2]));
  }

  void crossPair(uint32_t s, uint32_t t) {
    if (isFlat(s) || isFlat(t)) return;
    const uint32_t face[] = {s, t};
    int side[2][3];
    size_t common = 0, zeros = 0;
    for (size_t m = 0; m < 2; ++m) {
      const Triangle &own = triangles_[face[m]], &other = triangles_[face[1 - m]];
      for (size_t k = 0; k < 3; ++k) {
        const bool shared = std::find(other.begin(), other.end(), own[k]) != other.end();
        common += m == 0 && shared;
        side[m][k] = shared ? 0 : sign(orient3d(at(other[0]), at(other[1]), at(other[2]), at(own[k])));
        zeros += m == 0 && side[m][k] == 0;
      }
      if (side[m][0] != 0 && side[m][0] == side[m][1] && side[m][1] == side[m][2]) return;
    }
    if (common == 3) return;  // on each other as they are
    if (zeros == 3) {
      if (common < 2 || areFolded(s, t)) overlapPair(s, t);
      return;
    }
    if (common == 2) return;
    // Where each of the two meets the plane of the other, along the line that the planes share.
    std::optional<ExactPoint> ends[2][2];
    const ExactPlane3 planes[] = {planeOf(s), planeOf(t)};
    for (size_t m = 0; m < 2; ++m) {
      const Triangle& own = triangles_[face[m]];
      size_t found = 0;
      for (size_t k = 0; k < 3 && found < 2; ++k) {
        const size_t n = (k + 1) % 3;
        if (side[m][k] == 0)
          ends[m][found++] = grid_.point(at(own[k]));
        else if (side[m][k] * side[m][n] < 0)
          ends[m][found++] = grid_.meet(grid_.point(at(own[k])), grid_.point(at(own[n])), planes[1 - m]);
      }
      if (found < 2) return;
      if (grid_.compare(*ends[m][0], *ends[m][1]) > 0) std::swap(ends[m][0], ends[m][1]);
    }
    const ExactPoint& low = grid_.compare(*ends[0][0], *ends[1][0]) > 0 ? *ends[0][0] : *ends[1][0];
    const ExactPoint& high = grid_.compare(*ends[0][1], *ends[1][1]) < 0 ? *ends[0][1] : *ends[1][1];
    if (grid_.compare(low, high) >= 0) return;
    FaceGraph &fs = faceOf(s), &ft = faceOf(t);
    const uint32_t from = points_.add(low), to = points_.add(high);
    const Line line{s, t, true};
    fs.segments.push_back({from, to, planes[1]});
    ft.segments.push_back({from, to, planes[0]});
    lines_[s].push_back(line);
    lines_[t].push_back(line);
  }

  // Two faces in one plane with an edge in common: do they lie on the same side of it?
  bool areFolded(uint32_t s, uint32_t t) const {
    const Triangle &v = triangles_[s], &w = triangles_[t];
    for (size_t k = 0; k < 3; ++k) {
      if (std::find(w.begin(), w.end(), v[k]) != w.end()) continue;
      const uint32_t a = v[(k + 1) % 3], b = v[(k + 2) % 3];
      const uint32_t c = *std::find_if(w.begin(), w.end(), [&](uint32_t x) { return x != a && x != b; });
      return grid_.turn(grid_.point(at(a)), grid_.point(at(b)), grid_.point(at(v[k])), axis_[s]) ==
             grid_.turn(grid_.point(at(a)), grid_.point(at(b)), grid_.point(at(c)), axis_[s]);
    }
    return true;
  }

  // Two faces in one plane: each gets the edges of the other within it.
  void overlapPair(uint32_t s, uint32_t t) {
    for (const auto& [own, other] : {std::pair{s, t}, std::pair{t, s}}) {
      const Triangle &v = triangles_[own], &w = triangles_[other];
      const int axis = axis_[own];
      for (size_t k = 0; k < 3; ++k) {
        ExactPoint p = grid_.point(at(w[k])), q = grid_.point(at(w[(k + 1) % 3]));
        bool inside = true;
        for (size_t j = 0; j < 3 && inside; ++j) {
          const ExactPlane3 wall = grid_.wall(at(v[j]), at(v[(j + 1) % 3]), axis);
          const int in = grid_.side(wall, grid_.point(at(v[(j + 2) % 3])));
          const int a = in * grid_.side(wall, p), b = in * grid_.side(wall, q);
          inside = a > 0 || b > 0 || (a == 0 && b == 0);
          if (inside && a < 0) p = grid_.meet(p, q, wall);
          if (inside && b < 0) q = grid_.meet(p, q, wall);
        }
        if (!inside || grid_.compare(p, q) == 0) continue;
        FaceGraph& face = faceOf(own);
        const uint32_t from = points_.add(p), to = points_.add(q);
        face.segments.push_back({from, to, grid_.wall(at(w[k]), at(w[(k + 1) % 3]), axis)});
        lines_[own].push_back(edgeBetween(w[k], w[(k + 1) % 3]));
      }
    }
  }

  bool isStrictlyBetween(uint32_t p, uint32_t from, uint32_t to) const {
    return grid_.compare(points_[from], points_[p]) * grid_.compare(points_[p], points_[to]) > 0;
  }

  // The edges of a face without area lie on each other: each has the points of the others.
  bool passThroughFlatFaces(PointsOnLines& on) {
    bool changed = false;
    std::set<uint32_t> all;
    for (uint32_t t = 0; t < triangles_.size(); ++t) {
      if (!isFlat(t)) continue;
      const Triangle& v = triangles_[t];
      all.clear();
      for (size_t k = 0; k < 3; ++k) {
        all.insert(pointOfVertex(v[k]));
        const auto edge = on.find(edgeBetween(v[k], v[(k + 1) % 3]));
        if (edge != on.end()) all.insert(edge->second.begin(), edge->second.end());
      }
      for (size_t k = 0; k < 3; ++k)
        for (const uint32_t p : all)
          if (isStrictlyBetween(p, pointOfVertex(v[k]), pointOfVertex(v[(k + 1) % 3])))
            changed |= on[edgeBetween(v[k], v[(k + 1) % 3])].insert(p).second;
    }
    return changed;
  }

  // Gives the rows of a face the points that other faces have on the same lines. A point that is new on one
  // row may be on others of the face too.
  bool takePoints(const FaceGraph& face, const std::vector<Line>& lines, const PointsOnLines& on,
                  Rows& rows) const {
    bool changed = false;
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto line = on.find(lines[i]);
      if (line == on.end()) continue;
      for (const uint32_t p : line->second) {
        if (std::find(rows[i].begin(), rows[i].end(), p) != rows[i].end()) continue;
        if (!isStrictlyBetween(p, rows[i][0], rows[i][1])) continue;
        for (std::vector<uint32_t>& row : rows)
          if (std::find(row.begin(), row.end(), p) == row.end() && isStrictlyBetween(p, row[0], row[1]) &&
              grid_.turn(points_[row[0]], points_[row[1]], points_[p], face.axis) == 0)
            row.push_back(p);
        changed = true;
      }
    }
    return changed;
  }

  void divideFaces() {
    std::map<uint32_t, Rows> rows;
    PointsOnLines on;
    for (const auto& [t, face] : faces_) crossSegments(face, points_, rows[t]);
    for (bool again = true; again;) {
      again = false;
      for (auto& [t, all] : rows) {
        std::vector<Line>& lines = lines_[t];
        if (lines.size() < all.size())
          for (size_t k = 0; k < 3; ++k)
            lines.push_back(edgeBetween(triangles_[t][k], triangles_[t][(k + 1) % 3]));
        for (size_t i = 0; i < all.size(); ++i)
          if (all[i].size() > 2) on[lines[i]].insert(all[i].begin() + 2, all[i].end());
      }
      passThroughFlatFaces(on);
      // Faces across edges with points are divided too.
      for (uint32_t t = 0; t < triangles_.size(); ++t) {
        if (isFlat(t) || rows.count(t) != 0) continue;
        for (size_t k = 0; k < 3; ++k)
          if (on.count(edgeBetween(triangles_[t][k], triangles_[t][(k + 1) % 3])) != 0) {
            crossSegments(faceOf(t), points_, rows[t]);
            again = true;
            break;
          }
      }
      for (auto& [t, all] : rows)
        if (lines_[t].size() == all.size()) again |= takePoints(faces_.at(t), lines_[t], on, all);
    }
    for (uint32_t t = 0; t < triangles_.size(); ++t) {
      const auto face = faces_.find(t);
      if (face == faces_.end()) {
        if (!isFlat(t)) addRegion(t, triangles_[t]);
        continue;
      }
      for (std::vector<uint32_t>& ring : ringsOf(face->second, points_, rows[t])) {
        for (uint32_t& p : ring) p = idOf(p);
        addRegion(t, ring);
      }
    }
  }

  // New points come after the vertices.
  uint32_t idOf(uint32_t point) const {
    const auto vertex = vertexOf_.find(point);
    return vertex == vertexOf_.end() ? u32(kernel_.positions.size()) + point : vertex->second;
  }
  ExactPoint exact(uint32_t id) const {
    const uint32_t vertices = u32(kernel_.positions.size());
    return id < vertices ? grid_.point(at(id)) : points_[id - vertices];
  }

  void addRegion(uint32_t t, std::span<const uint32_t> ring) {
    regionFace_.push_back(t);
    corners_.insert(corners_.end(), ring.begin(), ring.end());
    offsets_.push_back(u32(corners_.size()));
  }
  std::span<const uint32_t> ring(size_t r) const {
    return {corners_.data() + offsets_[r], offsets_[r + 1] - offsets_[r]};
  }

  struct Half {
    uint32_t low, high, region, corner;
    bool forward;  // runs from low to high, in the region as it is
  };

  // visit(half-edges) for each edge of regions that `wanted` says yes to.
  template <class Wanted, class Visit>
  void forEdges(Wanted&& wanted, Visit&& visit) const {
    std::vector<Half> halves;
    for (uint32_t r = 0; r < regionFace_.size(); ++r) {
      if (!wanted(r)) continue;
      const auto c = ring(r);
      for (uint32_t k = 0; k < c.size(); ++k) {
        const uint32_t a = c[k], b = c[(k + 1) % c.size()];
        halves.push_back({std::min(a, b), std::max(a, b), r, offsets_[r] + k, a < b});
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
    geometry::DisjointSets sets(regionFace_.size());
    forEdges([](uint32_t) { return true; },
             [&](std::span<const Half> h) {
               if (h.size() == 2 && h[0].forward != h[1].forward) sets.unite(h[0].region, h[1].region);
             });
    for (uint32_t r = 0; r < regionFace_.size(); ++r) patch_.push_back(sets.find(r));
  }

  // A point inside a region: the middle of an ear.
  std::optional<ExactPoint> pointInside(size_t r) const {
    const auto c = ring(r);
    const int axis = axis_[regionFace_[r]];
    const Triangle& v = triangles_[regionFace_[r]];
    if (c.size() == 3) return grid_.middle(exact(c[0]), exact(c[1]), exact(c[2]));
    const int way = grid_.turn(exact(v[0]), exact(v[1]), exact(v[2]), axis);
    std::vector<ExactPoint> p;
    for (const uint32_t id : c) p.push_back(exact(id));
    for (size_t i = 0; i < c.size(); ++i) {
      const size_t before = (i + c.size() - 1) % c.size(), after = (i + 1) % c.size();
      if (way * grid_.turn(p[before], p[i], p[after], axis) <= 0) continue;
      bool ear = true;
      for (size_t j = 0; j < c.size() && ear; ++j) {
        if (c[j] == c[before] || c[j] == c[i] || c[j] == c[after]) continue;
        ear = way * grid_.turn(p[before], p[i], p[j], axis) < 0 ||
              way * grid_.turn(p[i], p[after], p[j], axis) < 0 ||
              way * grid_.turn(p[after], p[before], p[j], axis) < 0;
      }
      if (ear) return grid_.middle(p[before], p[i], p[after]);
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
    const int axis = axis_[t], i = (axis + 1) % 3, j = (axis + 2) % 3;
    const double slack =
        1e-13 * kernel_.bounds.lower.cwiseAbs().cwiseMax(kernel_.bounds.upper.cwiseAbs()).maxCoeff();
    const auto upOf = [&](uint32_t f) {
      const Triangle& v = triangles_[f];
      return grid_.turn(grid_.point(at(v[0])), grid_.point(at(v[1])), grid_.point(at(v[2])), axis);
    };
    const int own = upOf(t);
    int beyond = 0, through = 0, count = 0;
    for (uint32_t f = 0; f < triangles_.size(); ++f) {
      if (isFlat(f)) continue;
      const Vec3 &a = at(triangles_[f][0]), &b = at(triangles_[f][1]), &c = at(triangles_[f][2]);
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
        int s = grid_.turn(grid_.point(from), grid_.point(to), p, axis);
        if (s == 0) s = from[j] != to[j] ? sign(from[j] - to[j]) : sign(to[i] - from[i]);
        hit = s == up;
      }
      if (!hit) continue;
      const int side = grid_.side(planeOf(f), p);
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
    std::vector<uint32_t> order(regionFace_.size());
    for (uint32_t r = 0; r < order.size(); ++r) order[r] = r;
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return ring(a).size() < ring(b).size(); });
    std::map<uint32_t, int8_t> keep;  // by patch: 1 as it is, -1 turned over
    bool doubled = false;
    for (const uint32_t r : order) {
      if (keep.count(patch_[r]) != 0) continue;
      const auto p = pointInside(r);
      if (!p) continue;
      const Winding w = windingAt(*p, regionFace_[r]);
      const bool front = w.front >= 1, back = w.back >= 1;
      keep[patch_[r]] = static_cast<int8_t>(back == front ? 0 : back ? 1 : -1);
      doubled = doubled || w.doubled;
    }
    for (uint32_t r = 0; r < regionFace_.size(); ++r) {
      const auto k = keep.find(patch_[r]);
      if (k == keep.end())
        throw Error(ErrorKind::Geometry,
                    fmt::format("the {} crosses itself at face {} so that no inside is found", name_,
                                kernel_.sourceOf(regionFace_[r])));
      keep_.push_back(k->second);
    }
    if (!doubled) return;
    // Of regions on each other the first one stays.
    std::map<std::vector<uint32_t>, uint32_t> first;
    for (uint32_t r = 0; r < regionFace_.size(); ++r) {
      if (keep_[r] == 0) continue;
      std::vector<uint32_t> key(ring(r).begin(), ring(r).end());
      std::sort(key.begin(), key.end());
      if (!first.try_emplace(std::move(key), r).second) keep_[r] = 0;
    }
  }

  // Where solids touch along an edge, faces pair up around the inside of each, and each pair gets a vertex of
  // its own in the middle of the edge.
  void separateSolids() {
    middle_.assign(corners_.size(), kNoIndex);
    forEdges([&](uint32_t r) { return keep_[r] != 0; },
             [&](std::span<Half> h) {
               if (h.size() > 2) separateEdge(h);
             });
  }

  void separateEdge(std::span<Half> halves) {
    std::vector<ExactPlane3> planes;
    for (const Half& h : halves) planes.push_back(planeOf(regionFace_[h.region]));
    // Which component of the edge's direction is not zero, and its sign.
    const ExactPoint from = exact(halves[0].low), to = exact(halves[0].high);
    int axis = 0;
    while (axis < 2 && grid_.compare(from, to, axis) == 0) ++axis;
    const int along = grid_.compare(to, from, axis), i = (axis + 1) % 3, j = (axis + 2) % 3;
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
    for (uint32_t t = 0; t < triangles_.size(); ++t) ++left[kernel_.sourceOf(t)];
    for (uint32_t r = 0; r < regionFace_.size(); ++r)
      if (keep_[r] == 1 && faces_.count(regionFace_[r]) == 0 &&
          std::all_of(middle_.begin() + offsets_[r], middle_.begin() + offsets_[r + 1],
                      [](uint32_t m) { return m == kNoIndex; }))
        --left[kernel_.sourceOf(regionFace_[r])];
    CutResult out;
    std::vector<uint32_t> number(kernel_.positions.size() + points_.size(), kNoIndex);
    const auto vertexOf = [&](uint32_t id) {
      if (number[id] != kNoIndex) return number[id];
      const bool vertex = id < kernel_.positions.size();
      out.mesh.positions.push_back(vertex ? at(id) : points_[id - u32(kernel_.positions.size())].at);
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
    for (uint32_t r = 0; r < regionFace_.size(); ++r) {
      if (keep_[r] == 0) continue;
      const uint32_t source = kernel_.sourceOf(regionFace_[r]);
      face.clear();
      if (left[source] == 0) {
        if (written[source]) continue;
        written[source] = 1;
        for (const uint32_t v : mesh_.face(source)) face.push_back(vertexOf(vertexName_[v]));
      } else {
        for (uint32_t c = offsets_[r]; c < offsets_[r + 1]; ++c) {
          face.push_back(vertexOf(corners_[c]));
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
  ExactGrid grid_;
  ExactPoints points_;
  std::vector<uint32_t> vertexName_;  // per vertex
  std::vector<Triangle> triangles_;   // by names
  std::vector<int8_t> axis_;          // per triangle: the largest component of its normal, -1 without area
  std::map<uint32_t, uint32_t> pointOf_, vertexOf_;
  std::map<uint32_t, FaceGraph> faces_;          // that others meet
  std::map<uint32_t, std::vector<Line>> lines_;  // the lines of their segments and edges
  std::vector<uint32_t> regionFace_, corners_, offsets_{0}, patch_;
  std::vector<int8_t> keep_;      // per region: 1 as it is, -1 turned over, 0 not
  std::vector<uint32_t> middle_;  // per corner: a vertex in the middle of the edge after it
  std::vector<Vec3> middles_;
};

}  // namespace

Resolved resolveByWinding(const PolygonSoup& mesh, const KernelMesh& kernel, const std::string& name) {
  return SelfCrossing(mesh, kernel, name).run();
}

}  // namespace sunder::cut
