// An array that grows at its end, keeps its content when it grows and its memory when it is cleared. For
// output whose size is known only as an upper bound: ask for room, write, advance. Elements are unspecified
// until they are written.
//
// Grows by half, in place where the system can move pages instead of bytes; ordinary memory, because such
// pages cannot be huge ones. O(1) an element on average.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace sunder {

template <class T>
class GrowingArray {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= alignof(std::max_align_t));

 public:
  GrowingArray() = default;
  GrowingArray(GrowingArray&& other) noexcept
      : data_(std::move(other.data_)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  GrowingArray& operator=(GrowingArray&& other) noexcept {
    data_ = std::move(other.data_);
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
    return *this;
  }
  ~GrowingArray() = default;

  // Room for `more` elements behind what is there; returns where to write.
  T* room(size_t more) {
    if (size_ + more > capacity_) grow(size_ + more);
    return data_.get() + size_;
  }
  void advance(size_t count) { size_ += count; }
  void push(const T& value) {
    *room(1) = value;
    ++size_;
  }
  void clear() { size_ = 0; }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  const T& operator[](size_t i) const { return data_[i]; }
  std::span<const T> span() const { return {data_.get(), size_}; }
  size_t bytes() const { return capacity_ * sizeof(T); }

 private:
  struct Free {
    void operator()(T* memory) const { std::free(memory); }
  };
  [[gnu::noinline]] void grow(size_t least) {
    const size_t capacity = std::max({least, capacity_ + capacity_ / 2, 4096 / sizeof(T)});
    auto* bigger = static_cast<T*>(std::realloc(data_.get(), capacity * sizeof(T)));
    if (!bigger) throw std::bad_alloc();
    (void)data_.release();  // realloc took it
    data_.reset(bigger);
    capacity_ = capacity;
  }

  std::unique_ptr<T[], Free> data_;
  size_t size_ = 0, capacity_ = 0;
};

}  // namespace sunder
