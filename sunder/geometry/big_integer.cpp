#include "sunder/geometry/big_integer.h"

#include <bit>
#include <cmath>
#include <limits>

namespace sunder::geometry {

namespace {

__extension__ typedef unsigned __int128 Wide;

// |value| = mantissa * 2^exponent with an odd mantissa; zero has mantissa 0.
struct Parts {
  uint64_t mantissa;
  int exponent;
};

Parts partsOf(double value) {
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const int biased = static_cast<int>((bits >> 52) & 0x7ff);
  uint64_t mantissa = bits & 0xfffffffffffffull;
  if (biased != 0) mantissa |= 1ull << 52;
  if (mantissa == 0) return {0, 0};
  const int zeros = std::countr_zero(mantissa);
  return {mantissa >> zeros, std::max(biased, 1) - 1075 + zeros};
}

}  // namespace

BigInteger::BigInteger(uint64_t mantissa, uint32_t shift, bool negative) : negative_(negative) {
  if (mantissa == 0) {
    negative_ = false;
    return;
  }
  const uint32_t whole = shift / 64, part = shift % 64;
  assert(whole + 2 <= kCapacity);
  std::memset(limbs_, 0, whole * sizeof(uint64_t));
  limbs_[whole] = mantissa << part;
  size_ = whole + 1;
  const uint64_t carry = part == 0 ? 0 : mantissa >> (64 - part);
  if (carry != 0) {
    limbs_[size_++] = carry;
    return;
  }
}

int BigInteger::compareMagnitude(const BigInteger& a, const BigInteger& b) {
  if (a.size_ != b.size_) return a.size_ < b.size_ ? -1 : 1;
  for (uint32_t i = a.size_; i-- > 0;) {
    if (a.limbs_[i] != b.limbs_[i]) return a.limbs_[i] < b.limbs_[i] ? -1 : 1;
  }
  return 0;
}

BigInteger BigInteger::addSigned(const BigInteger& a, const BigInteger& b, bool bNegative) {
  if (b.size_ == 0) return a;
  BigInteger result;
  if (a.size_ == 0 || a.negative_ == bNegative) {
    const BigInteger& longer = a.size_ >= b.size_ ? a : b;
    const BigInteger& shorter = a.size_ >= b.size_ ? b : a;
    uint64_t carry = 0;
    for (uint32_t i = 0; i < longer.size_; ++i) {
      const Wide sum = Wide(longer.limbs_[i]) + (i < shorter.size_ ? shorter.limbs_[i] : 0) + carry;
      result.limbs_[i] = static_cast<uint64_t>(sum);
      carry = static_cast<uint64_t>(sum >> 64);
    }
    result.size_ = longer.size_;
    if (carry != 0) {
      assert(result.size_ < kCapacity);
      result.limbs_[result.size_++] = carry;
    }
    result.negative_ = bNegative;
    return result;
  }
  const int order = compareMagnitude(a, b);
  if (order == 0) return result;
  const BigInteger& larger = order > 0 ? a : b;
  const BigInteger& smaller = order > 0 ? b : a;
  uint64_t borrow = 0;
  for (uint32_t i = 0; i < larger.size_; ++i) {
    const Wide difference = Wide(larger.limbs_[i]) - (i < smaller.size_ ? smaller.limbs_[i] : 0) - borrow;
    result.limbs_[i] = static_cast<uint64_t>(difference);
    borrow = static_cast<uint64_t>(difference >> 64) & 1;
  }
  result.size_ = larger.size_;
  while (result.limbs_[result.size_ - 1] == 0) --result.size_;
  result.negative_ = order > 0 ? a.negative_ : bNegative;
  return result;
}

BigInteger operator*(const BigInteger& a, const BigInteger& b) {
  BigInteger result;
  if (a.size_ == 0 || b.size_ == 0) return result;
  assert(a.size_ + b.size_ <= BigInteger::kCapacity);
  std::memset(result.limbs_, 0, a.size_ * sizeof(uint64_t));
  for (uint32_t j = 0; j < b.size_; ++j) {
    uint64_t carry = 0;
    for (uint32_t i = 0; i < a.size_; ++i) {
      const Wide sum = Wide(a.limbs_[i]) * b.limbs_[j] + result.limbs_[i + j] + carry;
      result.limbs_[i + j] = static_cast<uint64_t>(sum);
      carry = static_cast<uint64_t>(sum >> 64);
    }
    result.limbs_[a.size_ + j] = carry;
  }
  result.size_ = a.size_ + b.size_;
  if (result.limbs_[result.size_ - 1] == 0) --result.size_;
  result.negative_ = a.negative_ != b.negative_;
  return result;
}

double BigInteger::toDouble(int exponent) const {
  if (size_ == 0) return 0;
  // Two limbs hold at least 65 leading bits; bits below them cannot change the value by more than an ulp.
  double lead = static_cast<double>(limbs_[size_ - 1]);
  int power = 64 * static_cast<int>(size_ - 1) + exponent;
  if (size_ > 1) {
    lead = lead * 0x1p64 + static_cast<double>(limbs_[size_ - 2]);
    power -= 64;
  }
  double magnitude = std::ldexp(lead, power);
  if (magnitude == 0) magnitude = std::numeric_limits<double>::denorm_min();
  if (std::isinf(magnitude)) magnitude = std::numeric_limits<double>::max();
  return negative_ ? -magnitude : magnitude;
}

FixedPoint::FixedPoint(std::span<const double> values) {
  bool any = false;
  for (const double value : values) {
    assert(std::isfinite(value));
    const Parts parts = partsOf(value);
    if (parts.mantissa == 0) continue;
    exponent_ = any ? std::min(exponent_, parts.exponent) : parts.exponent;
    any = true;
  }
}

BigInteger FixedPoint::integer(double value) const {
  const Parts parts = partsOf(value);
  if (parts.mantissa == 0) return {};
  return {parts.mantissa, static_cast<uint32_t>(parts.exponent - exponent_), std::signbit(value)};
}

}  // namespace sunder::geometry
