#include "sunder/cut/kernel/self_check.h"

#include "sunder/base/error.h"
#include "sunder/cut/kernel/pair_search.h"
#include "sunder/geometry/vector_area.h"
#include "sunder/spatial/pairs/narrow_phase.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace sunder::cut {

namespace {

using Corners = std::array<const Vec3*, 3>;

// Of the size of the mesh: as far as a cut copes with faces that rounding has put out of order (unfold.h).
constexpr double kRounding = 1e-9;

std::vector<spatial::PrimitivePair> meetingTriangles(const KernelMesh& mesh, const std::string& name,
                                                     uint64_t most) {
  spatial::OiTree tree;
  spatial::OiTreeBuilder builder;
  builder.build(tree, spatial::TriangleLeaves{.positions = mesh.positions, .triangles = mesh.triangles});
  spatial::PairList pairs;
  searchPairs(tree, tree, most, "of the " + name, pairs);
  return spatial::selfIntersectingPairs({mesh.positions, mesh.triangles}, pairs.pairs());
}

// A triangle with its unit normal.
struct Face {
  Corners corner;
  Vec3 normal;

  // Narrower than this, its plane is not known.
  bool narrow(double width) const {
    double longest = 0;
    for (size_t k = 0; k < 3; ++k) longest = std::max(longest, (*corner[(k + 1) % 3] - *corner[k]).norm());
    return geometry::twiceVectorArea(*corner[0], *corner[1], *corner[2]).norm() <= width * longest;
  }
  double above(const Vec3& p) const { return (p - *corner[0]).dot(normal); }
};

Face faceOf(const KernelMesh& mesh, uint32_t t) {
  const auto& v = mesh.triangles[t];
  const Corners c{&mesh.positions[v[0]], &mesh.positions[v[1]], &mesh.positions[v[2]]};
  return {c, geometry::twiceVectorArea(*c[0], *c[1], *c[2]).normalized()};
}

// What of the line of two planes, with this direction, is in a triangle, by the heights of its corners over
// the plane of the other.
struct Interval {
  double from = std::numeric_limits<double>::infinity(), to = -from;
};

Interval crossingInterval(const Corners& t, const std::array<double, 3>& height, const Vec3& direction) {
  Interval out;
  const auto take = [&](double x) {
    out.from = std::min(out.from, x);
    out.to = std::max(out.to, x);
  };
  for (size_t k = 0; k < 3; ++k) {
    const size_t l = (k + 1) % 3;
    if (height[k] == 0) take(t[k]->dot(direction));
    if ((height[k] < 0) == (height[l] < 0) || height[k] == 0 || height[l] == 0) continue;
    const double part = height[k] / (height[k] - height[l]);
    take((*t[k] + part * (*t[l] - *t[k])).dot(direction));
  }
  return out;
}

// Whether two faces in one plane that look the same way have more in common than a seam of this width.
bool overlapInPlane(const Face& a, const Face& b, double width) {
  std::vector<Vec3> polygon{*b.corner[0], *b.corner[1], *b.corner[2]}, next;
  for (size_t k = 0; k < 3; ++k) {
    const Vec3 &p = *a.corner[k], &q = *a.corner[(k + 1) % 3];
    const Vec3 inward = a.normal.cross(q - p);
    next.clear();
    for (size_t i = 0; i < polygon.size(); ++i) {
      const Vec3 &u = polygon[i], &v = polygon[(i + 1) % polygon.size()];
      const double hu = (u - p).dot(inward), hv = (v - p).dot(inward);
      if (hu >= 0) next.push_back(u);
      if ((hu < 0) != (hv < 0)) next.push_back(u + hu / (hu - hv) * (v - u));
    }
    polygon.swap(next);
  }
  const Vec3 twice =
      geometry::twiceVectorArea(polygon.size(), [&](size_t i) -> const Vec3& { return polygon[i]; });
  double around = 0;
  for (size_t i = 0; i < polygon.size(); ++i) {
    const Vec3 &u = polygon[i], &v = polygon[(i + 1) % polygon.size()];
    around += (v - u).norm();
  }
  return 0.5 * twice.norm() > width * around;
}

// Faces that touch, and the lids of an incision, which lie on each other and look away from each other, do
// not cross; nor do faces that rounding took through each other, by no more than `width`.
bool cross(const Face& a, const Face& b, double width) {
  if (a.narrow(width) || b.narrow(width)) return false;
  std::array<double, 3> ofA{}, ofB{};
  for (size_t k = 0; k < 3; ++k) {
    ofA[k] = b.above(*a.corner[k]);
    ofB[k] = a.above(*b.corner[k]);
  }
  const auto [lowA, highA] = std::minmax({ofA[0], ofA[1], ofA[2]});
  const auto [lowB, highB] = std::minmax({ofB[0], ofB[1], ofB[2]});
  if (std::max(-lowA, highA) <= width && std::max(-lowB, highB) <= width)
    return a.normal.dot(b.normal) > 0 && overlapInPlane(a, b, width);
  if (-lowA <= width || highA <= width || -lowB <= width || highB <= width) return false;
  const Vec3 direction = a.normal.cross(b.normal).normalized();
  const Interval x = crossingInterval(a.corner, ofA, direction),
                 y = crossingInterval(b.corner, ofB, direction);
  return std::min(x.to, y.to) - std::max(x.from, y.from) > width;
}

}  // namespace

std::vector<std::array<uint32_t, 2>> selfIntersections(const KernelMesh& mesh, const std::string& name,
                                                       uint64_t most) {
  std::vector<std::array<uint32_t, 2>> faces;
  for (const auto& p : meetingTriangles(mesh, name, most))
    faces.push_back({mesh.sourceOf(p.a), mesh.sourceOf(p.b)});
  return faces;
}

void refuseSelfIntersection(const KernelMesh& mesh, const std::string& name, uint64_t most) {
  const double width = kRounding * mesh.bounds.extent().maxCoeff();
  std::vector<std::array<uint32_t, 2>> found;
  for (const auto& p : meetingTriangles(mesh, name, most))
    if (cross(faceOf(mesh, p.a), faceOf(mesh, p.b), width))
      found.push_back({mesh.sourceOf(p.a), mesh.sourceOf(p.b)});
  if (found.empty()) return;
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(found.size(), 4); ++i)
    text += fmt::format("{}{} and {}", i == 0 ? "" : ", ", found[i][0], found[i][1]);
  throw Error(ErrorKind::Geometry, fmt::format("the {} crosses itself in {} pairs of faces ({}{})", name,
                                               found.size(), text, found.size() > 4 ? ", ..." : ""))
      .hint("sunder collide lists all pairs; --resolve makes a solid of a closed mesh that does");
}

}  // namespace sunder::cut
