#include "sunder/tet/tet_report.h"

#include "sunder/base/bounds.h"
#include "sunder/base/error.h"
#include "sunder/base/index.h"
#include "sunder/base/parallel.h"
#include "sunder/geometry/components.h"
#include "sunder/geometry/mass_properties.h"
#include "sunder/geometry/predicates.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/spatial/query/mesh_queries.h"
#include "sunder/tet/dihedral.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sunder::tet {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Circumradius from the equation 2 (x - a) . (v - a) = |v - a|^2 for the other three corners.
double circumradius(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  const Vec3 u = b - a, v = c - a, w = d - a;
  const double twice = 2 * u.dot(v.cross(w));
  const Vec3 x = u.squaredNorm() * v.cross(w) + v.squaredNorm() * w.cross(u) + w.squaredNorm() * u.cross(v);
  return x.norm() / std::abs(twice);
}

// Points of all triangles on grids no wider than `spacing`.
std::vector<Vec3> samplesOf(const geometry::TriMesh& mesh, double spacing) {
  std::vector<Vec3> points;
  for (const geometry::Triangle& t : mesh.triangles) {
    const Vec3 &a = mesh.positions[t[0]], &b = mesh.positions[t[1]], &c = mesh.positions[t[2]];
    const double longest = std::max({(b - a).norm(), (c - b).norm(), (a - c).norm()});
    const auto n = static_cast<int>(std::clamp(std::ceil(longest / spacing), 1.0, 1000.0));
    for (int i = 0; i <= n; ++i)
      for (int j = 0; i + j <= n; ++j)
        points.push_back(a + (double(i) / n) * (b - a) + (double(j) / n) * (c - a));
  }
  return points;
}

std::pair<double, double> distances(const std::vector<Vec3>& points, const geometry::TriMesh& to) {
  const spatial::MeshQuery query(to);
  std::vector<spatial::ClosestPoint> nearest(points.size());
  query.closest(points, nearest);
  double largest = 0, sum = 0;
  for (const spatial::ClosestPoint& n : nearest) {
    const double distance = std::sqrt(n.squaredDistance);
    largest = std::max(largest, distance);
    sum += distance;
  }
  return {largest, points.empty() ? 0 : sum / double(points.size())};
}

}  // namespace

