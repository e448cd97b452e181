#include "bench/published/traversal.h"

#include "sunder/base/parallel.h"

#include "bench/published/traversal_expand.h"

#include <algorithm>
#include <string>

namespace sunder::published {
using namespace spatial;

namespace {

using namespace frontiers;

constexpr size_t kChunk = 2048;       // node pairs of one piece of work
constexpr size_t kChunksAtOnce = 64;  // outputs of so many pieces exist before they are joined
constexpr uint32_t kMostDescendants = 512;

class Traversal {
 public:
  Traversal(std::span<const TreePair> jobs, const TraversalSettings& settings, VariantPairs& result)
      : jobs_(jobs),
        settings_(settings),
        schedule_(settings),
        result_(result),
        spare_(memoryOf(result).spare),
        storage_(memoryOf(result).parts),
        emitted_(memoryOf(result).emitted) {
    emitted_.clear();
    checkFans();
    makeEntryRanks();
  }

  void run() {
    VariantStatistics& statistics = result_.statistics = {};
    const size_t limit = settings_.frontierLimit == 0 ? SIZE_MAX : settings_.frontierLimit;
    uint64_t entered = 0;
    std::vector<Frontier> stack;
    while (true) {
      while (!stack.empty() && stack.back().waiting() == 0) {
        spare_.push_back(std::move(stack.back()));
        stack.pop_back();
      }
      if (stack.empty()) {
        if (entered == entryRanks_.back()) break;
        const uint64_t end = entered + std::min<uint64_t>(limit, entryRanks_.back() - entered);
        stack.push_back(enter(entered, end));
        entered = end;
        notePeak(stack);
      }
      Frontier& from = stack.back();
      const size_t begin = from.next, end = begin + std::min(limit, from.waiting());
      from.next = end;
      Frontier to = fresh();
      // With tests on push the first pass only sorts out the entry pairs, which stay where they are.
      const bool filter = settings_.test == TestTime::OnPush && !from.tested;
      to.tested = settings_.test == TestTime::OnPush;
      to.pass = from.pass + (filter ? 0 : 1);
      statistics.boxTests += pass(from, begin, end, filter, to.pairs);
      ++statistics.passes;
      if (from.waiting() == 0) {  // its memory serves the next but one frontier
        spare_.push_back(std::move(from));
        stack.pop_back();
      }
      stack.push_back(std::move(to));
      notePeak(stack);
    }
    for (const Frontier& frontier : spare_) statistics.frontierBytes += frontier.pairs.bytes();
    for (const SinkStorage& storage : storage_) statistics.frontierBytes += storage.nodes.bytes();
    group();
  }

 private:
  static TraversalMemory& memoryOf(VariantPairs& result) {
    if (!result.memory) result.memory = std::make_shared<TraversalMemory>();
    return *result.memory;
  }

  void checkFans() const {
    for (const TreePair& job : jobs_)
      for (const OiTree* tree : {job.a, job.b}) {
        if (tree->empty()) continue;
        const uint32_t leafLevel = tree->layout().leafLevel();
        for (uint32_t pass = 0; schedule_.level(leafLevel, pass) < leafLevel; ++pass) {
          uint64_t fan = 1;
          for (uint32_t l = schedule_.level(leafLevel, pass); l < schedule_.level(leafLevel, pass + 1); ++l)
            fan *= tree->layout().arity();
          if (fan > kMostDescendants)
            throw Error(ErrorKind::Usage, "this depth-step gives a node " + std::to_string(fan) +
                                              " descendants; at most 512 are taken");
        }
      }
  }

  // Rank of the first entry pair of each job. Entry pairs are made from their ranks when they are needed.
  void makeEntryRanks() {
    entryRanks_.assign(jobs_.size() + 1, 0);
    for (size_t j = 0; j < jobs_.size(); ++j) {
      uint64_t count = 0;
      const OiTree &a = *jobs_[j].a, &b = *jobs_[j].b;
      if (!a.empty() && !b.empty()) {
        const Step step(jobs_[j], schedule_, 0);
        const uint64_t sizeA = a.layout().levelSize(step.levelA);
        count = !step.self    ? sizeA * b.layout().levelSize(step.levelB)
                : step.leaves ? strictTriangleSize(sizeA)
                              : triangleSize(sizeA);
      }
      entryRanks_[j + 1] = entryRanks_[j] + count;
    }
  }

