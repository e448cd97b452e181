// What one pass of traversal.h does to one node pair. Private to the room.
#pragma once

#include "bench/published/box_pair_tests.h"
#include "bench/published/traversal_memory.h"
#include "bench/published/traversal_steps.h"
#include "bench/published/triangle_rank.h"

#include <algorithm>
#include <cassert>
#include <cstdint>

namespace sunder::published::frontiers {

// One job on one pass.
struct Step {
  Step(const TreePair& job, const StepSchedule& schedule, uint32_t pass)
      : a(*job.a),
        b(*job.b),
        self(job.a == job.b),
        levelA(schedule.level(a.layout().leafLevel(), pass)),
        levelB(schedule.level(b.layout().leafLevel(), pass)),
        downA(schedule.level(a.layout().leafLevel(), pass + 1) - levelA),
        downB(schedule.level(b.layout().leafLevel(), pass + 1) - levelB),
        leaves(downA == 0 && downB == 0),
        lastStep(levelA + downA == a.layout().leafLevel() && levelB + downB == b.layout().leafLevel()) {
    for (uint32_t n = 0; n < downA; ++n) fanA *= a.layout().arity();
    for (uint32_t n = 0; n < downB; ++n) fanB *= b.layout().arity();
  }

  bool overlaps(NodePositions pair) const {
    return overlapFlat(flatBox(a, levelA, pair.a), flatBox(b, levelB, pair.b));
  }
  PrimitivePair primitives(NodePositions leaf) const { return {a.primitive(leaf.a), b.primitive(leaf.b)}; }

  // The new pairs of one pair: rows [firstA, +countA) against columns [firstB, +countB), or their triangle.
  struct Fan {
    uint32_t firstA, countA, firstB, countB;
    bool triangle;
  };
  Fan fan(NodePositions pair) const {
    const uint32_t firstA = pair.a * fanA, firstB = pair.b * fanB;
    return {firstA, std::min(fanA, a.layout().levelSize(levelA + downA) - firstA), firstB,
            std::min(fanB, b.layout().levelSize(levelB + downB) - firstB), self && pair.a == pair.b};
  }
  size_t size(const Fan& fan) const {
    if (!fan.triangle) return size_t(fan.countA) * fan.countB;
    return lastStep ? strictTriangleSize(fan.countA) : triangleSize(fan.countA);
  }
  uint32_t firstColumn(const Fan& fan, uint32_t row) const {
    return fan.triangle ? row + (lastStep ? 1 : 0) : 0;
  }

  const OiTree& a;
  const OiTree& b;
  bool self;
  uint32_t levelA, levelB, downA, downB;
  bool leaves, lastStep;
  uint32_t fanA = 1, fanB = 1;
};

inline void pushAll(const Step& step, NodePositions pair, RunList<NodePositions>& out) {
  const Step::Fan fan = step.fan(pair);
  NodePositions* to = out.items.room(step.size(fan));
  for (uint32_t x = 0; x < fan.countA; ++x)
    for (uint32_t y = step.firstColumn(fan, x); y < fan.countB; ++y) *to++ = {fan.firstA + x, fan.firstB + y};
  assert(to == out.items.data() + out.items.size() + step.size(fan));
  out.items.advance(step.size(fan));
}

// Writes make(row, column) for the overlapping ones, in the same order as pushAll.
template <class T, class Make>
uint64_t pushOverlapping(const Step& step, NodePositions pair, GrowingArray<T>& out, Make&& make) {
  const Step::Fan fan = step.fan(pair);
  const uint32_t levelA = step.levelA + step.downA, levelB = step.levelB + step.downB;
  T* to = out.room(step.size(fan) + 1);  // a miss is written too, and then overwritten
  size_t count = 0;
  constexpr uint32_t kColumns = 16;
  if (fan.countB <= kColumns) {
    FlatBox columns[kColumns];
    for (uint32_t y = 0; y < fan.countB; ++y) columns[y] = flatBox(step.b, levelB, fan.firstB + y);
    for (uint32_t x = 0; x < fan.countA; ++x) {
      const FlatBox row = flatBox(step.a, levelA, fan.firstA + x);
      for (uint32_t y = step.firstColumn(fan, x); y < fan.countB; ++y) {
        to[count] = make(fan.firstA + x, fan.firstB + y);
        count += overlapFlat(row, columns[y]);
      }
    }
  } else {
    for (uint32_t x = 0; x < fan.countA; ++x) {
      const FlatBox row = flatBox(step.a, levelA, fan.firstA + x);
      for (uint32_t y = step.firstColumn(fan, x); y < fan.countB; ++y) {
        to[count] = make(fan.firstA + x, fan.firstB + y);
        count += overlapFlat(row, flatBox(step.b, levelB, fan.firstB + y));
      }
    }
  }
  out.advance(count);
  return step.size(fan);
}

}  // namespace sunder::published::frontiers
