#include "sunder/tet/stuffing_emit.h"

#include "sunder/base/parallel.h"
#include "sunder/base/prefix_sum.h"
#include "sunder/tet/stuffing_stencils.h"

#include <algorithm>

namespace sunder::tet {

namespace {

using geometry::Tetrahedron;

constexpr size_t kEmittedAtOnce = 64;
constexpr int32_t kRing[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};  // corners of a face, counter-clockwise

struct Sink {
  std::vector<Tetrahedron> tets;
  std::vector<uint8_t> special;
  std::array<size_t, kMostLevels + 1> leaves{};

  void add(const Tetrahedron& t, bool isSpecial) {
    tets.push_back(t);
    special.push_back(isSpecial);
  }
};

// Points of a brick and the next ones upwards, five along each axis.
struct LocalPoints {
  static constexpr int32_t kRow = 5;
  std::array<uint32_t, 2 * kRow * kRow * kRow> id;
  std::array<PointState, 2 * kRow * kRow * kRow> state;

  static size_t at(const Cell& c, size_t centre) {
    return centre * (kRow * kRow * kRow) + size_t(c[0] + kRow * (c[1] + kRow * c[2]));
  }
  LocalPoints(const StuffingLattice& lattice, const std::array<uint32_t, 27>& around, const Cell& brick) {
    for (int32_t k = 0; k < 8; ++k) {
      const Cell d{k & 1, k >> 1 & 1, k >> 2};
      const Cell nb{brick[0] + d[0], brick[1] + d[1], brick[2] + d[2]};
      const uint32_t slot = around[size_t(13 + d[0] + 3 * d[1] + 9 * d[2])];
      const Brick* b = slot != kNoIndex ? &lattice.stored()[slot] : nullptr;
      const bool whole =
          b == nullptr && lattice.inBox(nb) && lattice.kind(lattice.placeOf(nb)) == BrickKind::Inside;
      for (int32_t z = 0; z < (d[2] ? 1 : 4); ++z)
        for (int32_t y = 0; y < (d[1] ? 1 : 4); ++y)
          for (int32_t x = 0; x < (d[0] ? 1 : 4); ++x)
            for (uint32_t centre = 0; centre < 2; ++centre) {
              const uint32_t bit = bitOf(uint32_t(x), uint32_t(y), uint32_t(z));
              const size_t to = at({x + 4 * d[0], y + 4 * d[1], z + 4 * d[2]}, centre);
              id[to] = kBrickPoints * slot + 64 * centre + bit;
              const bool in = b != nullptr ? b->inside[centre] >> bit & 1 : whole;
              const bool on = b != nullptr && (b->surface[centre] >> bit & 1);
              state[to] = on ? PointState::Surface : in ? PointState::Inside : PointState::Outside;
            }
    }
  }
};

class Emitter {
 public:
  Emitter(const StuffingLattice& lattice, const StuffingOctree& octree, uint32_t cutOffset, Sink& sink)
      : lattice_(lattice), octree_(octree), cutOffset_(cutOffset), sink_(sink) {}

  void brick(uint32_t slot) {
    const Brick& b = lattice_.stored()[slot];
    const Cell at = lattice_.brickAt(b.place);
    const uint64_t fine = octree_.fine(b.place);
    if (fine != 0) fineCells(at, fine);
    if (octree_.levels() == 0) return;
    if (fine != kAll)
      for (int32_t k = 0; k < 8; ++k)
        leafCell(1, {2 * at[0] + (k & 1), 2 * at[1] + (k >> 1 & 1), 2 * at[2] + (k >> 2)});
    for (int level = 2; level <= octree_.levels(); ++level) {
      // The brick with a cell's centre speaks for it; that one is stored.
      const int32_t width = 1 << (level - 2);
      if (((at[0] | at[1] | at[2]) & (width / 2)) == 0 && width > 1) continue;
      bool mine = true;
      for (size_t d = 0; d < 3; ++d) mine = mine && (at[d] & (width - 1)) == width / 2;
      if (mine) leafCell(level, {at[0] >> (level - 2), at[1] >> (level - 2), at[2] >> (level - 2)});
    }
  }

 private:
  void fineCells(const Cell& at, uint64_t fine) {
    const auto around = lattice_.slotsAround(at);
    const LocalPoints points(lattice_, around, at);
    // Cells of the finest level one step up along each axis.
    uint64_t fineNext[3] = {kAll, kAll, kAll};
    if (octree_.levels() > 0)
      for (size_t axis = 0; axis < 3; ++axis) {
        Cell next = at;
        ++next[axis];
        fineNext[axis] =
            stepMask(fine, lattice_.inBox(next) ? octree_.fine(lattice_.placeOf(next)) : 0, int(axis), 1);
      }
    for (uint64_t m = fine; m != 0; m &= m - 1) {
      const int32_t bit = std::countr_zero(m);
      const Cell c{bit & 3, bit >> 2 & 3, bit >> 4};
      const size_t before = sink_.tets.size();
      for (size_t axis = 0; axis < 3; ++axis)
        if (fineNext[axis] >> bit & 1) betweenFine(points, around, c, axis);
      if (octree_.levels() > 0 && points.state[LocalPoints::at(c, 1)] == PointState::Inside)
        towardsLarger({4 * at[0] + c[0], 4 * at[1] + c[1], 4 * at[2] + c[2]});
      sink_.leaves[0] += sink_.tets.size() != before;
    }
  }

