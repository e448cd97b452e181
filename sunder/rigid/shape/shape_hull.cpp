// Convex hulls by quickhull (Barber, Dobkin and Huhdanpaa 1996) with exact orientation tests, so the
// triangles always bound a convex polyhedron; then triangles that are coplanar up to rounding become one
// face.
#include "sunder/base/error.h"
#include "sunder/geometry/predicates.h"
#include "sunder/geometry/vector_area.h"
#include "sunder/rigid/shape/shape_parts.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

namespace sunder::rigid {

namespace {

using geometry::orient3d;
using Corners = std::array<uint32_t, 3>;

class QuickHull {
 public:
  explicit QuickHull(std::span<const Vec3> points) : points_(points) {
    start();
    // Faces are appended while the loop runs.
    for (size_t f = 0; f < faces_.size(); ++f)
      while (faces_[f].alive && !faces_[f].outside.empty()) addPoint(f);
  }

  std::vector<Corners> triangles() const {
    std::vector<Corners> result;
    for (const Face& f : faces_)
      if (f.alive) result.push_back(f.corners);
    return result;
  }

 private:
  struct Face {
    Corners corners;
    Corners neighbours;             // across the edge from corner k to the next
    std::vector<uint32_t> outside;  // points strictly above it, each of them in one list
    bool alive = true;
  };

  double above(const Face& f, uint32_t p) const {
    return orient3d(points_[f.corners[0]], points_[f.corners[1]], points_[f.corners[2]], points_[p]);
  }

  [[noreturn]] static void refuse(const char* why) {
    throw Error(ErrorKind::Geometry, fmt::format("these points have no convex hull: {}", why))
        .hint("give at least four points that do not lie in one plane");
  }

  void start() {
    if (points_.size() < 4) refuse("there are fewer than four");
    for (const Vec3& p : points_)
      if (!p.allFinite()) refuse("a coordinate is not finite");
    const auto farthest = [&](auto&& measure) {
      uint32_t best = 0;
      double most = -1;
      for (uint32_t i = 0; i < points_.size(); ++i) {
        const double m = measure(points_[i]);
        if (m > most) {
          most = m;
          best = i;
        }
      }
      return best;
    };
    const uint32_t a = farthest([&](const Vec3& p) { return (p - points_[0]).squaredNorm(); });
    const uint32_t b = farthest([&](const Vec3& p) { return (p - points_[a]).squaredNorm(); });
    const Vec3 line = points_[b] - points_[a];
    if (line.isZero(0)) refuse("they all are the same");
    const uint32_t c = farthest([&](const Vec3& p) { return line.cross(p - points_[a]).squaredNorm(); });
    const uint32_t d =
        farthest([&](const Vec3& p) { return std::abs(orient3d(points_[a], points_[b], points_[c], p)); });
    // The magnitude of the predicate is approximate; a body thinner than this has no mass to speak of.
    const double volume = orient3d(points_[a], points_[b], points_[c], points_[d]);
    if (std::abs(volume) <= 1e-9 * line.norm() * line.cross(points_[c] - points_[a]).norm())
      refuse("they lie in a plane");
    Corners t = volume < 0 ? Corners{a, b, c} : Corners{a, c, b};  // d is below the triangle
    faces_.push_back({{t[0], t[1], t[2]}, {1, 2, 3}, {}, true});
    faces_.push_back({{t[1], t[0], d}, {0, 3, 2}, {}, true});
    faces_.push_back({{t[2], t[1], d}, {0, 1, 3}, {}, true});
    faces_.push_back({{t[0], t[2], d}, {0, 2, 1}, {}, true});
    for (uint32_t p = 0; p < points_.size(); ++p) assign(p, 0);
  }

  void assign(uint32_t p, size_t firstFace) {
    for (size_t f = firstFace; f < faces_.size(); ++f)
      if (above(faces_[f], p) > 0) {
        faces_[f].outside.push_back(p);
        return;
      }
  }

