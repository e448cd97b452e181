#include "sunder/base/random.h"
#include "sunder/geometry/vector_area.h"
#include "sunder/rigid/shape/shape_parts.h"
#include "sunder/sdf/farthest_point.h"
#include "sunder/sdf/point_samples.h"

#include <algorithm>
#include <cmath>

namespace sunder::rigid {

namespace {

constexpr double kSharp = 0.87;  // cosine of 30 degrees between the normals of two faces
constexpr uint32_t kCandidates = 8;

struct SharpEdge {
  uint32_t from, to;
  Vec3 normal;  // half-way between those of its faces
};

Vec3 faceNormal(const geometry::TriMesh& mesh, size_t t) {
  return geometry::twiceVectorArea(mesh.positions, mesh.triangles[t]).normalized();
}

// Edges of two faces that meet at an angle and bulge: only those can touch something first.
std::vector<SharpEdge> convexEdges(const geometry::TriMesh& mesh) {
  struct Side {
    uint32_t low, high, face, opposite;
  };
  std::vector<Side> sides;
  sides.reserve(3 * mesh.triangles.size());
  for (uint32_t t = 0; t < mesh.triangles.size(); ++t)
    for (size_t k = 0; k < 3; ++k) {
      const uint32_t u = mesh.triangles[t][k], v = mesh.triangles[t][(k + 1) % 3];
      sides.push_back({std::min(u, v), std::max(u, v), t, mesh.triangles[t][(k + 2) % 3]});
    }
  std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
    return std::tie(a.low, a.high, a.face) < std::tie(b.low, b.high, b.face);
  });
  std::vector<SharpEdge> edges;
  for (size_t i = 0; i + 1 < sides.size(); ++i) {
    const Side &s = sides[i], &o = sides[i + 1];
    if (s.low != o.low || s.high != o.high) continue;
    const Vec3 n = faceNormal(mesh, s.face), m = faceNormal(mesh, o.face);
    if (n.dot(m) > kSharp) continue;
    if (n.dot(mesh.positions[o.opposite] - mesh.positions[s.low]) < 0)
      edges.push_back({s.low, s.high, (n + m).normalized()});
  }
  return edges;
}

// Where sharp edges end, meet or turn.
std::vector<SurfacePoint> cornersOf(const geometry::TriMesh& mesh, const std::vector<SharpEdge>& edges) {
  struct End {
    uint32_t vertex;
    Vec3 along, normal;
  };
  std::vector<End> ends;
  for (const SharpEdge& e : edges) {
    const Vec3 along = (mesh.positions[e.to] - mesh.positions[e.from]).normalized();
    ends.push_back({e.from, along, e.normal});
    ends.push_back({e.to, -along, e.normal});
  }
  std::stable_sort(ends.begin(), ends.end(), [](auto& a, auto& b) { return a.vertex < b.vertex; });
  std::vector<SurfacePoint> corners;
  for (size_t i = 0; i < ends.size();) {
    size_t j = i;
    Vec3 normal = Vec3::Zero();
    for (; j < ends.size() && ends[j].vertex == ends[i].vertex; ++j) normal += ends[j].normal;
    const bool straight = j - i == 2 && ends[i].along.dot(ends[i + 1].along) < -kSharp;
    if (!straight) corners.push_back({mesh.positions[ends[i].vertex], normal.normalized()});
    i = j;
  }
  return corners;
}

// The first `most` points of the list in farthest-point order.
std::vector<SurfacePoint> spread(std::vector<SurfacePoint> points, size_t most) {
  if (points.size() <= most) return points;
  std::vector<Vec3> positions;
  for (const SurfacePoint& p : points) positions.push_back(p.position);
  std::vector<SurfacePoint> kept;
  for (const uint32_t i : sdf::farthestPointOrder(positions, most).order) kept.push_back(points[i]);
  return kept;
}

}  // namespace

std::vector<SurfacePoint> contactPoints(const geometry::TriMesh& mesh, size_t count, uint64_t seed) {
  const std::vector<SharpEdge> edges = convexEdges(mesh);
  std::vector<SurfacePoint> points = spread(cornersOf(mesh, edges), count / 2);

  double length = 0;
  for (const SharpEdge& e : edges) length += (mesh.positions[e.to] - mesh.positions[e.from]).norm();
  const size_t forEdges = std::min(count / 3, count - points.size());
  std::vector<SurfacePoint> along;
  if (length > 0 && forEdges > 0) {
    const double step = length / (4.0 * double(forEdges));
    for (const SharpEdge& e : edges) {
      const Vec3 &p = mesh.positions[e.from], &q = mesh.positions[e.to];
      const int parts = std::max(1, int(std::round((q - p).norm() / step)));
      for (int i = 1; i < parts; ++i) along.push_back({p + (q - p) * (double(i) / parts), e.normal});
      along.push_back({p, e.normal});
      along.push_back({q, e.normal});
    }
  }
  std::vector<SurfacePoint> candidates;
  for (const sdf::SurfaceSample& s : sdf::scatterOnSurface(mesh, kCandidates * count, seed))
    candidates.push_back({s.point, faceNormal(mesh, s.triangle)});

  // Farthest of all candidates from what is there already, until the count is reached: edges, then faces.
  const auto fill = [&points](const std::vector<SurfacePoint>& from, size_t upTo) {
    std::vector<double> nearest(from.size(), Box3::kInfinity);
    const auto update = [&](const Vec3& p) {
      size_t best = 0;
      for (size_t i = 0; i < from.size(); ++i) {
        nearest[i] = std::min(nearest[i], (from[i].position - p).squaredNorm());
        if (nearest[i] > nearest[best]) best = i;
      }
      return best;
    };
    if (from.empty()) return;
    size_t best = 0;
    for (const SurfacePoint& p : points) best = update(p.position);
    while (points.size() < upTo && nearest[best] > 0) {
      points.push_back(from[best]);
      best = update(from[best].position);
    }
  };
  fill(along, std::min(count, points.size() + forEdges));
  fill(candidates, count);
  return points;
}

