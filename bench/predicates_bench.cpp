// Rates of the exact predicates and of the triangle-triangle test, in general position and where the answer
// is zero or almost, next to CGAL's kernel with exact predicates (Epick).
#include "sunder/base/math.h"
#include "sunder/geometry/predicates.h"
#include "sunder/geometry/triangle_triangle.h"
#include "sunder/geometry/triangulate.h"

#include "bench.h"

#include <random>
#include <vector>

#ifdef SUNDER_HAS_CGAL
#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#endif

namespace sunder::bench {

namespace {

using geometry::TriangleCorners;

enum class Placement { Random, Grid, NearlyOnSphere, NearlyOnPlane };

// Grid: small integers, where one answer in ten or so is exactly zero. Nearly: within rounding of one sphere
// or plane, so that every test leaves the first stage.
std::vector<Vec3> makePoints(size_t count, Placement placement) {
  std::mt19937_64 random(42);
  auto uniform = [&] { return 2 * (static_cast<double>(random() >> 11) * 0x1p-53) - 1; };
  const Vec3 u = Vec3(0.3, 0.7, -0.2).normalized(), v = u.unitOrthogonal();
  std::vector<Vec3> points(count);
  for (Vec3& p : points) {
    p = Vec3(uniform(), uniform(), uniform());
    if (placement == Placement::Grid) p = (4 * p).array().round();
    if (placement == Placement::NearlyOnSphere) p = p.normalized();
    if (placement == Placement::NearlyOnPlane) p = p.x() * u + p.y() * v;
  }
  return points;
}

std::string nameOf(Placement placement) {
  switch (placement) {
    case Placement::Random:
      return "random";
    case Placement::Grid:
      return "grid";
    case Placement::NearlyOnSphere:
      return "sphere";
    case Placement::NearlyOnPlane:
      return "plane";
  }
  return "";
}

Row makeRow(std::string name, size_t size, const char* unit) {
  Row row;
  row.name = std::move(name);
  row.size = size;
  row.unit = unit;
  return row;
}

// Runs test(i) for every i, which looks at the points from i on; returns calls per second.
template <class Test>
double rate(const Options& options, size_t calls, const Test& test) {
  const double seconds = bestSeconds(options, [&] {
    int sum = 0;
    for (size_t i = 0; i < calls; ++i) sum += test(i);
    keep(sum);
  });
  return static_cast<double>(calls) / seconds;
}

#ifdef SUNDER_HAS_CGAL
using Kernel = CGAL::Exact_predicates_inexact_constructions_kernel;

std::vector<Kernel::Point_3> peerPoints(const std::vector<Vec3>& points) {
  std::vector<Kernel::Point_3> result;
  result.reserve(points.size());
  for (const Vec3& p : points) result.emplace_back(p.x(), p.y(), p.z());
  return result;
}
#endif

size_t callsFor(Placement placement, const Options& options) {
  return std::min<size_t>(placement == Placement::Random ? 1'000'000 : 100'000, options.largest);
}

}  // namespace

SUNDER_BENCH("geometry", predicates) {
#ifndef SUNDER_HAS_CGAL
  report.missingPeer("CGAL");
#endif
  for (const Placement placement : {Placement::Random, Placement::Grid, Placement::NearlyOnPlane}) {
    const size_t calls = callsFor(placement, options);
    const std::vector<Vec3> p = makePoints(calls + 4, placement);
    Row row = makeRow("orient3d/" + nameOf(placement), calls, "calls/s");
    row.value = rate(options, calls, [&](size_t i) {
      return geometry::sign(geometry::orient3d(p[i], p[i + 1], p[i + 2], p[i + 3]));
    });
#ifdef SUNDER_HAS_CGAL
    const std::vector<Kernel::Point_3> q = peerPoints(p);
    row.peer = "CGAL";
    row.peerValue = rate(options, calls, [&](size_t i) {
      return static_cast<int>(CGAL::orientation(q[i], q[i + 1], q[i + 2], q[i + 3]));
    });
#endif
    report.add(std::move(row));
  }
  for (const Placement placement : {Placement::Random, Placement::Grid, Placement::NearlyOnSphere}) {
    const size_t calls = callsFor(placement, options);
    const std::vector<Vec3> p = makePoints(calls + 5, placement);
    Row row = makeRow("insphere/" + nameOf(placement), calls, "calls/s");
    row.value = rate(options, calls, [&](size_t i) {
      return geometry::sign(geometry::insphere(p[i], p[i + 1], p[i + 2], p[i + 3], p[i + 4]));
    });
#ifdef SUNDER_HAS_CGAL
    const std::vector<Kernel::Point_3> q = peerPoints(p);
    row.peer = "CGAL";
    row.peerValue = rate(options, calls, [&](size_t i) {
      return static_cast<int>(CGAL::side_of_oriented_sphere(q[i], q[i + 1], q[i + 2], q[i + 3], q[i + 4]));
    });
#endif
    report.add(std::move(row));
  }
}

SUNDER_BENCH("geometry", triangleTriangle) {
#ifndef SUNDER_HAS_CGAL
  report.missingPeer("CGAL");
#endif
  for (const Placement placement : {Placement::Random, Placement::Grid, Placement::NearlyOnPlane}) {
    const size_t calls = callsFor(placement, options);
    const std::vector<Vec3> p = makePoints(calls + 6, placement);
    Row row = makeRow("intersect/" + nameOf(placement), calls, "pairs/s");
    row.value = rate(options, calls, [&](size_t i) {
      return static_cast<int>(geometry::intersect(TriangleCorners{p[i], p[i + 1], p[i + 2]},
                                                  TriangleCorners{p[i + 3], p[i + 4], p[i + 5]}));
    });
#ifdef SUNDER_HAS_CGAL
    // CGAL wants triangles with area; the grid has others.
    if (placement != Placement::Grid) {
      const std::vector<Kernel::Point_3> q = peerPoints(p);
      row.peer = "CGAL";
      row.peerValue = rate(options, calls, [&](size_t i) {
        return static_cast<int>(CGAL::do_intersect(Kernel::Triangle_3(q[i], q[i + 1], q[i + 2]),
                                                   Kernel::Triangle_3(q[i + 3], q[i + 4], q[i + 5])));
      });
    }
#endif
    report.add(std::move(row));
  }
}

SUNDER_BENCH("geometry", triangulateStar) {
  for (const size_t n : options.sizes(100, 100'000)) {
    std::vector<Vec2> star(n);
    for (size_t i = 0; i < n; ++i) {
      const double angle = 2 * kPi * static_cast<double>(i) / static_cast<double>(n);
      star[i] = (i % 2 ? 0.3 : 1.0) * Vec2(std::cos(angle), std::sin(angle));
    }
    const double seconds = bestSeconds(options, [&] { keep(geometry::triangulate(star).triangles.size()); });
    Row row = makeRow("triangulate/star", n, "corners/s");
    row.value = static_cast<double>(n) / seconds;
    report.add(std::move(row));
  }
}

}  // namespace sunder::bench
