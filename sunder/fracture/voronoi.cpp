#include "sunder/fracture/voronoi.h"

#include "sunder/base/error.h"
#include "sunder/base/random.h"
#include "sunder/fracture/cell_faces.h"
#include "sunder/fracture/fracture_geometry.h"
#include "sunder/geometry/disjoint_sets.h"
#include "sunder/geometry/tet_mesh.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace sunder::fracture {

namespace {

// Gives parts that are smaller than `least` of the whole the number of the part that they share most cut
// tetrahedra with; numbers stay dense. Returns how many there were. Cells of one site are convex, which what
// they would be joined to is not: nothing can be healed here.
uint32_t joinTinyParts(const FractureGeometry::State& state, double least, std::vector<uint32_t>& parts,
                       uint32_t& count) {
  const std::vector<double> volume = volumesOf(state.mesh, state.cells, parts, count);
  const double whole = std::accumulate(volume.begin(), volume.end(), 0.0);
  std::vector<uint32_t> into(count);
  std::iota(into.begin(), into.end(), 0u);
  std::multimap<uint32_t, uint32_t> bySlot;
  for (uint32_t t = 0; t < state.mesh.size(); ++t)
    if (!state.mesh.cuts[t].empty()) bySlot.emplace(state.slots[t], parts[t]);
  uint32_t tiny = 0;
  for (uint32_t p = 0; p < count; ++p) {
    if (!(volume[p] < least * whole)) continue;
    std::map<uint32_t, uint32_t> shared;
    for (uint32_t t = 0; t < state.mesh.size(); ++t) {
      if (parts[t] != p) continue;
      const auto [begin, end] = bySlot.equal_range(state.slots[t]);
      for (auto it = begin; it != end; ++it)
        if (it->second != p && !(volume[it->second] < least * whole)) ++shared[it->second];
    }
    uint32_t most = 0;
    for (const auto& [other, number] : shared)
      if (number > most) {
        most = number;
        into[p] = other;
      }
    if (into[p] != p) ++tiny;
  }
  if (tiny == 0) return 0;
  std::vector<uint32_t> number(count, kNoIndex);
  uint32_t next = 0;
  for (uint32_t p = 0; p < count; ++p)
    if (into[p] == p) number[p] = next++;
  for (uint32_t& part : parts) part = number[into[part]];
  count = next;
  return tiny;
}

}  // namespace

std::vector<Vec3> voronoiSites(const CrackedMesh& body, size_t count, uint64_t seed, const Vec3& centre,
                               double focus) {
  const std::vector<CutCell> cells = cellsOf(body);
  const std::vector<double> fractions = fractionsOf(body, cells);
  std::vector<double> sums{0};
  for (size_t t = 0; t < body.size(); ++t) {
    const auto p = body.corners(t);
    sums.push_back(sums.back() + fractions[t] * geometry::signedVolume(p[0], p[1], p[2], p[3]));
  }
  const double size = geometry::bounds(body.mesh.positions).diagonal();
  RandomStream random(seed, 29);
  std::vector<Vec3> sites;
  for (size_t tries = 0; sites.size() < count && tries < 1000 * count; ++tries) {
    const double at = random.uniform(0, sums.back());
    const size_t t =
        std::min(body.size() - 1, size_t(std::upper_bound(sums.begin(), sums.end(), at) - sums.begin()) - 1);
    // Even in the tetrahedron: gaps between three sorted numbers.
    std::array<double, 3> w{random.uniform(0, 1), random.uniform(0, 1), random.uniform(0, 1)};
    std::sort(w.begin(), w.end());
    const auto p = body.corners(t);
    const std::array<double, 4> weights{w[0], w[1] - w[0], w[2] - w[1], 1 - w[2]};
    const Vec3 point = weights[0] * p[0] + weights[1] * p[1] + weights[2] * p[2] + weights[3] * p[3];
    const bool there = std::all_of(body.cuts[t].begin(), body.cuts[t].end(), [&](const Cut& cut) {
      double value = 0;
      for (size_t i = 0; i < 4; ++i) value += weights[i] * cut.phi[i];
      return (value >= 0) == (cut.side > 0);
    });
    if (!there) continue;
    const double distance = (point - centre).norm() / (0.25 * size);
    if (focus > 0 && random.uniform(0, 1) > std::exp(-focus * distance)) continue;
    sites.push_back(point);
  }
  return sites;
}

