// What a test wants to know about a triangle mesh, computed here without the library's own report, so that
// shapes and report do not vouch for each other.
#pragma once

#include "sunder/base/disjoint_sets.h"
#include "sunder/geometry/mesh.h"
#include "sunder/geometry/predicates.h"
#include "sunder/geometry/triangle_triangle.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace sunder::shapes::shapetest {
using namespace geometry;

struct Facts {
  bool watertight = true;   // every directed edge once, and its reverse too
  bool edgesOnce = true;    // no directed edge twice (what is left of the above for open sheets)
  bool oneFanEach = true;   // the triangles of each vertex hang together by edges at it
  bool allUsed = true;      // no vertex without triangle
  bool degenerate = false;  // a triangle whose corners are on one line
  bool finite = true;
  int64_t euler = 0;
  size_t components = 0, boundaryEdges = 0;
  double volume = 0, area = 0, smallestArea = 0, largestArea = 0;
};

inline Facts inspect(const TriMesh& mesh) {
  Facts facts;
  const size_t vertexCount = mesh.positions.size(), triangleCount = mesh.triangles.size();
  for (const Vec3& p : mesh.positions) facts.finite = facts.finite && p.allFinite();

  std::vector<std::tuple<uint32_t, uint32_t, uint32_t>> edges;  // from, to, triangle
  std::vector<uint32_t> corners(vertexCount, 0);
  DisjointSets sets(vertexCount);
  const Box3 box = bounds(mesh.positions);
  const Vec3 middle = box.center();
  facts.smallestArea = std::numeric_limits<double>::infinity();
  for (uint32_t t = 0; t < triangleCount; ++t) {
    const auto [a, b, c] = mesh.triangles[t];
    const Vec3 p = mesh.positions.at(a), q = mesh.positions.at(b), r = mesh.positions.at(c);
    edges.insert(edges.end(), {{a, b, t}, {b, c, t}, {c, a, t}});
    for (uint32_t v : {a, b, c}) ++corners[v];
    sets.unite(a, b);
    sets.unite(a, c);
    const double area = 0.5 * (q - p).cross(r - p).norm();
    facts.degenerate = facts.degenerate || collinear(p, q, r) || !(area > 0);
    facts.area += area;
    facts.smallestArea = std::min(facts.smallestArea, area);
    facts.largestArea = std::max(facts.largestArea, area);
    facts.volume += (p - middle).dot((q - middle).cross(r - middle)) / 6;
  }
  std::ranges::sort(edges);
  auto find = [&](uint32_t from, uint32_t to) -> int64_t {  // the triangle left of an edge
    const auto at = std::ranges::lower_bound(edges, std::tuple(from, to, 0u));
    const bool found = at != edges.end() && std::get<0>(*at) == from && std::get<1>(*at) == to;
    return found ? int64_t(std::get<2>(*at)) : int64_t(-1);
  };
  for (size_t i = 0; i < edges.size(); ++i) {
    const auto [from, to, t] = edges[i];
    if (i > 0 && std::get<0>(edges[i - 1]) == from && std::get<1>(edges[i - 1]) == to)
      facts.edgesOnce = false;
    if (find(to, from) < 0) ++facts.boundaryEdges;
  }
  facts.watertight = triangleCount > 0 && facts.edgesOnce && facts.boundaryEdges == 0;

  // Around each vertex, from triangle to triangle; an open fan is entered at its first triangle.
  std::vector<uint32_t> start(vertexCount, kNoIndex);
  for (uint32_t t = 0; t < triangleCount; ++t)
    for (size_t k = 0; k < 3; ++k) {
      const uint32_t v = mesh.triangles[t][k], next = mesh.triangles[t][(k + 1) % 3];
      if (start[v] == kNoIndex || find(next, v) < 0) start[v] = t;
    }
  for (uint32_t v = 0; v < vertexCount; ++v) {
    if (corners[v] == 0) {
      facts.allUsed = false;
      continue;
    }
    uint32_t seen = 0;
    int64_t t = start[v];
    do {
      const Triangle& tri = mesh.triangles[static_cast<size_t>(t)];
      const size_t k = static_cast<size_t>(std::ranges::find(tri, v) - tri.begin());
      t = find(v, tri[(k + 2) % 3]);
      ++seen;
    } while (t >= 0 && t != start[v] && seen <= corners[v]);
    facts.oneFanEach = facts.oneFanEach && seen == corners[v];
  }
  for (uint32_t v = 0; v < vertexCount; ++v) facts.components += sets.isRoot(v) ? 1 : 0;
  const size_t undirected = (edges.size() + facts.boundaryEdges) / 2;
  facts.euler = static_cast<int64_t>(vertexCount) - static_cast<int64_t>(undirected) +
                static_cast<int64_t>(triangleCount);
  return facts;
}

