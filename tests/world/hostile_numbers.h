// Bytes with one number replaced by another: what tests of hostile states try at each place.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

namespace sunder::world {

inline constexpr size_t kHostileChanges = 12;

template <class T>
std::string withNumber(const std::string& bytes, size_t at, T value) {
  std::string out = bytes;
  if (at + sizeof(T) <= out.size()) std::memcpy(out.data() + at, &value, sizeof(T));
  return out;
}

// The `kind`-th change of `bytes` at byte `at`: cut off there, a byte turned over, or an integer or a float
// of an extreme value. at < bytes.size(), kind < kHostileChanges.
inline std::string hostileChange(const std::string& bytes, size_t at, size_t kind) {
  constexpr std::array<uint32_t, 4> kIntegers{0u, 1u, 0x7fffffffu, 0xffffffffu};
  constexpr std::array<float, 2> kFloats{std::numeric_limits<float>::quiet_NaN(), 1e38f};
  constexpr std::array<double, 4> kDoubles{std::numeric_limits<double>::quiet_NaN(), 1e300, 1e29, -1.0};
  static_assert(2 + kIntegers.size() + kFloats.size() + kDoubles.size() == kHostileChanges);
  if (kind == 0) return bytes.substr(0, at);
  if (kind == 1) return withNumber(bytes, at, uint8_t(~uint8_t(bytes[at])));
  kind -= 2;
  if (kind < kIntegers.size()) return withNumber(bytes, at, kIntegers[kind]);
  kind -= kIntegers.size();
  if (kind < kFloats.size()) return withNumber(bytes, at, kFloats[kind]);
  return withNumber(bytes, at, kDoubles[kind - kFloats.size()]);
}

}  // namespace sunder::world
