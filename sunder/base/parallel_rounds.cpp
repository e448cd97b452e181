#include "sunder/base/parallel_rounds.h"

#include "sunder/base/parallel.h"

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sunder {

namespace {

void pause(unsigned& spins) {
  if (++spins < 2000) {
#if defined(__x86_64__)
    _mm_pause();
#endif
  } else {
    std::this_thread::yield();
  }
}

// The ticket holds the round in its upper and the next block in its lower half, so that taking a block and
// learning of which round it is are one operation. Whoever ends the last block of a round opens the next one.
class Team {
 public:
  Team(uint32_t rounds, detail::RoundSize size, detail::RoundFunction function, void* context)
      : rounds_(rounds), size_(size), function_(function), context_(context) {
    open(0);
  }

  void work() {
    unsigned spins = 0;
    while (true) {
      const uint64_t seen = ticket_.load(std::memory_order_acquire);
      uint32_t round = uint32_t(seen >> 32);
      if (round >= rounds_) return;
      if (uint32_t(seen) >= size_(context_, round)) {
        pause(spins);
        continue;
      }
      const uint64_t mine = ticket_.fetch_add(1, std::memory_order_acq_rel);
      round = uint32_t(mine >> 32);
      if (round >= rounds_) return;
      const uint32_t count = size_(context_, round), block = uint32_t(mine);
      if (block >= count) continue;
      spins = 0;
      run(round, block);
      if (done_.fetch_add(1, std::memory_order_acq_rel) + 1 == count) open(round + 1);
    }
  }

  void finish() {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void run(uint32_t round, uint32_t block) {
    if (failed_.load(std::memory_order_relaxed)) return;
    try {
      function_(context_, round, block);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      failed_.store(true, std::memory_order_relaxed);
    }
  }

  void open(uint32_t round) {
    while (round < rounds_ && size_(context_, round) == 0) ++round;
    done_.store(0, std::memory_order_relaxed);
    ticket_.store(uint64_t(round) << 32, std::memory_order_release);
  }

  const uint32_t rounds_;
  const detail::RoundSize size_;
  const detail::RoundFunction function_;
  void* const context_;
  alignas(64) std::atomic<uint64_t> ticket_{0};
  alignas(64) std::atomic<uint32_t> done_{0};
  alignas(64) std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::exception_ptr error_;
};

}  // namespace

void detail::runRounds(uint32_t roundCount, RoundSize size, RoundFunction function, void* context) {
  const unsigned threads = threadCount();
  if (threads == 1) {
    for (uint32_t round = 0; round < roundCount; ++round) {
      const uint32_t count = size(context, round);
      for (uint32_t block = 0; block < count; ++block) function(context, round, block);
    }
    return;
  }
  Team team(roundCount, size, function, context);
  // Blocks here are seats: one that is taken only after the work is done is left at once.
  parallelBlocks(threads, 1, [&](size_t, size_t) { team.work(); });
  team.finish();
}

}  // namespace sunder
