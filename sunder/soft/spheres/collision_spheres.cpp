#include "sunder/soft/spheres/collision_spheres.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/soft/spheres/tangent_spheres.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sunder::soft {

namespace {

constexpr double kSomething = 1e-9;              // share of a tetrahedron that counts as solid
constexpr size_t kLeast = 3;                     // spheres of a tetrahedron
constexpr size_t kMostLooked = size_t(1) << 20;  // points of the lattice in the box of a piece

struct Made {
  Vec3 centre;
  double radius;
  SphereKind kind;
};

struct TetSpheres {
  std::vector<Made> spheres;
  size_t culled = 0;
  bool empty = false, halved = false, few = false, bare = false;
};

// Which points of a grid have all 26 neighbours.
std::vector<uint8_t> enclosed(std::span<const GridPoint> grid) {
  std::vector<std::array<int32_t, 3>> sorted;
  for (const GridPoint& p : grid) sorted.push_back(p.at);
  std::sort(sorted.begin(), sorted.end());
  std::vector<uint8_t> result(grid.size(), 1);
  for (size_t i = 0; i < grid.size(); ++i) {
    for (int n = 0; n < 27 && result[i]; ++n) {
      const std::array<int32_t, 3> at{grid[i].at[0] + n % 3 - 1, grid[i].at[1] + n / 3 % 3 - 1,
                                      grid[i].at[2] + n / 9 - 1};
      if (!std::binary_search(sorted.begin(), sorted.end(), at)) result[i] = 0;
    }
  }
  return result;
}

TetSpheres spheresOf(const SolidPoints& points, const SurfaceCopies& copies, const Walls& walls,
                     const PieceMoments& piece, uint32_t tet, double target, const SphereSettings& settings) {
  TetSpheres result;
  if (!(piece.volume > kSomething * TetFrame(points.cage(), tet).volume())) {
    result.empty = true;
    return result;
  }
  const Box3 box = points.pieceBox(tet);
  std::vector<GridPoint> grid;
  double radius = target, next = target;
  for (uint32_t halvings = 0;; ++halvings, next /= 2) {
    std::vector<GridPoint> finer;
    // The first grid is as large as was asked for.
    if (!points.grid(tet, box, 2 * next, halvings == 0 ? 64 * settings.most : kMostLooked, finer)) {
      if (halvings == 0)
        throw Error(ErrorKind::Limit, fmt::format("spheres of radius {:.3g} m are too many", target))
            .hint("choose a larger radius");
      break;
    }
    grid = std::move(finer);
    radius = next;
    if (grid.size() >= kLeast || halvings == settings.mostHalvings) break;
  }
  result.halved = radius < target;
  const std::vector<uint8_t> inner = settings.cull ? enclosed(grid) : std::vector<uint8_t>(grid.size(), 0);
  for (size_t i = 0; i < grid.size(); ++i) {
    if (inner[i] && grid[i].depth >= 2 * radius) {
      ++result.culled;
      continue;
    }
    result.spheres.push_back(
        {grid[i].point, settings.fit ? std::min(radius, grid[i].depth) : radius, SphereKind::Grid});
  }
  if (settings.tangent)
    for (const InnerSphere& s : tangentSpheres(points, copies, tet, radius))
      result.spheres.push_back({s.centre, s.radius, SphereKind::Tangent});
  result.few = grid.size() < kLeast;
  if (result.spheres.size() < kLeast) {
    std::vector<std::array<Vec3, 3>> triangles;
    pieceTriangles(points.cage(), copies, walls, tet, triangles);
    const size_t missing = kLeast - result.spheres.size();
    for (const InnerSphere& s : sliverSpheres(points, piece, triangles, tet, radius, settings.fit, missing))
      result.spheres.push_back({s.centre, s.radius, SphereKind::Sliver});
  }
  result.bare = result.spheres.size() < kLeast;
  return result;
}

double targetRadius(const geometry::TriMesh& surface, const SphereSettings& settings) {
  if (!std::isfinite(settings.radius) || settings.radius < 0)
    throw Error(ErrorKind::Usage,
                fmt::format("spheres of radius {}; it is a length above zero", settings.radius));
  if (settings.mostHalvings > 30)
    throw Error(ErrorKind::Usage, fmt::format("{} halvings of a radius; at most 30", settings.mostHalvings));
  if (settings.radius > 0) return settings.radius;
  const Box3 box = geometry::bounds(surface.positions);
  const double size = box.empty() ? 0 : (box.upper - box.lower).maxCoeff();
  if (!(size > 0) || !std::isfinite(size))
    throw Error(ErrorKind::Geometry, "the surface has no extent, so its spheres have no radius");
  return size / 40;
}

}  // namespace

