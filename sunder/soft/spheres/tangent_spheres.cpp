#include "sunder/soft/spheres/tangent_spheres.h"

#include "sunder/fem/principal.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sunder::soft {

namespace {

constexpr int kHalvings = 4;
constexpr int kMostSteps = 128;  // in which a triangle of the surface is divided

// A place on the surface, in a cell.
struct SurfacePlace {
  std::array<int64_t, 3> cell;
  double off;  // squared distance to the middle of the cell
  Vec3 point, normal;
};

std::vector<SurfacePlace> placesOn(const SolidPoints& points, const SurfaceCopies& copies, uint32_t tet,
                                   double spacing) {
  const geometry::Tetrahedron& t = points.cage().rest.tets[tet];
  const std::vector<Vec3>& x = points.cage().rest.positions;
  const auto placed = [&](const Vec4& w) {
    return Vec3(w[0] * x[t[0]] + w[1] * x[t[1]] + w[2] * x[t[2]] + w[3] * x[t[3]]);
  };
  std::vector<SurfacePlace> places;
  const auto add = [&](const Vec3& p, const Vec3& normal) {
    SurfacePlace place{{}, 0, p, normal};
    for (int k = 0; k < 3; ++k) {
      const double at = (p[k] - points.box().lower[k]) / spacing;
      const double cell = std::floor(at);
      if (!(std::abs(cell) < 1e15)) return;
      place.cell[static_cast<size_t>(k)] = static_cast<int64_t>(cell);
      place.off += (at - cell - 0.5) * (at - cell - 0.5);
    }
    places.push_back(place);
  };
  for (uint32_t copy = copies.trianglesOf.offsets[tet]; copy < copies.trianglesOf.offsets[tet + 1]; ++copy) {
    const std::span<const ClipCorner> polygon = copies.polygon(copy);
    for (size_t i = 1; i + 1 < polygon.size(); ++i) {
      const Vec3 a = placed(polygon[0].weights), b = placed(polygon[i].weights),
                 c = placed(polygon[i + 1].weights);
      const Vec3 normal = (b - a).cross(c - a);
      const double area = normal.norm();
      if (!(area > 1e-12 * spacing * spacing)) continue;
      const double edge = std::max({(b - a).norm(), (c - a).norm(), (c - b).norm()});
      const int n = static_cast<int>(std::clamp(std::ceil(edge / spacing), 1.0, double(kMostSteps)));
      for (int u = 0; u < n; ++u)
        for (int v = 0; v < n - u; ++v)
          for (int upper = 0; upper < (u + v + 1 < n ? 2 : 1); ++upper) {
            const double s = (u + (upper ? 2.0 : 1.0) / 3) / n, r = (v + (upper ? 2.0 : 1.0) / 3) / n;
            add(a + s * (b - a) + r * (c - a), normal / area);
          }
    }
  }
  std::stable_sort(places.begin(), places.end(), [](const SurfacePlace& p, const SurfacePlace& q) {
    return p.cell != q.cell ? p.cell < q.cell : p.off < q.off;
  });
  places.erase(std::unique(places.begin(), places.end(),
                           [](const SurfacePlace& p, const SurfacePlace& q) { return p.cell == q.cell; }),
               places.end());
  return places;
}

// Where a ray from inside first meets a triangle, or infinity.
double firstHit(std::span<const std::array<Vec3, 3>> triangles, size_t from, const Vec3& origin,
                const Vec3& direction) {
  double nearest = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < triangles.size(); ++i) {
    if (i == from) continue;
    const Vec3 a = triangles[i][0], e1 = triangles[i][1] - a, e2 = triangles[i][2] - a;
    const Vec3 p = direction.cross(e2), s = origin - a;
    const double det = e1.dot(p);
    if (det == 0) continue;
    const Vec3 q = s.cross(e1);
    const double u = s.dot(p) / det, v = direction.dot(q) / det, t = e2.dot(q) / det;
    if (u >= 0 && v >= 0 && u + v <= 1 && t > 0) nearest = std::min(nearest, t);
  }
  return nearest;
}

}  // namespace

