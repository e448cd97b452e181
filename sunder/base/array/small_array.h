// A list of small numbers or records that lies in the object itself as long as it has at most kInline
// elements, so that making and copying many of them does not ask for memory. Longer ones lie in ordinary
// memory, which is kept.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <type_traits>

namespace sunder {

template <class T, size_t kInline>
class SmallArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  SmallArray() = default;
  SmallArray(const SmallArray& other) { assign(other); }
  SmallArray(SmallArray&& other) noexcept { take(other); }
  SmallArray& operator=(const SmallArray& other) {
    if (this != &other) assign(other);
    return *this;
  }
  SmallArray& operator=(SmallArray&& other) noexcept {
    if (this != &other) take(other);
    return *this;
  }
  ~SmallArray() = default;

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return heap_ ? heap_.get() : inside_.data(); }
  const T* data() const { return heap_ ? heap_.get() : inside_.data(); }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  const T& back() const { return data()[size_ - 1]; }

  void clear() { size_ = 0; }
  void shrink(size_t size) { size_ = size; }
  void push_back(T value) {
    if (size_ == capacity_) grow(2 * capacity_);
    data()[size_++] = value;
  }

 private:
  void grow(size_t capacity) {
    std::unique_ptr<T[]> more(new T[capacity]);
    std::copy_n(data(), size_, more.get());
    heap_ = std::move(more);
    capacity_ = capacity;
  }
  void assign(const SmallArray& other) {
    size_ = 0;
    if (other.size_ > capacity_) grow(other.size_);
    std::copy_n(other.data(), other.size_, data());
    size_ = other.size_;
  }
  void take(SmallArray& other) {
    if (other.heap_) {
      heap_ = std::move(other.heap_);
      capacity_ = other.capacity_;
    } else {
      heap_.reset();
      capacity_ = kInline;
      std::copy_n(other.inside_.data(), other.size_, inside_.data());
    }
    size_ = other.size_;
    other.size_ = 0;
    other.capacity_ = kInline;
  }

  std::array<T, kInline> inside_;
  std::unique_ptr<T[]> heap_;
  size_t size_ = 0, capacity_ = kInline;
};

}  // namespace sunder