std::vector<std::string> CollisionSpheres::warnings() const {
  std::vector<std::string> said;
  if (counts.bare > 0)
    said.push_back(
        fmt::format("{} tetrahedra have fewer than three collision spheres: what they hold is "
                    "thinner than rounding",
                    counts.bare));
  if (counts.few > 0)
    said.push_back(
        fmt::format("{} tetrahedra hold slivers: no grid has three collision spheres there, others "
                    "stand for them",
                    counts.few));
  if (counts.halved > 0)
    said.push_back(
        fmt::format("{} tetrahedra have smaller collision spheres than {:.3g} m, so that there are "
                    "three in each; the smallest has {:.3g} m",
                    counts.halved, radius, counts.smallest));
  if (size() == 0) said.emplace_back("there are no collision spheres");
  return said;
}

CollisionSpheres makeSpheres(const geometry::TriMesh& surface, const Cage& cage, const SurfaceCopies& copies,
                             const Walls& walls, const sdf::MeshField& solid,
                             const SphereSettings& settings) {
  const size_t tets = cage.rest.tets.size();
  if (walls.faceOf.size() != tets || copies.trianglesOf.size() != tets)
    throw Error(ErrorKind::Usage,
                fmt::format("walls of {} tetrahedra and copies of {} do not fit a cage of {}",
                            walls.faceOf.size(), copies.trianglesOf.size(), tets));
  CollisionSpheres result;
  result.radius = targetRadius(surface, settings);
  const std::vector<PieceMoments> pieces = pieceMoments(cage, copies, walls);
  double volume = 0;
  for (const PieceMoments& piece : pieces) volume += std::max(0.0, piece.volume);
  const double cell = 8 * result.radius * result.radius * result.radius;
  if (!(volume <= cell * static_cast<double>(settings.most)))
    throw Error(ErrorKind::Limit,
                fmt::format("spheres of radius {:.3g} m would be more than {}", result.radius, settings.most))
        .hint("choose a larger radius");
  const SolidPoints points(surface, cage, copies, walls, solid);
  std::vector<TetSpheres> made(tets);
  parallelFor(
      tets,
      [&](size_t t) {
        made[t] =
            spheresOf(points, copies, walls, pieces[t], static_cast<uint32_t>(t), result.radius, settings);
      },
      2);

  SphereCounts& counts = result.counts;
  for (uint32_t t = 0; t < tets; ++t) {
    const TetFrame frame(cage, t);
    for (const Made& s : made[t].spheres) {
      result.tets.push_back(t);
      result.weights.push_back(frame.weights(s.centre));
      result.radii.push_back(s.radius);
      result.kinds.push_back(s.kind);
      ++(s.kind == SphereKind::Grid      ? counts.grid
         : s.kind == SphereKind::Tangent ? counts.tangent
                                         : counts.sliver);
      counts.smallest = result.size() == 1 ? s.radius : std::min(counts.smallest, s.radius);
    }
    result.start.push_back(static_cast<uint32_t>(result.size()));
    counts.culled += made[t].culled;
    counts.empty += made[t].empty ? 1 : 0;
    counts.halved += made[t].halved ? 1 : 0;
    counts.few += made[t].few ? 1 : 0;
    counts.bare += made[t].bare ? 1 : 0;
  }
  return result;
}

}  // namespace sunder::soft
