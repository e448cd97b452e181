#include "sunder/cut/tet/tet_seam.h"

#include "sunder/geometry/vector_area.h"

#include <algorithm>
#include <cmath>

namespace sunder::cut {

using geometry::kTetFaces;

TetSeam::TetSeam(const geometry::TriMesh& surface) : sheet(makeKernelMesh(surface, "sheet")) {
  for (uint32_t f = 0; f < sheet.triangles.size(); ++f) {
    walls_.push_back(wallsOf(f));
    planes_.emplace_back(cornersOf(sheet, f));
  }
}

void TetSeam::find(const std::array<Vec3, 4>& corners, std::span<const uint32_t> faces) {
  tet = corners;
  double size = sheet.bounds.lower.cwiseAbs().cwiseMax(sheet.bounds.upper.cwiseAbs()).maxCoeff();
  for (const Vec3& p : tet) size = std::max(size, p.cwiseAbs().maxCoeff());
  margin_ = 1e-8 * size;
  points.clear();
  segments.clear();
  locals.clear();
  for (const uint32_t f : faces) crossFace(f);
}

TetSeam::Walls TetSeam::wallsOf(uint32_t f) const {
  Walls walls;
  const Vec3 &a = sheet.at(f, 0), &b = sheet.at(f, 1), &c = sheet.at(f, 2);
  const Vec3 normal = geometry::twiceVectorArea(a, b, c);
  const double longest = std::max({(b - a).squaredNorm(), (c - b).squaredNorm(), (a - c).squaredNorm()});
  // The normal of a thin face is not good enough to tell by.
  const bool thin = !(normal.norm() > 1e-5 * longest);
  for (uint32_t k = 0; k < 3; ++k) {
    const Vec3 &from = sheet.at(f, k), &to = sheet.at(f, (k + 1) % 3);
    walls.normal[k] = thin ? Vec3(Vec3::Zero()) : Vec3((to - from).cross(normal).stableNormalized());
    walls.offset[k] = walls.normal[k].dot(from);
  }
  return walls;
}

// Which edges of the face may touch the tetrahedron; none where it is clearly beyond one of them.
bool TetSeam::openEdges(const Walls& walls, bool (&open)[3]) const {
  for (size_t k = 0; k < 3; ++k) {
    const Vec3& n = walls.normal[k];
    const double d[] = {n.dot(tet[0]), n.dot(tet[1]), n.dot(tet[2]), n.dot(tet[3])};
    if (std::min(std::min(d[0], d[1]), std::min(d[2], d[3])) > walls.offset[k] + margin_) return false;
    open[k] = std::max(std::max(d[0], d[1]), std::max(d[2], d[3])) >= walls.offset[k] - margin_;
  }
  return true;
}

Corners3 TetSeam::tetFace(size_t i) const {
  return {&tet[kTetFaces[i][0]], &tet[kTetFaces[i][1]], &tet[kTetFaces[i][2]]};
}

uint32_t TetSeam::addPoint(bool ofTet, uint32_t edge, uint32_t face) {
  points.push_back({.ofTet = ofTet, .edge = edge, .face = face});
  return u32(points.size() - 1);
}

// Where an edge of the sheet goes through a face of the tetrahedron: both its faces come by here.
uint32_t TetSeam::sheetPoint(uint32_t edge, uint32_t face) {
  for (uint32_t i = u32(points.size()); i > 0; --i) {
    const TetSeamPoint& x = points[i - 1];
    if (!x.ofTet && x.edge == edge && x.face == face) return i - 1;
  }
  return addPoint(false, edge, face);
}

// The segments in which a face of the sheet crosses the tetrahedron's faces, as in seam.cpp; signs that
// several pairs need are found once, and those of edges that are clearly away from the tetrahedron are known.
void TetSeam::crossFace(uint32_t f) {
  bool open[3];
  if (!openEdges(walls_[f], open)) return;
  const Corners3 face = cornersOf(sheet, f);
  const Vec3* const corner[] = {face.a, face.b, face.c};
  int sideTet[4];
  for (size_t v = 0; v < 4; ++v) sideTet[v] = sideOfMeshVertex(tet[v], face);
  const auto same = [](int a, int b, int c) { return a != 0 && a == b && b == c; };
  if (same(sideTet[0], sideTet[1], sideTet[2]) && sideTet[3] == sideTet[0]) return;
  // 0 where no edge needs to know.
  int sideSheet[4][3] = {};
  bool inside = open[0] && open[1] && open[2];
  if (open[0] || open[1] || open[2])
    for (size_t i = 0; i < 4; ++i) {
      const Corners3 own = tetFace(i);
      for (size_t k = 0; k < 3; ++k)
        if (open[k] || open[(k + 2) % 3]) sideSheet[i][k] = sideOfCutterVertex(*corner[k], own);
      const bool oneSide = same(sideSheet[i][0], sideSheet[i][1], sideSheet[i][2]);
      if (oneSide && sideSheet[i][0] > 0) return;
      inside = inside && oneSide;
    }
  const uint32_t local = u32(locals.size()), first = u32(segments.size());
  const size_t firstPoint = points.size();
  if (!inside) {
    int known[6][3];
    for (size_t e = 0; e < 6; ++e)
      for (size_t j = 0; j < 3; ++j) known[e][j] = open[j] ? 2 : sideTet[kTetEdges[e][0]] < 0 ? 1 : -1;
    const auto pass = [&](size_t e, size_t j) {
      int& s = known[e][j];
      if (s == 2) s = passing(tet[kTetEdges[e][0]], tet[kTetEdges[e][1]], *corner[j], *corner[(j + 1) % 3]);
      return s;
    };
    uint32_t pointOn[6] = {kNoIndex, kNoIndex, kNoIndex, kNoIndex, kNoIndex, kNoIndex};
    for (uint32_t i = 0; i < 4; ++i) {
      const auto& v = kTetFaces[i];
      const int* const side = sideSheet[i];
      if (same(sideTet[v[0]], sideTet[v[1]], sideTet[v[2]]) || same(side[0], side[1], side[2])) continue;
      uint32_t ends[2] = {kNoIndex, kNoIndex}, found = 0;
      for (size_t k = 0; k < 3; ++k) {
        const int from = sideTet[v[k]];
        if (from == sideTet[v[(k + 1) % 3]]) continue;
        const uint32_t e = kTetHalfedges[i][k].edge;
        const int s = pass(e, 0);
        if (s == 0 || s != pass(e, 1) || s != pass(e, 2)) continue;
        if (pointOn[e] == kNoIndex) pointOn[e] = addPoint(true, e, local);
        ends[from < 0 ? 0 : 1] = pointOn[e];
        ++found;
      }
      for (size_t j = 0; j < 3; ++j) {
        if (!open[j] || side[j] == side[(j + 1) % 3]) continue;
        const auto along = [&](size_t k) {
          const TetHalfedge& h = kTetHalfedges[i][k];
          return h.forward ? pass(h.edge, j) : -pass(h.edge, j);
        };
        const int s = along(0);
        if (s == 0 || s != along(1) || s != along(2)) continue;
        ends[side[j] > 0 ? 0 : 1] = sheetPoint(edgeOf(sheet, u32(3 * f + j)), i);
        ++found;
      }
      if (found == 2 && ends[0] != kNoIndex && ends[1] != kNoIndex)
        segments.push_back({i, local, ends[0], ends[1]});
    }
    if (segments.size() == first) {
      points.resize(firstPoint);
      return;
    }
  }
  TetSheetFace& added = locals.emplace_back(TetSheetFace{f, first, u32(segments.size()) - first, {}});
  for (size_t v = 0; v < 4; ++v) added.vertexSide[v] = static_cast<int8_t>(sideTet[v]);
}

void TetSeam::ends(const TetSeamPoint& x, const Vec3*& p, const Vec3*& q) const {
  if (x.ofTet) {
    p = &tet[kTetEdges[x.edge][0]];
    q = &tet[kTetEdges[x.edge][1]];
  } else {
    p = &sheet.positions[sheet.origin(x.edge)];
    q = &sheet.positions[sheet.target(x.edge)];
  }
}

void TetSeam::locatePoints() {
  // Sides of the tetrahedron's vertices, which several of its edges need; points of one face come together.
  AccuratePlane::Side sides[4];
  unsigned known = 0;
  uint32_t local = kNoIndex;
  for (TetSeamPoint& x : points) {
    const Vec3 *p, *q;
    ends(x, p, q);
    Crossing c;
    if (x.ofTet) {
      const AccuratePlane& plane = planes_[locals[x.face].face];
      if (local != x.face) known = 0;
      local = x.face;
      for (const uint8_t v : kTetEdges[x.edge]) {
        if ((known & (1u << v)) == 0) sides[v] = plane.sideOf(tet[v]);
        known |= 1u << v;
      }
      c = plane.crossing(*p, *q, sides[kTetEdges[x.edge][0]], sides[kTetEdges[x.edge][1]]);
      x.place.face = cornersOf(sheet, locals[x.face].face);
    } else {
      Corners3 f = x.place.face = tetFace(x.face);
      // The tetrahedron across has the same face with its corners in another order.
      const auto before = [](const Vec3* a, const Vec3* b) {
        return std::lexicographical_compare(a->data(), a->data() + 3, b->data(), b->data() + 3);
      };
      if (before(f.b, f.a)) std::swap(f.a, f.b);
      if (before(f.c, f.b)) std::swap(f.b, f.c);
      if (before(f.b, f.a)) std::swap(f.a, f.b);
      c = crossing(*p, *q, f);
    }
    x.place.t = c.t;
    x.place.error = c.error;
    x.position = c.position;
  }
}

void TetSeam::orderPoints() {
  order.resize(points.size());
  // There are few of them, and most are alone on their edge.
  for (uint32_t i = 0; i < points.size(); ++i) {
    const TetSeamPoint& x = points[i];
    const uint64_t key = (uint64_t(!x.ofTet) << 32) | x.edge;
    const auto comesAfter = [&](uint32_t j) {
      const TetSeamPoint& y = points[j];
      const uint64_t other = (uint64_t(!y.ofTet) << 32) | y.edge;
      if (key != other) return key < other;
      const Vec3 *p, *q;
      ends(x, p, q);
      return comesBefore(*p, *q, x.place, y.place, !x.ofTet);
    };
    uint32_t to = i;
    for (; to > 0 && comesAfter(order[to - 1]); --to) order[to] = order[to - 1];
    order[to] = i;
  }
  for (uint32_t e = 0; e < 6; ++e) tetRuns_[e] = {e};
  sheetRuns_.clear();
  for (uint32_t i = 0; i < order.size(); ++i) {
    const TetSeamPoint& x = points[order[i]];
    if (!x.ofTet && (sheetRuns_.empty() || sheetRuns_.back().edge != x.edge)) sheetRuns_.push_back({x.edge});
    TetRun& run = x.ofTet ? tetRuns_[x.edge] : sheetRuns_.back();
    if (run.count++ == 0) run.first = i;
  }
}

}  // namespace sunder::cut
