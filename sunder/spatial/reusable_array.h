// Memory that lives longer than one use: uninitialised, grows to the largest request, never shrinks. For
// scratch and output of calls that repeat every frame, where fresh pages would cost as much as the work.
#pragma once

#include <cstddef>
#include <memory>

namespace sunder::spatial {

template <class T>
class ReusableArray {
 public:
  // Room for `count` elements. The content is lost when it has to grow.
  T* reserve(size_t count) {
    if (count > capacity_) {
      data_ = std::make_unique_for_overwrite<T[]>(count);
      capacity_ = count;
    }
    return data_.get();
  }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  size_t bytes() const { return capacity_ * sizeof(T); }

 private:
  std::unique_ptr<T[]> data_;
  size_t capacity_ = 0;
};

}  // namespace sunder::spatial