  void addPoint(size_t face) {
    uint32_t eye = faces_[face].outside[0];
    double most = 0;
    for (const uint32_t p : faces_[face].outside)
      if (const double h = above(faces_[face], p); h > most) {
        most = h;
        eye = p;
      }
    // The faces that see the point are connected; the edges around them are a loop, found in order by going
    // around depth first.
    struct Edge {
      uint32_t from, to, beyond;
    };
    std::vector<Edge> horizon;
    std::vector<uint32_t> orphans;
    const auto remove = [&](size_t f) {
      faces_[f].alive = false;
      orphans.insert(orphans.end(), faces_[f].outside.begin(), faces_[f].outside.end());
      faces_[f].outside.clear();
    };
    struct Visit {
      size_t face, firstEdge, done;
    };
    std::vector<Visit> stack{{face, 0, 0}};
    remove(face);
    while (!stack.empty()) {
      Visit& v = stack.back();
      if (v.done == 3) {
        stack.pop_back();
        continue;
      }
      const size_t k = (v.firstEdge + v.done++) % 3;
      const Face& f = faces_[v.face];
      const uint32_t beyond = f.neighbours[k], from = f.corners[k], to = f.corners[(k + 1) % 3];
      if (!faces_[beyond].alive) continue;
      if (above(faces_[beyond], eye) > 0) {
        remove(beyond);
        size_t entry = 0;
        while (faces_[beyond].corners[entry] != to) ++entry;
        stack.push_back({beyond, (entry + 1) % 3, 0});
      } else {
        horizon.push_back({from, to, beyond});
      }
    }
    const size_t first = faces_.size(), count = horizon.size();
    for (size_t i = 0; i < count; ++i) {
      const Edge& e = horizon[i];
      const auto next = uint32_t(first + (i + 1) % count),
                 previous = uint32_t(first + (i + count - 1) % count);
      faces_.push_back({{e.from, e.to, eye}, {e.beyond, next, previous}, {}, true});
      Face& other = faces_[e.beyond];
      for (size_t k = 0; k < 3; ++k)
        if (other.corners[k] == e.to && other.corners[(k + 1) % 3] == e.from)
          other.neighbours[k] = uint32_t(first + i);
    }
    for (const uint32_t p : orphans)
      if (p != eye) assign(p, first);
  }

  std::span<const Vec3> points_;
  std::vector<Face> faces_;
};

// Corners of the boundary of a set of triangles, in order; empty where it is not one simple loop.
std::vector<uint32_t> boundaryLoop(const std::vector<Corners>& triangles,
                                   const std::vector<uint32_t>& region) {
  std::map<uint32_t, uint32_t> next;
  std::map<std::pair<uint32_t, uint32_t>, int> sides;
  for (const uint32_t t : region)
    for (size_t k = 0; k < 3; ++k) sides[{triangles[t][k], triangles[t][(k + 1) % 3]}] = 1;
  size_t count = 0;
  for (const auto& [side, one] : sides)
    if (!sides.count({side.second, side.first})) {
      if (!next.emplace(side.first, side.second).second) return {};
      ++count;
    }
  std::vector<uint32_t> loop;
  if (next.empty()) return loop;
  for (uint32_t v = next.begin()->first; loop.size() <= count;) {
    loop.push_back(v);
    v = next.at(v);
    if (v == loop[0]) break;
  }
  return loop.size() == count ? loop : std::vector<uint32_t>{};
}

// Triangles that are coplanar up to rounding become one polygon.
std::vector<std::vector<uint32_t>> mergeFaces(std::span<const Vec3> points,
                                              const std::vector<Corners>& triangles, double tolerance) {
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> faceOfSide;
  std::vector<Vec3> normals(triangles.size());
  std::vector<double> area(triangles.size());
  std::vector<uint32_t> order(triangles.size());
  for (uint32_t t = 0; t < triangles.size(); ++t) {
    const Vec3 n = geometry::twiceVectorArea(points, triangles[t]);
    area[t] = n.norm();
    normals[t] = area[t] > 0 ? Vec3(n / area[t]) : Vec3::Zero();
    order[t] = t;
    for (size_t k = 0; k < 3; ++k) faceOfSide[{triangles[t][k], triangles[t][(k + 1) % 3]}] = t;
  }
  // The largest triangles have the most reliable planes.
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return area[a] > area[b]; });
  std::vector<uint8_t> used(triangles.size(), 0);
  std::vector<std::vector<uint32_t>> polygons;
  for (const uint32_t seed : order) {
    if (used[seed]) continue;
    const Vec3 &normal = normals[seed], &origin = points[triangles[seed][0]];
    std::vector<uint32_t> region{seed};
    used[seed] = 1;
    for (size_t i = 0; i < region.size(); ++i)
      for (size_t k = 0; k < 3; ++k) {
        const Corners& t = triangles[region[i]];
        const uint32_t other = faceOfSide.at({t[(k + 1) % 3], t[k]});
        if (used[other]) continue;
        bool flat = true;
        for (const uint32_t v : triangles[other])
          flat &= std::abs(normal.dot(points[v] - origin)) <= tolerance;
        if (!flat || (area[other] > tolerance * tolerance && normal.dot(normals[other]) < 0.5)) continue;
        used[other] = 1;
        region.push_back(other);
      }
    std::vector<uint32_t> loop = boundaryLoop(triangles, region);
    if (!loop.empty()) {
      polygons.push_back(std::move(loop));
    } else {
      for (const uint32_t t : region) polygons.push_back({triangles[t].begin(), triangles[t].end()});
    }
  }
  return polygons;
}

