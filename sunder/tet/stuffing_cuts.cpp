// Where the surface crosses lattice edges, and the points that move onto it.
#include "sunder/base/parallel.h"
#include "sunder/base/prefix_sum.h"
#include "sunder/tet/stuffing_lattice.h"

#include <algorithm>
#include <cmath>

namespace sunder::tet {

namespace {

constexpr size_t kBricksAtOnce = 32;
constexpr int kSteps = 12;
constexpr double kEnough = 1e-5;  // of an edge: how near zero the field is at a cut point
constexpr double kJump = 0.5;     // of an edge: how far from zero where it changes its sign by jumping

uint32_t bitAt(const Cell& c) { return bitOf(uint32_t(c[0] & 3), uint32_t(c[1] & 3), uint32_t(c[2] & 3)); }

// The neighbour of a brick that the cell (in the brick's coordinates, one step beyond at most) is in.
size_t neighbourOf(const Cell& c) {
  return size_t((c[0] >> 2) + 1 + 3 * ((c[1] >> 2) + 1) + 9 * ((c[2] >> 2) + 1));
}

}  // namespace

void StuffingLattice::findCuts() {
  markCrossings();
  solveCuts();
  movePoints();
}

void StuffingLattice::markCrossings() {
  std::vector<uint32_t> counts(stored_.size());
  parallelFor(
      stored_.size(),
      [&](size_t s) {
        Brick& brick = stored_[s];
        const Cell b = brickAt(brick.place);
        const MaskCube in[2] = {insideAround(b, 0), insideAround(b, 1)};
        const MaskCube on[2] = {surfaceAround(b, 0), surfaceAround(b, 1)};
        uint32_t count = 0;
        for (size_t t = 0; t < kEdgeTypes; ++t) {
          const EdgeType& e = kEdges[t];
          const size_t from = size_t(e.from), to = size_t(e.to);
          const uint64_t there = in[to].shifted(e.step[0], e.step[1], e.step[2]);
          const uint64_t flat = on[to].shifted(e.step[0], e.step[1], e.step[2]) | brick.surface[from];
          brick.cross[t] = (brick.inside[from] ^ there) & ~flat;
          brick.touched[from] |= brick.cross[t];
          const uint64_t below = in[from].shifted(-e.step[0], -e.step[1], -e.step[2]);
          const uint64_t flatBelow = on[from].shifted(-e.step[0], -e.step[1], -e.step[2]) | brick.surface[to];
          brick.touched[to] |= (brick.inside[to] ^ below) & ~flatBelow;
          brick.firstOfType[t] = uint16_t(count);
          count += uint32_t(std::popcount(brick.cross[t]));
        }
        counts[s] = count;
      },
      64);
  const uint32_t total = exclusiveScan(std::span<uint32_t>(counts));
  for (size_t s = 0; s < stored_.size(); ++s) stored_[s].cutBase = counts[s];
  cutShare_.resize(total);
  cutPositions_.resize(total);
}

// Bracketed secants with the Illinois rule, all edges of some bricks together.
void StuffingLattice::solveCuts() {
  std::vector<uint64_t> tried((stored_.size() + kBricksAtOnce - 1) / kBricksAtOnce, 0), jumped = tried;
  parallelBlocks(stored_.size(), kBricksAtOnce, [&](size_t begin, size_t end) {
    struct Search {
      Vec3 from, way;
      double low = 0, high = 1, lowValue, highValue, share = 0;
      int kept = 0;  // which end stayed last: -1 low, 1 high
    };
    std::vector<Search> searches;
    for (size_t s = begin; s < end; ++s) {
      const Brick& brick = stored_[s];
      const Cell b = brickAt(brick.place);
      const auto around = slotsAround(b);
      for (size_t t = 0; t < kEdgeTypes; ++t) {
        const EdgeType& e = kEdges[t];
        for (uint64_t m = brick.cross[t]; m != 0; m &= m - 1) {
          const int32_t bit = std::countr_zero(m);
          const Cell c{bit & 3, bit >> 2 & 3, bit >> 4};
          const Cell d{c[0] + e.step[0], c[1] + e.step[1], c[2] + e.step[2]};
          const Brick& other = stored_[around[neighbourOf(d)]];
          Search search;
          search.from = latticePosition(
              {8 * b[0] + 2 * c[0] + e.from, 8 * b[1] + 2 * c[1] + e.from, 8 * b[2] + 2 * c[2] + e.from});
          search.way = 0.5 * edge_ *
                       Vec3(2 * e.step[0] + e.to - e.from, 2 * e.step[1] + e.to - e.from,
                            2 * e.step[2] + e.to - e.from);
          search.lowValue = values_[brick.values + 64 * size_t(e.from) + size_t(bit)];
          search.highValue = values_[other.values + 64 * size_t(e.to) + bitAt(d)];
          searches.push_back(search);
        }
      }
    }
    std::vector<uint32_t> open(searches.size());
    for (uint32_t i = 0; i < open.size(); ++i) open[i] = i;
    std::vector<Vec3> at;
    std::vector<double> value;
    for (int step = 0; step < kSteps && !open.empty(); ++step) {
      at.resize(open.size());
      value.resize(open.size());
      for (size_t o = 0; o < open.size(); ++o) {
        Search& s = searches[open[o]];
        const double t = s.low + (s.high - s.low) * (s.lowValue / (s.lowValue - s.highValue));
        s.share = std::clamp(t, s.low, s.high);
        at[o] = s.from + s.share * s.way;
      }
      evaluate(at, value);
      tried[begin / kBricksAtOnce] += open.size();
      size_t left = 0;
      for (size_t o = 0; o < open.size(); ++o) {
        Search& s = searches[open[o]];
        const double v = value[o];
        if (std::abs(v) <= kEnough * edge_) continue;
        if ((v < 0) == (s.lowValue < 0)) {
          s.low = s.share;
          s.lowValue = v;
          if (s.kept == 1) s.highValue *= 0.5;
          s.kept = 1;
        } else {
          s.high = s.share;
          s.highValue = v;
          if (s.kept == -1) s.lowValue *= 0.5;
          s.kept = -1;
        }
        open[left++] = open[o];
      }
      open.resize(left);
      if (step + 1 == kSteps)
        for (const double v : value) jumped[begin / kBricksAtOnce] += std::abs(v) > kJump * edge_;
    }
    if (searches.empty()) return;
    const size_t first = stored_[begin].cutBase;
    for (size_t i = 0; i < searches.size(); ++i) {
      cutShare_[first + i] = searches[i].share;
      cutPositions_[first + i] = searches[i].from + searches[i].share * searches[i].way;
    }
  });
  for (const uint64_t count : tried) report_.samples += count;
  for (const uint64_t count : jumped) report_.jumps += count;
  report_.crossed = cutShare_.size();
}

// A point moves to the nearest cut point that is too near on one of its edges. All points decide by the cuts
// as they were before any moved.
void StuffingLattice::movePoints() {
  const double shortLength = 0.5 * std::sqrt(3.0);
  std::vector<std::vector<Vec3>> targets((stored_.size() + kBricksAtOnce - 1) / kBricksAtOnce);
  parallelBlocks(stored_.size(), kBricksAtOnce, [&](size_t begin, size_t end) {
    std::vector<Vec3>& out = targets[begin / kBricksAtOnce];
    for (size_t s = begin; s < end; ++s) {
      Brick& brick = stored_[s];
      brick.movedBase = uint32_t(out.size());
      const auto around = slotsAround(brickAt(brick.place));
      for (int which = 0; which < 2; ++which) {
        for (uint64_t m = brick.touched[size_t(which)]; m != 0; m &= m - 1) {
          const auto bit = uint32_t(std::countr_zero(m));
          const Cell c{int32_t(bit & 3), int32_t(bit >> 2 & 3), int32_t(bit >> 4)};
          double best = 1;
          uint32_t target = kNoIndex;
          for (uint32_t t = 0; t < kEdgeTypes; ++t) {
            const EdgeType& e = kEdges[t];
            for (const bool owner : {true, false}) {
              if ((owner ? e.from : e.to) != which) continue;
              const int32_t sign = owner ? 0 : -1;
              const Cell d{c[0] + sign * e.step[0], c[1] + sign * e.step[1], c[2] + sign * e.step[2]};
              const uint32_t slot = owner ? uint32_t(s) : around[neighbourOf(d)];
              if (slot == kNoIndex || !(stored_[slot].cross[t] >> bitAt(d) & 1)) continue;
              const uint32_t cut = cutId(slot, t, bitAt(d));
              const double share = owner ? cutShare_[cut] : 1 - cutShare_[cut];
              if (!(share < (e.isLong ? settings_.alphaLong : settings_.alphaShort))) continue;
              const double distance = share * (e.isLong ? 1 : shortLength);
              if (distance < best) {
                best = distance;
                target = cut;
              }
            }
          }
          if (target == kNoIndex) continue;
          brick.moved[size_t(which)] |= uint64_t(1) << bit;
          out.push_back(cutPositions_[target]);
        }
      }
    }
  });
  std::vector<uint32_t> base(targets.size());
  for (size_t i = 0; i < targets.size(); ++i) base[i] = uint32_t(targets[i].size());
  movedPositions_.resize(exclusiveScan(std::span<uint32_t>(base)));
  parallelFor(
      targets.size(),
      [&](size_t i) {
        std::copy(targets[i].begin(), targets[i].end(), movedPositions_.begin() + base[i]);
        for (size_t s = i * kBricksAtOnce; s < std::min(stored_.size(), (i + 1) * kBricksAtOnce); ++s) {
          Brick& brick = stored_[s];
          brick.movedBase += base[i];
          for (size_t which = 0; which < 2; ++which) {
            brick.surface[which] |= brick.moved[which];
            brick.inside[which] &= ~brick.moved[which];
          }
        }
      },
      1);
  report_.warped = movedPositions_.size();
}

}  // namespace sunder::tet