TetQuality tetQuality(const geometry::TetMesh& mesh) {
  geometry::requireValid(mesh);
  struct Part {
    TetQuality q;
    double ratioSum = 0;
    size_t ratios = 0;
  };
  const auto fresh = [] {
    Part p;
    p.q.shortestEdge = kInfinity;
    p.q.smallestVolume = kInfinity;
    p.q.largestVolume = -kInfinity;
    return p;
  };
  Part all = parallelReduce(
      mesh.tets.size(), fresh(),
      [&](size_t begin, size_t end) {
        Part part = fresh();
        TetQuality& q = part.q;
        for (size_t i = begin; i < end; ++i) {
          const geometry::Tetrahedron& t = mesh.tets[i];
          const Vec3 &a = mesh.positions[t[0]], &b = mesh.positions[t[1]], &c = mesh.positions[t[2]],
                     &d = mesh.positions[t[3]];
          const int sign = geometry::sign(geometry::orient3d(a, b, c, d));
          q.inverted += sign < 0;
          q.flat += sign == 0;
          const double volume = geometry::signedVolume(a, b, c, d);
          q.volume += volume;
          q.smallestVolume = std::min(q.smallestVolume, volume);
          q.largestVolume = std::max(q.largestVolume, volume);
          double shortest = kInfinity;
          for (const auto& e : kTetEdges) {
            const double length = (mesh.positions[t[e[0]]] - mesh.positions[t[e[1]]]).norm();
            shortest = std::min(shortest, length);
            q.longestEdge = std::max(q.longestEdge, length);
          }
          q.shortestEdge = std::min(q.shortestEdge, shortest);
          if (sign == 0) continue;
          for (const double cosine : dihedralCosines(a, b, c, d)) {
            const double angle = degreesOf(cosine);
            q.smallestAngle = std::min(q.smallestAngle, angle);
            q.largestAngle = std::max(q.largestAngle, angle);
            ++q.angles[std::min(kAngleBins - 1, size_t(angle / (180.0 / kAngleBins)))];
          }
          const double ratio = circumradius(a, b, c, d) / shortest;
          q.worstRadiusEdge = std::max(q.worstRadiusEdge, ratio);
          part.ratioSum += ratio;
          ++part.ratios;
        }
        return part;
      },
      [](Part a, const Part& b) {
        a.q.inverted += b.q.inverted;
        a.q.flat += b.q.flat;
        a.q.smallestAngle = std::min(a.q.smallestAngle, b.q.smallestAngle);
        a.q.largestAngle = std::max(a.q.largestAngle, b.q.largestAngle);
        for (size_t k = 0; k < kAngleBins; ++k) a.q.angles[k] += b.q.angles[k];
        a.q.worstRadiusEdge = std::max(a.q.worstRadiusEdge, b.q.worstRadiusEdge);
        a.q.shortestEdge = std::min(a.q.shortestEdge, b.q.shortestEdge);
        a.q.longestEdge = std::max(a.q.longestEdge, b.q.longestEdge);
        a.q.volume += b.q.volume;
        a.q.smallestVolume = std::min(a.q.smallestVolume, b.q.smallestVolume);
        a.q.largestVolume = std::max(a.q.largestVolume, b.q.largestVolume);
        a.ratioSum += b.ratioSum;
        a.ratios += b.ratios;
        return a;
      });
  TetQuality q = all.q;
  q.vertices = mesh.positions.size();
  q.tets = mesh.tets.size();
  if (all.ratios != 0) q.meanRadiusEdge = all.ratioSum / double(all.ratios);
  if (q.tets == 0) q.shortestEdge = q.smallestVolume = q.largestVolume = 0;
  return q;
}

VolumeComparison compareVolumes(const geometry::TetMesh& mesh, const geometry::TriMesh& surface) {
  return {geometry::totalVolume(mesh), geometry::massProperties(geometry::MeshView(surface)).volume};
}

SurfaceDistance surfaceDistance(const geometry::TriMesh& first, const geometry::TriMesh& second,
                                double spacing) {
  if (first.triangles.empty() || second.triangles.empty())
    throw Error(ErrorKind::Geometry, "the distance between surfaces needs triangles in both");
  if (spacing == 0) spacing = std::max(boundsOf(first.positions).diagonal() / 200, 1e-300);
  if (!(spacing > 0)) throw Error(ErrorKind::Usage, "the spacing of samples must be a positive length");
  SurfaceDistance result;
  const std::vector<Vec3> onFirst = samplesOf(first, spacing), onSecond = samplesOf(second, spacing);
  std::tie(result.fromFirst, result.meanFromFirst) = distances(onFirst, second);
  std::tie(result.fromSecond, result.meanFromSecond) = distances(onSecond, first);
  result.samples = onFirst.size() + onSecond.size();
  return result;
}

SurfaceDistance boundaryDistance(const geometry::TetMesh& mesh, const geometry::TriMesh& surface,
                                 double spacing) {
  return surfaceDistance(geometry::boundarySurface(mesh).surface, surface, spacing);
}

TetAdjacency tetAdjacency(const geometry::TetMesh& mesh) {
  TetAdjacency result;
  result.neighbours = geometry::tetNeighbours(mesh);
  const geometry::TetBoundary boundary = geometry::boundarySurface(mesh);
  result.boundary.reserve(boundary.faceTet.size());
  for (size_t f = 0; f < boundary.faceTet.size(); ++f)
    result.boundary.push_back({boundary.faceTet[f], boundary.faceSide[f]});
  geometry::Components components = geometry::tetComponents(mesh);
  result.components = components.count;
  result.component = std::move(components.label);
  return result;
}

}  // namespace sunder::tet
