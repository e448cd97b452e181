#include "sunder/soft/cage/lattice_search.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/random.h"
#include "sunder/base/work.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/soft/cage/clip_surface.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>

namespace sunder::soft {

namespace {

constexpr uint32_t kMostSearched = 400;  // tetrahedra up to which lattices are compared by samples
constexpr size_t kMostCounted = 30000;   // triangles
// Many lattices are compared by few samples, the best of them by more, and the best of those exactly.
constexpr size_t kFewSamples = 1000, kManySamples = 6000;
constexpr uint32_t kLatticeTrials = 256, kFineTrials = 20, kExactTrials = 5;
constexpr int kBisections = 8, kFineBisections = 5;
constexpr double kMostLatticeTets = 4e6;  // over the box, before those without solid are left out

// Points of the surface, four a triangle (corners and middle), and points inside.
struct SolidSamples {
  std::vector<Vec3> surface, inside;
};

SolidSamples takeSamples(const ClipSurface& surface, const Solid& solid, const Box3& box, size_t count) {
  SolidSamples samples;
  const geometry::TriMesh& mesh = surface.mesh;
  const size_t n = mesh.triangles.size(), stride = (n + count - 1) / count;
  for (size_t t = 0; t < n; t += stride) {
    const geometry::Triangle& v = mesh.triangles[t];
    const Vec3 &a = mesh.positions[v[0]], &b = mesh.positions[v[1]], &c = mesh.positions[v[2]];
    samples.surface.insert(samples.surface.end(), {a, b, c, (a + b + c) / 3});
  }
  RandomStream random(23);
  std::vector<Vec3> points;
  for (size_t i = 0; i < 2 * count; ++i) points.push_back(random.pointIn(box));
  const std::vector<uint8_t> inside = solid.inside(points);
  for (size_t i = 0; i < points.size(); ++i)
    if (inside[i]) samples.inside.push_back(points[i]);
  return samples;
}

struct LatticeCount {
  double tets = 0, copies = 0;  // copies: by sampled triangle
};

LatticeCount countSamples(const Lattice& lattice, const SolidSamples& samples, std::vector<uint64_t>& keys) {
  keys.clear();
  size_t copies = 0;
  for (size_t i = 0; i < samples.surface.size(); i += 4) {
    std::array<uint64_t, 4> k{};
    for (size_t j = 0; j < 4; ++j) {
      k[j] = lattice.holder(samples.surface[i + j]).key();
      const bool seen = std::find(k.begin(), k.begin() + long(j), k[j]) != k.begin() + long(j);
      copies += !seen;
      if (!seen && (keys.empty() || keys.back() != k[j])) keys.push_back(k[j]);
    }
  }
  for (const Vec3& p : samples.inside) {
    const uint64_t key = lattice.holder(p).key();
    if (keys.empty() || keys.back() != key) keys.push_back(key);
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return {double(keys.size()), double(copies) / (double(samples.surface.size()) / 4)};
}

// Turned by any rotation, stretched by up to a third, shifted anywhere; the first is neither turned nor
// stretched.
Lattice trialLattice(uint32_t trial, const Box3& box) {
  RandomStream random(7, trial);
  Lattice lattice;
  lattice.centre = box.center();
  if (trial % 4 != 0) {
    Vec4 q;
    double squared = 0;
    do {
      for (int k = 0; k < 4; ++k) q[k] = random.uniform(-1, 1);
      squared = q.squaredNorm();
    } while (squared > 1 || squared < 1e-3);
    lattice.turn = Quat(q[0], q[1], q[2], q[3]).normalized().toRotationMatrix();
  }
  for (int k = 0; k < 3; ++k) lattice.offset[k] = random.uniform();
  if (trial % 2 != 0 || trial == 0) return lattice;
  for (int k = 0; k < 3; ++k) lattice.stretch[k] = random.uniform(0.75, 1.33);
  lattice.stretch /= std::cbrt(lattice.stretch.prod());
  return lattice;
}

struct LatticeTrial {
  Lattice lattice;
  double score = std::numeric_limits<double>::infinity();
};

// What is best: a hundredth more tetrahedra or fewer than wished weighs as much as a hundredth of a copy;
// what is beyond a twentieth weighs much.
double scoreOf(const LatticeCount& count, double wished) {
  const double off = std::abs(count.tets - wished) / wished;
  return count.copies + off + 10 * std::max(0.0, off - 0.05);
}

// The edge with the best score, by bisection of its logarithm for the count (square roots do that) between
// edge / range and edge * range.
template <class CountOf>
LatticeTrial fitEdge(Lattice lattice, double range, int steps, double wished, const CountOf& countOf) {
  double low = lattice.edge / range, high = lattice.edge * range;
  LatticeTrial best;
  for (int step = 0; step < steps; ++step) {
    lattice.edge = std::sqrt(low * high);
    const LatticeCount count = countOf(lattice);
    const double score = scoreOf(count, wished);
    if (score < best.score) best = {lattice, score};
    (count.tets > wished ? low : high) = lattice.edge;
  }
  return best;
}

// Does that for many lattices and keeps the best.
std::vector<LatticeTrial> fitEdges(std::vector<Lattice> lattices, double range, int steps, double wished,
                                   const SolidSamples& samples, size_t keep) {
  std::vector<LatticeTrial> found(lattices.size());
  Work work("comparing lattices", lattices.size());
  parallelBlocks(lattices.size(), 1, [&](size_t begin, size_t end) {
    std::vector<uint64_t> keys;
    for (size_t i = begin; i < end; ++i)
      found[i] = fitEdge(lattices[i], range, steps, wished,
                         [&](const Lattice& lattice) { return countSamples(lattice, samples, keys); });
    work.step(end - begin);
  });
  std::stable_sort(found.begin(), found.end(),
                   [](const LatticeTrial& a, const LatticeTrial& b) { return a.score < b.score; });
  found.resize(std::min(keep, found.size()));
  return found;
}

// Some of the triangles of a large surface, for trials.
geometry::TriMesh thinned(const geometry::TriMesh& mesh) {
  const size_t n = mesh.triangles.size(), stride = (n + kMostCounted - 1) / kMostCounted;
  if (stride <= 1) return mesh;
  geometry::TriMesh result;
  result.positions = mesh.positions;
  for (size_t t = 0; t < n; t += stride) result.triangles.push_back(mesh.triangles[t]);
  return result;
}

Box3 latticeBox(const Lattice& lattice, std::span<const Vec3> points) {
  Box3 box;
  for (const Vec3& p : points) box.grow(lattice.toLattice(p));
  return box;
}

}  // namespace

LatticeCage cageOf(const Lattice& lattice, const ClipSurface& surface, const Solid& solid) {
  const Box3 box = latticeBox(lattice, surface.mesh.positions);
  if (Lattice::countIn(box) > kMostLatticeTets)
    throw Error(ErrorKind::Limit, "the solid is too thin for a cage of so many tetrahedra of one size")
        .hint("fewer tetrahedra, or a cage of your own");
  geometry::TetMesh all = lattice.tetsIn(box);
  LatticeCage cage;
  const std::vector<uint8_t> touched = touchedTets(surface, all, &cage.copies);
  std::vector<Vec3> middles;
  for (size_t t = 0; t < all.tets.size(); ++t) {
    if (touched[t]) continue;
    Vec3 middle = Vec3::Zero();
    for (const uint32_t v : all.tets[t]) middle += 0.25 * all.positions[v];
    middles.push_back(middle);
  }
  const std::vector<uint8_t> inside = solid.inside(middles);
  std::vector<uint32_t> number(all.positions.size(), kNoIndex);
  size_t next = 0;
  for (size_t t = 0; t < all.tets.size(); ++t) {
    if (!touched[t]) {
      if (!inside[next++]) continue;
      ++cage.inside;
    }
    cage.mesh.tets.push_back(all.tets[t]);
    for (const uint32_t v : all.tets[t]) number[v] = 0;
  }
  for (size_t v = 0; v < number.size(); ++v)
    if (number[v] == 0) {
      number[v] = uint32_t(cage.mesh.positions.size());
      cage.mesh.positions.push_back(all.positions[v]);
    }
  for (auto& tet : cage.mesh.tets)
    for (uint32_t& v : tet) v = number[v];
  return cage;
}

LatticeChoice chooseLattice(const ClipSurface& whole, const Solid& solid, uint32_t tets) {
  const geometry::TriMesh fewer = thinned(whole.mesh);
  const ClipSurface surface(fewer);
  const Box3 box = geometry::bounds(surface.mesh.positions);
  const double volume = std::max(solid.volume(), 1e-3 * box.extent().prod());
  // A first guess: tetrahedra of a twelfth of a cube, a third of which are solid.
  const double edge = std::max(std::cbrt(12 * 3 * volume / double(tets)), 1e-9 * box.diagonal());
  LatticeChoice choice;

  const auto exactly = [&](const Lattice& lattice) {
    // Far too many are not counted.
    if (Lattice::countIn(latticeBox(lattice, surface.mesh.positions)) > kMostLatticeTets)
      return LatticeCount{1e9, 1};
    const LatticeCage cage = cageOf(lattice, surface, solid);
    return LatticeCount{double(cage.mesh.tets.size()),
                        double(cage.copies) / double(surface.mesh.triangles.size())};
  };
  LatticeTrial best;
  if (tets <= kMostSearched) {
    std::vector<Lattice> lattices;
    for (uint32_t i = 0; i < kLatticeTrials; ++i) {
      lattices.push_back(trialLattice(i, box));
      lattices.back().edge = edge;
    }
    choice.trials = kLatticeTrials;
    std::vector<LatticeTrial> found = fitEdges(lattices, 4, kBisections, double(tets),
                                               takeSamples(surface, solid, box, kFewSamples), kFineTrials);
    lattices.clear();
    for (const LatticeTrial& trial : found) lattices.push_back(trial.lattice);
    found = fitEdges(lattices, 1.2, kFineBisections, double(tets),
                     takeSamples(surface, solid, box, kManySamples), kExactTrials);
    // Samples miss tetrahedra with little in them, so the lattice with the count is a little coarser.
    for (const LatticeTrial& trial : found) {
      const LatticeTrial exact = fitEdge(trial.lattice, 1.1, 4, double(tets), exactly);
      if (exact.score < best.score) best = exact;
    }
  } else {
    Lattice lattice = trialLattice(0, box);
    lattice.edge = edge;
    best = fitEdge(lattice, 4, kBisections, double(tets), exactly);
    choice.trials = 1;
  }
  choice.lattice = best.lattice;
  choice.cage = cageOf(best.lattice, whole, solid);
  return choice;
}

}  // namespace sunder::soft
