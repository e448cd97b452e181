#include "sunder/soft/walls/face_polygons.h"

#include "sunder/cut/kernel/holes.h"
#include "sunder/geometry/triangulate.h"

#include <array>
#include <cmath>

namespace sunder::soft {

namespace {

constexpr double kNothing = 1e-13;  // share of a face below which a loop is triangulated on its own

constexpr double kOverlap = 1e-9;  // share of a face that triangles may cover twice, by rounding

Vec2 planePoint(const Vec3& weights) { return {weights[1], weights[2]}; }

cut::Loop toLoop(std::span<const Vec3> points) {
  cut::Loop loop;
  for (const Vec3& p : points) loop.push_back({planePoint(p), 0});
  return loop;
}

double twiceArea(std::span<const Vec3> points) {
  double sum = 0;
  const Vec2 origin = planePoint(points[0]);
  for (size_t i = 1; i + 1 < points.size(); ++i) {
    const Vec2 a = planePoint(points[i]) - origin, b = planePoint(points[i + 1]) - origin;
    sum += a.x() * b.y() - a.y() * b.x();
  }
  return sum;
}

}  // namespace

FacePolygons facePolygons(std::span<const std::vector<Vec3>> loops) {
  FacePolygons result;
  std::vector<double> areas;
  std::vector<cut::Loop> plane;
  for (const std::vector<Vec3>& loop : loops) {
    areas.push_back(twiceArea(loop));
    plane.push_back(toLoop(loop));
  }
  // The smallest outer loop around each hole.
  std::vector<std::vector<size_t>> holes(loops.size());
  std::vector<uint8_t> isHole(loops.size(), 0);
  for (size_t h = 0; h < loops.size(); ++h) {
    if (areas[h] > -kNothing) continue;
    size_t best = loops.size();
    for (size_t o = 0; o < loops.size(); ++o) {
      if (areas[o] < kNothing || areas[o] < -areas[h]) continue;
      if (best < loops.size() && areas[o] >= areas[best]) continue;
      if (cut::votesInside(plane[h], plane[o]) > 0) best = o;
    }
    if (best == loops.size()) {
      result.clean = false;
      continue;
    }
    holes[best].push_back(h);
    isHole[h] = 1;
  }
  for (size_t o = 0; o < loops.size(); ++o) {
    if (isHole[o]) continue;
    const auto base = static_cast<uint32_t>(result.points.size());
    const auto add = [&](size_t loop) {
      result.points.insert(result.points.end(), loops[loop].begin(), loops[loop].end());
      result.loopSizes.push_back(static_cast<uint32_t>(loops[loop].size()));
    };
    std::vector<Vec2> outer;
    for (const cut::LoopCorner& c : plane[o]) outer.push_back(c.at);
    add(o);
    geometry::Triangulation made;
    if (holes[o].empty()) {
      made = geometry::triangulate(std::span<const Vec2>(outer));
    } else {
      std::vector<std::vector<Vec2>> inner;
      for (const size_t h : holes[o]) {
        inner.emplace_back();
        for (const cut::LoopCorner& c : plane[h]) inner.back().push_back(c.at);
        add(h);
      }
      made = geometry::triangulate(outer, inner);
    }
    double sum = 0, sizes = 0;  // twice the areas: they differ where triangles are turned over
    for (const geometry::Triangle& t : made.triangles) {
      const geometry::Triangle moved{t[0] + base, t[1] + base, t[2] + base};
      const std::array<Vec3, 3> corners{result.points[moved[0]], result.points[moved[1]],
                                        result.points[moved[2]]};
      const double area = twiceArea(corners);
      sum += area;
      sizes += std::abs(area);
      result.triangles.push_back(moved);
    }
    if (sizes - std::abs(sum) > kOverlap) result.clean = false;
  }
  return result;
}

}  // namespace sunder::soft
