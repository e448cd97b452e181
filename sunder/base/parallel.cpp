#include "sunder/base/parallel.h"

#include "sunder/base/stop.h"
#include "sunder/base/worker_threads.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <utility>

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#if defined(SUNDER_MARK_LOOPS)
#include <sanitizer/tsan_interface.h>
#endif

namespace sunder {

// A limit above the number of cores needs its own arena: the default one has a slot per core. Tests use this
// to run four threads anywhere.
struct ThreadLimit::State {
  explicit State(unsigned limit)
      : threads(limit),
        control(tbb::global_control::max_allowed_parallelism, limit),
        arena(static_cast<int>(limit)) {}
  unsigned threads;
  tbb::global_control control;
  tbb::task_arena arena;
  State* outer = nullptr;
};

thread_local ThreadLimit::State* ThreadLimit::current_ = nullptr;

namespace {

// The limit for loops of this thread; null: as many threads as its arena has.
template <class State>
State* limitHere(State* current) {
  if (current) return current;
  const auto here = static_cast<unsigned>(std::max(1, tbb::this_task_arena::max_concurrency()));
  // Where the system did not grant a thread for each core, one limit bounds all loops from then on. Never
  // destroyed, as other threads may be in a loop at the end of the program.
  static std::atomic<State*> bounded{nullptr};
  if (State* const found = bounded.load(std::memory_order_acquire))
    return here > found->threads ? found : nullptr;
  const unsigned granted = detail::startWorkers(here);
  if (granted >= here) return nullptr;
  auto made = std::make_unique<State>(granted);
  State* none = nullptr;
  return bounded.compare_exchange_strong(none, made.get()) ? made.release() : none;
}

}  // namespace

unsigned threadCount() {
  const auto* const limit = limitHere(ThreadLimit::current_);
  return limit ? limit->threads : static_cast<unsigned>(tbb::this_task_arena::max_concurrency());
}

ThreadLimit::ThreadLimit(unsigned threads)
    : state_(new State(
          detail::startWorkers(threads ? threads : std::max(1u, std::thread::hardware_concurrency())))) {
  state_->outer = std::exchange(current_, state_);
}

ThreadLimit::~ThreadLimit() {
  current_ = state_->outer;
  delete state_;
}

namespace {

// In a context of its own: an exception in a block of an outer loop would otherwise cancel the loops inside
// of its other blocks, which would then return as if they had done all of their work.
void runInThisArena(size_t blockCount, detail::BlockFunction function, void* context) {
  tbb::task_group_context own(tbb::task_group_context::isolated);
#if defined(SUNDER_MARK_LOOPS)
  // The packaged oneTBB is not instrumented, so the sanitizer cannot see that the loop's start comes before
  // its blocks and their end before its return. These marks say so; races between blocks stay visible.
  char fork = 0, join = 0;
  __tsan_release(&fork);
  tbb::parallel_for(
      size_t(0), blockCount,
      [&](size_t block) {
        __tsan_acquire(&fork);
        checkStop();
        function(context, block);
        __tsan_release(&join);
      },
      own);
  __tsan_acquire(&join);
#else
  tbb::parallel_for(
      size_t(0), blockCount,
      [=](size_t block) {
        checkStop();
        function(context, block);
      },
      own);
#endif
}

}  // namespace

void detail::runBlocks(size_t blockCount, BlockFunction function, void* context) {
  auto* const limit = limitHere(ThreadLimit::current_);
  if (limit ? limit->threads == 1 : tbb::this_task_arena::max_concurrency() == 1) {
    for (size_t block = 0; block < blockCount; ++block) {
      checkStop();
      function(context, block);
    }
  } else if (limit) {
    limit->arena.execute([&] { runInThisArena(blockCount, function, context); });
  } else {
    runInThisArena(blockCount, function, context);
  }
}

}  // namespace sunder
