#include "bench/published/front_tracking.h"

#include "sunder/base/parallel.h"

#include "bench/published/box_pair_tests.h"
#include "bench/published/triangle_rank.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>

namespace sunder::published {
using namespace spatial;

namespace {

constexpr size_t kFrontChunk = 2048;
constexpr size_t kFrontChunksAtOnce = 64;

}  // namespace

struct FrontTracker::Work {
  explicit Work(const TreePair& job)
      : a(*job.a),
        b(*job.b),
        self(job.a == job.b),
        leafA(a.layout().leafLevel()),
        leafB(b.layout().leafLevel()),
        shiftA(static_cast<uint32_t>(std::countr_zero(a.layout().arity()))),
        shiftB(static_cast<uint32_t>(std::countr_zero(b.layout().arity()))) {}

  bool areLeaves(uint32_t depth) const { return depth >= leafA && depth >= leafB; }
  uint32_t levelA(uint32_t depth) const { return std::min(depth, leafA); }
  uint32_t levelB(uint32_t depth) const { return std::min(depth, leafB); }
  uint32_t parentA(const Node& n) const { return n.depth <= leafA ? n.a >> shiftA : n.a; }
  uint32_t parentB(const Node& n) const { return n.depth <= leafB ? n.b >> shiftB : n.b; }
  bool siblings(const Node& m, const Node& n) const {
    return m.job == n.job && m.depth == n.depth && n.depth > 0 && parentA(m) == parentA(n) &&
           parentB(m) == parentB(n);
  }
  Node parent(const Node& n) const { return {n.job, parentA(n), parentB(n), n.depth - 1}; }

  bool overlaps(const Node& n) const {
    return overlapFlat(flatBox(a, levelA(n.depth), n.a), flatBox(b, levelB(n.depth), n.b));
  }
  uint32_t childrenA(const Node& n) const {
    return n.depth < leafA ? a.layout().childCount(n.depth, n.a) : 1;
  }
  uint32_t childrenB(const Node& n) const {
    return n.depth < leafB ? b.layout().childCount(n.depth, n.b) : 1;
  }
  uint64_t childPairs(const Node& n) const {
    if (!self || n.a != n.b) return uint64_t(childrenA(n)) * childrenB(n);
    return areLeaves(n.depth + 1) ? strictTriangleSize(childrenA(n)) : triangleSize(childrenA(n));
  }

