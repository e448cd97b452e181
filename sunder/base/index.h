// Strong 32-bit indices: a vertex index cannot be handed to a function that wants a face. The tag names the
// thing that is counted. Costs nothing over a plain uint32_t.
#pragma once

#include <compare>
#include <cstdint>

namespace sunder {

inline constexpr uint32_t kNoIndex = 0xffffffffu;  // "none" in plain and strong indices alike

template <class Tag>
struct Index {
  uint32_t value = kNoIndex;

  constexpr Index() = default;
  constexpr explicit Index(uint32_t v) : value(v) {}
  constexpr bool valid() const { return value != kNoIndex; }
  constexpr auto operator<=>(const Index&) const = default;
};

}  // namespace sunder
