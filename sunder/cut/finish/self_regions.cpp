#include "sunder/cut/finish/self_regions.h"

#include "sunder/cut/kernel/pair_search.h"
#include "sunder/geometry/predicates.h"

#include <algorithm>
#include <optional>

namespace sunder::cut {

namespace {

using geometry::orient3d;
using geometry::sign;

Line edgeBetween(uint32_t a, uint32_t b) { return {std::min(a, b), std::max(a, b)}; }

}  // namespace

SelfRegions::SelfRegions(const KernelMesh& mesh, const std::string& name, uint64_t most)
    : kernel(mesh), grid(mesh.positions, name), points(grid) {
  nameVertices();
  for (const auto& p : overlappingPairs(name, most)) crossPair(p.a, p.b);
  divideFaces();
}

// Equal positions have one name, the lowest of their vertices.
void SelfRegions::nameVertices() {
  const size_t count = kernel.positions.size();
  std::vector<uint32_t> order(count);
  for (uint32_t v = 0; v < count; ++v) order[v] = v;
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const Vec3 &p = kernel.positions[a], &q = kernel.positions[b];
    if (p == q) return a < b;
    return std::lexicographical_compare(p.data(), p.data() + 3, q.data(), q.data() + 3);
  });
  vertexName.resize(count);
  for (size_t i = 0; i < count; ++i) {
    const bool again = i > 0 && kernel.positions[order[i]] == kernel.positions[order[i - 1]];
    vertexName[order[i]] = again ? vertexName[order[i - 1]] : order[i];
  }
  for (uint32_t t = 0; t < kernel.triangles.size(); ++t) {
    Triangle named;
    for (size_t k = 0; k < 3; ++k) named[k] = vertexName[kernel.triangles[t][k]];
    triangles.push_back(named);
    axis.push_back(static_cast<int8_t>(geometry::normalAxis(at(named[0]), at(named[1]), at(named[2]))));
  }
}

std::vector<spatial::PrimitivePair> SelfRegions::overlappingPairs(const std::string& name,
                                                                  uint64_t most) const {
  spatial::OiTree tree;
  spatial::OiTreeBuilder builder;
  builder.build(tree, spatial::TriangleLeaves{.positions = kernel.positions, .triangles = kernel.triangles});
  spatial::PairList list;
  searchPairs(tree, tree, most, "of the " + name, list);
  std::vector<spatial::PrimitivePair> pairs(list.pairs().begin(), list.pairs().end());
  for (auto& p : pairs)
    if (p.a > p.b) std::swap(p.a, p.b);
  std::sort(pairs.begin(), pairs.end(),
            [](const auto& x, const auto& y) { return x.a < y.a || (x.a == y.a && x.b < y.b); });
  return pairs;
}

uint32_t SelfRegions::pointOfVertex(uint32_t vertex) {
  const auto [entry, added] = pointOf_.try_emplace(vertex, kNoIndex);
  if (!added) return entry->second;
  const uint32_t p = points.add(grid.point(at(vertex)));
  vertexOf_[p] = vertex;
  return entry->second = p;
}

FaceGraph& SelfRegions::faceOf(uint32_t t) {
  const auto [entry, added] = faces_.try_emplace(t);
  FaceGraph& face = entry->second;
  if (!added) return face;
  for (size_t k = 0; k < 3; ++k) face.corners[k] = pointOfVertex(triangles[t][k]);
  face.axis = axis[t];
  const auto& c = face.corners;
  face.turned = grid.turn(points[c[0]], points[c[1]], points[c[2]], face.axis) < 0;
  return face;
}

ExactPlane3 SelfRegions::planeOf(uint32_t t) const {
  const Triangle& v = triangles[t];
  return grid.plane(at(v[0]), at(v[1]), at(v[2]));
}

void SelfRegions::crossPair(uint32_t s, uint32_t t) {
  if (isFlat(s) || isFlat(t)) return;
  const uint32_t face[] = {s, t};
  int side[2][3];
  size_t common = 0, zeros = 0;
  for (size_t m = 0; m < 2; ++m) {
    const Triangle &own = triangles[face[m]], &other = triangles[face[1 - m]];
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
    const Triangle& own = triangles[face[m]];
    size_t found = 0;
    for (size_t k = 0; k < 3 && found < 2; ++k) {
      const size_t n = (k + 1) % 3;
      if (side[m][k] == 0)
        ends[m][found++] = grid.point(at(own[k]));
      else if (side[m][k] * side[m][n] < 0)
        ends[m][found++] = grid.meet(grid.point(at(own[k])), grid.point(at(own[n])), planes[1 - m]);
    }
    if (found < 2) return;
    if (grid.compare(*ends[m][0], *ends[m][1]) > 0) std::swap(ends[m][0], ends[m][1]);
  }
  const ExactPoint& low = grid.compare(*ends[0][0], *ends[1][0]) > 0 ? *ends[0][0] : *ends[1][0];
  const ExactPoint& high = grid.compare(*ends[0][1], *ends[1][1]) < 0 ? *ends[0][1] : *ends[1][1];
  if (grid.compare(low, high) >= 0) return;
  FaceGraph &fs = faceOf(s), &ft = faceOf(t);
  const uint32_t from = points.add(low), to = points.add(high);
  const Line line{s, t, true};
  fs.segments.push_back({from, to, planes[1]});
  ft.segments.push_back({from, to, planes[0]});
  lines_[s].push_back(line);
  lines_[t].push_back(line);
}

