// A table whose entries are made when they are first asked for. Any thread may ask; where two make the same
// entry at once, one of the two is kept, so what makes entries must return the same each time.
//
// std::call_once would do, but glibc loads its unwinder when the first exception leaves one, and ends the
// program where memory has run out by then. Here an exception leaves the entry unmade.
//
// Cost: one atomic load for an entry that is there.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>

namespace sunder {

template <class T, size_t kSize>
class LazyTable {
 public:
  LazyTable() = default;
  ~LazyTable() {
    for (std::atomic<const T*>& entry : entries_) delete entry.load();
  }
  LazyTable(const LazyTable&) = delete;
  LazyTable& operator=(const LazyTable&) = delete;

  // index < kSize; `make` returns a T.
  template <class Make>
  const T& get(size_t index, Make&& make) {
    if (const T* const there = entries_[index].load(std::memory_order_acquire)) return *there;
    auto made = std::make_unique<const T>(make());
    const T* other = nullptr;
    return entries_[index].compare_exchange_strong(other, made.get(), std::memory_order_acq_rel)
               ? *made.release()
               : *other;
  }

 private:
  std::array<std::atomic<const T*>, kSize> entries_{};
};

}  // namespace sunder
