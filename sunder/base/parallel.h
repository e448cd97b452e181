// Parallel loops whose results do not depend on the number of threads. Work is cut into fixed blocks of
// `grain` elements; which thread runs a block is open, what a block computes is not. Reductions join the
// blocks' results in index order. A loop of one block runs in the calling thread, so small problems pay
// nothing.
//
// oneTBB does the scheduling; its headers stay in parallel.cpp. The first exception thrown by a block is
// rethrown in the caller.
#pragma once

#ifdef SUNDER_UNORDERED_REDUCE
#include <atomic>
#endif
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace sunder {

namespace detail {
using BlockFunction = void (*)(void* context, size_t block);
void runBlocks(size_t blockCount, BlockFunction function, void* context);
}  // namespace detail

// How many threads loops may use now: the machine's cores, or what the innermost ThreadLimit says.
unsigned threadCount();

// Bounds the number of threads of loops started from this thread while it lives. 0 means all cores.
class ThreadLimit {
 public:
  explicit ThreadLimit(unsigned threads);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

 private:
  friend unsigned threadCount();
  friend void detail::runBlocks(size_t, detail::BlockFunction, void*);
  struct State;
  static thread_local State* current_;
  State* state_;
};

inline constexpr size_t kDefaultGrain = 4096;

// body(begin, end) over [0, count) in blocks of at most `grain`.
template <class Body>
void parallelBlocks(size_t count, size_t grain, Body&& body) {
  if (count == 0) return;
  if (grain == 0) grain = 1;
  if (count <= grain) {
    body(size_t(0), count);
    return;
  }
  struct Context {
    std::remove_reference_t<Body>* body;
    size_t count, grain;
  } context{&body, count, grain};
  detail::runBlocks((count + grain - 1) / grain,
                    [](void* raw, size_t block) {
                      const Context& c = *static_cast<Context*>(raw);
                      const size_t begin = block * c.grain;
                      (*c.body)(begin, c.count - begin < c.grain ? c.count : begin + c.grain);
                    },
                    &context);
}

// body(i) for every i in [0, count).
template <class Body>
void parallelFor(size_t count, Body&& body, size_t grain = kDefaultGrain) {
  parallelBlocks(count, grain, [&body](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) body(i);
  });
}

// map(begin, end) -> T for each block, then join(T, T) from the first block to the last: same bits for any
// number of threads (the grain is part of the result where joining is not associative, as in floating-point
// sums).
template <class T, class Map, class Join>
T parallelReduce(size_t count, T identity, Map&& map, Join&& join, size_t grain = kDefaultGrain) {
  if (count == 0) return identity;
  const size_t blocks = (count + grain - 1) / grain;
  std::vector<T> partial(blocks, identity);
#ifdef SUNDER_UNORDERED_REDUCE
  // Joins in order of arrival, against the rule: only for the probe that shows the determinism test can fail.
  std::atomic<size_t> arrived{0};
  parallelBlocks(count, grain, [&](size_t begin, size_t end) {
    T value = map(begin, end);
    partial[arrived++] = std::move(value);
  });
#else
  parallelBlocks(count, grain, [&](size_t begin, size_t end) { partial[begin / grain] = map(begin, end); });
#endif
  T result = std::move(identity);
  for (T& p : partial) result = join(std::move(result), std::move(p));
  return result;
}

}  // namespace sunder