void ShapeParts::setCores(std::span<const Vec3> candidates) {
  constexpr double kPart = 0.5;     // of the largest ball
  constexpr double kShallow = 0.3;  // of the largest ball: candidates closer to the surface make no core
  constexpr double kApart = 2;      // radii of the largest ball between two cores
  constexpr size_t kMost = 6;
  const auto add = [&](const Vec3& point) {
    const double inside = std::min(-field_->value(point), innerRadius_);
    if (inside > kShallow * innerRadius_) cores_.push_back({point, kPart * inside});
  };
  add(mass_.centre);
  std::vector<double> away(candidates.size(), Box3::kInfinity);
  const auto measure = [&](const Vec3& from) {
    for (size_t i = 0; i < candidates.size(); ++i) away[i] = std::min(away[i], (candidates[i] - from).norm());
  };
  measure(mass_.centre);
  while (cores_.size() < kMost && !candidates.empty()) {
    const size_t next = size_t(std::max_element(away.begin(), away.end()) - away.begin());
    if (!cores_.empty() && away[next] < kApart * innerRadius_) break;
    if (away[next] <= 0) break;
    add(candidates[next]);
    measure(candidates[next]);
  }
}

void ShapeParts::setPoints(std::span<const SurfacePoint> surface, std::span<const Vec3> inside) {
  std::vector<Vec3> points;
  for (const SurfacePoint& p : surface) points.push_back(p.position);
  std::vector<uint8_t> onSurface(points.size(), 1);
  points.insert(points.end(), inside.begin(), inside.end());
  onSurface.resize(points.size(), 0);
  setTree(sdf::buildSphereTree(points, onSurface));
  for (const uint32_t id : points_.order)
    pointNormals_.push_back(id < surface.size() ? surface[id].normal : Vec3(Vec3::Zero()));
}

namespace {

// Occurrences with a point at or below them that searches should come to; empty: all of them.
std::vector<uint8_t> worthAVisit(const sdf::SphereTree& tree, size_t inside) {
  std::vector<uint8_t> worth;
  const auto count = size_t(std::count(tree.surface.begin(), tree.surface.end(), 0));
  if (count <= inside) return worth;
  std::vector<uint8_t> wanted = tree.surface;
  size_t left = inside;
  for (uint8_t& w : wanted)
    if (!w && left > 0) {
      w = 1;
      --left;
    }
  worth.assign(tree.rank.size(), 0);
  for (uint32_t o = 0; o < worth.size(); ++o)
    if (wanted[tree.rank[o]])
      for (uint32_t up = o; up != kNoIndex && !worth[up]; up = tree.parent[up]) worth[up] = 1;
  return worth;
}

}  // namespace

void ShapeParts::setTree(sdf::SphereTree tree, size_t inside) {
  points_ = std::move(tree);
  pointNodes_.clear();
  const std::vector<uint8_t> worth = worthAVisit(points_, inside);
  std::vector<uint32_t> source;  // by node: its occurrence
  std::vector<uint8_t> seen(points_.pointCount(), 0);
  const auto add = [&](uint32_t occurrence) {
    if (!worth.empty() && !worth[occurrence]) return false;
    // Occurrences with no other child than the point itself are passed by; at the bottom none is left.
    const uint32_t rank = points_.rank[occurrence];
    while (points_.firstChild[occurrence] != kNoIndex &&
           points_.nextSibling[points_.firstChild[occurrence]] == kNoIndex &&
           points_.rank[points_.firstChild[occurrence]] == rank)
      occurrence = points_.firstChild[occurrence];
    const bool fresh = !seen[rank], leaf = points_.firstChild[occurrence] == kNoIndex;
    seen[rank] = 1;
    if (!fresh && leaf) return false;
    source.push_back(occurrence);
    pointNodes_.push_back({rank, points_.radius[occurrence], 0, 0, fresh});
    return true;
  };
  for (const uint32_t root : points_.roots) add(root);
  for (size_t i = 0; i < pointNodes_.size(); ++i) {
    const auto first = uint32_t(pointNodes_.size());
    uint32_t count = 0;
    for (uint32_t child = points_.firstChild[source[i]]; child != kNoIndex;
         child = points_.nextSibling[child])
      count += add(child);
    pointNodes_[i].first = first;
    pointNodes_[i].count = count & 0x7fffffffu;
  }
}

}  // namespace sunder::rigid
