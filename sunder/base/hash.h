// 64-bit hashes of data, for state hashes and for recognising content. XXH3 (Yann Collet's xxHash, 64-bit
// output), so not for secrets. The value depends on the numbers alone: scalars enter in little-endian order
// on every machine, and only types without padding are accepted: integers, enums, float, double, std::array
// and fixed-size Eigen matrices of them. Floating-point numbers enter by their bits (0.0 and -0.0 differ).
//
// Cost: about 20 GB/s for long arrays, a few nanoseconds for each scalar given to a Hasher.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace sunder {

namespace detail {

// Scalar type of T and how many of them T is made of; void where T may not be hashed.
template <class T>
struct Packed {
  using Scalar =
      std::conditional_t<(std::is_arithmetic_v<T> && !std::is_same_v<T, long double>) || std::is_enum_v<T>, T,
                         void>;
};
template <class T, size_t N>
struct Packed<std::array<T, N>> {
  using Scalar = typename Packed<T>::Scalar;
};
template <class T>
requires requires {
  typename T::Scalar;
  T::SizeAtCompileTime;
}
struct Packed<T> {
  using Scalar =
      std::conditional_t<(T::SizeAtCompileTime > 0) &&
                             sizeof(T) == sizeof(typename T::Scalar) * size_t(T::SizeAtCompileTime),
                         typename Packed<typename T::Scalar>::Scalar, void>;
};

}  // namespace detail

template <class T>
concept Hashable = !std::is_void_v<typename detail::Packed<std::remove_cv_t<T>>::Scalar>;

uint64_t hash64(std::span<const std::byte> bytes, uint64_t seed = 0);
uint64_t hash64(std::string_view text, uint64_t seed = 0);

// Hashes what it is given, in order, as one stream: update(a); update(b) equals one update of both in a row.
// Where neighbours of varying length could be mistaken for each other, use updateSized, which adds the length
// first.
class Hasher {
 public:
  explicit Hasher(uint64_t seed = 0);
  ~Hasher();
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(Hasher&&) noexcept;

  void updateBytes(std::span<const std::byte> bytes);

  template <Hashable T>
  void update(const T& value) {
    update(std::span<const T>(&value, 1));
  }
  template <Hashable T>
  void update(std::span<const T> values) {
    updateScalars(std::as_bytes(values), sizeof(typename detail::Packed<std::remove_cv_t<T>>::Scalar));
  }
  template <Hashable T>
  void update(const std::vector<T>& values) {
    update(std::span<const T>(values));
  }
  void update(std::string_view text) { updateBytes(std::as_bytes(std::span(text.data(), text.size()))); }

  template <Hashable T>
  void updateSized(std::span<const T> values) {
    update(uint64_t(values.size()));
    update(values);
  }
  template <Hashable T>
  void updateSized(const std::vector<T>& values) {
    updateSized(std::span<const T>(values));
  }
  void updateSized(std::string_view text) {
    update(uint64_t(text.size()));
    update(text);
  }

  uint64_t digest() const;  // of everything so far; more may follow

 private:
  struct State;
  void updateScalars(std::span<const std::byte> bytes, size_t scalarSize);

  std::unique_ptr<State> state_;
};

// Hash of an array of numbers: what a Hasher says after one update.
template <Hashable T>
uint64_t hash64(std::span<const T> values, uint64_t seed = 0) {
  if constexpr (std::endian::native == std::endian::little) {
    return hash64(std::as_bytes(values), seed);
  } else {
    Hasher hasher(seed);
    hasher.update(values);
    return hasher.digest();
  }
}
template <Hashable T>
uint64_t hash64(const std::vector<T>& values, uint64_t seed = 0) {
  return hash64(std::span<const T>(values), seed);
}

}  // namespace sunder
