#include "sunder/shapes/tube.h"

#include "sunder/base/error.h"
#include "sunder/shapes/fields.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

namespace sunder::shapes {

namespace {

constexpr size_t kCheckSamples = 1024;

// Unit tangents: the bisector of the two neighbouring edges.
std::vector<Vec3> tangents(std::span<const Vec3> path, bool closed) {
  const size_t n = path.size();
  auto edge = [&](size_t i) -> Vec3 {
    const Vec3 d = path[(i + 1) % n] - path[i % n];
    const double length = d.norm();
    if (!(length > 0) || !std::isfinite(length))
      throw Error(ErrorKind::Geometry,
                  fmt::format("tube path points {} and {} are equal or not finite", i % n, (i + 1) % n));
    return d / length;
  };
  std::vector<Vec3> result(n);
  for (size_t i = 0; i < n; ++i) {
    Vec3 sum = Vec3::Zero();
    if (closed || i > 0) sum += edge((i + n - 1) % n);
    if (closed || i + 1 < n) sum += edge(i);
    if (!(sum.norm() > 1e-9))
      throw Error(ErrorKind::Geometry, fmt::format("tube path turns back on itself at point {}", i));
    result[i] = sum.normalized();
  }
  return result;
}

Vec3 anyNormal(const Vec3& t) {
  int axis = 0;
  t.cwiseAbs().minCoeff(&axis);
  return t.cross(Vec3::Unit(axis)).normalized();
}

// Carries r from (x0, t0) to (x1, t1) by the two reflections of Wang et al., algorithm 1.
Vec3 carry(const Vec3& r, const Vec3& x0, const Vec3& t0, const Vec3& x1, const Vec3& t1) {
  const Vec3 v1 = x1 - x0;
  const double c1 = v1.squaredNorm();
  const Vec3 rL = r - v1 * (2 / c1 * v1.dot(r)), tL = t0 - v1 * (2 / c1 * v1.dot(t0));
  const Vec3 v2 = t1 - tL;
  const double c2 = v2.squaredNorm();
  const Vec3 moved = c2 > 0 ? Vec3(rL - v2 * (2 / c2 * v2.dot(rL))) : rL;
  return (moved - t1 * t1.dot(moved)).normalized();  // rounding only
}

// A normal at every point of the path, without twist; on a closed path the last one carries on into the
// first.
std::vector<Vec3> normals(std::span<const Vec3> path, std::span<const Vec3> t, bool closed) {
  const size_t n = path.size();
  std::vector<Vec3> result(n);
  result[0] = anyNormal(t[0]);
  for (size_t i = 1; i < n; ++i) result[i] = carry(result[i - 1], path[i - 1], t[i - 1], path[i], t[i]);
  if (!closed) return result;
  const Vec3 back = carry(result[n - 1], path[n - 1], t[n - 1], path[0], t[0]);
  const double left = std::atan2(t[0].cross(result[0]).dot(back), result[0].dot(back));
  std::vector<double> along(n + 1, 0.0);
  for (size_t i = 0; i < n; ++i) along[i + 1] = along[i] + (path[(i + 1) % n] - path[i]).norm();
  for (size_t i = 0; i < n; ++i) {
    const double angle = -left * along[i] / along[n];
    result[i] = std::cos(angle) * result[i] + std::sin(angle) * t[i].cross(result[i]);
  }
  return result;
}

void addTube(geometry::TriMesh& mesh, std::span<const Vec3> path, bool closed, double radius, int sides) {
  const std::vector<Vec3> t = tangents(path, closed);
  const std::vector<Vec3> normal = normals(path, t, closed);
  const uint32_t around = static_cast<uint32_t>(sides);
  const uint32_t first = static_cast<uint32_t>(mesh.positions.size());
  uint32_t rings = 0;
  auto addRing = [&](size_t i, double forward, double r) {
    const Vec3 centre = path[i] + forward * t[i], binormal = t[i].cross(normal[i]);
    for (int k = 0; k < sides; ++k) {
      const double angle = 2 * kPi * k / sides;
      mesh.positions.push_back(centre + r * (std::cos(angle) * normal[i] + std::sin(angle) * binormal));
    }
    ++rings;
  };
  const int capRings = closed ? 0 : std::max(1, sides / 4);  // to the pole of a round end
  auto capAngle = [&](int k) { return 0.5 * kPi * k / capRings; };
  for (int k = capRings - 1; k > 0; --k)
    addRing(0, -radius * std::sin(capAngle(k)), radius * std::cos(capAngle(k)));
  for (size_t i = 0; i < path.size(); ++i) addRing(i, 0, radius);
  for (int k = 1; k < capRings; ++k)
    addRing(path.size() - 1, radius * std::sin(capAngle(k)), radius * std::cos(capAngle(k)));

  auto vertex = [&](uint32_t ring, uint32_t k) { return first + (ring % rings) * around + k % around; };
  for (uint32_t ring = 0; ring + (closed ? 0 : 1) < rings; ++ring)
    for (uint32_t k = 0; k < around; ++k) {
      mesh.triangles.push_back({vertex(ring, k), vertex(ring, k + 1), vertex(ring + 1, k + 1)});
      mesh.triangles.push_back({vertex(ring, k), vertex(ring + 1, k + 1), vertex(ring + 1, k)});
    }
  if (closed) return;
  const uint32_t start = static_cast<uint32_t>(mesh.positions.size()), end = start + 1;
  mesh.positions.push_back(path.front() - radius * t.front());
  mesh.positions.push_back(path.back() + radius * t.back());
  for (uint32_t k = 0; k < around; ++k) {
    mesh.triangles.push_back({start, vertex(0, k + 1), vertex(0, k)});
    mesh.triangles.push_back({vertex(rings - 1, k), vertex(rings - 1, k + 1), end});
  }
}

void checkThickness(const char* name, const char* field, double radius, double limit) {
  if (radius > limit)
    throw Error(ErrorKind::Usage,
                fmt::format("{}: {} is {:.4g}, but the tube would meet itself beyond {:.4g}", name, field,
                            radius, limit));
}

template <class Curve>
std::vector<Vec3> sampleCurve(size_t count, double last, Curve&& curve) {
  std::vector<Vec3> points(count);
  for (size_t i = 0; i < count; ++i)
    points[i] = curve(last * static_cast<double>(i) / static_cast<double>(count));
  return points;
}

template <class Curve>
geometry::TriMesh closedTube(const char* name, Curve&& curve, double radius, int steps, int sides) {
  checkThickness(name, "tube", radius, curveThickness(sampleCurve(kCheckSamples, 2 * kPi, curve), true));
  geometry::TriMesh mesh;
  addTube(mesh, sampleCurve(static_cast<size_t>(steps), 2 * kPi, curve), true, radius, sides);
  return mesh;
}

}  // namespace

double curveThickness(std::span<const Vec3> path, bool closed) {
  const std::vector<Vec3> t = tangents(path, closed);
  double thickness = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < path.size(); ++i)
    for (size_t j = 0; j < path.size(); ++j) {
      if (i == j) continue;
      const Vec3 d = path[j] - path[i];
      const double across = d.cross(t[i]).norm();
      if (across > 0) thickness = std::min(thickness, d.squaredNorm() / (2 * across));
    }
  return thickness;
}

