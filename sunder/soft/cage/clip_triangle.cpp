#include "sunder/soft/cage/clip_triangle.h"

#include "sunder/geometry/predicates.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/soft/cage/plane_weights.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sunder::soft {

namespace {

using geometry::kTetFaces;
using geometry::orient3d;

// A determinant with the rate at which it changes when vertices give way: its sign is that of the value, or
// of the rate where the value is exactly zero.
struct ClipSide {
  double value = 0, rate = 0;
  bool positive() const { return value != 0 ? value > 0 : rate >= 0; }
};

// Where a value goes through zero between two that differ in sign, as the share of the second.
double shareAtZero(const ClipSide& a, const ClipSide& b) {
  if (a.value != 0 || b.value != 0) return std::abs(a.value) / (std::abs(a.value) + std::abs(b.value));
  const double sum = std::abs(a.rate) + std::abs(b.rate);
  return sum > 0 ? std::abs(a.rate) / sum : 0.5;
}

struct Clipper {
  const std::vector<Vec3>& mesh;
  const std::vector<Vec3>& aside;
  const std::vector<Vec3>& cage;
  geometry::Triangle triangle;
  geometry::Tetrahedron tet;

  // Sides of the three faces' planes, of lines and of the triangle's plane, each from sorted vertices.
  std::array<std::array<uint32_t, 3>, 4> face;  // sorted
  std::array<int, 4> outward;                   // 1: the sorted face looks outwards
  std::array<std::array<ClipSide, 4>, 3> vertexSide;
  std::array<std::array<bool, 4>, 3> inside;
  std::array<uint32_t, 3> sorted;  // the triangle
  int upwards = 1;                 // 1: the sorted triangle winds like the triangle
  std::array<ClipSide, 4> planeSide;
  std::array<bool, 4> above;  // in front of the triangle
  bool planeKnown = false;

  Clipper(const ClipSurface& surface, uint32_t t, const geometry::TetMesh& cageMesh, uint32_t k)
      : mesh(surface.mesh.positions),
        aside(surface.aside),
        cage(cageMesh.positions),
        triangle(surface.mesh.triangles[t]),
        tet(cageMesh.tets[k]) {
    for (size_t f = 0; f < 4; ++f) {
      face[f] = geometry::tetFace(tet, f);
      outward[f] = sortCorners(face[f]);
    }
    sorted = triangle;
    upwards = sortCorners(sorted);
  }

  ClipSide side(const std::array<uint32_t, 3>& f, uint32_t v) const {
    const Vec3 &a = cage[f[0]], &b = cage[f[1]], &c = cage[f[2]];
    ClipSide s{orient3d(a, b, c, mesh[v])};
    if (s.value == 0) s.rate = (b - a).cross(c - a).dot(aside[v]);
    return s;
  }

  // Of the mesh edge (a, b) and the cage edge (g, h), in this order.
  bool lineSide(uint32_t a, uint32_t b, uint32_t g, uint32_t h) const {
    bool turned = false;
    if (a > b) std::swap(a, b), turned = !turned;
    if (g > h) std::swap(g, h), turned = !turned;
    ClipSide s{orient3d(mesh[a], mesh[b], cage[g], cage[h])};
    if (s.value == 0) {
      const Vec3 along = cage[h] - cage[g], pa = mesh[a] - cage[g], pb = mesh[b] - cage[g];
      const Vec3 change = aside[a].cross(pb) + pa.cross(aside[b]);
      s.rate = along.dot(change);
      // Edges on one line: only what both ends do together tells.
      const double scale = along.norm() * (aside[a].norm() * pb.norm() + pa.norm() * aside[b].norm());
      if (std::abs(s.rate) <= 1e-14 * scale) s.rate = along.dot(aside[a].cross(aside[b]));
    }
    return s.positive() != turned;
  }

  void findPlaneSides() {
    if (planeKnown) return;
    planeKnown = true;
    const auto [a, b, c] = sorted;
    for (size_t k = 0; k < 4; ++k) {
      ClipSide& s = planeSide[k];
      const Vec3& g = cage[tet[k]];
      s.value = orient3d(mesh[a], mesh[b], mesh[c], g);
      if (s.value == 0) {
        const Vec3 ab = mesh[b] - mesh[a], ac = mesh[c] - mesh[a];
        const Vec3 change = (aside[b] - aside[a]).cross(ac) + ab.cross(aside[c] - aside[a]);
        s.rate = change.dot(g - mesh[a]) - ab.cross(ac).dot(aside[a]);
      }
      above[k] = s.positive() == (upwards > 0);
    }
  }

  // False: the triangle is behind one face as a whole.
  bool findVertexSides() {
    for (size_t f = 0; f < 4; ++f) {
      bool any = false;
      for (size_t j = 0; j < 3; ++j) {
        vertexSide[j][f] = side(face[f], triangle[j]);
        inside[j][f] = vertexSide[j][f].positive() != (outward[f] > 0);
        any |= inside[j][f];
      }
      if (!any) return false;
    }
    return true;
  }

