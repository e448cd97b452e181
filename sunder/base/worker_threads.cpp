#include "sunder/base/worker_threads.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <semaphore>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sys/mman.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

namespace sunder::detail {

namespace {

constexpr size_t kWorkerStack = size_t(4) << 20;  // oneTBB's own default on 64-bit systems
// Address space that must be left when the last thread has been tried: for what oneTBB allocates, and for the
// arenas of the C library, each of which takes 128 MiB for a moment.
constexpr size_t kLeftPerThread = kWorkerStack + (size_t(256) << 10), kLeft = size_t(256) << 20;
constexpr auto kLongestWait = std::chrono::seconds(1);

// A stretch of addresses that nothing else gets while it lives.
class Reserve {
 public:
  explicit Reserve(size_t bytes)
      : bytes_(bytes),
        start_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                      0)) {}
  ~Reserve() {
    if (granted()) ::munmap(start_, bytes_);
  }
  Reserve(const Reserve&) = delete;
  Reserve& operator=(const Reserve&) = delete;
  bool granted() const { return start_ != MAP_FAILED; }

 private:
  size_t bytes_;
  void* start_;
};

// How many of the threads asked for the system starts: `wanted` at once, all of which wait until the last one
// is there. Where a limit stops us, half of what it allows is taken, and the rest of the memory is left for
// the work.
unsigned grantedThreads(unsigned wanted) {
  const Reserve reserve(kLeft + kLeftPerThread * wanted);
  if (!reserve.granted()) return 1;
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
  return reached < wanted ? std::max(1u, reached / 2) : wanted;
}

// As many tasks as threads, none of which ends before all have begun: then each has a thread of its own.
// Where workers are busy with other work of the program, those that are missing are not waited for.
void meetOnce(tbb::task_arena& arena, unsigned threads) {
  std::atomic<unsigned> arrived{0};
  const auto arrive = [&arrived, threads, until = std::chrono::steady_clock::now() + kLongestWait] {
    arrived.fetch_add(1);
    while (arrived.load() < threads && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  };
  arena.execute([&] {
    tbb::task_group tasks;
    for (unsigned i = 1; i < threads; ++i) tasks.run(arrive);
    arrive();
    tasks.wait();
  });
}

}  // namespace

unsigned startWorkers(unsigned wanted) {
  static std::atomic<unsigned> running{1};
  static std::mutex mutex;
  if (wanted <= running.load()) return wanted;
  const std::lock_guard lock(mutex);
  if (wanted <= running.load()) return wanted;
  const unsigned granted = grantedThreads(wanted);
  if (granted <= running.load()) return running.load();
  using tbb::global_control;
  auto control = std::make_unique<global_control>(global_control::max_allowed_parallelism, granted);
  // A smaller limit of this program that lives now keeps oneTBB from starting more.
  const size_t allowed = global_control::active_value(global_control::max_allowed_parallelism);
  const auto possible = static_cast<unsigned>(std::min<size_t>(granted, allowed));
  if (possible <= running.load()) return running.load();
  // Never destroyed: while an arena is there, workers sleep and do not end.
  static auto& arenas = *new std::vector<std::unique_ptr<tbb::task_arena>>;
  try {
    arenas.push_back(std::make_unique<tbb::task_arena>(static_cast<int>(possible)));
    meetOnce(*arenas.back(), possible);
  } catch (...) {
    // Out of memory. oneTBB may have taken a lock that it does not give back, on which the end of the limit
    // would wait for ever; so the limit stays.
    (void)control.release();
    throw;
  }
  running = possible;
  return possible;
}

}  // namespace sunder::detail
