#include "sunder/spatial/pairs/overlap_kernel.h"

#include "sunder/spatial/lane_table.h"

#include <bit>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sunder/spatial/pairs/overlap_kernel.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per target
#include <hwy/highway.h>

// clang-format off: has to come after the loop over targets
#include "sunder/base/lanes_inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace sunder::spatial::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using lanes::HWY_NAMESPACE::maskBits;

using F8 = hn::CappedTag<float, 8>;
using U8 = hn::RebindToUnsigned<F8>;
constexpr size_t kLanes = hn::MaxLanes(F8());
constexpr size_t kVectors = 8 / kLanes;

// Box `lane` of a block, each coordinate in all lanes. (Six members, not arrays: arrays of vectors go through
// memory.)
struct OneBox {
  hn::Vec<F8> lowerX, lowerY, lowerZ, upperX, upperY, upperZ;
  HWY_INLINE OneBox(const BoxBlock& block, uint32_t lane)
      : lowerX(hn::Set(F8(), block.lower[0][lane])),
        lowerY(hn::Set(F8(), block.lower[1][lane])),
        lowerZ(hn::Set(F8(), block.lower[2][lane])),
        upperX(hn::Set(F8(), block.upper[0][lane])),
        upperY(hn::Set(F8(), block.upper[1][lane])),
        upperZ(hn::Set(F8(), block.upper[2][lane])) {}
};

// Which lanes of vector `v` of a block overlap the box.
HWY_INLINE hn::Mask<F8> overlapping(const BoxBlock& block, size_t v, const OneBox& box) {
  const F8 d;
  const size_t k = v * kLanes;
  const auto x = hn::And(hn::Le(hn::Load(d, block.lower[0] + k), box.upperX),
                         hn::Le(box.lowerX, hn::Load(d, block.upper[0] + k)));
  const auto y = hn::And(hn::Le(hn::Load(d, block.lower[1] + k), box.upperY),
                         hn::Le(box.lowerY, hn::Load(d, block.upper[1] + k)));
  const auto z = hn::And(hn::Le(hn::Load(d, block.lower[2] + k), box.upperZ),
                         hn::Le(box.lowerZ, hn::Load(d, block.upper[2] + k)));
  return hn::And(hn::And(x, y), z);
}

HWY_INLINE uint32_t overlappingBits(const BoxBlock& block, const OneBox& box) {
  uint32_t bits = 0;
  for (size_t v = 0; v < kVectors; ++v) bits |= maskBits(F8(), overlapping(block, v, box)) << (v * kLanes);
  return bits;
}

// Writes (first, seconds[lane]) for the lanes in the mask, and rubbish up to a full row; returns how many.
HWY_INLINE size_t writePairs(uint32_t first, hn::Vec<U8> seconds, hn::Mask<F8> mask, uint32_t* out) {
  const U8 d;
  const hn::Rebind<uint8_t, U8> bytes;
  const uint32_t set = maskBits(F8(), mask);
  const auto lanes = hn::IndicesFromVec(d, hn::PromoteTo(d, hn::LoadU(bytes, kLaneTable.lanes[set])));
  hn::StoreInterleaved2(hn::Set(d, first), hn::TableLookupLanes(seconds, lanes), d, out);
  return static_cast<size_t>(std::popcount(set));
}

// The tests of one pair of nodes: `emit(rowOfA, vector, mask)` for the children of b that overlap child
// rowOfA of a.
template <class Emit>
HWY_INLINE void step(const PairWork& w, const Positions& pair, uint32_t depth, uint64_t& tests, Emit&& emit) {
  const F8 d;
  const uint32_t levelA = w.levelA(depth), levelB = w.levelB(depth);
  const bool downA = depth < w.leafA, downB = depth < w.leafB;
  if (w.self && pair.a == pair.b) {
    // The diagonal: each unordered pair of children once; a child with itself only while it has children to
    // separate.
    const BoxBlock& block = w.a.level(levelA + 1)[pair.a];
    const bool leaves = w.childrenAreLeaves(depth);
    const uint32_t count = w.a.layout().childCount(levelA, pair.a);
    tests += 8 * count;
    const auto lanes = hn::Iota(d, 0.0f);
    for (uint32_t row = 0; row < count; ++row) {
      const OneBox box(block, row);
      const auto first = hn::Set(d, static_cast<float>(row + (leaves ? 1 : 0)));
      for (size_t v = 0; v < kVectors; ++v) {
        const auto lane = hn::Add(lanes, hn::Set(d, static_cast<float>(v * kLanes)));
        emit(row, v, hn::And(overlapping(block, v, box), hn::Ge(lane, first)));
      }
    }
    return;
  }
  const BoxBlock& selfA = w.a.level(levelA)[pair.a / 8];
  if (!downB) {  // b is a leaf and waits
    const OneBox boxB(w.b.level(levelB)[pair.b / 8], pair.b % 8);
    const BoxBlock& blockA = w.a.level(levelA + 1)[pair.a];
    tests += 8;
    for (uint32_t bits = overlappingBits(blockA, boxB); bits; bits &= bits - 1)
      emit(static_cast<uint32_t>(std::countr_zero(bits)), 0, hn::FirstN(d, 1));
    return;
  }
  const BoxBlock& blockB = w.b.level(levelB + 1)[pair.b];
  if (!downA) {  // a is a leaf and waits
    const OneBox boxA(selfA, pair.a % 8);
    tests += 8;
    for (size_t v = 0; v < kVectors; ++v) emit(0, v, overlapping(blockB, v, boxA));
    return;
  }
  // Children of a that miss the whole of b are out before the rows are tested.
  const OneBox boxB(w.b.level(levelB)[pair.b / 8], pair.b % 8);
  const BoxBlock& blockA = w.a.level(levelA + 1)[pair.a];
  uint32_t rows = overlappingBits(blockA, boxB);
  tests += 8 + 8 * static_cast<uint64_t>(std::popcount(rows));
  for (; rows; rows &= rows - 1) {
    const auto row = static_cast<uint32_t>(std::countr_zero(rows));
    const OneBox box(blockA, row);
    for (size_t v = 0; v < kVectors; ++v) emit(row, v, overlapping(blockB, v, box));
  }
}