  Vec4 weightsAt(size_t f, const Vec3& p) const {
    const Vec3 w = weightsInPlane(cage[face[f][0]], cage[face[f][1]], cage[face[f][2]], p).cwiseMax(0);
    Vec4 weights = Vec4::Zero();
    for (size_t k = 0; k < 4; ++k)
      for (size_t i = 0; i < 3; ++i)
        if (k != f && tet[k] == face[f][i]) weights[int(k)] = w[int(i)];
    return weights;
  }

  // Of edge e, opposite to corner e, with face f.
  ClipCorner edgeOnFace(size_t e, size_t f) const {
    size_t a = (e + 1) % 3, b = (e + 2) % 3;
    if (triangle[a] > triangle[b]) std::swap(a, b);
    const double t = shareAtZero(vertexSide[a][f], vertexSide[b][f]);
    const Vec3 p = mesh[triangle[a]] + t * (mesh[triangle[b]] - mesh[triangle[a]]);
    ClipCorner corner{weightsAt(f, p), Vec3::Zero(), uint8_t(1u << f), uint8_t(1u << e)};
    corner.inTriangle[int(a)] = 1 - t;
    corner.inTriangle[int(b)] = t;
    return corner;
  }
  ClipCorner tetEdge(size_t g, size_t h) const {
    if (tet[g] > tet[h]) std::swap(g, h);
    const double s = shareAtZero(planeSide[g], planeSide[h]);
    const Vec3 p = cage[tet[g]] + s * (cage[tet[h]] - cage[tet[g]]);
    const Vec3 in = weightsInPlane(mesh[triangle[0]], mesh[triangle[1]], mesh[triangle[2]], p).cwiseMax(0);
    ClipCorner corner{Vec4::Zero(), in / in.sum(), uint8_t(15u & ~(1u << g) & ~(1u << h)), 0};
    corner.weights[int(g)] = 1 - s;
    corner.weights[int(h)] = s;
    return corner;
  }

  bool meetsFace(size_t e, size_t f) const {
    const uint32_t a = triangle[(e + 1) % 3], b = triangle[(e + 2) % 3];
    const auto& c = kTetFaces[f];
    const bool first = lineSide(a, b, tet[c[0]], tet[c[1]]);
    return lineSide(a, b, tet[c[1]], tet[c[2]]) == first && lineSide(a, b, tet[c[2]], tet[c[0]]) == first;
  }
  bool meetsTriangle(size_t g, size_t h) const {
    const bool first = lineSide(triangle[0], triangle[1], tet[g], tet[h]);
    return lineSide(triangle[1], triangle[2], tet[g], tet[h]) == first &&
           lineSide(triangle[2], triangle[0], tet[g], tet[h]) == first;
  }
};

// A corner lies on two of seven lines: edges of the triangle (0 to 2) and faces (3 to 6).
unsigned cornerLines(const ClipCorner& corner) { return corner.edges | unsigned(corner.faces) << 3; }

// Whether `first` comes before `second` on a line that both are on, in the winding of the triangle.
bool runsForward(const Clipper& c, const ClipCorner& first, const ClipCorner& second, unsigned line) {
  if (line < 3) {
    // The corner where the edge comes in is before the one where it leaves.
    const auto isStart = [&](const ClipCorner& corner) {
      const size_t start = (line + 1) % 3;
      if (corner.faces == 0) return (corner.edges >> start & 1) == 0;  // it is the vertex `start`
      size_t f = 0;
      while (!(corner.faces >> f & 1)) ++f;
      return !c.inside[start][f];
    };
    return isStart(first) || !isStart(second);
  }
  // Seen from outside, what is in front of the triangle is on the left.
  const auto& f = kTetFaces[line - 3];
  for (size_t i = 0; i < 3; ++i) {
    const size_t g = f[i], h = f[(i + 1) % 3];
    const auto on = static_cast<uint8_t>(15u & ~(1u << g) & ~(1u << h));
    if (first.faces == on) return c.above[g] && !c.above[h];
    if (second.faces == on) return !c.above[g] && c.above[h];
  }
  return true;
}

// Puts the corners into the order of the triangle. False: they are not the corners of a convex polygon.
bool orderCorners(const Clipper& c, ClipPolygon& polygon) {
  const size_t n = polygon.size;
  if (n < 3) return false;
  std::array<ClipCorner, kMostClipCorners> out;
  std::array<bool, kMostClipCorners> used{};
  unsigned usedLines = 0;
  out[0] = polygon.corners[0];
  used[0] = true;
  for (size_t i = 0; i + 1 < n; ++i) {
    bool found = false;
    for (size_t j = 0; j < n && !found; ++j) {
      const unsigned shared = cornerLines(out[i]) & cornerLines(polygon.corners[j]) & ~usedLines;
      if (used[j] || shared == 0) continue;
      usedLines |= shared;
      out[i + 1] = polygon.corners[j];
      used[j] = found = true;
    }
    if (!found) return false;
  }
  const unsigned last = cornerLines(out[n - 1]) & cornerLines(out[0]) & ~usedLines;
  if (last == 0 || (last & (last - 1)) != 0) return false;
  // Edges of the triangle tell the winding by themselves; a polygon of crossings with edges of the
  // tetrahedron has none, and then both ends of any side are such crossings.
  for (const bool edges : {true, false}) {
    for (size_t i = 0; i < n; ++i) {
      const ClipCorner &a = out[i], &b = out[(i + 1) % n];
      const unsigned shared = cornerLines(a) & cornerLines(b) & (edges ? 7u : 120u);
      if (shared == 0) continue;
      unsigned line = 0;
      while (!(shared >> line & 1)) ++line;
      if (!runsForward(c, a, b, line)) std::reverse(out.begin(), out.begin() + long(n));
      polygon.corners = out;
      return true;
    }
  }
  return false;
}

// Plain clipping in barycentric coordinates (Sutherland and Hodgman 1974): for what exact crossings cannot
// order, which takes a contact whose rate is zero too.
ClipPolygon plainClip(const std::array<Vec4, 3>& weights) {
  std::vector<ClipCorner> polygon, next;
  for (size_t j = 0; j < 3; ++j) {
    Vec3 in = Vec3::Zero();
    in[int(j)] = 1;
    polygon.push_back({weights[j], in, 0, uint8_t(7u & ~(1u << j))});
  }
  for (int k = 0; k < 4; ++k) {
    next.clear();
    for (size_t i = 0; i < polygon.size(); ++i) {
      const ClipCorner &a = polygon[i], &b = polygon[(i + 1) % polygon.size()];
      const double wa = a.weights[k], wb = b.weights[k];
      if (wa >= 0) next.push_back(a);
      if ((wa >= 0) == (wb >= 0)) continue;
      const double t = wa / (wa - wb);
      ClipCorner cut{a.weights + t * (b.weights - a.weights),
                     a.inTriangle + t * (b.inTriangle - a.inTriangle), uint8_t((a.faces & b.faces) | 1u << k),
                     uint8_t(a.edges & b.edges)};
      cut.weights[k] = 0;
      next.push_back(cut);
    }
    polygon.swap(next);
  }
  ClipPolygon result;
  if (polygon.size() < 3 || polygon.size() > kMostClipCorners) return result;
  result.size = polygon.size();
  std::copy(polygon.begin(), polygon.end(), result.corners.begin());
  return shareOfTriangle(result) > 1e-13 ? result : ClipPolygon{};
}

}  // namespace

