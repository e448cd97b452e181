#include "sunder/soft/walls/contour.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace sunder::soft {

namespace {

// What a point is made of: an edge of the surface or a triangle, and the faces that it lies on.
struct PointKey {
  uint32_t a = 0, b = 0;
  uint8_t faces = 0;
  auto tie() const { return std::tuple(faces, a, b); }
  bool operator<(const PointKey& other) const { return tie() < other.tie(); }
  bool operator==(const PointKey& other) const { return tie() == other.tie(); }
};

PointKey keyOf(const ClipCorner& corner, uint32_t triangle, const geometry::Triangle& vertices) {
  const int edges = std::popcount(corner.edges);
  if (edges == 0) return {triangle, kNoIndex, corner.faces};
  if (edges == 1) {
    const int k = std::countr_zero(corner.edges);
    const uint32_t a = vertices[(k + 1) % 3], b = vertices[(k + 2) % 3];
    return {std::min(a, b), std::max(a, b), corner.faces};
  }
  // The vertex that both edges have.
  const int missing = std::countr_zero(static_cast<unsigned>(~corner.edges & 7));
  const uint32_t v = vertices[missing < 3 ? missing : 0];
  return {v, v, corner.faces};
}

struct ContourStep {
  uint32_t from, to;
  bool operator<(const ContourStep& o) const { return std::tie(from, to) < std::tie(o.from, o.to); }
};

struct EdgeInFace {
  PointKey from, to;
  uint32_t fromCorner, toCorner;  // of the copies' polygons
  uint8_t faces;
};

Vec2 at(const TetContours& tet, uint32_t point, int face) {
  return inFacePlane(tet.points[point].weights, face);
}

// Moves a point onto the nearest edge of its face: the corner with the smallest weight gets none.
uint32_t onOutline(TetContours& tet, uint32_t point, int face) {
  ContourPoint moved = tet.points[point];
  const auto& f = geometry::kTetFaces[face];
  int least = f[0];
  for (const int k : f)
    if (moved.weights[k] < moved.weights[least]) least = k;
  moved.weights[least] = 0;
  const double sum = moved.weights.sum();
  if (sum > 0) moved.weights /= sum;
  moved.faces = static_cast<uint8_t>(moved.faces | 1u << least);
  tet.points.push_back(moved);
  return static_cast<uint32_t>(tet.points.size() - 1);
}

double distanceToOutline(const TetContours& tet, uint32_t point, int face) {
  return std::max(0.0, faceWeights(tet.points[point].weights, face).minCoeff());
}

void heal(TetContours& tet, std::vector<std::vector<uint32_t>> chains, int face) {
  FaceContour& contour = tet.faces[face];
  const auto loose = [&](uint32_t point) { return !tet.points[point].onOutline(); };
  const auto note = [&](double length) {
    ++contour.healed;
    contour.longest = std::max(contour.longest, length);
  };
  for (size_t i = 0; i < chains.size(); ++i) {
    while (!chains[i].empty() && loose(chains[i].back())) {
      const uint32_t end = chains[i].back();
      double nearest = distanceToOutline(tet, end, face);
      size_t next = chains.size();
      for (size_t j = 0; j < chains.size(); ++j) {
        if (chains[j].empty() || !loose(chains[j].front())) continue;
        const double d = (at(tet, chains[j].front(), face) - at(tet, end, face)).norm();
        if (d < nearest) {
          nearest = d;
          next = j;
        }
      }
      note(nearest);
      if (next == chains.size()) {
        chains[i].push_back(onOutline(tet, end, face));
      } else if (next == i) {
        contour.loops.push_back(std::move(chains[i]));
        chains[i].clear();
      } else {
        chains[i].insert(chains[i].end(), chains[next].begin(), chains[next].end());
        chains[next].clear();
      }
    }
  }
  for (std::vector<uint32_t>& chain : chains) {
    if (chain.empty()) continue;
    if (loose(chain.front())) {
      note(distanceToOutline(tet, chain.front(), face));
      chain.insert(chain.begin(), onOutline(tet, chain.front(), face));
    }
    contour.open.push_back(std::move(chain));
  }
}

void chain(TetContours& tet, std::vector<ContourStep>& segments, int face) {
  if (segments.empty()) return;
  std::sort(segments.begin(), segments.end());
  std::vector<uint8_t> used(segments.size(), 0);
  std::vector<int32_t> balance(tet.points.size(), 0);  // segments that leave a point less those that reach it
  for (const ContourStep& s : segments) {
    ++balance[s.from];
    --balance[s.to];
  }
  const auto follow = [&](size_t first) {
    std::vector<uint32_t> points{segments[first].from};
    for (size_t s = first;;) {
      used[s] = 1;
      const uint32_t to = segments[s].to;
      points.push_back(to);
      if (tet.points[to].onOutline() || to == points.front()) return points;
      const ContourStep key{to, 0};
      s = static_cast<size_t>(std::lower_bound(segments.begin(), segments.end(), key) - segments.begin());
      while (s < segments.size() && segments[s].from == to && used[s]) ++s;
      if (s == segments.size() || segments[s].from != to) return points;
    }
  };
  std::vector<std::vector<uint32_t>> chains;
  for (size_t s = 0; s < segments.size(); ++s) {
    const uint32_t from = segments[s].from;
    if (used[s] || !(tet.points[from].onOutline() || balance[from] > 0)) continue;
    chains.push_back(follow(s));
  }
  for (size_t s = 0; s < segments.size(); ++s) {
    if (used[s]) continue;
    std::vector<uint32_t> points = follow(s);
    if (points.front() == points.back()) {
      points.pop_back();
      tet.faces[face].loops.push_back(std::move(points));
    } else {
      chains.push_back(std::move(points));
    }
  }
  heal(tet, std::move(chains), face);
}

}  // namespace

