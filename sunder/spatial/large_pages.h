// Memory for large tables that are read here and there: on Linux it asks for pages of two megabytes, so that
// the look-up of addresses does not cost more than the data (half of the time of a random query on a mesh of
// 500,000 triangles otherwise). Elsewhere, and for small tables, it is ordinary memory.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace sunder::spatial {

template <class T>
struct LargePages {
  using value_type = T;
  static constexpr size_t kPage = size_t(1) << 21;

  LargePages() = default;
  template <class U>
  LargePages(const LargePages<U>&) {}

  // The same for equal counts, so that memory goes back the way it came.
  static std::align_val_t alignment(size_t count) {
    return std::align_val_t{count * sizeof(T) >= kPage ? kPage : alignof(T) > 64 ? alignof(T) : 64};
  }
  T* allocate(size_t count) {
    void* memory = ::operator new(count * sizeof(T), alignment(count));
#if defined(__linux__)
    // Advice only: whether it is taken does not matter.
    if (count * sizeof(T) >= kPage) (void)madvise(memory, count * sizeof(T) / kPage * kPage, MADV_HUGEPAGE);
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t count) { ::operator delete(memory, alignment(count)); }

  template <class U>
  bool operator==(const LargePages<U>&) const {
    return true;
  }
};

template <class T>
using LargeVector = std::vector<T, LargePages<T>>;

}  // namespace sunder::spatial