  // The four tetrahedra between a cell of the brick and the next one along an axis.
  void betweenFine(const LocalPoints& points, const std::array<uint32_t, 27>& around, const Cell& c,
                   size_t axis) {
    Cell n = c;
    ++n[axis];
    const size_t u = (axis + 1) % 3, v = (axis + 2) % 3;
    const size_t here = LocalPoints::at(c, 1), there = LocalPoints::at(n, 1);
    Cell corner[4];
    size_t ring[4];
    for (size_t q = 0; q < 4; ++q) {
      corner[q] = n;
      corner[q][u] += kRing[q][0];
      corner[q][v] += kRing[q][1];
      ring[q] = LocalPoints::at(corner[q], 0);
    }
    for (size_t q = 0; q < 4; ++q) {
      const size_t p[4] = {here, there, ring[q], ring[(q + 1) % 4]};
      const std::array<PointState, 4> states{points.state[p[0]], points.state[p[1]], points.state[p[2]],
                                             points.state[p[3]]};
      const Tetrahedron ids{points.id[p[0]], points.id[p[1]], points.id[p[2]], points.id[p[3]]};
      constexpr auto in = PointState::Inside;
      if (states[0] == in && states[1] == in && states[2] == in && states[3] == in) {
        sink_.add(ids, false);
        continue;
      }
      if (states[0] != in && states[1] != in && states[2] != in && states[3] != in) continue;
      const Cell cells[4] = {c, n, corner[q], corner[(q + 1) % 4]};
      // Bits of the corner cells[k] seen from the centre cells[centre].
      const auto bits = [&](uint32_t centre, uint32_t k) {
        return uint32_t((cells[k][0] - cells[centre][0]) | (cells[k][1] - cells[centre][1]) << 1 |
                        (cells[k][2] - cells[centre][2]) << 2);
      };
      const auto idOf = [&](const Cell& owner, uint32_t type) {
        const size_t k = size_t(13 + (owner[0] >> 2) + 3 * (owner[1] >> 2) + 9 * (owner[2] >> 2));
        return cutOffset_ +
               lattice_.cutId(around[k], type,
                              bitOf(uint32_t(owner[0] & 3), uint32_t(owner[1] & 3), uint32_t(owner[2] & 3)));
      };
      const auto cut = [&](uint32_t i, uint32_t j) {
        if (i > j) std::swap(i, j);
        if (j < 2) return idOf(c, uint32_t(3 + axis));
        if (i < 2) return idOf(cells[i], kShortEdges + bits(i, j));
        const size_t along = q % 2 == 0 ? u : v;
        return idOf(cells[2][along] < cells[3][along] ? cells[2] : cells[3], uint32_t(along));
      };
      const auto even = [&](uint32_t inner, uint32_t outer) {
        const bool innerIsCentre = inner < 2;
        const int ups = std::popcount(innerIsCentre ? bits(inner, outer) : bits(outer, inner));
        return (innerIsCentre ? 3 - ups : ups) % 2 == 0;
      };
      cutTetrahedron(ids, states, cut, even, [&](const Tetrahedron& t) { sink_.add(t, true); });
    }
  }

  Cell centreOf(int level, const Cell& c) const {
    const int32_t s = 1 << level;
    return {2 * s * c[0] + s, 2 * s * c[1] + s, 2 * s * c[2] + s};
  }

  void leafCell(int level, const Cell& c) {
    if (!octree_.leaf(level, c)) return;
    const Cell centre = centreOf(level, c);
    if (lattice_.state(centre) != PointState::Inside) return;
    const size_t before = sink_.tets.size();
    for (size_t axis = 0; axis < 3; ++axis)
      for (const int32_t way : {1, -1}) {
        Cell n = c;
        n[axis] += way;
        if (!octree_.inBox(level, n)) continue;
        if (!octree_.exists(level, n))
          halfPyramids(level, c, axis, way);
        else if (octree_.split(level, n))
          quadrisected(level, centre, axis, way);
        else if (way > 0)
          betweenEqual(level, c, n, axis);
      }
    sink_.leaves[size_t(level)] += sink_.tets.size() != before;
  }

  void towardsLarger(const Cell& c) {
    for (size_t axis = 0; axis < 3; ++axis)
      for (const int32_t way : {1, -1}) {
        Cell n = c;
        n[axis] += way;
        if (octree_.inBox(0, n) && !octree_.exists(0, n)) halfPyramids(0, c, axis, way);
      }
  }

