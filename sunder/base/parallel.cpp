#include "sunder/base/parallel.h"

#include "sunder/base/stop.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <semaphore>
#include <thread>
#include <utility>
#include <vector>

#include <pthread.h>
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

unsigned threadCount() {
  return ThreadLimit::current_ ? ThreadLimit::current_->threads
                               : static_cast<unsigned>(tbb::this_task_arena::max_concurrency());
}

namespace {

constexpr size_t kWorkerStack = size_t(4) << 20;  // oneTBB's own default on 64-bit systems

// How many of the threads asked for the system starts. oneTBB starts its workers in the middle of a loop, and
// one that cannot be started there breaks the loop off. So they are tried here: `wanted` threads at once, all
// of which wait until the last one is there. Where a limit on memory or processes stops us, half of what it
// allows is taken, and the rest of the memory is left for the work. Results do not depend on the number.
unsigned startableThreads(unsigned wanted) {
  static std::atomic<unsigned> proven{1};
  if (wanted <= proven.load()) return wanted;
  std::vector<pthread_t> started;
  started.reserve(wanted);
  pthread_attr_t settings;
  if (::pthread_attr_init(&settings) != 0) return 1;
  ::pthread_attr_setstacksize(&settings, kWorkerStack);
  struct Gate {
    std::mutex mutex;
    std::counting_semaphore<> arrived{0};
  } gate;
  {
    const std::lock_guard closed(gate.mutex);
    // A thread's first allocation sets an arena of addresses aside for it, which counts as well.
    const auto waitAtGate = [](void* raw) -> void* {
      void* volatile first = std::malloc(1);
      std::free(first);
      auto& at = *static_cast<Gate*>(raw);
      at.arrived.release();
      const std::lock_guard passed(at.mutex);
      return nullptr;
    };
    pthread_t thread{};
    while (started.size() + 1 < wanted && ::pthread_create(&thread, &settings, waitAtGate, &gate) == 0) {
      started.push_back(thread);
      gate.arrived.acquire();
    }
  }
  for (const pthread_t thread : started) ::pthread_join(thread, nullptr);
  ::pthread_attr_destroy(&settings);
  const auto reached = static_cast<unsigned>(started.size() + 1);
  if (reached < wanted) return std::max(1u, reached / 2);
  proven = wanted;
  return wanted;
}

}  // namespace

ThreadLimit::ThreadLimit(unsigned threads)
    : state_(new State(
          startableThreads(threads ? threads : std::max(1u, std::thread::hardware_concurrency())))) {
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
  if (threadCount() == 1) {
    for (size_t block = 0; block < blockCount; ++block) {
      checkStop();
      function(context, block);
    }
  } else if (ThreadLimit::State* limit = ThreadLimit::current_) {
    limit->arena.execute([&] { runInThisArena(blockCount, function, context); });
  } else {
    runInThisArena(blockCount, function, context);
  }
}

}  // namespace sunder