void addEdges(HullTopology& hull) {
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> faceOfSide;
  const auto faces = uint32_t(hull.faceNormals.size());
  const auto forSides = [&](uint32_t f, auto&& visit) {
    for (uint32_t i = hull.faceStart[f]; i < hull.faceStart[f + 1]; ++i) {
      const uint32_t j = i + 1 == hull.faceStart[f + 1] ? hull.faceStart[f] : i + 1;
      visit(hull.faceVertices[i], hull.faceVertices[j]);
    }
  };
  for (uint32_t f = 0; f < faces; ++f) forSides(f, [&](uint32_t u, uint32_t v) { faceOfSide[{u, v}] = f; });
  for (uint32_t f = 0; f < faces; ++f)
    forSides(f, [&](uint32_t u, uint32_t v) {
      if (u > v) return;
      const auto other = faceOfSide.find({v, u});
      if (other != faceOfSide.end()) hull.edges.push_back({u, v, f, other->second});
    });
}

void addFace(HullTopology& hull, std::span<const uint32_t> loop) {
  const auto at = [&](size_t i) -> const Vec3& { return hull.vertices[loop[i]]; };
  const Vec3 normal = geometry::twiceVectorArea(loop.size(), at).normalized();
  double offset = -Box3::kInfinity;
  for (const Vec3& v : hull.vertices) offset = std::max(offset, normal.dot(v));
  hull.faceNormals.push_back(normal);
  hull.faceOffsets.push_back(offset);
  hull.faceVertices.insert(hull.faceVertices.end(), loop.begin(), loop.end());
  hull.faceStart.push_back(uint32_t(hull.faceVertices.size()));
}

}  // namespace

HullTopology hullTopology(std::span<const Vec3> points) {
  const std::vector<Corners> triangles = QuickHull(points).triangles();
  Box3 box;
  for (const Corners& t : triangles)
    for (const uint32_t v : t) box.grow(points[v]);
  std::vector<std::vector<uint32_t>> polygons = mergeFaces(points, triangles, 1e-9 * box.diagonal());

  // Corners of two faces only lie on an edge between others.
  std::map<uint32_t, uint32_t> facesAt, number;
  for (const auto& loop : polygons)
    for (const uint32_t v : loop) ++facesAt[v];
  HullTopology hull;
  for (const auto& [v, faces] : facesAt)
    if (faces > 2) {
      number[v] = uint32_t(hull.vertices.size());
      hull.vertices.push_back(points[v]);
    }
  hull.faceStart = {0};
  for (const auto& loop : polygons) {
    std::vector<uint32_t> kept;
    for (const uint32_t v : loop)
      if (facesAt[v] > 2) kept.push_back(number[v]);
    if (kept.size() >= 3) addFace(hull, kept);
  }
  addEdges(hull);
  return hull;
}