// Empty when the mesh keeps the promise of closed shapes, else what it breaks.
inline std::string broken(const Facts& f, bool closed = true) {
  const std::pair<bool, const char*> faults[] = {
      {!f.finite, "a coordinate is not finite; "},
      {!f.edgesOnce, "an edge has two triangles on one side; "},
      {closed && !f.watertight, "not watertight; "},
      {!f.oneFanEach, "a vertex has several fans; "},
      {!f.allUsed, "a vertex has no triangle; "},
      {f.degenerate, "a triangle has no area; "},
      {closed && !(f.volume > 0), "the volume is not positive; "},
      {!closed && f.boundaryEdges == 0, "closed; "},
  };
  std::string out;
  for (const auto& [fault, text] : faults)
    if (fault) out += text;
  return out;
}

// Calls visit(i, j), i < j, for every pair of boxes that overlap. Boxes are put into the cells of a grid; a
// pair is reported by the cell that holds the lower corner of its common part.
template <class Scalar, class Visit>
void overlappingPairs(const std::vector<BoxT<Scalar>>& boxes, Visit&& visit) {
  BoxT<double> all;
  double size = 0;
  for (const auto& b : boxes) {
    all.grow(b.lower.template cast<double>().eval());
    all.grow(b.upper.template cast<double>().eval());
    size += static_cast<double>(b.extent().maxCoeff());
  }
  const double cell = std::max(2 * size / static_cast<double>(boxes.size()), 1e-3 * all.extent().maxCoeff());
  auto cellOf = [&](const auto& p, int axis) {
    return static_cast<uint64_t>((static_cast<double>(p[axis]) - all.lower[axis]) / cell);
  };
  std::vector<std::pair<uint64_t, uint32_t>> entries;  // cell, box
  auto key = [](uint64_t x, uint64_t y, uint64_t z) { return (x << 42) | (y << 21) | z; };
  for (uint32_t i = 0; i < boxes.size(); ++i)
    for (uint64_t x = cellOf(boxes[i].lower, 0); x <= cellOf(boxes[i].upper, 0); ++x)
      for (uint64_t y = cellOf(boxes[i].lower, 1); y <= cellOf(boxes[i].upper, 1); ++y)
        for (uint64_t z = cellOf(boxes[i].lower, 2); z <= cellOf(boxes[i].upper, 2); ++z)
          entries.emplace_back(key(x, y, z), i);
  std::ranges::sort(entries);
  for (size_t begin = 0, end = 0; begin < entries.size(); begin = end) {
    while (end < entries.size() && entries[end].first == entries[begin].first) ++end;
    for (size_t a = begin; a < end; ++a)
      for (size_t b = a + 1; b < end; ++b) {
        const auto &p = boxes[entries[a].second], &q = boxes[entries[b].second];
        if (!overlap(p, q)) continue;
        const auto corner = p.lower.cwiseMax(q.lower).eval();
        if (key(cellOf(corner, 0), cellOf(corner, 1), cellOf(corner, 2)) != entries[begin].first) continue;
        visit(entries[a].second, entries[b].second);
      }
  }
}

// Pairs of triangles that meet in more than the vertices or the edge they share.
inline size_t selfIntersections(const TriMesh& mesh) {
  std::vector<Box3> boxes(mesh.triangles.size());
  for (size_t t = 0; t < boxes.size(); ++t)
    for (uint32_t v : mesh.triangles[t]) boxes[t].grow(mesh.positions[v]);
  size_t count = 0;
  overlappingPairs(boxes, [&](uint32_t i, uint32_t j) {
    const Triangle &s = mesh.triangles[i], &t = mesh.triangles[j];
    size_t shared = 0;
    for (uint32_t v : s) shared += std::ranges::count(t, v) > 0 ? 1 : 0;
    auto corners = [&](const Triangle& x) {
      return TriangleCorners{mesh.positions[x[0]], mesh.positions[x[1]], mesh.positions[x[2]]};
    };
    const MeetingKind kind = meeting(corners(s), corners(t)).kind;
    const bool fine = (shared == 0 && kind == MeetingKind::None) ||
                      (shared == 1 && kind == MeetingKind::Point) ||
                      (shared == 2 && kind == MeetingKind::Segment);
    count += fine ? 0 : 1;
  });
  return count;
}

}  // namespace sunder::shapes::shapetest
