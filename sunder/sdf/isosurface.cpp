#include "sunder/sdf/isosurface.h"

#include "sunder/base/error.h"
#include "sunder/base/index.h"
#include "sunder/base/parallel.h"
#include "sunder/base/radix_sort.h"
#include "sunder/base/work.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include <fmt/format.h>

namespace sunder::sdf {

namespace {

constexpr uint32_t kBlockCells = 4;  // cells along an edge
constexpr uint32_t kRow = kBlockCells + 1;
constexpr double kBlockSamples = 2 * kRow * kRow * kRow;
constexpr double kEnd = 1e-3;  // vertices keep this share of an edge away from its ends: no triangle vanishes

// The lattice: corners (i, j, k) of cubes and their centres, numbered one after the other.
struct Lattice {
  Vec3 origin;
  double edge;
  std::array<uint32_t, 3> cells;

  uint32_t index(uint32_t i, uint32_t j, uint32_t k, bool centre) const {
    const uint64_t place = i + (uint64_t(cells[0]) + 1) * (j + (uint64_t(cells[1]) + 1) * k);
    return static_cast<uint32_t>(2 * place + centre);
  }
  Vec3 position(uint32_t i, uint32_t j, uint32_t k, bool centre) const {
    const double half = centre ? 0.5 : 0;
    return origin + edge * Vec3(i + half, j + half, k + half);
  }
  Vec3 position(uint32_t index) const {
    const uint64_t place = index / 2;
    const uint64_t row = uint64_t(cells[0]) + 1, layer = row * (uint64_t(cells[1]) + 1);
    return position(static_cast<uint32_t>(place % row), static_cast<uint32_t>(place % layer / row),
                    static_cast<uint32_t>(place / layer), index % 2);
  }
  // The outermost corners and centres: outside by decree.
  bool onRim(uint32_t i, uint32_t j, uint32_t k, bool centre) const {
    const uint32_t less = centre ? 1 : 0;
    return i == 0 || j == 0 || k == 0 || i + less >= cells[0] || j + less >= cells[1] || k + less >= cells[2];
  }
};

struct EdgeTriangle {
  std::array<uint64_t, 3> keys;  // lattice edges: inner point << 32 | outer point
};

struct BlockWork {
  std::vector<Vec3> points;
  std::vector<double> values;
};

struct BlockResult {
  std::vector<EdgeTriangle> triangles;
  uint64_t samples = 0;
  bool cutOff = false;
  uint32_t inside = 0,
           outside = 0;  // per block around it, which signs there are among the points shared with it
};

struct CornerOf {
  uint32_t index;
  bool inside;
};

uint64_t keyOf(const CornerOf& a, const CornerOf& b) {
  return a.inside ? uint64_t(a.index) << 32 | b.index : uint64_t(b.index) << 32 | a.index;
}

// The pieces of surface in a positively oriented tetrahedron, wound so that the outside is in front.
void emit(const std::array<CornerOf, 4>& t, std::vector<EdgeTriangle>& out) {
  uint32_t code = 0;
  for (uint32_t i = 0; i < 4; ++i) code |= uint32_t(t[i].inside) << i;
  const uint32_t count = static_cast<uint32_t>(std::popcount(code));
  if (count == 0 || count == 4) return;
  // Even permutations that bring the lone corner, or the two inner ones, to the front.
  static constexpr uint8_t kLone[4][4] = {{0, 1, 2, 3}, {1, 0, 3, 2}, {2, 0, 1, 3}, {3, 0, 2, 1}};
  if (count != 2) {
    const bool loneInside = count == 1;
    const auto lone = static_cast<uint32_t>(std::countr_zero(loneInside ? code : ~code));
    const uint8_t* p = kLone[lone];
    const uint64_t a = keyOf(t[p[0]], t[p[1]]), b = keyOf(t[p[0]], t[p[2]]), c = keyOf(t[p[0]], t[p[3]]);
    // In a positive tetrahedron the face of corners 1, 2, 3 looks away from corner 0.
    if (loneInside)
      out.push_back({{a, b, c}});
    else
      out.push_back({{a, c, b}});
    return;
  }
  uint32_t in[2], ex[2], ni = 0, ne = 0;
  for (uint32_t i = 0; i < 4; ++i) (t[i].inside ? in[ni++] : ex[ne++]) = i;
  // The parity of (in0, in1, ex0, ex1) decides which way round.
  const uint32_t order[4] = {in[0], in[1], ex[0], ex[1]};
  uint32_t inversions = 0;
  for (int i = 0; i < 4; ++i)
    for (int j = i + 1; j < 4; ++j) inversions += order[i] > order[j];
  if (inversions % 2 == 1) std::swap(ex[0], ex[1]);
  const uint64_t a = keyOf(t[in[0]], t[ex[0]]), b = keyOf(t[in[0]], t[ex[1]]), c = keyOf(t[in[1]], t[ex[1]]),
                 d = keyOf(t[in[1]], t[ex[0]]);
  // The diagonal that both orders of the corners choose: from the smallest key.
  if (std::min(a, c) < std::min(b, d)) {
    out.push_back({{a, b, c}});
    out.push_back({{a, c, d}});
  } else {
    out.push_back({{a, b, d}});
    out.push_back({{b, c, d}});
  }
}

// Per point of a block: the blocks around it that have the point too, as bits 0 to 26, x fastest.
constexpr std::array<uint32_t, kRow* kRow* kRow> kSharedWith = [] {
  std::array<uint32_t, kRow * kRow * kRow> table{};
  const auto has = [](uint32_t at, uint32_t side) {
    return side == 1 || at == (side == 0 ? 0 : kBlockCells);
  };
  for (uint32_t p = 0; p < table.size(); ++p)
    for (uint32_t direction = 0; direction < 27; ++direction)
      if (direction != 13 && has(p % kRow, direction % 3) && has(p / kRow % kRow, direction / 3 % 3) &&
          has(p / kRow / kRow, direction / 9))
        table[p] |= 1u << direction;
  return table;
}();

BlockResult fillBlock(const Field& field, const Lattice& lattice, double level, std::array<uint32_t, 3> first,
                      BlockWork& work) {
  BlockResult result;
  std::array<uint32_t, 3> size;
  for (size_t d = 0; d < 3; ++d) size[d] = std::min(kBlockCells, lattice.cells[d] - first[d]);
  const size_t count = size_t(kRow) * kRow * kRow;
  const auto at = [](uint32_t i, uint32_t j, uint32_t k, bool centre) {
    return (size_t(k) * kRow + j) * kRow + i + (centre ? size_t(kRow) * kRow * kRow : 0);
  };
  work.points.clear();
  for (const bool centre : {false, true})
    for (uint32_t k = 0; k < kRow; ++k)
      for (uint32_t j = 0; j < kRow; ++j)
        for (uint32_t i = 0; i < kRow; ++i)
          work.points.push_back(lattice.position(first[0] + i, first[1] + j, first[2] + k, centre));
  work.values.resize(2 * count);
  field.values(work.points, work.values);
  result.samples = work.points.size();

  const auto corner = [&](uint32_t i, uint32_t j, uint32_t k, bool centre) {
    const uint32_t x = first[0] + i, y = first[1] + j, z = first[2] + k;
    bool inside = work.values[at(i, j, k, centre)] < level;
    if (inside && lattice.onRim(x, y, z, centre)) {
      inside = false;
      result.cutOff =
          result.cutOff || (x < lattice.cells[0] && y < lattice.cells[1] && z < lattice.cells[2]) || !centre;
    }
    return CornerOf{lattice.index(x, y, z, centre), inside};
  };
  // Each cube with its neighbour above along each axis: four tetrahedra around the line between their
  // centres, one for each side of the face between them.
  for (uint32_t k = 0; k < size[2]; ++k)
    for (uint32_t j = 0; j < size[1]; ++j)
      for (uint32_t i = 0; i < size[0]; ++i) {
        const uint32_t c[3] = {i, j, k};
        const CornerOf here = corner(i, j, k, true);
        for (uint32_t axis = 0; axis < 3; ++axis) {
          if (first[axis] + c[axis] + 1 >= lattice.cells[axis]) continue;
          uint32_t n[3] = {i, j, k};
          ++n[axis];
          const CornerOf there = corner(n[0], n[1], n[2], true);
          const uint32_t u = (axis + 1) % 3, v = (axis + 2) % 3;
          CornerOf ring[4];
          static constexpr uint32_t kRing[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
          for (uint32_t q = 0; q < 4; ++q) {
            uint32_t p[3] = {n[0], n[1], n[2]};
            p[u] += kRing[q][0];
            p[v] += kRing[q][1];
            ring[q] = corner(p[0], p[1], p[2], false);
          }
          for (uint32_t q = 0; q < 4; ++q) emit({here, there, ring[q], ring[(q + 1) % 4]}, result.triangles);
        }
      }
  for (const bool centre : {false, true})
    for (uint32_t k = 0; k < kRow; ++k)
      for (uint32_t j = 0; j < kRow; ++j)
        for (uint32_t i = 0; i < kRow; ++i)
          if (const uint32_t with = kSharedWith[at(i, j, k, false)]; with != 0)
            (corner(i, j, k, centre).inside ? result.inside : result.outside) |= with;
  return result;
}

// Blocks by number, the one at the origin first.
struct Blocks {
  std::array<uint32_t, 3> count;

  explicit Blocks(const Lattice& lattice) {
    for (size_t d = 0; d < 3; ++d) count[d] = (lattice.cells[d] + kBlockCells - 1) / kBlockCells;
  }
  size_t size() const { return size_t(count[0]) * count[1] * count[2]; }
  std::array<uint32_t, 3> firstOf(size_t block) const {
    const auto n = static_cast<uint32_t>(block);
    return {n % count[0] * kBlockCells, n / count[0] % count[1] * kBlockCells,
            n / count[0] / count[1] * kBlockCells};
  }
  // The block around it in direction 0 to 26, x fastest; kNoIndex beyond the lattice.
  uint32_t around(uint32_t block, int32_t direction) const {
    uint32_t at[3] = {block % count[0], block / count[0] % count[1], block / count[0] / count[1]};
    for (size_t d = 0; d < 3; ++d) {
      at[d] += static_cast<uint32_t>(direction % 3 - 1);
      direction /= 3;
      if (at[d] >= count[d]) return kNoIndex;
    }
    return at[0] + count[0] * (at[1] + count[1] * at[2]);
  }
};

// As valuesOf, and says how far it is.
void valuesInTurns(const Field& field, std::span<const Vec3> points, std::span<double> out) {
  constexpr size_t kTurn = 1 << 16;
  Work work("looking for the surface", points.size(), "blocks");
  for (size_t begin = 0; begin < points.size(); begin += kTurn) {
    const size_t count = std::min(kTurn, points.size() - begin);
    valuesOf(field, points.subspan(begin, count), out.subspan(begin, count));
    work.step(count);
  }
}

// Which blocks to look into: those whose middle says that the surface may be there, and all that the surface
// is followed into from others. A field steeper than it should be, or one that jumps, has such blocks;
// without them the surface would end at their sides.
class Skipping {
 public:
  Skipping(const Field& field, const Lattice& lattice, const IsosurfaceSettings& settings,
           const Blocks& blocks, uint64_t& samples)
      : blocks_(blocks), state_(blocks.size(), kLooked) {
    if (!settings.skipFar) {
      for (uint32_t b = 0; b < blocks.size(); ++b) fresh.push_back(b);
      return;
    }
    std::vector<Vec3> middles(blocks.size());
    std::vector<double> values(blocks.size());
    for (size_t b = 0; b < blocks.size(); ++b) {
      const auto f = blocks.firstOf(b);
      middles[b] = lattice.origin +
                   lattice.edge * (Vec3(f[0], f[1], f[2]) + Vec3::Constant(0.5 * (kBlockCells + 0.5)));
    }
    valuesInTurns(field, middles, values);
    samples += blocks.size();
    const double reach = (1 + settings.slack) * lattice.edge * 0.5 * (kBlockCells + 1) * std::sqrt(3.0);
    for (uint32_t b = 0; b < blocks.size(); ++b) {
      const auto f = blocks.firstOf(b);
      bool rim = false;  // where the solid may be cut off
      for (size_t d = 0; d < 3; ++d) rim = rim || f[d] == 0 || f[d] + kBlockCells + 1 >= lattice.cells[d];
      const double above = values[b] - settings.value;
      if (std::abs(above) > reach && !(rim && above < 0)) state_[b] = above < 0 ? kInside : kOutside;
    }
    // Skipped blocks of different signs side by side.
    std::vector<uint8_t> doubtful(blocks.size(), 0);
    for (uint32_t b = 0; b < blocks.size(); ++b) {
      if (state_[b] != kInside) continue;
      for (int32_t k = 0; k < 27; ++k)
        if (const uint32_t n = blocks.around(b, k); n != kNoIndex && state_[n] == kOutside)
          doubtful[b] = doubtful[n] = 1;
    }
    for (uint32_t b = 0; b < blocks.size(); ++b) {
      if (doubtful[b]) state_[b] = kLooked;
      if (state_[b] == kLooked) fresh.push_back(b);
    }
  }

  // After the fresh ones: what they say about blocks around them makes the next fresh ones.
  void follow(std::span<const BlockResult> results) {
    std::vector<uint32_t> next;
    for (size_t i = 0; i < fresh.size(); ++i)
      for (int32_t k = 0; k < 27; ++k) {
        const bool in = results[i].inside >> k & 1, out = results[i].outside >> k & 1;
        const uint32_t n = blocks_.around(fresh[i], k);
        if (n == kNoIndex || state_[n] == kLooked) continue;
        if (state_[n] == kInside ? !out : !in) continue;
        state_[n] = kLooked;
        next.push_back(n);
      }
    std::sort(next.begin(), next.end());
    fresh = std::move(next);
  }

  std::vector<uint32_t> fresh;  // blocks to look into now

 private:
  static constexpr uint8_t kLooked = 0, kInside = 1, kOutside = 2;
  const Blocks& blocks_;
  std::vector<uint8_t> state_;
};

// The point of each lattice edge where the field has the value, as the share of the way from inner to outer.
std::vector<double> crossings(const Field& field, const Lattice& lattice, double level,
                              std::span<const uint64_t> edges, uint64_t& samples) {
  std::vector<double> share(edges.size());
  constexpr size_t kGrain = 2048;
  constexpr int kSteps = 8;
  std::vector<uint64_t> tried((edges.size() + kGrain - 1) / kGrain, 0);
  parallelBlocks(edges.size(), kGrain, [&](size_t begin, size_t end) {
    const size_t n = end - begin;
    std::vector<Vec3> from(n), way(n), at(n);
    std::vector<double> low(n, 0.0), high(n, 1.0), lowValue(n), highValue(n), value(n);
    std::vector<uint8_t> movedLow(n);
    for (size_t i = 0; i < n; ++i) {
      from[i] = lattice.position(static_cast<uint32_t>(edges[begin + i] >> 32));
      way[i] = lattice.position(static_cast<uint32_t>(edges[begin + i])) - from[i];
      at[i] = from[i] + way[i];
    }
    field.values(from, lowValue);
    field.values(at, highValue);
    // A rim point that counts as outside though the field says inside: the surface lies next to it.
    for (size_t i = 0; i < n; ++i) {
      lowValue[i] = std::min(lowValue[i] - level, -1e-300);
      highValue[i] -= level;
      if (!(highValue[i] >= 0)) highValue[i] = -1e-6 * lowValue[i];
    }
    std::vector<size_t> open(n);  // edges whose crossing is not found yet
    for (size_t i = 0; i < n; ++i) open[i] = i;
    const double enough = 1e-6 * lattice.edge;
    for (int step = 0; step < kSteps && !open.empty(); ++step) {
      at.resize(open.size());
      value.resize(open.size());
      for (size_t o = 0; o < open.size(); ++o) {
        const size_t i = open[o];
        const double t = low[i] + (high[i] - low[i]) * (lowValue[i] / (lowValue[i] - highValue[i]));
        share[begin + i] = std::clamp(t, low[i], high[i]);
        at[o] = from[i] + share[begin + i] * way[i];
      }
      field.values(at, value);
      tried[begin / kGrain] += open.size();
      size_t kept = 0;
      for (size_t o = 0; o < open.size(); ++o) {
        const size_t i = open[o];
        const double v = value[o] - level;
        const bool below = v < 0;
        (below ? low : high)[i] = share[begin + i];
        (below ? lowValue : highValue)[i] = v;
        // The end that stays twice counts half: the Illinois rule.
        if (step > 0 && movedLow[i] == below) (below ? highValue : lowValue)[i] *= 0.5;
        movedLow[i] = below;
        if (std::abs(v) > enough) open[kept++] = i;
      }
      open.resize(kept);
    }
    for (size_t i = begin; i < end; ++i) share[i] = std::clamp(share[i], kEnd, 1 - kEnd);
  });
  samples += 2 * edges.size();
  for (const uint64_t count : tried) samples += count;
  return share;
}

Lattice makeLattice(const Field& field, const IsosurfaceSettings& s) {
  Box3 box = s.box;
  if (box.empty()) {
    box = field.bounds();
    for (int d = 0; d < 3; ++d) {
      box.lower[d] -= std::max(s.value, 0.0);
      box.upper[d] += std::max(s.value, 0.0);
    }
  }
  if (box.empty() || !box.lower.allFinite() || !box.upper.allFinite())
    throw Error(ErrorKind::Usage, "the surface of a field without finite bounds needs a box to look in");
  const double edge = s.edge != 0 ? s.edge : std::max(box.extent().maxCoeff() / 100, 1e-300);
  if (!(edge > 0) || !std::isfinite(edge))
    throw Error(ErrorKind::Usage, "the lattice edge must be a positive length");
  Lattice lattice;
  lattice.edge = edge;
  double all = 1;
  for (int d = 0; d < 3; ++d) {
    const double cells = std::ceil((box.upper[d] - box.lower[d]) / edge) + 4;
    all *= cells + 1;
    if (!(cells < 1e9)) all = std::numeric_limits<double>::infinity();
    lattice.cells[size_t(d)] = static_cast<uint32_t>(std::min(cells, 1e9));
    // A third of a cell off centre: symmetric solids do not lie along the lattice then.
    lattice.origin[d] = box.center()[d] - edge * (0.5 * cells + (d == 0 ? 0.13 : d == 1 ? 0.07 : 0.11));
  }
  const double most = std::min(double(s.mostCells), 0x1p31 - 1);
  if (!(all <= most))
    throw Error(ErrorKind::Limit,
                fmt::format("the lattice would have {:.4g} cells, the limit is {:.4g}", all, most))
        .hint(std::isfinite(all)
                  ? fmt::format("an edge of {:.2g} m would do", 1.05 * edge * std::cbrt(all / most))
                  : "take a longer edge");
  return lattice;
}

}  // namespace

namespace {

// `power`: samples grow by it as the edge shrinks.
void requireSamples(double samples, const IsosurfaceSettings& s, double edge, double power) {
  if (samples <= double(s.mostSamples)) return;
  const double longer = edge * std::pow(samples / double(s.mostSamples), 1 / power);
  throw Error(ErrorKind::Limit,
              fmt::format("the surface needs at least {:.3g} samples of the field, {:.3g} are "
                          "allowed by the budget and the memory there is",
                          samples, double(s.mostSamples)))
      .hint(fmt::format("an edge of {:.2g} m would do", 1.05 * longer));
}

}  // namespace

geometry::TriMesh isosurface(const Field& field, const IsosurfaceSettings& settings,
                             IsosurfaceReport& report) {
  report = {};
  const Lattice lattice = makeLattice(field, settings);
  report.cells = uint64_t(lattice.cells[0]) * lattice.cells[1] * lattice.cells[2];

  const Blocks blocks(lattice);
  requireSamples(double(blocks.size()), settings, lattice.edge, 3);
  Skipping skipping(field, lattice, settings, blocks, report.samples);
  std::vector<EdgeTriangle> triangles;
  while (!skipping.fresh.empty()) {
    const std::vector<uint32_t>& fresh = skipping.fresh;
    requireSamples(double(report.samples) + kBlockSamples * double(fresh.size()), settings, lattice.edge, 2);
    Work work("sampling", fresh.size(), "blocks");
    std::vector<BlockResult> results(fresh.size());
    parallelBlocks(fresh.size(), 32, [&](size_t begin, size_t end) {
      BlockWork memory;
      for (size_t b = begin; b < end; ++b)
        results[b] = fillBlock(field, lattice, settings.value, blocks.firstOf(fresh[b]), memory);
      work.step(end - begin);
    });
    for (const BlockResult& result : results) {
      triangles.insert(triangles.end(), result.triangles.begin(), result.triangles.end());
      report.samples += result.samples;
      report.cutOff = report.cutOff || result.cutOff;
    }
    skipping.follow(results);
  }

  const Work meshing("meshing");
  std::vector<uint64_t> edges;
  edges.reserve(3 * triangles.size());
  for (const EdgeTriangle& t : triangles) edges.insert(edges.end(), t.keys.begin(), t.keys.end());
  RadixScratch scratch;
  radixSort(std::span<uint64_t>(edges), scratch);
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());

