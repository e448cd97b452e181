// Whole numbers for differences of either sign, small ones for small differences. Not for use outside this
// room.
#pragma once

namespace sunder::record {

template <class T>
T zigzag(T difference) {
  constexpr int kTop = sizeof(T) * 8 - 1;
  return static_cast<T>((difference << 1) ^ (T(0) - (difference >> kTop)));
}
template <class T>
T unzigzag(T number) {
  return static_cast<T>((number >> 1) ^ (T(0) - (number & 1)));
}

}  // namespace sunder::record
