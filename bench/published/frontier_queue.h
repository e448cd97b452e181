// How a group of GPU threads hands its new node pairs to the frontier: through a queue of fixed size in the
// group's own memory, flushed by one copy and one global atomic, again and again until nothing is pending.
// Algorithm 2 of Chitalu's thesis (2020) with its mistakes mended: the queue may be refilled only when the
// copy out of it has ended, and the cursor of every thread advances. This is an emulation, thread by thread
// in random order, that a device port is checked against; our own traversals join chunks by prefix sums.
//
// Guarantees: everything that the threads hold is flushed once; ceil(total / capacity) flushes, as many
// global atomics. Cost: O(total * flushes).
#pragma once

#include "sunder/base/random.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder::published {

struct QueueRun {
  std::vector<uint32_t> frontier;  // what arrived in global memory, in order of arrival
  std::vector<uint32_t> flushes;   // of each group
  uint32_t globalAtomics = 0;
  uint32_t rounds = 0;    // of the group that took most of them, the last empty one not counted
  bool overflow = false;  // more than the frontier holds: the rest was not written
};

// The items of every thread of every group: groups[g][thread]. `largestOutput` is the most a thread may
// hold (4^mu). Groups advance in random order, and threads within a group between barriers. Throws Error
// (Usage) when the queue holds nothing or a thread holds more than `largestOutput`.
QueueRun runFrontierQueue(std::span<const std::vector<std::vector<uint32_t>>> groups, uint32_t capacity,
                          uint32_t largestOutput, size_t frontierCapacity, RandomStream& random);

// Largest depth-step for which `threads` threads of a group surely write all they have in one round:
// floor(log4(capacity / threads)). Wants 1 <= threads <= capacity / 4 (Error Usage).
uint32_t largestDepthStep(uint32_t capacity, uint32_t threads);

// Flushes of a group of binary trees' node pairs at most: ceil(4^mu * threads / capacity).
uint64_t mostFlushes(uint32_t depthStep, uint32_t groupSize, uint32_t capacity);

// With 4^mu items each: the thread, counted from 1 in order of reservation, that is the first not to fit, and
// how much of its data still goes into this round.
struct QueueOverflow {
  uint32_t thread, written;
};
QueueOverflow firstOverflow(uint32_t capacity, uint32_t depthStep);

}  // namespace sunder::published
