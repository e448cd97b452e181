#include "bench/published/frontier_queue.h"

#include "sunder/base/error.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace sunder::published {

namespace {

void shuffle(std::vector<uint32_t>& order, RandomStream& random) {
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[random.below(static_cast<uint32_t>(i))]);
}

class Group {
 public:
  Group(const std::vector<std::vector<uint32_t>>& items, uint32_t capacity, uint32_t largestOutput)
      : items_(items),
        queue_(capacity),
        cursor_(items.size(), 0),
        order_(items.size()),
        worstCase_(uint64_t(largestOutput) * items.size()) {
    std::iota(order_.begin(), order_.end(), 0u);
  }

  bool done() const { return done_; }
  uint32_t flushes() const { return flushes_; }

  // From one barrier to the next but one: reservations, copies into the queue, and the flush.
  void round(RandomStream& random, size_t frontierCapacity, QueueRun& run) {
    struct Write {
      uint32_t thread, at, count;
    };
    std::vector<Write> writes;
    shuffle(order_, random);
    for (uint32_t thread : order_) {
      const auto pending = static_cast<uint32_t>(items_[thread].size() - cursor_[thread]);
      if (pending == 0) continue;
      const uint32_t at = counter_ - checkpoint_;  // what atomic_add returned
      counter_ += pending;
      if (at < queue_.size())
        writes.push_back({thread, at, std::min(pending, static_cast<uint32_t>(queue_.size()) - at)});
    }
    std::vector<uint32_t> turn(writes.size());
    std::iota(turn.begin(), turn.end(), 0u);
    shuffle(turn, random);
    for (uint32_t w : turn) {
      const Write& write = writes[w];
      std::copy_n(items_[write.thread].begin() + cursor_[write.thread], write.count,
                  queue_.begin() + write.at);
      cursor_[write.thread] += write.count;
    }
    const uint32_t filled = std::min(counter_ - checkpoint_, static_cast<uint32_t>(queue_.size()));
    if (filled == 0) {
      done_ = true;
      return;
    }
    checkpoint_ = counter_;
    ++run.globalAtomics;
    if (run.frontier.size() + filled > frontierCapacity)
      run.overflow = true;
    else
      run.frontier.insert(run.frontier.end(), queue_.begin(), queue_.begin() + filled);
    ++flushes_;
    done_ = flushes_ * uint64_t(queue_.size()) >= worstCase_;
  }

 private:
  const std::vector<std::vector<uint32_t>>& items_;
  std::vector<uint32_t> queue_;
  std::vector<uint32_t> cursor_;
  std::vector<uint32_t> order_;
  uint64_t worstCase_;
  uint32_t counter_ = 0, checkpoint_ = 0, flushes_ = 0;
  bool done_ = false;
};

}  // namespace

QueueRun runFrontierQueue(std::span<const std::vector<std::vector<uint32_t>>> groups, uint32_t capacity,
                          uint32_t largestOutput, size_t frontierCapacity, RandomStream& random) {
  if (capacity == 0) throw Error(ErrorKind::Usage, "a frontier queue needs room for at least one node pair");
  std::vector<Group> states;
  std::vector<uint32_t> running;
  for (const auto& group : groups) {
    for (const auto& items : group)
      if (items.size() > largestOutput)
        throw Error(ErrorKind::Usage, "a thread holds more than its depth-step allows");
    if (!group.empty()) running.push_back(static_cast<uint32_t>(states.size()));
    states.emplace_back(group, capacity, largestOutput);
  }
  QueueRun run;
  while (!running.empty()) {
    const uint32_t pick = random.below(static_cast<uint32_t>(running.size()));
    Group& group = states[running[pick]];
    group.round(random, frontierCapacity, run);
    if (group.done()) running.erase(running.begin() + pick);
  }
  for (const Group& group : states) {
    run.flushes.push_back(group.flushes());
    run.rounds = std::max(run.rounds, group.flushes());
  }
  return run;
}

uint32_t largestDepthStep(uint32_t capacity, uint32_t threads) {
  if (threads == 0 || threads > capacity / 4)
    throw Error(ErrorKind::Usage, "the queue must hold four node pairs for each thread at least");
  uint32_t step = 0;
  for (uint64_t need = 4 * uint64_t(threads); need <= capacity; need *= 4) ++step;
  return step;
}

uint64_t mostFlushes(uint32_t depthStep, uint32_t groupSize, uint32_t capacity) {
  assert(depthStep < 16 && capacity > 0);
  return ((uint64_t(1) << 2 * depthStep) * groupSize + capacity - 1) / capacity;
}

QueueOverflow firstOverflow(uint32_t capacity, uint32_t depthStep) {
  assert(depthStep < 16);
  const uint32_t each = 1u << 2 * depthStep;
  return {capacity / each + 1, capacity % each};
}

}  // namespace sunder::published