TetContours contoursOf(const geometry::TriMesh& surface, const SurfaceCopies& copies, uint32_t tet) {
  TetContours result;
  for (int k = 0; k < 4; ++k) {
    ContourPoint corner;
    corner.weights[k] = 1;
    corner.faces = static_cast<uint8_t>(15u & ~(1u << k));
    result.points.push_back(corner);
  }
  std::vector<EdgeInFace> edges;
  double volume = 0;
  const uint32_t begin = copies.trianglesOf.offsets[tet], end = copies.trianglesOf.offsets[tet + 1];
  for (uint32_t copy = begin; copy < end; ++copy) {
    const std::span<const ClipCorner> polygon = copies.polygon(copy);
    const uint32_t triangle = copies.trianglesOf.items[copy];
    for (size_t i = 0; i < polygon.size(); ++i) {
      const size_t j = i + 1 == polygon.size() ? 0 : i + 1;
      const auto shared = static_cast<uint8_t>(polygon[i].faces & polygon[j].faces);
      if (std::popcount(shared) != 1) continue;
      const geometry::Triangle& vertices = surface.triangles[triangle];
      edges.push_back({keyOf(polygon[i], triangle, vertices), keyOf(polygon[j], triangle, vertices),
                       static_cast<uint32_t>(copies.polygonStart[copy] + i),
                       static_cast<uint32_t>(copies.polygonStart[copy] + j), shared});
    }
    for (size_t i = 1; i + 1 < polygon.size(); ++i) {
      const Vec3 a = polygon[0].weights.tail<3>(), b = polygon[i].weights.tail<3>(),
                 c = polygon[i + 1].weights.tail<3>();
      volume += a.dot(b.cross(c));
    }
    result.surface = result.surface || polygon.size() > 2;
  }
  result.volume = volume;

  // Numbers for the points, in the order of their keys; the first corner met lends its weights.
  std::vector<std::pair<PointKey, uint32_t>> keys;
  for (const EdgeInFace& e : edges) {
    keys.emplace_back(e.from, e.fromCorner);
    keys.emplace_back(e.to, e.toCorner);
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(
      std::unique(keys.begin(), keys.end(), [](const auto& x, const auto& y) { return x.first == y.first; }),
      keys.end());
  for (const auto& [key, corner] : keys)
    result.points.push_back({copies.polygons[corner].weights, copies.polygons[corner].faces});
  const auto numberOf = [&](const PointKey& key) {
    const auto found = std::lower_bound(keys.begin(), keys.end(), std::pair(key, 0u));
    return static_cast<uint32_t>(4 + (found - keys.begin()));
  };
  std::array<std::vector<ContourStep>, 4> segments;
  for (const EdgeInFace& e : edges) {
    // The surface runs along its polygons, the wall against them.
    const ContourStep s{numberOf(e.to), numberOf(e.from)};
    if (s.from != s.to) segments[std::countr_zero(e.faces)].push_back(s);
  }
  for (int k = 0; k < 4; ++k) chain(result, segments[k], k);
  return result;
}

}  // namespace sunder::soft