  Frontier fresh() {
    if (spare_.empty()) return {};
    Frontier frontier = std::move(spare_.back());
    spare_.pop_back();
    frontier.pairs.clear();
    frontier.next = 0;
    return frontier;
  }

  Frontier enter(uint64_t begin, uint64_t end) {
    Frontier frontier = fresh();
    frontier.pass = 0;
    frontier.tested = false;
    NodePositions* out = frontier.pairs.items.room(end - begin);
    auto job = static_cast<size_t>(std::upper_bound(entryRanks_.begin(), entryRanks_.end(), begin) -
                                   entryRanks_.begin() - 1);
    for (; job < jobs_.size() && entryRanks_[job] < end; ++job) {
      const uint64_t first = std::max(begin, entryRanks_[job]);
      const uint64_t last = std::min(end, entryRanks_[job + 1]);
      if (first == last) continue;
      frontier.pairs.runs.push_back({static_cast<uint32_t>(job), first - begin});
      const Step step(jobs_[job], schedule_, 0);
      const uint64_t sizeA = step.a.layout().levelSize(step.levelA);
      const uint64_t sizeB = step.b.layout().levelSize(step.levelB);
      parallelFor(last - first, [&](size_t i) {
        const uint64_t rank = first + i - entryRanks_[job];
        const RankedPair pair = !step.self    ? RankedPair{rank / sizeB, rank % sizeB}
                                : step.leaves ? strictTriangleUnrank(rank, sizeA)
                                              : triangleUnrank(rank, sizeA);
        out[first - begin + i] = {static_cast<uint32_t>(pair.a), static_cast<uint32_t>(pair.b)};
      });
    }
    frontier.pairs.items.advance(end - begin);
    return frontier;
  }

  void expandRange(const Frontier& from, size_t begin, size_t end, bool filter, Sink& sink) const {
    const RunList<NodePositions>& in = from.pairs;
    auto run = static_cast<size_t>(std::upper_bound(in.runs.begin(), in.runs.end(), begin,
                                                    [](size_t at, const Run& r) { return at < r.begin; }) -
                                   in.runs.begin() - 1);
    for (size_t at = begin; at < end; ++run) {
      const size_t last = std::min(end, in.runEnd(run));
      const Step step(jobs_[in.runs[run].job], schedule_, from.pass);
      const std::span<const NodePositions> nodes = in.items.span().subspan(at, last - at);
      const bool endsHere = filter || !from.tested ? step.leaves : step.lastStep;
      if (endsHere)
        sink.pairs->open(in.runs[run].job);
      else
        sink.nodes->open(in.runs[run].job);
      if (filter || !from.tested) {
        sink.tests += nodes.size();
        for (const NodePositions& node : nodes) {
          if (!step.overlaps(node)) continue;
          if (step.leaves)
            sink.pairs->items.push(step.primitives(node));
          else if (filter)
            sink.nodes->items.push(node);
          else
            pushAll(step, node, *sink.nodes);
        }
      } else if (step.lastStep) {
        for (const NodePositions& node : nodes)
          sink.tests += pushOverlapping(step, node, sink.pairs->items, [&](uint32_t x, uint32_t y) {
            return step.primitives({x, y});
          });
      } else {
        for (const NodePositions& node : nodes)
          sink.tests += pushOverlapping(step, node, sink.nodes->items, [](uint32_t x, uint32_t y) {
            return NodePositions{x, y};
          });
      }
      at = last;
    }
  }

  template <class T>
  void join(size_t chunks, RunList<T> SinkStorage::*list, RunList<T>& to) {
    std::vector<size_t> begin(chunks + 1, to.items.size());
    for (size_t c = 0; c < chunks; ++c) {
      const RunList<T>& part = storage_[c].*list;
      for (size_t r = 0; r < part.runs.size(); ++r)
        if (part.runEnd(r) > part.runs[r].begin &&
            (to.runs.empty() || to.runs.back().job != part.runs[r].job))
          to.runs.push_back({part.runs[r].job, begin[c] + part.runs[r].begin});
      begin[c + 1] = begin[c] + part.items.size();
    }
    T* out = to.items.room(begin[chunks] - begin[0]) - begin[0];
    parallelFor(
        chunks,
        [&](size_t c) {
          const GrowingArray<T>& part = (storage_[c].*list).items;
          std::copy_n(part.data(), part.size(), out + begin[c]);
        },
        1);
    to.items.advance(begin[chunks] - begin[0]);
  }