  geometry::TriMesh mesh;
  const std::vector<double> share = crossings(field, lattice, settings.value, edges, report.samples);
  mesh.positions.resize(edges.size());
  parallelFor(edges.size(), [&](size_t i) {
    const Vec3 from = lattice.position(static_cast<uint32_t>(edges[i] >> 32));
    mesh.positions[i] = from + share[i] * (lattice.position(static_cast<uint32_t>(edges[i])) - from);
  });
  mesh.triangles.resize(triangles.size());
  parallelFor(triangles.size(), [&](size_t t) {
    for (size_t c = 0; c < 3; ++c)
      mesh.triangles[t][c] = static_cast<uint32_t>(
          std::lower_bound(edges.begin(), edges.end(), triangles[t].keys[c]) - edges.begin());
  });

  std::vector<Vec3> centres(triangles.size());
  parallelFor(centres.size(), [&](size_t t) {
    const geometry::Triangle& v = mesh.triangles[t];
    centres[t] = (mesh.positions[v[0]] + mesh.positions[v[1]] + mesh.positions[v[2]]) / 3;
  });
  std::vector<double> errors(centres.size());
  valuesOf(field, centres, errors);
  for (const double e : errors) {
    const double error = std::abs(e - settings.value);
    report.rms += error * error;
    report.largest = std::max(report.largest, error);
  }
  if (!errors.empty()) report.rms = std::sqrt(report.rms / double(errors.size()));
  return mesh;
}

}  // namespace sunder::sdf