  struct Face {
    Cell middle;
    std::array<Cell, 4> corner;
  };
  Face faceOf(int level, const Cell& centre, size_t axis, int32_t way) const {
    const int32_t s = 1 << level;
    const size_t u = (axis + 1) % 3, v = (axis + 2) % 3;
    Face f{centre, {}};
    f.middle[axis] += way * s;
    for (size_t q = 0; q < 4; ++q) {
      f.corner[q] = f.middle;
      f.corner[q][u] += (2 * kRing[q][0] - 1) * s;
      f.corner[q][v] += (2 * kRing[q][1] - 1) * s;
    }
    return f;
  }
  static Cell between(const Cell& a, const Cell& b) {
    return {(a[0] + b[0]) / 2, (a[1] + b[1]) / 2, (a[2] + b[2]) / 2};
  }

  void add(const Cell& a, const Cell& b, const Cell& c, const Cell& d, int32_t way, bool special) {
    const uint32_t ids[4] = {lattice_.rawId(a), lattice_.rawId(b), lattice_.rawId(c), lattice_.rawId(d)};
    if (way > 0)
      sink_.add({ids[0], ids[1], ids[2], ids[3]}, special);
    else
      sink_.add({ids[0], ids[1], ids[3], ids[2]}, special);
  }

  void betweenEqual(int level, const Cell& c, const Cell& n, size_t axis) {
    const Cell here = centreOf(level, c), there = centreOf(level, n);
    const Face f = faceOf(level, here, axis, 1);
    for (size_t q = 0; q < 4; ++q) {
      // Sides of the face in the order of its corners: v down, u up, v up, u down.
      const size_t side = (axis + (q % 2 == 0 ? 2 : 1)) % 3;
      const int32_t step = q == 0 || q == 3 ? -1 : 1;
      Cell beside = c, besideNext = n;
      beside[side] += step;
      besideNext[side] += step;
      const Cell &k0 = f.corner[q], &k1 = f.corner[(q + 1) % 4];
      if (octree_.split(level, beside) || octree_.split(level, besideNext)) {
        const Cell m = between(k0, k1);
        add(here, there, k0, m, 1, true);
        add(here, there, m, k1, 1, true);
      } else {
        add(here, there, k0, k1, 1, false);
      }
    }
  }

  void quadrisected(int level, const Cell& centre, size_t axis, int32_t way) {
    const Face f = faceOf(level, centre, axis, way);
    for (size_t q = 0; q < 4; ++q) {
      const Cell &k0 = f.corner[q], &k1 = f.corner[(q + 1) % 4], m = between(k0, k1);
      add(centre, f.middle, k0, m, way, true);
      add(centre, f.middle, m, k1, way, true);
    }
  }

  // Over a quarter of a larger cell's face, halved from that face's centre.
  void halfPyramids(int level, const Cell& c, size_t axis, int32_t way) {
    const Cell centre = centreOf(level, c);
    const Face f = faceOf(level, centre, axis, way);
    const bool uLow = c[(axis + 1) % 3] & 1, vLow = c[(axis + 2) % 3] & 1;
    const size_t q = uLow ? (vLow ? 0 : 3) : (vLow ? 1 : 2);
    add(centre, f.corner[q], f.corner[(q + 1) % 4], f.corner[(q + 2) % 4], way, true);
    add(centre, f.corner[q], f.corner[(q + 2) % 4], f.corner[(q + 3) % 4], way, true);
  }

  const StuffingLattice& lattice_;
  const StuffingOctree& octree_;
  uint32_t cutOffset_;
  Sink& sink_;
};

}  // namespace

EmittedTets emitTetrahedra(const StuffingLattice& lattice, const StuffingOctree& octree, uint32_t cutOffset,
                           FillReport& report) {
  std::vector<uint32_t> order;
  order.reserve(lattice.stored().size());
  for (uint32_t slot = 0; slot < lattice.stored().size(); ++slot)
    if (lattice.kind(lattice.stored()[slot].place) != BrickKind::Outside) order.push_back(slot);
  std::vector<Sink> sinks((order.size() + kEmittedAtOnce - 1) / kEmittedAtOnce);
  parallelBlocks(order.size(), kEmittedAtOnce, [&](size_t begin, size_t end) {
    Emitter emitter(lattice, octree, cutOffset, sinks[begin / kEmittedAtOnce]);
    for (size_t i = begin; i < end; ++i) emitter.brick(order[i]);
  });
  std::vector<uint64_t> base(sinks.size());
  for (size_t i = 0; i < sinks.size(); ++i) {
    base[i] = sinks[i].tets.size();
    for (size_t k = 0; k < report.leaves.size(); ++k) report.leaves[k] += sinks[i].leaves[k];
  }
  const uint64_t total = exclusiveScan(std::span<uint64_t>(base));
  EmittedTets result;
  result.tets.resize(total);
  result.special.resize(total);
  parallelFor(
      sinks.size(),
      [&](size_t i) {
        std::copy(sinks[i].tets.begin(), sinks[i].tets.end(), result.tets.begin() + int64_t(base[i]));
        std::copy(sinks[i].special.begin(), sinks[i].special.end(),
                  result.special.begin() + int64_t(base[i]));
        sinks[i] = {};
      },
      1);
  return result;
}

}  // namespace sunder::tet
