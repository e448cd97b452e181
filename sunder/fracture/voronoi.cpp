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

namespace {

// Which sites have a part of a tetrahedron.
class NearSites {
 public:
  NearSites(const CrackedMesh& body, std::span<const Vec3> sites)
      : body_(body), sites_(sites), nearest_(body.mesh.positions.size(), kNoIndex) {
    for (size_t v = 0; v < nearest_.size(); ++v) {
      const Vec3& x = body.mesh.positions[v];
      uint32_t best = 0;
      double least = Box3::kInfinity;
      for (uint32_t i = 0; i < sites.size(); ++i)
        if (const double d = (sites[i] - x).squaredNorm(); d < least) {
          least = d;
          best = i;
        }
      bool clear = true;
      for (uint32_t i = 0; i < sites.size() && clear; ++i)
        clear =
            i == best || std::abs(between(std::min(i, best), std::max(i, best), x)) > kTie * size(i, best);
      if (clear) nearest_[v] = best;
    }
  }

  // The plane between two sites at a point, positive at the first; never zero.
  double between(uint32_t i, uint32_t j, const Vec3& x) const {
    const Vec3 way = sites_[i] - sites_[j];
    const double length = way.norm();
    const double value = way.dot(x - 0.5 * (sites_[i] + sites_[j])) / length;
    const double least = kTie * length;
    return std::abs(value) < least ? least : value;
  }

  // Those that may be nearest somewhere in the tetrahedron: not farther from all of it than another.
  void of(uint32_t t, const std::array<Vec3, 4>& p, std::vector<uint32_t>& near) {
    near.clear();
    const geometry::Tetrahedron& v = body_.mesh.tets[t];
    const uint32_t first = nearest_[v[0]];
    // Cells are convex: one that has all four vertices has the tetrahedron.
    if (first != kNoIndex && nearest_[v[1]] == first && nearest_[v[2]] == first && nearest_[v[3]] == first) {
      near.push_back(first);
      return;
    }
    const Vec3 middle = 0.25 * (p[0] + p[1] + p[2] + p[3]);
    double reach = 0, nearest = Box3::kInfinity;
    for (const Vec3& corner : p) reach = std::max(reach, (corner - middle).norm());
    distance_.resize(sites_.size());
    for (size_t i = 0; i < sites_.size(); ++i) {
      distance_[i] = (sites_[i] - middle).norm();
      nearest = std::min(nearest, distance_[i]);
    }
    for (uint32_t i = 0; i < sites_.size(); ++i)
      if (distance_[i] <= nearest + 2 * reach) near.push_back(i);
  }

 private:
  static constexpr double kTie = 1e-9;  // of the distance of two sites
  double size(uint32_t i, uint32_t j) const { return (sites_[i] - sites_[j]).norm(); }

  const CrackedMesh& body_;
  std::span<const Vec3> sites_;
  std::vector<uint32_t> nearest_;  // by vertex; kNoIndex: hard to say
  std::vector<double> distance_;
};

// Planes that pass by the cell are of no use to it: leaves them out, from number `first` on.
void dropUnused(CutCell& cell, std::vector<Cut>& cuts, size_t first) {
  std::array<uint8_t, kMostCuts + 4> number;
  size_t kept = 0;
  for (size_t k = 0; k < cuts.size(); ++k) {
    if (k >= first && !cell.face(uint8_t(4 + k))) continue;
    number[4 + k] = uint8_t(4 + kept);
    cuts[kept++] = cuts[k];
  }
  if (kept == cuts.size()) return;
  cuts.resize(kept);
  for (uint8_t i = 0; i < 4; ++i) number[i] = i;
  for (CutCell::Corner& corner : cell.corners)
    for (uint8_t& plane : corner.planes) plane = number[plane];
  for (CutCell::Face& face : cell.faces) face.plane = number[face.plane];
}

// Faces across which the copies hang together: those of the body's tetrahedra, where both are of one site.
// Cells of a site are convex, so both have the same part of the face or none, unless earlier cracks came
// between.
std::vector<Link> linksOfCopies(const CrackedMesh& body, const FractureGeometry::State& state,
                                std::span<const uint32_t> siteOf) {
  std::vector<uint32_t> start(body.size() + 1, 0);
  for (const uint32_t slot : state.slots) ++start[slot + 1];
  for (size_t t = 0; t < body.size(); ++t) start[t + 1] += start[t];
  const FaceOverlap overlap(state.mesh, state.cells);
  std::vector<Link> links;
  const auto join = [&](const Link& link) {
    const bool whole = body.cuts[link.a].empty() && body.cuts[link.b].empty();
    uint32_t a = start[link.a], b = start[link.b];
    while (a < start[link.a + 1] && b < start[link.b + 1]) {
      if (siteOf[a] != siteOf[b]) {
        ++(siteOf[a] < siteOf[b] ? a : b);
        continue;
      }
      const auto has = [&](uint32_t t, uint8_t side) {
        return state.cells[t].empty() || state.cells[t].face(side);
      };
      if (has(a, link.sideA) && has(b, link.sideB) && (whole || overlap(a, link.sideA, b, link.sideB)))
        links.push_back({a, b, link.sideA, link.sideB});
      ++a;
      ++b;
    }
  };
  if (std::any_of(body.cuts.begin(), body.cuts.end(), [](const auto& cuts) { return !cuts.empty(); })) {
    for (const Link& link : linksOf(body, cellsOf(body))) join(link);
    return links;
  }
  links.reserve(2 * state.mesh.size());
  const auto neighbours = geometry::tetNeighbours(body.mesh);
  for (uint32_t t = 0; t < body.size(); ++t)
    for (uint8_t side = 0; side < 4; ++side) {
      const uint32_t other = neighbours[t][side];
      if (other == kNoIndex || other < t) continue;
      const auto back = std::find(neighbours[other].begin(), neighbours[other].end(), t);
      join({t, other, side, uint8_t(back - neighbours[other].begin())});
    }
  return links;
}

// Copies share vertices only where their cells hang together. New vertices ascend with the old ones, so cells
// stay as they are but for the numbers.
void splitVertices(FractureGeometry::State& state, const std::vector<Vec3>& positions) {
  std::vector<geometry::Tetrahedron>& tets = state.mesh.mesh.tets;
  geometry::DisjointSets sets(4 * tets.size());
  for (const Link& link : state.links)
    for (uint32_t i = 0; i < 4; ++i)
      for (uint32_t j = 0; j < 4; ++j)
        if (i != link.sideA && tets[link.a][i] == tets[link.b][j]) sets.unite(4 * link.a + i, 4 * link.b + j);
  std::vector<uint32_t> start(positions.size() + 1, 0);
  for (uint32_t c = 0; c < 4 * tets.size(); ++c)
    if (sets.find(c) == c) ++start[tets[c / 4][c % 4] + 1];
  for (size_t v = 0; v < positions.size(); ++v) start[v + 1] += start[v];
  state.mesh.mesh.positions.resize(start.back());
  state.vertexSource.resize(start.back());
  std::vector<uint32_t> number(4 * tets.size(), kNoIndex);
  for (uint32_t t = 0; t < tets.size(); ++t) {
    const geometry::Tetrahedron old = tets[t];
    for (uint32_t i = 0; i < 4; ++i) {
      uint32_t& n = number[sets.find(4 * t + i)];
      if (n == kNoIndex) {
        n = start[old[i]]++;
        state.mesh.mesh.positions[n] = positions[old[i]];
        state.vertexSource[n] = old[i];
      }
      tets[t][i] = n;
    }
    if (!state.cells[t].empty()) renumber(state.cells[t], old, tets[t]);
  }
}

}  // namespace

