// The working memory of traversal.h: frontiers as runs of node pairs, one run a job. Private to the room.
#pragma once

#include "bench/published/traversal.h"

#include <cstdint>
#include <vector>

namespace sunder::published {
using namespace spatial;

namespace frontiers {

struct NodePositions {
  uint32_t a, b;
};

// Consecutive elements of one job, up to where the next run begins.
struct Run {
  uint32_t job;
  size_t begin;
};

template <class T>
struct RunList {
  GrowingArray<T> items;
  std::vector<Run> runs;

  void open(uint32_t job) {
    if (runs.empty() || runs.back().job != job) runs.push_back({job, items.size()});
  }
  size_t runEnd(size_t run) const { return run + 1 < runs.size() ? runs[run + 1].begin : items.size(); }
  void clear() {
    items.clear();
    runs.clear();
  }
  size_t bytes() const { return items.bytes() + runs.capacity() * sizeof(Run); }
};

struct Frontier {
  RunList<NodePositions> pairs;
  size_t next = 0;      // first that is not taken yet
  uint32_t pass = 0;    // decides the level of every tree
  bool tested = false;  // all of them overlap
  size_t waiting() const { return pairs.items.size() - next; }
};

struct Sink {
  RunList<NodePositions>* nodes;
  RunList<PrimitivePair>* pairs;
  uint64_t tests = 0;
};

struct SinkStorage {
  RunList<NodePositions> nodes;
  RunList<PrimitivePair> pairs;
};

}  // namespace frontiers

struct TraversalMemory {
  std::vector<frontiers::Frontier> spare;
  std::vector<frontiers::SinkStorage> parts;
  frontiers::RunList<PrimitivePair> emitted;
};

}  // namespace sunder::published