geometry::TriMesh tube(std::span<const Vec3> path, bool closed, double radius, int sides) {
  if (path.size() < (closed ? 3u : 2u))
    throw Error(ErrorKind::Usage, fmt::format("tube: {} points do not make a path", path.size()));
  if (sides < 3) throw Error(ErrorKind::Usage, fmt::format("tube: {} sides, but must be at least 3", sides));
  if (!(radius > 0) || !std::isfinite(radius))
    throw Error(ErrorKind::Usage, fmt::format("tube: radius is {}, but must be positive", radius));
  std::vector<Vec3> some;
  const size_t stride = (path.size() + kCheckSamples - 1) / kCheckSamples;
  for (size_t i = 0; i < path.size(); i += stride) some.push_back(path[i]);
  checkThickness("tube", "radius", radius, curveThickness(some, closed));
  geometry::TriMesh mesh;
  addTube(mesh, path, closed, radius, sides);
  return mesh;
}

geometry::TriMesh makeTorusKnot(const TorusKnotShape& s) {
  checkFields("torus-knot", s);
  if (std::gcd(s.p, s.q) != 1)
    throw Error(ErrorKind::Usage, fmt::format("torus-knot: p = {} and q = {} have the common divisor {}", s.p,
                                              s.q, std::gcd(s.p, s.q)))
        .hint("that would be a link of several rings; a knot needs p and q without common divisor");
  if (!(s.minor < s.radius))
    throw Error(ErrorKind::Usage,
                fmt::format("torus-knot: minor is {}, but must be less than radius, {}", s.minor, s.radius));
  auto curve = [&](double t) {
    const double r = s.radius + s.minor * std::cos(s.q * t);
    return Vec3(r * std::cos(s.p * t), s.minor * std::sin(s.q * t), -r * std::sin(s.p * t));
  };
  return closedTube("torus-knot", curve, s.tube, s.steps * (s.p + s.q), s.sides);
}

