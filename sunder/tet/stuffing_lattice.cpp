#include "sunder/tet/stuffing_lattice.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/work.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>

#include <fmt/format.h>

namespace sunder::tet {

namespace {

constexpr int32_t kSuper = 4;    // bricks along an edge of the blocks that are looked at first
constexpr double kMargin = 2.5;  // cells between the box and the rim of the lattice
constexpr size_t kLabelledAtOnce = 16;

// Points of a block of n cells are its lower corners and centres, so they span n - 1/2 cells; their edges
// reach one cell farther.
double reachOf(double cells) { return std::sqrt(3.0) * 0.5 * (cells - 0.5) + 1; }

constexpr double kTetsPerBrick = 12 * double(kBrickCells);
constexpr double kBricksPerTet =
    10;  // that take as much memory as a tetrahedron, while nothing is known of them

// `inside` tetrahedra grow by the third power as the edge shrinks, those at the surface by the second.
void requireTets(double inside, double atSurface, const FillSettings& s, double edge) {
  const auto most = double(s.mostTets);
  if (inside + atSurface <= most) return;
  double longer = 1;
  while (inside / (longer * longer * longer) + atSurface / (longer * longer) > 0.9 * most) longer *= 1.02;
  throw Error(ErrorKind::Limit,
              fmt::format("there would be about {:.3g} tetrahedra, {:.3g} are allowed by the "
                          "budget and the memory there is",
                          inside + atSurface, most))
      .hint(fmt::format("an edge of {:.3g} m would do", longer * edge));
}

uint64_t subMask(uint32_t sub) {
  const uint64_t corner = 0x0000000000330033u;
  return corner << (2 * (sub & 1) + 8 * (sub >> 1 & 1) + 32 * (sub >> 2));
}

}  // namespace

StuffingLattice::StuffingLattice(const sdf::Field& field, const FillSettings& s, FillReport& report)
    : field_(field), settings_(s), report_(report) {
  Box3 box = s.box.empty() ? field.bounds() : s.box;
  if (box.empty() || !box.lower.allFinite() || !box.upper.allFinite())
    throw Error(ErrorKind::Usage, "a field without finite bounds needs a box to be filled in")
        .hint("give the box");
  edge_ = s.edge != 0 ? s.edge : std::max(box.extent().maxCoeff() / 50, 1e-300);
  if (!(edge_ > 0) || !std::isfinite(edge_))
    throw Error(ErrorKind::Usage, "the edge of the tetrahedra must be a positive length");
  if (s.levels < 0 || s.levels > kMostLevels)
    throw Error(ErrorKind::Usage, "levels of grading are 0 to " + std::to_string(kMostLevels) + ", not " +
                                      std::to_string(s.levels));
  if (!(s.alphaLong > 0 && s.alphaLong < 0.5 && s.alphaShort > 0 && s.alphaShort < 0.5))
    throw Error(ErrorKind::Usage, "points are moved by less than half an edge: alphas are between 0 and 0.5");
  if (!(s.slack >= 0)) throw Error(ErrorKind::Usage, "the slack of a field is not negative");
  clip_ = box;
  if (s.box.empty()) {
    clip_.lower -= Vec3::Constant(1.5 * edge_);
    clip_.upper += Vec3::Constant(1.5 * edge_);
  }
  const int32_t unit = std::max<int32_t>(kSuper, (1 << s.levels) / int32_t(kBrickSide));
  double all = 1;
  for (int d = 0; d < 3; ++d) {
    const double cells = std::ceil((box.upper[d] - box.lower[d]) / edge_) + 2 * kMargin + 1;
    const double units = std::ceil(cells / (unit * double(kBrickSide)));
    all *= units * unit * double(kBrickSide);
    if (!(units * unit < 1e8)) all = std::numeric_limits<double>::infinity();
    bricks_[size_t(d)] = int32_t(std::min(units * unit, 1e8));
    // A little off centre: symmetric solids do not lie along the lattice then.
    const double shift = d == 0 ? 0.13 : d == 1 ? 0.07 : 0.11;
    origin_[d] = box.center()[d] - edge_ * (0.5 * units * unit * double(kBrickSide) + shift);
  }
  if (!(all <= double(s.mostCells)) || !(all / kBrickCells < 0x1p31))
    throw Error(ErrorKind::Limit, fmt::format("the lattice would have {:.4g} cells, the limit is {:.4g}", all,
                                              double(s.mostCells)))
        .hint(std::isfinite(all) ? fmt::format("an edge of {:.2g} m would do",
                                               1.05 * edge_ * std::cbrt(all / double(s.mostCells)))
                                 : "take a longer edge");
  report_.latticeCells = static_cast<uint64_t>(all);
  if (all / kBrickCells > kBricksPerTet * double(s.mostTets)) requireTets(12 * all, 0, s, edge_);
  kind_.assign(brickCount(), BrickKind::Outside);
  slot_.assign(brickCount(), kNoIndex);
}

void StuffingLattice::evaluate(std::span<const Vec3> points, std::span<double> out) const {
  field_.values(points, out);
  bool cut = false;
  for (size_t i = 0; i < points.size(); ++i) {
    if (!std::isfinite(out[i]))
      throw Error(ErrorKind::Numerical, "the field is not finite at " + std::to_string(points[i].x()) + " " +
                                            std::to_string(points[i].y()) + " " +
                                            std::to_string(points[i].z()));
    const double beyond =
        std::max((clip_.lower - points[i]).maxCoeff(), (points[i] - clip_.upper).maxCoeff());
    cut = cut || (out[i] < 0 && beyond >= 0);
    out[i] = std::max(out[i], beyond);
  }
  if (cut) std::atomic_ref<bool>(report_.cutOff).store(true, std::memory_order_relaxed);
}

Vec3 StuffingLattice::centreOf(const Cell& brick, double cells) const {
  return origin_ + edge_ * (double(kBrickSide) * Vec3(brick[0], brick[1], brick[2]) +
                            Vec3::Constant(0.5 * (cells - 0.5)));
}

void StuffingLattice::classify() {
  std::vector<uint32_t> mixed;
  if (!settings_.skipFar) {
    for (uint32_t p = 0; p < brickCount(); ++p) mixed.push_back(p);
  } else {
    const double steep = (1 + settings_.slack) * edge_;
    std::vector<Cell> blocks;
    for (int32_t z = 0; z < bricks_[2]; z += kSuper)
      for (int32_t y = 0; y < bricks_[1]; y += kSuper)
        for (int32_t x = 0; x < bricks_[0]; x += kSuper) blocks.push_back({x, y, z});
    std::vector<Vec3> middles;
    std::vector<double> values;
    // Samples the middles of blocks of `cells` cells; true where the block may hold surface.
    const auto near = [&](const std::vector<Cell>& at, double cells) {
      middles.resize(at.size());
      values.resize(at.size());
      for (size_t i = 0; i < at.size(); ++i) middles[i] = centreOf(at[i], cells);
      parallelBlocks(at.size(), 512, [&](size_t begin, size_t end) {
        evaluate(std::span(middles).subspan(begin, end - begin),
                 std::span(values).subspan(begin, end - begin));
      });
      report_.samples += at.size();
      const double reach = steep * reachOf(cells);
      std::vector<bool> result(at.size());
      for (size_t i = 0; i < at.size(); ++i) result[i] = !(std::abs(values[i]) > reach);
      return result;
    };
    const std::vector<bool> nearBlock = near(blocks, kSuper * double(kBrickSide));
    std::vector<Cell> candidates;
    for (size_t b = 0; b < blocks.size(); ++b)
      for (int32_t k = 0; k < kSuper * kSuper * kSuper; ++k) {
        const Cell brick{blocks[b][0] + k % kSuper, blocks[b][1] + k / kSuper % kSuper,
                         blocks[b][2] + k / kSuper / kSuper};
        if (nearBlock[b])
          candidates.push_back(brick);
        else if (values[b] < 0)
          kind_[placeOf(brick)] = BrickKind::Inside;
      }
    const std::vector<bool> nearBrick = near(candidates, kBrickSide);
    for (size_t c = 0; c < candidates.size(); ++c) {
      if (nearBrick[c])
        mixed.push_back(placeOf(candidates[c]));
      else if (values[c] < 0)
        kind_[placeOf(candidates[c])] = BrickKind::Inside;
    }
  }
  // Half of a mixed brick is inside; what is inside may be coarser where the mesh is graded.
  const auto whole = std::count(kind_.begin(), kind_.end(), BrickKind::Inside);
  requireTets(settings_.levels == 0 ? kTetsPerBrick * double(whole) : 0,
              0.5 * kTetsPerBrick * double(mixed.size()), settings_, edge_);
  std::sort(mixed.begin(), mixed.end());
  std::vector<uint32_t> slots(mixed.size());
  stored_.resize(mixed.size());
  values_.resize(kBrickPoints * mixed.size());
  for (uint32_t i = 0; i < mixed.size(); ++i) {
    kind_[mixed[i]] = BrickKind::Mixed;
    slot_[mixed[i]] = i;
    stored_[i].place = mixed[i];
    stored_[i].values = kBrickPoints * i;
    slots[i] = i;
  }
  sampleBricks(slots, !settings_.skipFar);
  promote();
}

void StuffingLattice::sampleBricks(const std::vector<uint32_t>& slots, bool everything) {
  const double reach = (1 + settings_.slack) * edge_ * reachOf(2);
  std::vector<uint64_t> tried((slots.size() + kLabelledAtOnce - 1) / kLabelledAtOnce, 0);
  Work work("sampling", slots.size(), "bricks");
  parallelBlocks(slots.size(), kLabelledAtOnce, [&](size_t begin, size_t end) {
    work.step(end - begin);
    std::vector<Vec3> points;
    std::vector<double> values;
    std::vector<std::array<uint64_t, 2>> wanted(end - begin);
    if (!everything) {
      for (size_t i = begin; i < end; ++i) {
        const Cell b = brickAt(stored_[slots[i]].place);
        for (uint32_t sub = 0; sub < 8; ++sub)
          points.push_back(centreOf(b, 2) + 2 * edge_ * Vec3(sub & 1, sub >> 1 & 1, sub >> 2));
      }
      values.resize(points.size());
      evaluate(points, values);
      tried[begin / kLabelledAtOnce] += points.size();
    }
    for (size_t i = begin; i < end; ++i) {
      Brick& brick = stored_[slots[i]];
      if (everything) {
        wanted[i - begin] = {~brick.known[0], ~brick.known[1]};
        continue;
      }
      for (uint32_t sub = 0; sub < 8; ++sub) {
        const double middle = values[8 * (i - begin) + sub];
        const uint64_t mask = subMask(sub);
        if (!(std::abs(middle) > reach)) {
          wanted[i - begin][0] |= mask;
          wanted[i - begin][1] |= mask;
          continue;
        }
        for (size_t which = 0; which < 2; ++which) {
          if (middle < 0) brick.inside[which] |= mask;
          for (uint64_t m = mask; m != 0; m &= m - 1)
            values_[brick.values + 64 * which + size_t(std::countr_zero(m))] = middle;
        }
      }
    }
    points.clear();
    for (size_t i = begin; i < end; ++i) {
      const Cell b = brickAt(stored_[slots[i]].place);
      for (size_t which = 0; which < 2; ++which)
        for (uint64_t m = wanted[i - begin][which]; m != 0; m &= m - 1) {
          const int32_t bit = std::countr_zero(m), odd = int32_t(which);
          points.push_back(
              latticePosition({8 * b[0] + 2 * (bit & 3) + odd, 8 * b[1] + 2 * (bit >> 2 & 3) + odd,
                               8 * b[2] + 2 * (bit >> 4) + odd}));
        }
    }
    values.resize(points.size());
    evaluate(points, values);
    tried[begin / kLabelledAtOnce] += points.size();
    size_t next = 0;
    for (size_t i = begin; i < end; ++i) {
      Brick& brick = stored_[slots[i]];
      for (size_t which = 0; which < 2; ++which) {
        const uint64_t want = wanted[i - begin][which];
        brick.inside[which] &= ~want;
        brick.known[which] |= want;
        for (uint64_t m = want; m != 0; m &= m - 1) {
          const uint64_t bit = m & (~m + 1);
          const double v = values[next++];
          values_[brick.values + 64 * which + size_t(std::countr_zero(m))] = v;
          if (v < 0) brick.inside[which] |= bit;
          if (v == 0) brick.surface[which] |= bit;
        }
      }
    }
  });
  for (const uint64_t count : tried) report_.samples += count;
}

template <class Get>
MaskCube StuffingLattice::masksAround(const Cell& brick, bool ofKind, Get&& get) const {
  MaskCube cube;
  size_t n = 0;
  for (int32_t dz = -1; dz <= 1; ++dz)
    for (int32_t dy = -1; dy <= 1; ++dy)
      for (int32_t dx = -1; dx <= 1; ++dx, ++n) {
        const Cell b{brick[0] + dx, brick[1] + dy, brick[2] + dz};
        if (!inBox(b)) continue;
        const uint32_t place = placeOf(b);
        if (slot_[place] != kNoIndex)
          cube.at[n] = get(stored_[slot_[place]]);
        else if (ofKind && kind_[place] == BrickKind::Inside)
          cube.at[n] = kAll;
      }
  return cube;
}

MaskCube StuffingLattice::insideAround(const Cell& brick, size_t which) const {
  return masksAround(brick, true, [which](const Brick& b) { return b.inside[which]; });
}

MaskCube StuffingLattice::surfaceAround(const Cell& brick, size_t which) const {
  return masksAround(brick, false, [which](const Brick& b) { return b.surface[which]; });
}

// A field steeper than it should be shows where a point of a block that was skipped has a neighbour of the
// other sign: such bricks are sampled after all, until no skipped point touches the surface.
void StuffingLattice::promote() {
  std::vector<uint32_t> fresh(stored_.size());
  for (uint32_t i = 0; i < fresh.size(); ++i) fresh[i] = i;
  while (!fresh.empty()) {
    std::vector<uint8_t> look(brickCount(), 0);
    std::vector<uint32_t> places;
    for (const uint32_t s : fresh) {
      const Cell b = brickAt(stored_[s].place);
      for (int32_t k = 0; k < 27; ++k) {
        const Cell n{b[0] + k % 3 - 1, b[1] + k / 3 % 3 - 1, b[2] + k / 9 - 1};
        if (!inBox(n) || look[placeOf(n)] != 0) continue;
        look[placeOf(n)] = 1;
        places.push_back(placeOf(n));
      }
    }
    std::vector<uint8_t> sample(places.size(), 0);
    parallelFor(
        places.size(),
        [&](size_t i) {
          const uint32_t slot = slot_[places[i]];
          std::array<uint64_t, 2> unknown{kAll, kAll};
          if (slot != kNoIndex) unknown = {~stored_[slot].known[0], ~stored_[slot].known[1]};
          if ((unknown[0] | unknown[1]) == 0) return;
          const Cell b = brickAt(places[i]);
          const MaskCube in[2] = {insideAround(b, 0), insideAround(b, 1)};
          const MaskCube on[2] = {surfaceAround(b, 0), surfaceAround(b, 1)};
          for (const EdgeType& e : kEdges)
            for (const int way : {1, -1}) {
              const size_t mine = size_t(way > 0 ? e.from : e.to), other = size_t(way > 0 ? e.to : e.from);
              const uint64_t there = in[other].shifted(way * e.step[0], way * e.step[1], way * e.step[2]);
              const uint64_t flat = on[other].shifted(way * e.step[0], way * e.step[1], way * e.step[2]);
              if (((in[mine].at[13] ^ there) & ~flat & unknown[mine]) != 0) sample[i] = 1;
            }
        },
        64);
    fresh.clear();
    for (size_t i = 0; i < places.size(); ++i) {
      if (sample[i] == 0) continue;
      uint32_t& slot = slot_[places[i]];
      if (slot == kNoIndex) {
        slot = uint32_t(stored_.size());
        stored_.emplace_back().place = places[i];
        stored_.back().values = uint32_t(values_.size());
        values_.resize(values_.size() + kBrickPoints);
        kind_[places[i]] = BrickKind::Mixed;
      }
      fresh.push_back(slot);
    }
    sampleBricks(fresh, true);
  }
}

void StuffingLattice::store(const std::vector<uint8_t>& needed) {
  for (uint32_t place = 0; place < needed.size(); ++place) {
    if (needed[place] == 0 || slot_[place] != kNoIndex) continue;
    slot_[place] = uint32_t(stored_.size());
    Brick& brick = stored_.emplace_back();
    brick.place = place;
    if (kind_[place] == BrickKind::Inside) brick.inside = {kAll, kAll};
  }
  // In the order of space, whichever way a brick came to be stored.
  std::sort(stored_.begin(), stored_.end(), [](const Brick& a, const Brick& b) { return a.place < b.place; });
  for (uint32_t i = 0; i < stored_.size(); ++i) slot_[stored_[i].place] = i;
  if (stored_.size() * kBrickPoints + cutPositions_.size() >= kNoIndex)
    throw Error(ErrorKind::Limit, "the mesh would have more points than 32-bit indices count")
        .hint("take a longer edge");
}

std::array<uint32_t, 27> StuffingLattice::slotsAround(const Cell& brick) const {
  std::array<uint32_t, 27> slots;
  for (int32_t k = 0; k < 27; ++k) {
    const Cell n{brick[0] + k % 3 - 1, brick[1] + k / 3 % 3 - 1, brick[2] + k / 9 - 1};
    slots[size_t(k)] = inBox(n) ? slot_[placeOf(n)] : kNoIndex;
  }
  return slots;
}

PointState StuffingLattice::state(const Cell& half) const {
  const uint32_t place = placeOf({half[0] >> 3, half[1] >> 3, half[2] >> 3});
  if (slot_[place] == kNoIndex)
    return kind_[place] == BrickKind::Inside ? PointState::Inside : PointState::Outside;
  const Brick& b = stored_[slot_[place]];
  const uint32_t bit =
      bitOf(uint32_t(half[0] >> 1 & 3), uint32_t(half[1] >> 1 & 3), uint32_t(half[2] >> 1 & 3));
  const size_t which = half[0] & 1;
  if (b.surface[which] >> bit & 1) return PointState::Surface;
  return b.inside[which] >> bit & 1 ? PointState::Inside : PointState::Outside;
}

uint32_t StuffingLattice::rawId(const Cell& half) const {
  const uint32_t slot = slot_[placeOf({half[0] >> 3, half[1] >> 3, half[2] >> 3})];
  const uint32_t bit =
      bitOf(uint32_t(half[0] >> 1 & 3), uint32_t(half[1] >> 1 & 3), uint32_t(half[2] >> 1 & 3));
  return kBrickPoints * slot + 64 * uint32_t(half[0] & 1) + bit;
}

Vec3 StuffingLattice::pointPosition(uint32_t rawId) const {
  const Brick& b = stored_[rawId / kBrickPoints];
  const size_t which = rawId % kBrickPoints / 64;
  const uint32_t bit = rawId % 64;
  if (b.moved[which] >> bit & 1) {
    const uint64_t below = (uint64_t(1) << bit) - 1;
    const int rank = std::popcount(b.moved[which] & below) + (which == 1 ? std::popcount(b.moved[0]) : 0);
    return movedPositions_[b.movedBase + size_t(rank)];
  }
  const Cell at = brickAt(b.place);
  const int32_t odd = int32_t(which);
  return latticePosition({8 * at[0] + 2 * int32_t(bit & 3) + odd, 8 * at[1] + 2 * int32_t(bit >> 2 & 3) + odd,
                          8 * at[2] + 2 * int32_t(bit >> 4) + odd});
}

}  // namespace sunder::tet
