// A vector in large pages (spatial/large_pages.h) whose new elements are not set to anything: for results of
// parallel loops that write every element, so that the pages are first touched by the threads that fill them.
#pragma once

#include "sunder/spatial/large_pages.h"

#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace sunder::sdf {

template <class T>
struct RawPages : spatial::LargePages<T> {
  static_assert(std::is_trivial_v<T>);
  using value_type = T;

  RawPages() = default;
  template <class U>
  RawPages(const RawPages<U>&) {}

  template <class U>
  void construct(U*) noexcept {}
  template <class U, class First, class... Rest>
  void construct(U* place, First&& first, Rest&&... rest) {
    ::new (static_cast<void*>(place)) U(std::forward<First>(first), std::forward<Rest>(rest)...);
  }
};

template <class T>
using RawVector = std::vector<T, RawPages<T>>;

}  // namespace sunder::sdf
