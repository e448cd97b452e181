// Memory that lives longer than one use: grows to the largest request and never shrinks. For scratch and
// output of calls that repeat every frame, where fresh pages would cost as much as the work. Elements are
// unspecified until they are written, and again when the array had to grow. One user at a time.
#pragma once

#include "sunder/base/array/large_pages.h"

#include <type_traits>

namespace sunder {

template <class T>
class ReusableArray {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  ReusableArray() = default;
  ReusableArray(ReusableArray&&) noexcept = default;
  ReusableArray& operator=(ReusableArray&&) noexcept = default;

  // Room for `count` elements. What is left of the last line or page is room too.
  T* reserve(size_t count) {
    if (count > memory_.size()) grow(count);
    return memory_.data();
  }
  T* data() { return memory_.data(); }
  const T* data() const { return memory_.data(); }
  size_t bytes() const { return memory_.size() * sizeof(T); }

 private:
  void grow(size_t count) {
    memory_ = {};  // before more is asked for: the content does not count
    const size_t bytes = count * sizeof(T), unit = bytes >= 2 * kLargePage ? kLargePage : kCacheLine;
    memory_ = LargeVector<T>((bytes + unit - 1) / unit * unit / sizeof(T));
  }

  LargeVector<T> memory_;
};

}  // namespace sunder