  const OiTree& a;
  const OiTree& b;
  bool self;
  uint32_t leafA, leafB, shiftA, shiftB;
};

void FrontTracker::reset(std::span<const TreePair> jobs) {
  jobs_.assign(jobs.begin(), jobs.end());
  front_.clear();
  for (uint32_t j = 0; j < jobs_.size(); ++j) {
    const OiTree &a = *jobs_[j].a, &b = *jobs_[j].b;
    if (a.empty() || b.empty() || (&a == &b && a.leafCount() == 1)) continue;
    front_.push({j, 0, 0, 0});
  }
}

void FrontTracker::descend(const Work& work, const Node& top, Part& part) const {
  std::array<Node, 1024> stack;
  uint32_t size = 0;
  stack[size++] = top;
  while (size > 0) {
    const Node node = stack[--size];
    // The one on top has been tested before it came here.
    if (node.depth != top.depth) {
      ++part.statistics.boxTests;
      if (!work.overlaps(node)) {
        part.front.push(node);
        continue;
      }
    }
    if (work.areLeaves(node.depth)) {
      part.front.push(node);
      part.pairs.push({work.a.primitive(node.a), work.b.primitive(node.b)});
      continue;
    }
    const uint32_t countA = work.childrenA(node), countB = work.childrenB(node);
    const uint32_t firstA = node.depth < work.leafA ? node.a * work.a.layout().arity() : node.a;
    const uint32_t firstB = node.depth < work.leafB ? node.b * work.b.layout().arity() : node.b;
    const bool triangle = work.self && node.a == node.b;
    const uint32_t offDiagonal = work.areLeaves(node.depth + 1) ? 1 : 0;
    for (uint32_t x = countA; x-- > 0;)  // the first child pair comes off the stack first
      for (uint32_t y = countB; y-- > (triangle ? x + offDiagonal : 0);) {
        assert(size < stack.size());
        stack[size++] = {node.job, firstA + x, firstB + y, node.depth + 1};
      }
  }
}

// Runs are neighbours with one parent; those that start in [begin, end) are this part's.
void FrontTracker::updateRuns(size_t begin, size_t end, Part& part) const {
  part.front.clear();
  part.pairs.clear();
  part.jobPairs.clear();
  part.statistics = {};
  size_t at = begin;
  if (at > 0)
    while (at < end && Work(jobs_[front_[at].job]).siblings(front_[at - 1], front_[at])) ++at;
  std::vector<uint8_t> hit;
  while (at < end) {
    const Work work(jobs_[front_[at].job]);
    hit.clear();
    bool any = false;
    size_t last = at;
    do {
      hit.push_back(work.overlaps(front_[last]));
      any |= hit.back() != 0;
      ++last;
    } while (last < front_.size() && work.siblings(front_[last - 1], front_[last]));
    part.statistics.boxTests += last - at;
    const uint32_t job = front_[at].job;
    const size_t before = part.pairs.size();
    bool ascend = false;
    if (!any && front_[at].depth > 0) {
      const Node parent = work.parent(front_[at]);
      if (work.childPairs(parent) == last - at) {  // else some siblings are still further down
        ++part.statistics.boxTests;
        ascend = !work.overlaps(parent);
        if (ascend) {
          part.front.push(parent);
          ++part.statistics.ascended;
        }
      }
    }
    if (!ascend)
      for (size_t i = at; i < last; ++i) {
        if (!hit[i - at]) {
          part.front.push(front_[i]);
          continue;
        }
        if (work.areLeaves(front_[i].depth)) {
          part.front.push(front_[i]);
          part.pairs.push({work.a.primitive(front_[i].a), work.b.primitive(front_[i].b)});
          continue;
        }
        ++part.statistics.descended;
        descend(work, front_[i], part);
      }
    if (part.jobPairs.empty() || part.jobPairs[part.jobPairs.size() - 2] != job)
      part.jobPairs.insert(part.jobPairs.end(), {job, 0});
    part.jobPairs.back() += part.pairs.size() - before;
    at = last;
  }
}

void FrontTracker::update(VariantPairs& result) {
  result.data.clear();
  result.statistics = {};
  result.jobBegin.assign(jobs_.size() + 1, 0);
  statistics_ = {};
  next_.clear();
  parts_.resize(kFrontChunksAtOnce);
  for (size_t first = 0; first < front_.size(); first += kFrontChunk * kFrontChunksAtOnce) {
    const size_t count = std::min(front_.size() - first, kFrontChunk * kFrontChunksAtOnce);
    parallelBlocks(count, kFrontChunk,
                   [&](size_t b, size_t e) { updateRuns(first + b, first + e, parts_[b / kFrontChunk]); });
    for (size_t c = 0; c * kFrontChunk < count; ++c) {
      const Part& part = parts_[c];
      std::copy_n(part.front.data(), part.front.size(), next_.room(part.front.size()));
      next_.advance(part.front.size());
      std::copy_n(part.pairs.data(), part.pairs.size(), result.data.room(part.pairs.size()));
      result.data.advance(part.pairs.size());
      for (size_t i = 0; i < part.jobPairs.size(); i += 2)
        result.jobBegin[part.jobPairs[i] + 1] += part.jobPairs[i + 1];
      statistics_.boxTests += part.statistics.boxTests;
      statistics_.descended += part.statistics.descended;
      statistics_.ascended += part.statistics.ascended;
    }
  }
  std::swap(front_, next_);
  for (size_t j = 0; j < jobs_.size(); ++j) result.jobBegin[j + 1] += result.jobBegin[j];
  statistics_.frontSize = front_.size();
  statistics_.bytes = front_.bytes() + next_.bytes();
  for (const Part& part : parts_) statistics_.bytes += part.front.bytes();
  result.statistics = {statistics_.boxTests, 1, statistics_.frontSize, statistics_.bytes};
}

}  // namespace sunder::published
