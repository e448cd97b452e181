// An array that grows at its end and does not initialise what it makes room for; keeps its memory when
// cleared. For outputs whose size is known only as an upper bound: ask for room, write, advance.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

namespace sunder::published {

template <class T>
class GrowingArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
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
  void grow(size_t least) {
    const size_t capacity = std::max<size_t>({least, 2 * capacity_, 64});
    auto bigger = std::make_unique_for_overwrite<T[]>(capacity);
    std::copy_n(data_.get(), size_, bigger.get());
    data_ = std::move(bigger);
    capacity_ = capacity;
  }
  std::unique_ptr<T[]> data_;
  size_t size_ = 0, capacity_ = 0;
};

}  // namespace sunder::published
