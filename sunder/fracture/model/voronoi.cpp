#include "sunder/fracture/model/voronoi.h"

#include "sunder/base/disjoint_sets.h"
#include "sunder/base/error.h"
#include "sunder/base/random.h"
#include "sunder/fracture/crack/cell_faces.h"
#include "sunder/fracture/crack/fracture_geometry.h"
#include "sunder/fracture/model/near_sites.h"
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
  if (std::none_of(volume.begin(), volume.end(), [&](double v) { return v < least * whole; })) return 0;
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
  std::vector<double> sums{0};
  sums.reserve(body.size() + 1);
  for (size_t t = 0; t < body.size(); ++t) {
    const auto p = body.corners(t);
    const double volume = body.cuts[t].empty() ? geometry::signedVolume(p[0], p[1], p[2], p[3])
                                               : makeCell(body.mesh.tets[t], p, body.cuts[t]).volume();
    sums.push_back(sums.back() + volume);
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
                                std::span<const uint32_t> siteOf, Neighbours known) {
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
  std::vector<std::array<uint32_t, 4>> found;
  if (known.empty()) found = geometry::tetNeighbours(body.mesh);
  const Neighbours neighbours = known.empty() ? Neighbours(found) : known;
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
// `touched`: the vertices that may have to be split.
void splitVertices(FractureGeometry::State& state, const std::vector<Vec3>& positions,
                   std::span<const char> touched) {
  std::vector<geometry::Tetrahedron>& tets = state.mesh.mesh.tets;
  DisjointSets sets(4 * tets.size());
  for (const Link& link : state.links)
    for (uint32_t i = 0; i < 4; ++i) {
      if (i == link.sideA || !touched[tets[link.a][i]]) continue;
      for (uint32_t j = 0; j < 4; ++j)
        if (tets[link.a][i] == tets[link.b][j]) sets.unite(4 * link.a + i, 4 * link.b + j);
    }
  std::vector<uint32_t> start(positions.size() + 1, 0), alone(positions.size(), kNoIndex);
  for (uint32_t c = 0; c < 4 * tets.size(); ++c) {
    const uint32_t v = tets[c / 4][c % 4];
    if (touched[v])
      start[v + 1] += sets.find(c) == c;
    else
      start[v + 1] = 1;
  }
  for (size_t v = 0; v < positions.size(); ++v) start[v + 1] += start[v];
  state.mesh.mesh.positions.resize(start.back());
  state.vertexSource.resize(start.back());
  std::vector<uint32_t> number(4 * tets.size(), kNoIndex);
  for (uint32_t t = 0; t < tets.size(); ++t) {
    const geometry::Tetrahedron old = tets[t];
    for (uint32_t i = 0; i < 4; ++i) {
      uint32_t& n = touched[old[i]] ? number[sets.find(4 * t + i)] : alone[old[i]];
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
                         uint32_t& nextCrack, Neighbours neighbours) {
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
  std::vector<char> touched(body.mesh.positions.size(), 0);
  // Planes between the sites that have a part of a tetrahedron, at its vertices.
  struct Between {
    std::array<double, 4> phi;
    bool above = false, below = false;
    uint32_t crack = kNoIndex;
  };
  std::vector<Between> between;
  const size_t about = body.size() + body.size() / 2;
  mesh.mesh.tets.reserve(about);
  mesh.cuts.reserve(about);
  state.cells.reserve(about);
  state.slots.reserve(about);
  siteOf.reserve(about);
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
    const size_t count = near.size();
    if (count > 1)
      for (const uint32_t v : body.mesh.tets[t]) touched[v] = 1;
    between.assign(count * count, {});
    for (size_t i = 0; i < count; ++i)
      for (size_t j = i + 1; j < count; ++j) {
        Between& b = between[i * count + j];
        const NearSites::Plane plane = nearSites.planeOf(near[i], near[j]);
        for (size_t k = 0; k < 4; ++k) {
          b.phi[k] = plane.value(p[k]);
          (b.phi[k] >= 0 ? b.above : b.below) = true;
        }
      }
    for (size_t i = 0; i < count; ++i) {
      site = near[i];
      cuts = body.cuts[t];
      bool there = true;
      for (size_t j = 0; j < count; ++j) {
        if (j == i) continue;
        Between& b = between[std::min(i, j) * count + std::max(i, j)];
        const int8_t side = i < j ? 1 : -1;
        if (b.above && b.below) {
          if (b.crack == kNoIndex) {
            const auto [found, fresh] =
                crackOf.try_emplace({near[std::min(i, j)], near[std::max(i, j)]}, nextCrack);
            if (fresh) ++nextCrack;
            b.crack = found->second;
          }
          cuts.push_back({b.crack, side, b.phi});
        } else if (b.above != (side > 0)) {
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
  state.links = linksOfCopies(body, state, siteOf, neighbours);
  splitVertices(state, body.mesh.positions, touched);
  BrokenBody out;
  out.piece = partsOf(mesh.size(), state.links, out.pieces);
  out.tinyParts = joinTinyParts(state, leastPart, out.piece, out.pieces);
  out.cracked = {std::move(state.mesh), std::move(state.cells), std::move(state.links),
                 std::move(state.vertexSource), std::move(state.slots)};
  return out;
}

}  // namespace sunder::fracture
