// The arrays of the house and the memory that they lie in. Take std::vector first; these are for what it
// costs too much for:
//
//   LargeVector    tables that are read here and there, and results of parallel loops   (here)
//   ReusableArray  scratch and output of calls that repeat: content is lost when it grows (reusable_array.h)
//   GrowingArray   output whose size is known only when it is written: content is kept   (growing_array.h)
//   SmallArray     many short lists, which lie in the object itself                       (small_array.h)
//
// Memory starts at a cache line. From two megabytes on it starts at a huge page and asks for such pages,
// because the look-up of addresses otherwise costs more than the data: half of the time of a random query on
// a mesh of 500,000 triangles, and of the scattered writes of a sort. That is advice; where the system
// refuses, it only costs time.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace sunder {

inline constexpr size_t kCacheLine = 64, kLargePage = size_t(1) << 21;

void* allocatePages(size_t bytes);                    // throws std::bad_alloc; content unspecified
void freePages(void* memory, size_t bytes) noexcept;  // with the number that was asked for

// The allocator of such memory. New elements of a vector are default-initialised, which for numbers and plain
// structures of numbers does nothing: resize() leaves them unspecified, so that the threads that fill an
// array are the first to touch its pages. Where zeros are wanted, say so: resize(count, T{}).
template <class T>
struct LargePages {
  static_assert(alignof(T) <= kCacheLine);
  using value_type = T;

  LargePages() = default;
  template <class U>
  LargePages(const LargePages<U>&) {}

  T* allocate(size_t count) { return static_cast<T*>(allocatePages(count * sizeof(T))); }
  void deallocate(T* memory, size_t count) { freePages(memory, count * sizeof(T)); }
  template <class U>
  void construct(U* place) {
    ::new (static_cast<void*>(place)) U;
  }

  template <class U>
  bool operator==(const LargePages<U>&) const {
    return true;
  }
};

template <class T>
using LargeVector = std::vector<T, LargePages<T>>;

}  // namespace sunder