HWY_INLINE size_t stepInto(const PairWork& w, const Positions& pair, uint32_t depth, uint64_t& tests,
                           Positions* out) {
  const U8 du;
  const uint32_t firstA = depth < w.leafA ? 8 * pair.a : pair.a;
  const uint32_t firstB = depth < w.leafB ? 8 * pair.b : pair.b;
  size_t count = 0;
  step(w, pair, depth, tests, [&](uint32_t row, size_t v, hn::Mask<F8> mask) {
    const auto seconds = hn::Iota(du, firstB + static_cast<uint32_t>(v * kLanes));
    count += writePairs(firstA + row, seconds, mask, &out[count].a);
  });
  return count;
}

size_t Expand(const PairWork& work, const NodePair& pair, Positions* out, uint64_t& boxTests) {
  return stepInto(work, {pair.a, pair.b}, pair.depth, boxTests, out);
}

// Pairs of leaves below `pair`: written to `output`, or only counted when there is none.
template <bool kStore>
HWY_INLINE uint64_t goDown(const PairWork& w, const NodePair& pair, PairOutput* output, WorkCount& count,
                           PairBudget& budget) {
  constexpr uint64_t kReport = 4096;  // pairs between two looks at the budget
  const U8 du;
  const uint32_t* primitivesA = w.a.primitives().data();
  const uint32_t* primitivesB = w.b.primitives().data();
  if (w.areLeaves(pair.depth)) {  // two trees of one leaf each, or a share that is already down
    if (w.self && pair.a == pair.b) return 0;
    if constexpr (kStore) {
      *output->room(1) = {primitivesA[pair.a], primitivesB[pair.b]};
      output->advance(1);
    }
    budget.spend(1);
    return 1;
  }
  constexpr uint32_t kDeepest = 12;  // levels of a tree of arity eight with 2^32 leaves
  alignas(64) Positions stack[kDeepest][kTilePairs];
  size_t left[kDeepest];
  uint32_t top = 0;
  stack[0][0] = {pair.a, pair.b};
  left[0] = 1;
  uint64_t tests = 0, expanded = 0, found = 0, reported = 0;
  while (true) {
    if (left[top] == 0) {
      if (top == 0) break;
      --top;
      continue;
    }
    const Positions node = stack[top][--left[top]];
    const uint32_t depth = pair.depth + top;
    ++expanded;
    if (!w.childrenAreLeaves(depth)) {
      left[top + 1] = stepInto(w, node, depth, tests, stack[top + 1]);
      ++top;
      continue;
    }
    const uint32_t firstA = depth < w.leafA ? 8 * node.a : node.a;
    const uint32_t firstB = depth < w.leafB ? 8 * node.b : node.b;
    PrimitivePair* out = kStore ? output->room(kTilePairs) : nullptr;
    size_t written = 0;
    step(w, node, depth, tests, [&](uint32_t row, size_t v, hn::Mask<F8> mask) {
      if constexpr (kStore) {
        // The array of primitives has a block's worth of slack behind its end.
        const auto seconds = hn::LoadU(du, primitivesB + firstB + v * kLanes);
        written += writePairs(primitivesA[firstA + row], seconds, mask, &out[written].a);
      } else {
        written += static_cast<size_t>(std::popcount(maskBits(F8(), mask)));
      }
    });
    if constexpr (kStore) output->advance(written);
    found += written;
    if (found - reported >= kReport) {
      if (!budget.spend(found - reported)) return found;
      reported = found;
    }
  }
  budget.spend(found - reported);
  count.boxTests += tests;
  count.nodePairs += expanded;
  return found;
}

void Descend(const PairWork& work, const NodePair& pair, PairOutput& output, WorkCount& count,
             PairBudget& budget) {
  goDown<true>(work, pair, &output, count, budget);
}

uint64_t CountBelow(const PairWork& work, const NodePair& pair, PairBudget& budget) {
  WorkCount ignored;
  return goDown<false>(work, pair, nullptr, ignored, budget);
}

}  // namespace sunder::spatial::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sunder::spatial::kernels {

HWY_EXPORT(Expand);
HWY_EXPORT(Descend);
HWY_EXPORT(CountBelow);

size_t expand(const PairWork& work, const NodePair& pair, Positions* out, uint64_t& boxTests) {
  return HWY_DYNAMIC_DISPATCH(Expand)(work, pair, out, boxTests);
}

void descend(const PairWork& work, const NodePair& pair, PairOutput& output, WorkCount& count,
             PairBudget& budget) {
  HWY_DYNAMIC_DISPATCH(Descend)(work, pair, output, count, budget);
}

uint64_t countBelow(const PairWork& work, const NodePair& pair, PairBudget& budget) {
  return HWY_DYNAMIC_DISPATCH(CountBelow)(work, pair, budget);
}

}  // namespace sunder::spatial::kernels
#endif