geometry::TriMesh makeTrefoil(const KnotShape& s) {
  checkFields("trefoil", s);
  const double scale = s.radius / 3;
  auto curve = [&](double t) {
    return Vec3(scale *
                Vec3(std::sin(t) + 2 * std::sin(2 * t), -std::sin(3 * t), std::cos(t) - 2 * std::cos(2 * t)));
  };
  return closedTube("trefoil", curve, s.tube, s.steps, s.sides);
}

geometry::TriMesh makeFigureEightKnot(const KnotShape& s) {
  checkFields("figure-eight-knot", s);
  const double scale = s.radius / 3;
  auto curve = [&](double t) {
    const double r = 2 + std::cos(2 * t);
    return Vec3(scale * Vec3(r * std::cos(3 * t), std::sin(4 * t), r * std::sin(3 * t)));
  };
  return closedTube("figure-eight-knot", curve, s.tube, s.steps, s.sides);
}

geometry::TriMesh makeRope(const RopeShape& s) {
  checkFields("rope", s);
  auto strand = [&](int number, size_t count) {
    std::vector<Vec3> path(count + 1);
    for (size_t i = 0; i <= count; ++i) {
      const double f = static_cast<double>(i) / static_cast<double>(count);
      const double angle = 2 * kPi * (s.turns * f + static_cast<double>(number) / s.strands);
      path[i] = {s.length * (f - 0.5), s.radius * std::cos(angle), s.radius * std::sin(angle)};
    }
    return path;
  };
  const std::vector<Vec3> fine = strand(0, kCheckSamples);
  double limit = curveThickness(fine, false);
  for (int other = 1; other < s.strands; ++other)
    for (const Vec3& p : strand(other, kCheckSamples))
      limit = std::min(limit, 0.5 * (p - fine[kCheckSamples / 2]).norm());
  checkThickness("rope", "strand", s.strand, limit);

  const size_t steps = static_cast<size_t>(std::max(2.0, std::ceil(s.steps * s.turns)));
  geometry::TriMesh mesh;
  for (int number = 0; number < s.strands; ++number)
    addTube(mesh, strand(number, steps), false, s.strand, s.sides);
  return mesh;
}

void describe(ShapeFields& fields, TorusKnotShape& s) {
  fields.integer("p", s.p, 1, 50, "times around the axis");
  fields.integer("q", s.q, 1, 50, "times around the torus' tube");
  fields.length("radius", s.radius, "radius of the torus");
  fields.length("minor", s.minor, "radius of the torus' tube");
  fields.length("tube", s.tube, "radius of the knot's tube");
  fields.integer("steps", s.steps, 12, kMostSegments, "rings per winding");
  fields.integer("sides", s.sides, 3, kMostSegments, "segments around the tube");
}

void describe(ShapeFields& fields, KnotShape& s) {
  fields.length("radius", s.radius, "largest distance of the middle line from the axis");
  fields.length("tube", s.tube, "radius of the tube");
  fields.integer("steps", s.steps, 48, kMostSegments, "rings in all");
  fields.integer("sides", s.sides, 3, kMostSegments, "segments around the tube");
}

void describe(ShapeFields& fields, RopeShape& s) {
  fields.integer("strands", s.strands, 1, 12, "strands; one makes a coil");
  fields.length("length", s.length, "between the middles of the ends, along x");
  fields.length("radius", s.radius, "from the axis to the middle of a strand");
  fields.length("strand", s.strand, "radius of a strand");
  fields.number("turns", s.turns, 0, 1000, "", "turns of each strand");
  fields.integer("steps", s.steps, 8, kMostSegments, "rings per turn");
  fields.integer("sides", s.sides, 3, kMostSegments, "segments around a strand");
}

}  // namespace sunder::shapes