std::vector<InnerSphere> tangentSpheres(const SolidPoints& points, const SurfaceCopies& copies, uint32_t tet,
                                        double radius) {
  std::vector<SurfacePlace> waiting = placesOn(points, copies, tet, 2 * radius), left;
  const TetFrame frame(points.cage(), tet);
  std::vector<InnerSphere> spheres;
  std::vector<Vec3> centres;
  std::vector<double> depths;
  double r = radius;
  for (int halvings = 0; halvings <= kHalvings && !waiting.empty(); ++halvings, r /= 2) {
    centres.clear();
    for (const SurfacePlace& p : waiting) centres.push_back(p.point - r * p.normal);
    depths.resize(centres.size());
    points.depths(tet, centres, depths);
    left.clear();
    for (size_t i = 0; i < waiting.size(); ++i) {
      if (depths[i] >= r * (1 - 1e-3) && TetFrame::inside(frame.weights(centres[i])))
        spheres.push_back({centres[i], std::min(r, depths[i])});
      else
        left.push_back(waiting[i]);
    }
    std::swap(waiting, left);
  }
  return spheres;
}

std::vector<InnerSphere> sliverSpheres(const SolidPoints& points, const PieceMoments& piece,
                                       std::span<const std::array<Vec3, 3>> triangles, uint32_t tet,
                                       double radius, bool fit, size_t count) {
  std::vector<InnerSphere> spheres;
  const TetFrame frame(points.cage(), tet);
  const auto tryPoint = [&](const Vec3& p) {
    if (spheres.size() >= count || !p.allFinite() || !TetFrame::inside(frame.weights(p))) return false;
    for (const InnerSphere& s : spheres)
      if (s.centre == p) return false;
    double depth = 0;
    points.depths(tet, {&p, 1}, {&depth, 1});
    if (!(depth > 0)) return false;
    spheres.push_back({p, fit ? std::min(radius, depth) : radius});
    return true;
  };
  if (piece.volume > 0) {
    const fem::SymmetricEigen principal = fem::symmetricEigen(fem::voigt(piece.second / piece.volume));
    tryPoint(piece.centre);
    for (int axis = 0; axis < 2; ++axis) {
      const double reach = std::sqrt(std::max(0.0, principal.values[axis]));
      for (const double sign : {-1.0, 1.0})
        for (double share = 1; share > 0.2; share /= 2)
          if (tryPoint(piece.centre + sign * share * reach * principal.vectors.col(axis))) break;
    }
  }
  // Half-way through, behind the largest triangles.
  std::vector<std::pair<double, size_t>> order;
  for (size_t i = 0; i < triangles.size(); ++i)
    order.emplace_back(-(triangles[i][1] - triangles[i][0]).cross(triangles[i][2] - triangles[i][0]).norm(),
                       i);
  std::sort(order.begin(), order.end());
  for (size_t k = 0; k < std::min<size_t>(order.size(), 32) && spheres.size() < count; ++k) {
    const size_t i = order[k].second;
    const std::array<Vec3, 3>& t = triangles[i];
    const Vec3 normal = (t[1] - t[0]).cross(t[2] - t[0]);
    if (!(normal.norm() > 0)) continue;
    const Vec3 inward = -normal.normalized();
    const Vec3 middle = (t[0] + t[1] + t[2]) / 3;
    for (int corner = -1; corner < 3; ++corner) {
      const Vec3 start = corner < 0 ? middle : Vec3(0.5 * (middle + t[static_cast<size_t>(corner)]));
      const double hit = firstHit(triangles, i, start, inward);
      if (std::isfinite(hit)) tryPoint(start + 0.5 * hit * inward);
    }
  }
  return spheres;
}

}  // namespace sunder::soft