HullTopology boxTopology(const Vec3& h) {
  HullTopology hull;
  for (uint32_t i = 0; i < 8; ++i)
    hull.vertices.push_back(Vec3(i & 1 ? h.x() : -h.x(), i & 2 ? h.y() : -h.y(), i & 4 ? h.z() : -h.z()));
  hull.faceStart = {0};
  // Faces -x +x -y +y -z +z.
  constexpr uint32_t kLoops[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                     {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
  for (const auto& loop : kLoops) addFace(hull, loop);
  addEdges(hull);
  return hull;
}

geometry::TriMesh hullSurface(const HullTopology& hull) {
  geometry::TriMesh mesh;
  mesh.positions = hull.vertices;
  for (size_t f = 0; f + 1 < hull.faceStart.size(); ++f) {
    const uint32_t* loop = hull.faceVertices.data() + hull.faceStart[f];
    const uint32_t corners = hull.faceStart[f + 1] - hull.faceStart[f];
    for (uint32_t i = 1; i + 1 < corners; ++i) mesh.triangles.push_back({loop[0], loop[i], loop[i + 1]});
  }
  return mesh;
}

namespace {

class HullField final : public sdf::Field {
 public:
  explicit HullField(const HullTopology& hull) : hull_(hull) {
    for (const Vec3& v : hull.vertices) bounds_.grow(v);
  }
  void values(std::span<const Vec3> points, std::span<double> out) const override {
    for (size_t i = 0; i < points.size(); ++i) out[i] = at(points[i]).value;
  }
  void samples(std::span<const Vec3> points, std::span<sdf::FieldSample> out) const override {
    for (size_t i = 0; i < points.size(); ++i) out[i] = at(points[i]);
  }
  Box3 bounds() const override { return bounds_; }

 private:
  sdf::FieldSample at(const Vec3& p) const {
    size_t highest = 0;
    double height = -Box3::kInfinity;
    for (size_t f = 0; f < hull_.faceNormals.size(); ++f)
      if (const double h = hull_.faceNormals[f].dot(p) - hull_.faceOffsets[f]; h > height) {
        height = h;
        highest = f;
      }
    if (height <= 0) return {height, hull_.faceNormals[highest]};
    double best = Box3::kInfinity;
    Vec3 nearest = Vec3::Zero();
    for (size_t f = 0; f < hull_.faceNormals.size(); ++f) {
      const Vec3& n = hull_.faceNormals[f];
      const double h = n.dot(p) - hull_.faceOffsets[f];
      // The nearest point lies on a face that sees p.
      if (h <= 0 || h * h >= best) continue;
      const Vec3 q = nearestOnFace(f, p, p - h * n);
      if (const double d = (p - q).squaredNorm(); d < best) {
        best = d;
        nearest = q;
      }
    }
    const double distance = std::sqrt(best);
    if (!(distance > 1e-150)) return {height, hull_.faceNormals[highest]};
    return {distance, (p - nearest) / distance};
  }

  // `foot` is the point's foot in the face's plane.
  Vec3 nearestOnFace(size_t f, const Vec3& p, const Vec3& foot) const {
    const Vec3& n = hull_.faceNormals[f];
    Vec3 nearest = foot;
    double best = Box3::kInfinity;
    bool outside = false;
    for (uint32_t i = hull_.faceStart[f]; i < hull_.faceStart[f + 1]; ++i) {
      const uint32_t j = i + 1 == hull_.faceStart[f + 1] ? hull_.faceStart[f] : i + 1;
      const Vec3 &a = hull_.vertices[hull_.faceVertices[i]], &b = hull_.vertices[hull_.faceVertices[j]];
      const Vec3 along = b - a;
      if (n.cross(along).dot(foot - a) >= 0) continue;
      outside = true;
      const double t = std::clamp((p - a).dot(along) / along.squaredNorm(), 0.0, 1.0);
      const Vec3 q = a + t * along;
      if (const double d = (p - q).squaredNorm(); d < best) {
        best = d;
        nearest = q;
      }
    }
    return outside ? nearest : foot;
  }

  const HullTopology& hull_;
  Box3 bounds_;
};

}  // namespace

std::shared_ptr<const sdf::Field> makeHullField(const HullTopology& hull) {
  return std::make_shared<HullField>(hull);
}

}  // namespace sunder::rigid
