// What the vector kernels share: points and vectors of lanes, sums of eight, sets of lanes as bits.
// Everything is a template over Highway's tag or vector, so that one text works for any number of lanes, one
// included, with the same operations in the same order: a lane has the same bits whatever the width
// (tests/base/lanes_test.cpp).
//
// Read once for each vector target, after hwy/foreach_target.h; in a kernel's own namespace,
// `using lanes::HWY_NAMESPACE::Lanes3;` and so on. Functions of Lanes3 are found by their arguments.
#if defined(SUNDER_BASE_LANES_INL) == defined(HWY_TARGET_TOGGLE)  // once a target
#ifdef SUNDER_BASE_LANES_INL
#undef SUNDER_BASE_LANES_INL
#else
#define SUNDER_BASE_LANES_INL
#endif

#include <cstddef>
#include <cstdint>

#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sunder::lanes::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// A vector of space in each lane. (Members, not arrays: arrays of vectors go through memory.)
template <class V>
struct Lanes3 {
  V x, y, z;
};
template <class V>
HWY_INLINE Lanes3<V> operator+(const Lanes3<V>& a, const Lanes3<V>& b) {
  return {hn::Add(a.x, b.x), hn::Add(a.y, b.y), hn::Add(a.z, b.z)};
}
template <class V>
HWY_INLINE Lanes3<V> operator-(const Lanes3<V>& a, const Lanes3<V>& b) {
  return {hn::Sub(a.x, b.x), hn::Sub(a.y, b.y), hn::Sub(a.z, b.z)};
}
template <class V>
HWY_INLINE Lanes3<V> operator*(const Lanes3<V>& a, const V s) {
  return {hn::Mul(a.x, s), hn::Mul(a.y, s), hn::Mul(a.z, s)};
}
template <class V>
HWY_INLINE V dot(V ax, V ay, V az, V bx, V by, V bz) {
  return hn::Add(hn::Add(hn::Mul(ax, bx), hn::Mul(ay, by)), hn::Mul(az, bz));
}
template <class V>
HWY_INLINE V dot(const Lanes3<V>& a, const Lanes3<V>& b) {
  return dot(a.x, a.y, a.z, b.x, b.y, b.z);
}
template <class V>
HWY_INLINE Lanes3<V> cross(const Lanes3<V>& a, const Lanes3<V>& b) {
  return {hn::Sub(hn::Mul(a.y, b.z), hn::Mul(a.z, b.y)), hn::Sub(hn::Mul(a.z, b.x), hn::Mul(a.x, b.z)),
          hn::Sub(hn::Mul(a.x, b.y), hn::Mul(a.y, b.x))};
}

// A row of four numbers in each lane.
template <class V>
struct Lanes4 {
  V x, y, z, w;
};

// A sum over eight places, in as many vectors as eight numbers take: part p has the places from p * lanes on.
// The places are joined in one order, as a tree.
template <class D>
struct SumOfEight {
  static constexpr size_t kWide = hn::MaxLanes(D()), kParts = 8 / kWide;
  hn::Vec<D> part[kParts];

  HWY_INLINE SumOfEight() {
    for (size_t p = 0; p < kParts; ++p) part[p] = hn::Zero(D());
  }
  HWY_INLINE void add(size_t p, hn::Vec<D> value) { part[p] = hn::Add(part[p], value); }
  HWY_INLINE hn::TFromD<D> total() const {
    alignas(64) hn::TFromD<D> place[8];
    for (size_t p = 0; p < kParts; ++p) hn::StoreU(part[p], D(), place + p * kWide);
    return ((place[0] + place[1]) + (place[2] + place[3])) + ((place[4] + place[5]) + (place[6] + place[7]));
  }
};

// Bit i for lane i of at most eight.
template <class D>
HWY_INLINE uint32_t maskBits(D d, hn::Mask<D> mask) {
  uint8_t bits[8] = {};
  hn::StoreMaskBits(d, mask, bits);
  return bits[0];
}

// Asks for all cache lines of a block ahead of time.
template <class Block>
HWY_INLINE void prefetch(const Block* block) {
  for (size_t line = 0; line < sizeof(Block); line += 64)
    hwy::Prefetch(reinterpret_cast<const char*>(block) + line);
}

}  // namespace sunder::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