ClipPolygon clipTriangle(const ClipSurface& surface, uint32_t triangle, const geometry::TetMesh& cage,
                         uint32_t tet) {
  ClipPolygon polygon;
  const geometry::Triangle& t = surface.mesh.triangles[triangle];
  if (t[0] == t[1] || t[1] == t[2] || t[2] == t[0]) return polygon;
  Clipper c(surface, triangle, cage, tet);
  if (!c.findVertexSides()) return polygon;

  size_t n = 0, most = 0;
  const auto add = [&](const ClipCorner& corner) {
    if (n < kMostClipCorners) polygon.corners[n++] = corner;
    ++most;
  };
  std::array<Vec4, 3> weights;
  size_t whole = 0;
  for (size_t j = 0; j < 3; ++j) {
    if (!(c.inside[j][0] && c.inside[j][1] && c.inside[j][2] && c.inside[j][3])) continue;
    weights[j] = cageWeights(cage, tet, c.mesh[t[j]]).cwiseMax(0);
    Vec3 in = Vec3::Zero();
    in[int(j)] = 1;
    add({weights[j], in, 0, uint8_t(7u & ~(1u << j))});
    ++whole;
  }
  if (whole == 3) {
    polygon.size = 3;
    return polygon;
  }
  for (size_t e = 0; e < 3; ++e)
    for (size_t f = 0; f < 4; ++f)
      if (c.inside[(e + 1) % 3][f] != c.inside[(e + 2) % 3][f] && c.meetsFace(e, f)) add(c.edgeOnFace(e, f));
  c.findPlaneSides();
  for (size_t g = 0; g < 4; ++g)
    for (size_t h = g + 1; h < 4; ++h)
      if (c.above[g] != c.above[h] && c.meetsTriangle(g, h)) add(c.tetEdge(g, h));
  if (most == 0) return polygon;
  polygon.size = n;
  if (most <= kMostClipCorners && orderCorners(c, polygon)) return polygon;
  for (size_t j = 0; j < 3; ++j) weights[j] = cageWeights(cage, tet, c.mesh[t[j]]);
  return plainClip(weights);
}

double shareOfTriangle(std::span<const ClipCorner> polygon) {
  double sum = 0;
  for (size_t i = 2; i < polygon.size(); ++i) {
    const Vec3 &a = polygon[0].inTriangle, &b = polygon[i - 1].inTriangle, &c = polygon[i].inTriangle;
    sum += (b[1] - a[1]) * (c[2] - a[2]) - (b[2] - a[2]) * (c[1] - a[1]);
  }
  return sum;
}

}  // namespace sunder::soft
