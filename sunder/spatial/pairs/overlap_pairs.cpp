#include "sunder/spatial/pairs/overlap_pairs.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/spatial/pairs/overlap_kernel.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>

namespace sunder::spatial {

namespace {

using kernels::NodePair;
using kernels::PairWork;

constexpr size_t kShares = 1024;  // node pairs to expand to before sharing out
constexpr size_t kGroups = 64;    // shares are dealt in this many runs, each with an output of its own
constexpr uint64_t kStoreAtOnce = uint64_t(1) << 24;  // pairs to store before counting all of them

// Expands all jobs level by level until there are enough node pairs, keeping the order of the jobs.
std::vector<NodePair> expandTop(std::span<const TreePair> jobs, TraversalStatistics& statistics) {
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

// One search: the node pairs on top in `groups` runs, which are what threads share.
struct Search {
  std::span<const TreePair> jobs;
  std::vector<NodePair> frontier;
  size_t perGroup, groups;

  Search(std::span<const TreePair> j, TraversalStatistics& statistics)
      : jobs(j),
        frontier(expandTop(j, statistics)),
        perGroup(std::max<size_t>(1, (frontier.size() + kGroups - 1) / kGroups)),
        groups((frontier.size() + perGroup - 1) / perGroup) {}

  template <class Body>
  void forShares(size_t group, Body&& body) const {
    const size_t end = std::min(frontier.size(), (group + 1) * perGroup);
    for (size_t s = group * perGroup; s < end; ++s) body(s, PairWork(jobs[frontier[s].job]), frontier[s]);
  }

  // How many pairs each group has; not all of them when the budget is exceeded.
  std::vector<uint64_t> count(kernels::PairBudget& budget) const {
    std::vector<uint64_t> counts(groups, 0);
    const auto run = [&](size_t g) {
      forShares(g, [&](size_t, const PairWork& work, const NodePair& pair) {
        if (!budget.exceeded()) counts[g] += kernels::countBelow(work, pair, budget);
      });
    };
    parallelFor(groups, run, 1);
    return counts;
  }
};

void checkArity(std::span<const TreePair> jobs) {
  for (const TreePair& job : jobs)
    if (job.a->layout().arity() != kBlockLanes || job.b->layout().arity() != kBlockLanes)
      throw Error(ErrorKind::Usage, "overlapPairs wants trees of arity 8");
}

}  // namespace

void overlapPairs(std::span<const TreePair> jobs, PairList& result, uint64_t most) {
  checkArity(jobs);
  result.count_ = 0;
  result.data_ = nullptr;
  result.jobBegin_.assign(jobs.size() + 1, 0);
  TraversalStatistics& statistics = result.statistics_ = {};
  const Search search(jobs, statistics);
  const size_t groups = search.groups;
  const bool direct = threadCount() == 1;  // one thread writes everything where it belongs
  std::vector<PairOutput>& outputs = result.outputs_;
  std::vector<size_t> shareEnd(search.frontier.size());  // to find where a job's pairs begin
  std::vector<kernels::WorkCount> counts;

  const auto store = [&](uint64_t limit) {
    if (outputs.size() < std::max<size_t>(groups, 1)) outputs.resize(std::max<size_t>(groups, 1));
    for (PairOutput& output : outputs) output.clear();
    counts.assign(groups, {});
    kernels::PairBudget budget(limit);
    const auto run = [&](size_t g) {
      PairOutput& output = outputs[direct ? 0 : g];
      search.forShares(g, [&](size_t s, const PairWork& work, const NodePair& pair) {
        if (!budget.exceeded()) kernels::descend(work, pair, output, counts[g], budget);
        shareEnd[s] = output.size();
      });
    };
    parallelFor(groups, run, direct ? groups : 1);
    return !budget.exceeded();
  };

  if (!store(std::min(most, kStoreAtOnce))) {
    outputs.clear();
    kernels::PairBudget budget(most);
    const std::vector<uint64_t> sizes = most > kStoreAtOnce ? search.count(budget) : std::vector<uint64_t>{};
    if (most <= kStoreAtOnce || budget.exceeded())
      throw Error(ErrorKind::Limit, "more than " + std::to_string(most) + " pairs of boxes overlap")
          .hint("remove what lies in one place several times, or raise the limit on pairs");
    outputs.resize(groups);
    if (direct)
      outputs[0].room(std::accumulate(sizes.begin(), sizes.end(), kernels::kTilePairs));
    else
      for (size_t g = 0; g < groups; ++g) outputs[g].room(sizes[g] + kernels::kTilePairs);
    store(most);
  }

  if (direct) {
    result.count_ = outputs[0].size();
    result.data_ = outputs[0].data();
  } else {
    std::vector<size_t> begin(groups + 1, 0);
    for (size_t g = 0; g < groups; ++g) begin[g + 1] = begin[g] + outputs[g].size();
    PrimitivePair* joined = result.joinBuffer_.reserve(begin[groups]);
    const auto join = [&](size_t g) {
      std::copy_n(outputs[g].data(), outputs[g].size(), joined + begin[g]);
      search.forShares(g, [&](size_t s, const PairWork&, const NodePair&) { shareEnd[s] += begin[g]; });
    };
    parallelFor(groups, join, 1);
    result.count_ = begin[groups];
    result.data_ = joined;
  }
  for (const kernels::WorkCount& count : counts) {
    statistics.boxTests += count.boxTests;
    statistics.nodePairs += count.nodePairs;
  }
  result.jobBegin_.assign(jobs.size() + 1, result.count_);
  for (size_t s = shareEnd.size(); s-- > 0;)
    result.jobBegin_[search.frontier[s].job] = s == 0 ? 0 : shareEnd[s - 1];
  for (size_t j = jobs.size(); j-- > 0;)  // jobs without a share begin where the next one does
    result.jobBegin_[j] = std::min(result.jobBegin_[j], result.jobBegin_[j + 1]);
}

uint64_t countOverlapPairs(std::span<const TreePair> jobs, uint64_t most) {
  checkArity(jobs);
  TraversalStatistics ignored;
  kernels::PairBudget budget(most);
  const std::vector<uint64_t> counts = Search(jobs, ignored).count(budget);
  return budget.exceeded() ? most + 1 : std::accumulate(counts.begin(), counts.end(), uint64_t(0));
}

void overlapPairs(const OiTree& a, const OiTree& b, PairList& result, uint64_t most) {
  const TreePair job{&a, &b};
  overlapPairs({&job, 1}, result, most);
}

void selfOverlapPairs(const OiTree& tree, PairList& result, uint64_t most) {
  overlapPairs(tree, tree, result, most);
}

size_t PairList::bytes() const {
  size_t sum = joinBuffer_.bytes();
  for (const PairOutput& output : outputs_) sum += output.bytes();
  return sum + statistics_.frontierBytes;
}

}  // namespace sunder::spatial
