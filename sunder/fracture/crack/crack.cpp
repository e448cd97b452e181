#include "sunder/fracture/crack/crack.h"

#include "sunder/base/random.h"
#include "sunder/geometry/tet_mesh.h"

#include <algorithm>
#include <cmath>
#include <queue>

namespace sunder::fracture {

namespace {

// Smooth noise in -1..1: random values at whole numbers, blended by quintics (Perlin 2002, values instead of
// gradients).
double valueNoise(const Vec3& p, uint64_t seed) {
  const Vec3 cell = p.array().floor();
  const Vec3 part = p - cell;
  const Vec3 blend = part.unaryExpr([](double t) { return t * t * t * (t * (6 * t - 15) + 10); });
  double sum = 0;
  for (int i = 0; i < 8; ++i) {
    double weight = 1;
    uint64_t where = 0;
    for (int d = 0; d < 3; ++d) {
      const int up = i >> d & 1;
      weight *= up ? blend[d] : 1 - blend[d];
      where = where * 2654435761u + uint64_t(int64_t(cell[d]) + up + (int64_t(1) << 20));
    }
    sum += weight * RandomStream(seed, where).uniform(-1, 1);
  }
  return sum;
}

double faceArea(const CrackedMesh& mesh, const CutCell& cell, const Mark& mark) {
  // The lid that the crack would make in the cell.
  std::vector<Cut> cuts = mesh.cuts[mark.tet];
  const CutCell whole = cuts.empty() ? makeCell(mesh.mesh.tets[mark.tet], mesh.corners(mark.tet), {}) : cell;
  cuts.push_back({cuts.empty() ? 0 : cuts.back().surface + 1, 1, mark.phi});
  const CutCell half = clipCell(whole, mesh.mesh.tets[mark.tet], mesh.corners(mark.tet), cuts);
  const CutCell::Face* lid = half.face(uint8_t(3 + cuts.size()));
  return lid ? half.area(*lid) : 0;
}

}  // namespace

CrackFunction planeCrack(const Vec3& point, const Vec3& normal) {
  const Vec3 n = normal.normalized();
  return [point, n](const Vec3& x) { return n.dot(x - point); };
}

CrackFunction noisyCrack(const Vec3& point, const Vec3& normal, const CrackNoise& noise) {
  const Vec3 n = normal.normalized();
  return [point, n, noise](const Vec3& x) {
    const Vec3 p = x / noise.wavelength;
    const double bump = (valueNoise(p, noise.seed) + 0.5 * valueNoise(2.03 * p, noise.seed + 1)) / 1.5;
    return n.dot(x - point) + noise.amplitude * bump;
  };
}

std::vector<double> crackValues(const geometry::TetMesh& mesh, const CrackFunction& crack) {
  const size_t count = mesh.positions.size();
  std::vector<double> values(count), length(count, 0);
  std::vector<uint32_t> edges(count, 0);
  for (const geometry::Tetrahedron& t : mesh.tets)
    for (size_t i = 0; i < 4; ++i)
      for (size_t j = 0; j < i; ++j) {
        const double l = (mesh.positions[t[i]] - mesh.positions[t[j]]).norm();
        for (const uint32_t v : {t[i], t[j]}) {
          length[v] += l;
          ++edges[v];
        }
      }
  for (size_t v = 0; v < count; ++v) {
    values[v] = crack(mesh.positions[v]);
    const double least = kNearestVertex * (edges[v] ? length[v] / edges[v] : 1);
    if (std::abs(values[v]) < least) values[v] = least;
  }
  return values;
}

std::vector<Mark> markCrack(const CrackedMesh& mesh, std::span<const CutCell> cells,
                            std::span<const Link> links, std::span<const double> values, uint32_t seed,
                            double mostArea, double* area) {
  std::vector<uint32_t> star;
  for (uint32_t t = 0; t < mesh.size(); ++t) {
    const auto& v = mesh.mesh.tets[t];
    if (std::find(v.begin(), v.end(), seed) != v.end()) star.push_back(t);
  }
  return markCrack(mesh, cells, links, values, mesh.mesh.positions[seed], star, mostArea, area);
}

std::vector<Mark> markCrack(const CrackedMesh& mesh, std::span<const CutCell> cells,
                            std::span<const Link> links, std::span<const double> values, const Vec3& from,
                            std::span<const uint32_t> seedTets, double mostArea, double* area) {
  const auto phiOf = [&](uint32_t t) {
    std::array<double, 4> phi;
    for (size_t i = 0; i < 4; ++i) phi[i] = values[mesh.mesh.tets[t][i]];
    return phi;
  };
  const auto cutsCell = [&](uint32_t t) {
    const std::array<double, 4> phi = phiOf(t);
    if (!mesh.cuts[t].empty()) return crosses(cells[t], phi);
    return *std::min_element(phi.begin(), phi.end()) < 0 && *std::max_element(phi.begin(), phi.end()) >= 0;
  };
  const auto cutsFace = [&](uint32_t t, uint8_t side) {
    if (!mesh.cuts[t].empty()) {
      const CutCell::Face* face = cells[t].face(side);
      return face && crosses(cells[t], *face, phiOf(t));
    }
    bool above = false, below = false;
    for (const uint32_t v : geometry::tetFace(mesh.mesh.tets[t], side))
      (values[v] >= 0 ? above : below) = true;
    return above && below;
  };
  // Links of each tetrahedron.
  std::vector<uint32_t> start(mesh.size() + 1, 0);
  for (const Link& link : links) ++start[link.a + 1], ++start[link.b + 1];
  for (size_t t = 0; t < mesh.size(); ++t) start[t + 1] += start[t];
  std::vector<uint32_t> next(start.begin(), start.end() - 1), of(2 * links.size());
  for (uint32_t k = 0; k < links.size(); ++k) {
    of[next[links[k].a]++] = k;
    of[next[links[k].b]++] = k;
  }

  // Nearest to the seed first, so that a crack that stops is round.
  using Entry = std::pair<double, uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  std::vector<char> seen(mesh.size(), 0);
  const auto enter = [&](uint32_t t) {
    if (seen[t]) return;
    seen[t] = 1;
    Vec3 centre = Vec3::Zero();
    for (const uint32_t v : mesh.mesh.tets[t]) centre += 0.25 * mesh.mesh.positions[v];
    queue.push({(centre - from).squaredNorm(), t});
  };
  for (const uint32_t t : seedTets)
    if (cutsCell(t)) enter(t);
  std::vector<Mark> marks;
  double cutSoFar = 0;
  const bool measured = area || mostArea < Box3::kInfinity;
  while (!queue.empty() && cutSoFar < mostArea) {
    const uint32_t t = queue.top().second;
    queue.pop();
    marks.push_back({t, phiOf(t)});
    if (measured) cutSoFar += faceArea(mesh, cells[t], marks.back());
    for (uint32_t k = start[t]; k < start[t + 1]; ++k) {
      const Link& link = links[of[k]];
      const bool first = link.a == t;
      if (cutsFace(t, first ? link.sideA : link.sideB)) {
        const uint32_t other = first ? link.b : link.a;
        if (cutsCell(other)) enter(other);
      }
    }
  }
  std::sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) { return a.tet < b.tet; });
  if (area) *area = cutSoFar;
  return marks;
}

}  // namespace sunder::fracture