  // One pass over [begin, end) of a frontier; returns the number of box tests.
  uint64_t pass(const Frontier& from, size_t begin, size_t end, bool filter, RunList<NodePositions>& to) {
    if (threadCount() == 1 || end - begin <= kChunk) {
      Sink sink{&to, &emitted_};
      expandRange(from, begin, end, filter, sink);
      return sink.tests;
    }
    uint64_t tests = 0;
    storage_.resize(kChunksAtOnce);
    for (size_t first = begin; first < end; first += kChunk * kChunksAtOnce) {
      const size_t last = std::min(end, first + kChunk * kChunksAtOnce);
      tests += parallelReduce(
          last - first, uint64_t(0),
          [&](size_t b, size_t e) {
            SinkStorage& storage = storage_[b / kChunk];
            storage.nodes.clear();
            storage.pairs.clear();
            Sink sink{&storage.nodes, &storage.pairs};
            expandRange(from, first + b, first + e, filter, sink);
            return sink.tests;
          },
          [](uint64_t x, uint64_t y) { return x + y; }, kChunk);
      const size_t chunks = (last - first + kChunk - 1) / kChunk;
      join(chunks, &SinkStorage::nodes, to);
      join(chunks, &SinkStorage::pairs, emitted_);
    }
    return tests;
  }

  void notePeak(const std::vector<Frontier>& stack) {
    uint64_t waiting = 0;
    for (const Frontier& frontier : stack) waiting += frontier.waiting();
    result_.statistics.peakFrontier = std::max(result_.statistics.peakFrontier, waiting);
  }

  // Jobs whose trees are shallow end early, and blocks end one by one: brings the pairs of a job together.
  void group() {
    result_.jobBegin.assign(jobs_.size() + 1, 0);
    bool inOrder = true;
    for (size_t r = 0; r < emitted_.runs.size(); ++r) {
      result_.jobBegin[emitted_.runs[r].job + 1] += emitted_.runEnd(r) - emitted_.runs[r].begin;
      inOrder = inOrder && (r == 0 || emitted_.runs[r - 1].job < emitted_.runs[r].job);
    }
    for (size_t j = 0; j < jobs_.size(); ++j) result_.jobBegin[j + 1] += result_.jobBegin[j];
    if (inOrder) {
      std::swap(result_.data, emitted_.items);
      return;
    }
    std::vector<size_t> next(result_.jobBegin.begin(), result_.jobBegin.end() - 1);
    result_.data.clear();
    PrimitivePair* out = result_.data.room(emitted_.items.size());
    for (size_t r = 0; r < emitted_.runs.size(); ++r) {
      const size_t count = emitted_.runEnd(r) - emitted_.runs[r].begin;
      std::copy_n(emitted_.items.data() + emitted_.runs[r].begin, count, out + next[emitted_.runs[r].job]);
      next[emitted_.runs[r].job] += count;
    }
    result_.data.advance(emitted_.items.size());
  }

  std::span<const TreePair> jobs_;
  const TraversalSettings& settings_;
  StepSchedule schedule_;
  VariantPairs& result_;
  std::vector<uint64_t> entryRanks_;
  std::vector<Frontier>& spare_;
  std::vector<SinkStorage>& storage_;
  RunList<PrimitivePair>& emitted_;
};

}  // namespace

void traverse(std::span<const TreePair> jobs, const TraversalSettings& settings, VariantPairs& result) {
  result.data.clear();
  Traversal(jobs, settings, result).run();
}

uint64_t expansionSize(const OiLayout& a, OiLayout::Node nodeA, uint32_t stepA, const OiLayout& b,
                       OiLayout::Node nodeB, uint32_t stepB, bool self) {
  const uint64_t countA = a.descendantCount(nodeA.level, nodeA.position, stepA);
  if (!self) return countA * b.descendantCount(nodeB.level, nodeB.position, stepB);
  return nodeA.level + stepA == a.leafLevel() ? strictTriangleSize(countA) : triangleSize(countA);
}

uint32_t passCount(const OiLayout& a, const OiLayout& b, const TraversalSettings& settings) {
  if (a.levels() == 0 || b.levels() == 0) return 0;
  const StepSchedule schedule(settings);
  return std::max(schedule.passes(a.leafLevel()), schedule.passes(b.leafLevel())) + 1;
}

}  // namespace sunder::published
