// Integers large enough for the exact value of every predicate on any finite doubles, without allocation.
// Doubles become integers by a power of two that all inputs of a predicate share (FixedPoint), so no exponent
// is out of range: coordinates need at most 2098 bits, a determinant of degree five in their differences at
// most 10,503.
//
// Cost: proportional to the bits actually spanned by the inputs; coordinates within a factor of 2^10 of each
// other take one or two 64-bit limbs. Sign and magnitude, schoolbook multiplication. For predicates, here and
// in the room cut.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <span>

namespace sunder::geometry {

class BigInteger {
 public:
  static constexpr uint32_t kCapacity = 166;  // limbs of 64 bits

  BigInteger() = default;
  BigInteger(const BigInteger& other) : negative_(other.negative_), size_(other.size_) {
    std::memcpy(limbs_, other.limbs_, size_ * sizeof(uint64_t));
  }
  BigInteger& operator=(const BigInteger& other) {
    negative_ = other.negative_;
    size_ = other.size_;
    std::memmove(limbs_, other.limbs_, size_ * sizeof(uint64_t));
    return *this;
  }

  // mantissa * 2^shift, with the given sign.
  BigInteger(uint64_t mantissa, uint32_t shift, bool negative);

  uint32_t bits() const {
    return size_ == 0 ? 0 : 64 * size_ - static_cast<uint32_t>(std::countl_zero(limbs_[size_ - 1]));
  }
  int sign() const { return size_ == 0 ? 0 : (negative_ ? -1 : 1); }

  // The value times 2^exponent, rounded. Never zero for a nonzero value and never infinite: it ends at the
  // smallest and the largest double.
  double toDouble(int exponent) const;

  friend BigInteger operator+(const BigInteger& a, const BigInteger& b) {
    return addSigned(a, b, b.negative_);
  }
  friend BigInteger operator-(const BigInteger& a, const BigInteger& b) {
    return addSigned(a, b, !b.negative_);
  }
  friend BigInteger operator*(const BigInteger& a, const BigInteger& b);

 private:
  static BigInteger addSigned(const BigInteger& a, const BigInteger& b, bool bNegative);
  static int compareMagnitude(const BigInteger& a, const BigInteger& b);

  bool negative_ = false;
  uint32_t size_ = 0;  // limbs in use, the last one is not zero
  uint64_t limbs_[kCapacity];
};

// The common power of two of some finite doubles: every one of them is an integer times 2^exponent.
class FixedPoint {
 public:
  explicit FixedPoint(std::span<const double> values);

  int exponent() const { return exponent_; }
  BigInteger integer(double value) const;  // value must be one of those given

 private:
  int exponent_ = 0;
};

}  // namespace sunder::geometry
