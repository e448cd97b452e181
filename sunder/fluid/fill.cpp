#include "sunder/fluid/fill.h"

#include "sunder/base/error.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

namespace sunder::fluid {

namespace {

struct Lattice {
  Vec3 first;
  std::array<int, 3> count;
};

Lattice latticeIn(const Box3& box, double spacing) {
  if (!(spacing > 0) || !std::isfinite(spacing))
    throw Error(ErrorKind::Usage, fmt::format("a spacing of particles of {} m", spacing));
  if (!box.lower.allFinite() || !box.upper.allFinite() || box.empty())
    throw Error(ErrorKind::Usage, "a block of fluid needs a box with finite, ordered corners");
  const Vec3 fit =
      (box.extent() / spacing).unaryExpr([](double x) { return std::max(1.0, std::floor(x + 1e-6)); });
  if (!(fit.prod() <= double(kMostParticles)))
    throw Error(ErrorKind::Limit, fmt::format("a block of {:.3g} particles", fit.prod()))
        .hint(fmt::format("at most {}; take larger particles or a smaller block", kMostParticles));
  return {box.center() - 0.5 * spacing * (fit - Vec3::Ones()), {int(fit.x()), int(fit.y()), int(fit.z())}};
}

std::vector<Vec3> pointsOf(const Lattice& lattice, double spacing) {
  const auto [nx, ny, nz] = lattice.count;
  std::vector<Vec3> points;
  points.reserve(size_t(nx) * size_t(ny) * size_t(nz));
  for (int z = 0; z < nz; ++z)
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x) points.push_back(lattice.first + spacing * Vec3(x, y, z));
  return points;
}

// Lattice points that hang together with the one nearest to a place.
struct Flood {
  std::vector<Vec3> points;    // of the whole box
  std::vector<uint8_t> taken;  // 0: nobody came here, 1: in a solid, 2: reached
  bool begun = false;          // the place is not in a solid
  std::optional<Vec3> leak;    // the first point reached from which a side or the bottom of the box is left
};

Flood floodFrom(const Box3& box, double spacing, const Vec3& from, const FindSolid& findSolid) {
  const Lattice lattice = latticeIn(box, spacing);
  Flood flood;
  flood.points = pointsOf(lattice, spacing);
  flood.taken.resize(flood.points.size(), 0);
  findSolid(flood.points, flood.taken);
  const auto& count = lattice.count;
  const std::array<size_t, 3> stride{1, size_t(count[0]), size_t(count[0]) * size_t(count[1])};
  std::array<int, 3> cell{};
  for (int k = 0; k < 3; ++k)
    cell[size_t(k)] = int(
        std::clamp(std::round((from[k] - lattice.first[k]) / spacing), 0.0, double(count[size_t(k)] - 1)));
  const auto indexOf = [&](const std::array<int, 3>& c) {
    return size_t(c[0]) * stride[0] + size_t(c[1]) * stride[1] + size_t(c[2]) * stride[2];
  };
  if (flood.taken[indexOf(cell)] != 0) return flood;
  flood.begun = true;
  std::vector<std::array<int, 3>> reached{cell};
  flood.taken[indexOf(cell)] = 2;
  for (size_t i = 0; i < reached.size(); ++i)
    for (size_t axis = 0; axis < 3; ++axis)
      for (const int way : {-1, 1}) {
        std::array<int, 3> next = reached[i];
        next[axis] += way;
        if (next[axis] < 0 || next[axis] >= count[axis]) {
          if (axis == 1 && way == 1) continue;
          flood.leak = flood.points[indexOf(reached[i])];
          return flood;
        }
        uint8_t& mark = flood.taken[indexOf(next)];
        if (mark != 0) continue;
        mark = 2;
        reached.push_back(next);
      }
  return flood;
}

}  // namespace

std::vector<Vec3> fillBox(const Box3& box, double spacing) {
  return pointsOf(latticeIn(box, spacing), spacing);
}

std::vector<Vec3> fillField(const sdf::Field& field, const Box3& box, double spacing, double clearance,
                            bool outside) {
  std::vector<Vec3> points = fillBox(box, spacing);
  std::vector<double> distance(points.size());
  sdf::valuesOf(field, points, distance);
  size_t kept = 0;
  for (size_t i = 0; i < points.size(); ++i)
    if ((outside ? distance[i] : -distance[i]) >= clearance) points[kept++] = points[i];
  points.resize(kept);
  return points;
}

std::vector<Vec3> pour(const Box3& box, double spacing, const Vec3& from, const FindSolid& findSolid) {
  Flood flood = floodFrom(box, spacing, from, findSolid);
  const auto place = [](const Vec3& p) {
    return fmt::format("({:.3g}, {:.3g}, {:.3g})", p.x(), p.y(), p.z());
  };
  if (!flood.begun)
    throw Error(ErrorKind::Geometry,
                fmt::format("{} is in a solid, so nothing can be poured there", place(from)))
        .hint("give a point inside of the container, a particle away from its walls");
  if (flood.leak)
    throw Error(ErrorKind::Geometry, fmt::format("the liquid would run out at {}", place(*flood.leak)))
        .hint("the container is open below that level, or its walls are too thin for particles of this size");
  size_t kept = 0;
  for (size_t i = 0; i < flood.points.size(); ++i)
    if (flood.taken[i] == 2) flood.points[kept++] = flood.points[i];
  flood.points.resize(kept);
  return std::move(flood.points);
}

std::optional<Vec3> findLeak(const Box3& box, double spacing, const Vec3& from, const FindSolid& findSolid) {
  return floodFrom(box, spacing, from, findSolid).leak;
}

}  // namespace sunder::fluid