// Two faces in one plane with an edge in common: do they lie on the same side of it?
bool SelfRegions::areFolded(uint32_t s, uint32_t t) const {
  const Triangle &v = triangles[s], &w = triangles[t];
  for (size_t k = 0; k < 3; ++k) {
    if (std::find(w.begin(), w.end(), v[k]) != w.end()) continue;
    const uint32_t a = v[(k + 1) % 3], b = v[(k + 2) % 3];
    const uint32_t c = *std::find_if(w.begin(), w.end(), [&](uint32_t x) { return x != a && x != b; });
    return grid.turn(grid.point(at(a)), grid.point(at(b)), grid.point(at(v[k])), axis[s]) ==
           grid.turn(grid.point(at(a)), grid.point(at(b)), grid.point(at(c)), axis[s]);
  }
  return true;
}

// Two faces in one plane: each gets the edges of the other within it.
void SelfRegions::overlapPair(uint32_t s, uint32_t t) {
  for (const auto& [own, other] : {std::pair{s, t}, std::pair{t, s}}) {
    const Triangle &v = triangles[own], &w = triangles[other];
    const int along = axis[own];
    for (size_t k = 0; k < 3; ++k) {
      ExactPoint p = grid.point(at(w[k])), q = grid.point(at(w[(k + 1) % 3]));
      bool inside = true;
      for (size_t j = 0; j < 3 && inside; ++j) {
        const ExactPlane3 wall = grid.wall(at(v[j]), at(v[(j + 1) % 3]), along);
        const int in = grid.side(wall, grid.point(at(v[(j + 2) % 3])));
        const int a = in * grid.side(wall, p), b = in * grid.side(wall, q);
        inside = a > 0 || b > 0 || (a == 0 && b == 0);
        if (inside && a < 0) p = grid.meet(p, q, wall);
        if (inside && b < 0) q = grid.meet(p, q, wall);
      }
      if (!inside || grid.compare(p, q) == 0) continue;
      FaceGraph& face = faceOf(own);
      const uint32_t from = points.add(p), to = points.add(q);
      face.segments.push_back({from, to, grid.wall(at(w[k]), at(w[(k + 1) % 3]), along)});
      lines_[own].push_back(edgeBetween(w[k], w[(k + 1) % 3]));
    }
  }
}

bool SelfRegions::isStrictlyBetween(uint32_t p, uint32_t from, uint32_t to) const {
  return grid.compare(points[from], points[p]) * grid.compare(points[p], points[to]) > 0;
}

// The edges of a face without area lie on each other: each has the points of the others.
bool SelfRegions::passThroughFlatFaces(PointsOnLines& on) {
  bool changed = false;
  std::set<uint32_t> all;
  for (uint32_t t = 0; t < triangles.size(); ++t) {
    if (!isFlat(t)) continue;
    const Triangle& v = triangles[t];
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
bool SelfRegions::takePoints(const FaceGraph& face, const std::vector<Line>& lines, const PointsOnLines& on,
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
            grid.turn(points[row[0]], points[row[1]], points[p], face.axis) == 0)
          row.push_back(p);
      changed = true;
    }
  }
  return changed;
}

void SelfRegions::divideFaces() {
  std::map<uint32_t, Rows> rows;
  PointsOnLines on;
  for (const auto& [t, face] : faces_) crossSegments(face, points, rows[t]);
  for (bool again = true; again;) {
    again = false;
    for (auto& [t, all] : rows) {
      std::vector<Line>& lines = lines_[t];
      if (lines.size() < all.size())
        for (size_t k = 0; k < 3; ++k)
          lines.push_back(edgeBetween(triangles[t][k], triangles[t][(k + 1) % 3]));
      for (size_t i = 0; i < all.size(); ++i)
        if (all[i].size() > 2) on[lines[i]].insert(all[i].begin() + 2, all[i].end());
    }
    again |= passThroughFlatFaces(on);
    // Faces across edges with points are divided too.
    for (uint32_t t = 0; t < triangles.size(); ++t) {
      if (isFlat(t) || rows.count(t) != 0) continue;
      for (size_t k = 0; k < 3; ++k)
        if (on.count(edgeBetween(triangles[t][k], triangles[t][(k + 1) % 3])) != 0) {
          crossSegments(faceOf(t), points, rows[t]);
          again = true;
          break;
        }
    }
    for (auto& [t, all] : rows)
      if (lines_[t].size() == all.size()) again |= takePoints(faces_.at(t), lines_[t], on, all);
  }
  for (uint32_t t = 0; t < triangles.size(); ++t) {
    const auto face = faces_.find(t);
    if (face == faces_.end()) {
      if (!isFlat(t)) addRegion(t, triangles[t]);
      continue;
    }
    for (std::vector<uint32_t>& ring : ringsOf(face->second, points, rows[t])) {
      for (uint32_t& p : ring) p = idOf(p);
      addRegion(t, ring);
    }
  }
}

// New points come after the vertices.
uint32_t SelfRegions::idOf(uint32_t point) const {
  const auto vertex = vertexOf_.find(point);
  return vertex == vertexOf_.end() ? u32(kernel.positions.size()) + point : vertex->second;
}
ExactPoint SelfRegions::exact(uint32_t id) const {
  const uint32_t vertices = u32(kernel.positions.size());
  return id < vertices ? grid.point(at(id)) : points[id - vertices];
}

void SelfRegions::addRegion(uint32_t t, std::span<const uint32_t> ring) {
  regionFace.push_back(t);
  corners.insert(corners.end(), ring.begin(), ring.end());
  offsets.push_back(u32(corners.size()));
}

}  // namespace sunder::cut