BrokenBody voronoiPieces(const CrackedMesh& body, std::span<const Vec3> sites, double leastPart,
                         uint32_t& nextCrack) {
  if (sites.size() < 2) throw Error(ErrorKind::Usage, "Voronoi cells need at least two sites");
  for (size_t i = 0; i < sites.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (sites[i] == sites[j]) throw Error(ErrorKind::Usage, "two sites of Voronoi cells coincide");
  NearSites nearSites(body, sites);
  FractureGeometry::State state;
  CrackedMesh& mesh = state.mesh;
  mesh.mesh.positions = body.mesh.positions;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> crackOf;  // by pair of sites
  std::vector<uint32_t> near, siteOf;
  std::vector<Cut> cuts;
  uint32_t site = 0;
  for (uint32_t t = 0; t < body.size(); ++t) {
    const auto p = body.corners(t);
    nearSites.of(t, p, near);
    const auto add = [&](CutCell cell) {
      mesh.mesh.tets.push_back(body.mesh.tets[t]);
      mesh.cuts.push_back(cuts);
      state.cells.push_back(std::move(cell));
      state.slots.push_back(t);
      siteOf.push_back(site);
    };
    CutCell whole;  // before this break
    if (near.size() > 1 || !body.cuts[t].empty()) whole = makeCell(body.mesh.tets[t], p, body.cuts[t]);
    for (const uint32_t i : near) {
      site = i;
      cuts = body.cuts[t];
      bool there = true;
      for (const uint32_t j : near) {
        if (j == i) continue;
        const uint32_t low = std::min(i, j), high = std::max(i, j);
        Cut cut{0, int8_t(i == low ? 1 : -1), {}};
        bool above = false, below = false;
        for (size_t k = 0; k < 4; ++k) {
          cut.phi[k] = nearSites.between(low, high, p[k]);
          (cut.phi[k] >= 0 ? above : below) = true;
        }
        if (above && below) {
          const auto [found, fresh] = crackOf.try_emplace({low, high}, nextCrack);
          if (fresh) ++nextCrack;
          cut.surface = found->second;
          cuts.push_back(cut);
        } else if (above != (cut.side > 0)) {
          there = false;
          break;
        }
      }
      if (!there) continue;
      requireFewCuts(cuts.size());
      const size_t old = body.cuts[t].size();
      std::sort(cuts.begin() + std::ptrdiff_t(old), cuts.end(),
                [](const Cut& a, const Cut& b) { return a.surface < b.surface; });
      if (cuts.empty()) {
        add({});
        continue;
      }
      CutCell cell = whole;
      for (size_t k = old; k < cuts.size() && !cell.empty(); ++k)
        cell = clipCell(cell, body.mesh.tets[t], p, std::span<const Cut>(cuts).first(k + 1));
      if (cell.empty()) continue;
      dropUnused(cell, cuts, old);
      if (cuts.empty()) cell = {};
      add(std::move(cell));
    }
  }
  state.links = linksOfCopies(body, state, siteOf);
  splitVertices(state, body.mesh.positions);
  BrokenBody out;
  out.piece = partsOf(mesh.size(), state.links, out.pieces);
  out.tinyParts = joinTinyParts(state, leastPart, out.piece, out.pieces);
  out.cracked = {std::move(state.mesh), std::move(state.cells), std::move(state.links),
                 std::move(state.vertexSource), std::move(state.slots)};
  return out;
}

}  // namespace sunder::fracture
