// Memory that lives longer than one use: uninitialised, grows to the largest request, never shrinks. For
// scratch and output of calls that repeat every frame, where fresh pages would cost as much as the work.
// Large arrays ask for huge pages: access all over an array of 4 KiB pages misses the address cache.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

#include <sys/mman.h>

namespace sunder::spatial {

template <class T>
class ReusableArray {
  static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= 64);

 public:
  // Room for `count` elements. The content is lost when it has to grow.
  T* reserve(size_t count) {
    if (count > capacity_) {
      data_.reset();
      capacity_ = 0;
      constexpr size_t kHugePage = size_t(1) << 21, kCacheLine = 64;
      const size_t bytes = count * sizeof(T);
      const bool large = bytes >= 2 * kHugePage;
      const size_t unit = large ? kHugePage : kCacheLine;
      const size_t rounded = (bytes + unit - 1) / unit * unit;
      data_.reset(static_cast<T*>(std::aligned_alloc(unit, rounded)));
      if (!data_) throw std::bad_alloc();
      if (large) ::madvise(data_.get(), rounded, MADV_HUGEPAGE);  // a refusal only costs time
      capacity_ = rounded / sizeof(T);
      std::uninitialized_default_construct_n(data_.get(), capacity_);  // nothing for numbers
    }
    return data_.get();
  }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  size_t bytes() const { return capacity_ * sizeof(T); }

 private:
  struct Free {
    void operator()(T* memory) const { std::free(memory); }
  };
  std::unique_ptr<T[], Free> data_;
  size_t capacity_ = 0;
};

}  // namespace sunder::spatial