BrokenBody voronoiPieces(const CrackedMesh& body, std::span<const Vec3> sites, double leastPart,
                         uint32_t& nextCrack) {
  if (sites.size() < 2) throw Error(ErrorKind::Usage, "Voronoi cells need at least two sites");
  for (size_t i = 0; i < sites.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (sites[i] == sites[j]) throw Error(ErrorKind::Usage, "two sites of Voronoi cells coincide");
  // Values of the plane between two sites, positive at the first; never zero at a vertex.
  const auto between = [&](uint32_t i, uint32_t j, const Vec3& x) {
    const Vec3 way = sites[i] - sites[j];
    const double length = way.norm();
    const double value = way.dot(x - 0.5 * (sites[i] + sites[j])) / length;
    const double least = 1e-9 * length;
    return std::abs(value) < least ? least : value;
  };
  FractureGeometry::State state;
  CrackedMesh& mesh = state.mesh;
  mesh.mesh.positions = body.mesh.positions;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> crackOf;  // by pair of sites
  std::vector<uint32_t> near;
  for (uint32_t t = 0; t < body.size(); ++t) {
    const auto p = body.corners(t);
    // Sites that may be nearest somewhere in the tetrahedron: not farther from all of it than another.
    Vec3 middle = 0.25 * (p[0] + p[1] + p[2] + p[3]);
    double reach = 0, nearest = Box3::kInfinity;
    for (const Vec3& corner : p) reach = std::max(reach, (corner - middle).norm());
    for (const Vec3& site : sites) nearest = std::min(nearest, (site - middle).norm());
    near.clear();
    for (uint32_t i = 0; i < sites.size(); ++i)
      if ((sites[i] - middle).norm() <= nearest + 2 * reach) near.push_back(i);
    for (const uint32_t i : near) {
      std::vector<Cut> cuts = body.cuts[t];
      bool there = true;
      std::vector<Cut> added;
      for (const uint32_t j : near) {
        if (j == i) continue;
        const uint32_t low = std::min(i, j), high = std::max(i, j);
        Cut cut{0, int8_t(i == low ? 1 : -1), {}};
        bool above = false, below = false;
        for (size_t k = 0; k < 4; ++k) {
          cut.phi[k] = between(low, high, p[k]);
          (cut.phi[k] >= 0 ? above : below) = true;
        }
        if (above && below) {
          const auto [found, fresh] = crackOf.try_emplace({low, high}, nextCrack);
          if (fresh) ++nextCrack;
          cut.surface = found->second;
          added.push_back(cut);
        } else if (above != (cut.side > 0)) {
          there = false;
          break;
        }
      }
      if (!there) continue;
      std::sort(added.begin(), added.end(), [](const Cut& a, const Cut& b) { return a.surface < b.surface; });
      cuts.insert(cuts.end(), added.begin(), added.end());
      requireFewCuts(cuts.size());
      CutCell cell;
      if (!cuts.empty()) {
        cell = makeCell(body.mesh.tets[t], p, cuts);
        if (cell.empty()) continue;
        // Planes that pass by the cell are of no use to it.
        std::vector<Cut> used = body.cuts[t];
        for (size_t k = body.cuts[t].size(); k < cuts.size(); ++k)
          if (cell.face(uint8_t(4 + k))) used.push_back(cuts[k]);
        cuts = std::move(used);
      }
      mesh.mesh.tets.push_back(body.mesh.tets[t]);
      mesh.cuts.push_back(std::move(cuts));
      state.slots.push_back(t);
    }
  }
  // Copies share vertices only where their cells hang together.
  const std::vector<CutCell> cells = cellsOf(mesh);
  geometry::DisjointSets sets(4 * mesh.mesh.tets.size());
  state.links = linksOf(mesh, cells);
  for (const Link& link : state.links)
    for (uint32_t i = 0; i < 4; ++i)
      for (uint32_t j = 0; j < 4; ++j)
        if (i != link.sideA && mesh.mesh.tets[link.a][i] == mesh.mesh.tets[link.b][j])
          sets.unite(4 * link.a + i, 4 * link.b + j);
  std::vector<uint32_t> number(4 * mesh.mesh.tets.size(), kNoIndex);
  mesh.mesh.positions.clear();
  for (uint32_t t = 0; t < mesh.mesh.tets.size(); ++t)
    for (uint32_t i = 0; i < 4; ++i) {
      uint32_t& n = number[sets.find(4 * t + i)];
      if (n == kNoIndex) {
        n = uint32_t(mesh.mesh.positions.size());
        mesh.mesh.positions.push_back(body.mesh.positions[mesh.mesh.tets[t][i]]);
        state.vertexSource.push_back(mesh.mesh.tets[t][i]);
      }
      mesh.mesh.tets[t][i] = n;
    }
  state.cells = cellsOf(mesh);
  BrokenBody out;
  out.piece = partsOf(mesh.size(), state.links, out.pieces);
  out.tinyParts = joinTinyParts(state, leastPart, out.piece, out.pieces);
  out.cracked = {std::move(state.mesh), std::move(state.cells), std::move(state.links),
                 std::move(state.vertexSource), std::move(state.slots)};
  return out;
}

}  // namespace sunder::fracture
