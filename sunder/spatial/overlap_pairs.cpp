#include "sunder/spatial/overlap_pairs.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/spatial/overlap_kernel.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <string>

namespace sunder::spatial {

namespace {

using kernels::NodePair;
using kernels::PairWork;

constexpr size_t kShares = 1024;  // node pairs to expand to before sharing out
constexpr size_t kGroups = 64;    // shares are dealt in this many runs, each with an output of its own

}  // namespace

void PairOutput::grow(size_t least) {
  const size_t capacity = std::max<size_t>({least, 2 * capacity_, 1024});
  auto bigger = std::make_unique_for_overwrite<PrimitivePair[]>(capacity);
  std::copy_n(data_.get(), size_, bigger.get());
  data_ = std::move(bigger);
  capacity_ = capacity;
}

// Expands all jobs level by level until there are enough node pairs, keeping the order of the jobs.
static std::vector<NodePair> expandTop(std::span<const TreePair> jobs, TraversalStatistics& statistics) {
  std::vector<NodePair> frontier, next;
  for (uint32_t j = 0; j < jobs.size(); ++j) {
    if (jobs[j].a->empty() || jobs[j].b->empty()) continue;
    ++statistics.boxTests;
    if (jobs[j].a == jobs[j].b || overlap(jobs[j].a->bounds(), jobs[j].b->bounds()))
      frontier.push_back({0, 0, j, 0});
  }
  statistics.peakFrontier = frontier.size();
  bool grew = true;
  while (grew && frontier.size() < kShares) {
    grew = false;
    next.clear();
    for (const NodePair& pair : frontier) {
      const PairWork work(jobs[pair.job]);
      if (work.childrenAreLeaves(pair.depth)) {
        next.push_back(pair);
        continue;
      }
      std::array<kernels::Positions, kernels::kTilePairs> children;
      const size_t count = kernels::expand(work, pair, children.data(), statistics.boxTests);
      for (size_t c = 0; c < count; ++c)
        next.push_back({children[c].a, children[c].b, pair.job, pair.depth + 1});
      ++statistics.nodePairs;
      grew = true;
    }
    frontier.swap(next);
    statistics.peakFrontier = std::max<uint64_t>(statistics.peakFrontier, frontier.size());
  }
  statistics.frontierBytes = (frontier.capacity() + next.capacity()) * sizeof(NodePair);
  return frontier;
}

void overlapPairs(std::span<const TreePair> jobs, PairList& result) {
  for (const TreePair& job : jobs)
    if (job.a->layout().arity() != kBlockLanes || job.b->layout().arity() != kBlockLanes)
      throw Error(ErrorKind::Usage, "overlapPairs wants trees of arity 8");
  TraversalStatistics& statistics = result.statistics_ = {};
  const std::vector<NodePair> frontier = expandTop(jobs, statistics);

  // How many pairs each share of the frontier brought, to find where a job's pairs begin.
  std::vector<size_t> shareEnd(frontier.size());
  std::vector<PairOutput>& outputs = result.outputs_;
  const size_t perGroup = std::max<size_t>(1, (frontier.size() + kGroups - 1) / kGroups);
  const size_t groups = (frontier.size() + perGroup - 1) / perGroup;
  const bool direct = threadCount() == 1;  // one thread writes everything where it belongs
  if (outputs.size() < std::max<size_t>(groups, 1)) outputs.resize(std::max<size_t>(groups, 1));
  for (PairOutput& output : outputs) output.clear();
  std::vector<kernels::WorkCount> counts(groups);
  const auto runGroup = [&](size_t g, PairOutput& output) {
    const size_t end = std::min(frontier.size(), (g + 1) * perGroup);
    for (size_t s = g * perGroup; s < end; ++s) {
      kernels::descend(PairWork(jobs[frontier[s].job]), frontier[s], output, counts[g]);
      shareEnd[s] = output.size();
    }
  };
  if (direct) {
    for (size_t g = 0; g < groups; ++g) runGroup(g, outputs[0]);
    result.count_ = outputs[0].size();
    result.data_ = outputs[0].data();
  } else {
    parallelFor(
        groups, [&](size_t g) { runGroup(g, outputs[g]); }, 1);
    std::vector<size_t> begin(groups + 1, 0);
    for (size_t g = 0; g < groups; ++g) begin[g + 1] = begin[g] + outputs[g].size();
    PrimitivePair* joined = result.joinBuffer_.reserve(begin[groups]);
    parallelFor(
        groups,
        [&](size_t g) {
          std::copy_n(outputs[g].data(), outputs[g].size(), joined + begin[g]);
          const size_t end = std::min(frontier.size(), (g + 1) * perGroup);
          for (size_t s = g * perGroup; s < end; ++s) shareEnd[s] += begin[g];
        },
        1);
    result.count_ = begin[groups];
    result.data_ = joined;
  }
  for (const kernels::WorkCount& count : counts) {
    statistics.boxTests += count.boxTests;
    statistics.nodePairs += count.nodePairs;
  }
  result.jobBegin_.assign(jobs.size() + 1, result.count_);
  for (size_t s = frontier.size(); s-- > 0;) result.jobBegin_[frontier[s].job] = s == 0 ? 0 : shareEnd[s - 1];
  for (size_t j = jobs.size(); j-- > 0;)  // jobs without a share begin where the next one does
    result.jobBegin_[j] = std::min(result.jobBegin_[j], result.jobBegin_[j + 1]);
}

void overlapPairs(const OiTree& a, const OiTree& b, PairList& result) {
  const TreePair job{&a, &b};
  overlapPairs({&job, 1}, result);
}

void selfOverlapPairs(const OiTree& tree, PairList& result) { overlapPairs(tree, tree, result); }

size_t PairList::bytes() const {
  size_t sum = joinBuffer_.bytes();
  for (const PairOutput& output : outputs_) sum += output.bytes();
  return sum + statistics_.frontierBytes;
}

}  // namespace sunder::spatial
