#include "sunder/base/stop.h"

#include <atomic>

namespace sunder {

namespace {

std::atomic<bool> requested{false};
std::atomic<int> deferrals{0};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

}  // namespace

void requestStop() noexcept { requested.store(true, std::memory_order_relaxed); }
void clearStop() noexcept { requested.store(false, std::memory_order_relaxed); }
bool stopRequested() noexcept { return requested.load(std::memory_order_relaxed); }

void checkStop() {
  if (stopRequested() && deferrals.load(std::memory_order_relaxed) == 0) throw Interrupted();
}

StopDeferral::StopDeferral() noexcept { deferrals.fetch_add(1, std::memory_order_relaxed); }
StopDeferral::~StopDeferral() { deferrals.fetch_sub(1, std::memory_order_relaxed); }

}  // namespace sunder
