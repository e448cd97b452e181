#include "sunder/soft/spheres/masses.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/soft/spheres/solid_points.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sunder::soft {

namespace {

constexpr uint32_t kMostHalvings = 6;
constexpr size_t kMostCells = size_t(1) << 20;  // in the box of one tetrahedron

void requireFloor(double floor) {
  if (!(floor >= 0 && floor <= 1))
    throw Error(ErrorKind::Usage, fmt::format("a floor of {}; it is a share from 0 to 1", floor));
}

SolidShares withSize(size_t tets) {
  SolidShares shares;
  shares.volumes.assign(tets, 0);
  shares.centres.assign(tets, Vec4::Constant(0.25));
  shares.fractions.assign(tets, 0);
  return shares;
}

// Weights of a centre that rounding may have moved out of its tetrahedron.
Vec4 within(Vec4 weights) {
  weights = weights.cwiseMax(0.0);
  return weights / weights.sum();
}

void setFractions(const Cage& cage, double floor, SolidShares& shares) {
  for (uint32_t t = 0; t < shares.volumes.size(); ++t) {
    const double share = shares.volumes[t] / TetFrame(cage, t).volume();
    if (!(share > floor)) ++shares.raised;
    shares.fractions[t] = std::clamp(share, floor, 1.0);
  }
}

}  // namespace

SolidShares exactShares(const Cage& cage, std::span<const PieceMoments> pieces, double floor) {
  requireFloor(floor);
  const size_t tets = cage.rest.tets.size();
  if (pieces.size() != tets)
    throw Error(ErrorKind::Usage, fmt::format("{} pieces for {} tetrahedra", pieces.size(), tets));
  SolidShares shares = withSize(tets);
  for (uint32_t t = 0; t < tets; ++t) {
    shares.volumes[t] = std::max(0.0, pieces[t].volume);
    if (shares.volumes[t] > 0) shares.centres[t] = within(TetFrame(cage, t).weights(pieces[t].centre));
  }
  setFractions(cage, floor, shares);
  return shares;
}

SolidShares exactShares(const Cage& cage, const SurfaceCopies& copies, const Walls& walls, double floor) {
  return exactShares(cage, pieceMoments(cage, copies, walls), floor);
}

SolidShares cellShares(const geometry::TriMesh& surface, const Cage& cage, const SurfaceCopies& copies,
                       const Walls& walls, const sdf::MeshField& solid, double radius, double floor) {
  requireFloor(floor);
  if (!(radius > 0) || !std::isfinite(radius))
    throw Error(ErrorKind::Usage, fmt::format("a radius of {}; it is a length above zero", radius));
  const size_t tets = cage.rest.tets.size();
  SolidShares shares = withSize(tets);
  const SolidPoints points(surface, cage, copies, walls, solid);
  parallelFor(
      tets,
      [&](size_t i) {
        const auto tet = static_cast<uint32_t>(i);
        const Box3 box = points.pieceBox(tet);
        if (box.empty()) return;
        std::vector<GridPoint> cells;
        double r = radius, next = radius;
        for (uint32_t halvings = 0;; ++halvings, next /= 2) {
          std::vector<GridPoint> finer;
          if (!points.grid(tet, box, 2 * next, kMostCells, finer)) break;
          cells = std::move(finer);
          r = next;
          if (cells.size() >= 3 || halvings == kMostHalvings) break;
        }
        if (cells.empty()) return;
        Vec4 sum = Vec4::Zero();
        const TetFrame frame(cage, tet);
        for (const GridPoint& cell : cells) sum += frame.weights(cell.point);
        shares.volumes[i] = 8 * r * r * r * static_cast<double>(cells.size());
        shares.centres[i] = within(sum / static_cast<double>(cells.size()));
      },
      4);
  setFractions(cage, floor, shares);
  return shares;
}

std::vector<double> vertexMasses(const Cage& cage, const SolidShares& shares, double density, double floor) {
  requireFloor(floor);
  if (!(density > 0) || !std::isfinite(density))
    throw Error(ErrorKind::Usage, fmt::format("a density of {} kg/m^3; it is above zero", density));
  if (shares.volumes.size() != cage.rest.tets.size() || shares.centres.size() != cage.rest.tets.size())
    throw Error(ErrorKind::Usage, fmt::format("the shares of {} tetrahedra do not fit a cage of {}",
                                              shares.volumes.size(), cage.rest.tets.size()));
  std::vector<double> masses(cage.rest.positions.size(), 0.0);
  double total = 0;
  for (size_t t = 0; t < cage.rest.tets.size(); ++t) {
    const double mass = density * shares.volumes[t];
    total += mass;
    for (size_t k = 0; k < 4; ++k)
      masses[cage.rest.tets[t][k]] += shares.centres[t][static_cast<Eigen::Index>(k)] * mass;
  }
  if (masses.empty()) return masses;
  const double least = floor * total / static_cast<double>(masses.size());
  for (double& m : masses) m = std::max(m, least);
  return masses;
}

}  // namespace sunder::soft
