#include "sunder/base/stop.h"

#include <atomic>
#include <chrono>

namespace sunder {

namespace {

std::atomic<bool> requested{false};
std::atomic<int64_t> requestedAt{0};  // ns of the clock that never goes back
std::atomic<int> deferrals{0};
std::atomic<int64_t> grace{0};  // ns
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int64_t>::is_always_lock_free,
              "a signal handler sets them");

int64_t nanosecondsNow() noexcept {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

void requestStop() noexcept {
  if (stopRequested()) return;
  requestedAt.store(nanosecondsNow(), std::memory_order_relaxed);
  requested.store(true, std::memory_order_release);
}
void clearStop() noexcept { requested.store(false, std::memory_order_relaxed); }
bool stopRequested() noexcept { return requested.load(std::memory_order_relaxed); }

void checkStop() {
  if (!requested.load(std::memory_order_acquire) || deferrals.load(std::memory_order_relaxed) > 0) return;
  const int64_t wait = grace.load(std::memory_order_relaxed);
  if (wait > 0 && nanosecondsNow() - requestedAt.load(std::memory_order_relaxed) < wait) return;
  throw Interrupted();
}

StopDeferral::StopDeferral() noexcept { deferrals.fetch_add(1, std::memory_order_relaxed); }
StopDeferral::~StopDeferral() { deferrals.fetch_sub(1, std::memory_order_relaxed); }

StopGrace::StopGrace(double seconds) noexcept {
  grace.store(int64_t(1e9 * seconds), std::memory_order_relaxed);
}
StopGrace::~StopGrace() { grace.store(0, std::memory_order_relaxed); }

}  // namespace sunder
