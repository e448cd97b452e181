#include "sunder/spatial/pairs/feature_boxes.h"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sunder/spatial/pairs/feature_boxes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sunder::spatial::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Two rounds of eight tests: lane i of a round tests lane first[i] of a's block against second[i] of b's.
// Lane 7 of a block is empty, so that the sixteenth test never succeeds.
struct Rounds {
  int32_t first[2][8], second[2][8];
};
alignas(64) constexpr Rounds kRounds = {{{0, 0, 0, 1, 1, 1, 2, 2}, {2, 3, 4, 5, 6, 6, 6, 7}},
                                        {{0, 1, 2, 0, 1, 2, 0, 1}, {2, 6, 6, 6, 3, 4, 5, 7}}};

using F4 = hn::FixedTag<float, 4>;

// The eight boxes one after the other, then each coordinate in a row of its own. Rows that are not the
// triangle's own are hidden by an infinity in place of every coordinate.
void BoxFeatures(const geometry::Triangle* triangles, const PaddedBox* vertexBoxes, const uint8_t* owned,
                 size_t begin, size_t end, BoxBlock* blocks) {
  const F4 d;
  const hn::CappedTag<float, 8> wide;
  alignas(64) float lower[8][4], upper[8][4];
  const auto infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  const auto put = [&](int row, hn::Vec<F4> low, hn::Vec<F4> high, float hidden) HWY_ATTR {
    const auto hide = hn::Set(d, hidden);
    hn::Store(hn::Max(low, hide), d, lower[row]);
    hn::Store(hn::Min(high, hn::Neg(hide)), d, upper[row]);
  };
  const auto transpose = [&](const float(*rows)[4], float(*columns)[kBlockLanes]) HWY_ATTR {
    for (size_t k = 0; k < 8; k += hn::Lanes(wide)) {
      hn::Vec<decltype(wide)> x, y, z, unused;
      hn::LoadInterleaved4(wide, rows[k], x, y, z, unused);
      hn::Store(x, wide, columns[0] + k);
      hn::Store(y, wide, columns[1] + k);
      hn::Store(z, wide, columns[2] + k);
    }
  };
  hn::Store(infinity, d, lower[7]);
  hn::Store(hn::Neg(infinity), d, upper[7]);
  for (size_t t = begin; t < end; ++t) {
    const PaddedBox &a = vertexBoxes[triangles[t][0]], &b = vertexBoxes[triangles[t][1]],
                    &c = vertexBoxes[triangles[t][2]];
    const auto lowA = hn::Load(d, a.lower), lowB = hn::Load(d, b.lower), lowC = hn::Load(d, c.lower);
    const auto highA = hn::Load(d, a.upper), highB = hn::Load(d, b.upper), highC = hn::Load(d, c.upper);
    const auto lowAB = hn::Min(lowA, lowB), highAB = hn::Max(highA, highB);
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const auto hidden = [&](int bit) { return owned[t] >> bit & 1 ? -kInfinity : kInfinity; };
    put(0, lowAB, highAB, hidden(3));
    put(1, hn::Min(lowB, lowC), hn::Max(highB, highC), hidden(4));
    put(2, hn::Min(lowC, lowA), hn::Max(highC, highA), hidden(5));
    put(3, lowA, highA, hidden(0));
    put(4, lowB, highB, hidden(1));
    put(5, lowC, highC, hidden(2));
    put(6, hn::Min(lowAB, lowC), hn::Max(highAB, highC), -kInfinity);
    transpose(lower, blocks[t].lower);
    transpose(upper, blocks[t].upper);
  }
}

#if HWY_MAX_BYTES >= 32
using F8 = hn::FixedTag<float, 8>;
using I8 = hn::RebindToSigned<F8>;

HWY_INLINE hn::Mask<F8> rowsOverlap(const float* lowerA, const float* upperA, const float* lowerB,
                                    const float* upperB,
                                    decltype(hn::SetTableIndices(F8(), kRounds.first[0])) first,
                                    decltype(hn::SetTableIndices(F8(), kRounds.first[0])) second) {
  const F8 d;
  return hn::And(hn::Le(hn::TableLookupLanes(hn::Load(d, lowerA), first),
                        hn::TableLookupLanes(hn::Load(d, upperB), second)),
                 hn::Le(hn::TableLookupLanes(hn::Load(d, lowerB), second),
                        hn::TableLookupLanes(hn::Load(d, upperA), first)));
}

void EqualCorners(const PaddedTriangle* triangles, const PrimitivePair* pairs, size_t count,
                  uint16_t* patterns) {
  const I8 d;
  const auto first = hn::SetTableIndices(d, kRounds.first[0]),
             second = hn::SetTableIndices(d, kRounds.second[0]);
  for (size_t i = 0; i < count; ++i) {
    const PaddedTriangle &x = triangles[pairs[i].a], &y = triangles[pairs[i].b];
    const auto a = hn::TableLookupLanes(hn::LoadDup128(d, reinterpret_cast<const int32_t*>(x.corner)), first);
    const auto b =
        hn::TableLookupLanes(hn::LoadDup128(d, reinterpret_cast<const int32_t*>(y.corner)), second);
    uint8_t bits[8] = {};
    hn::StoreMaskBits(d, hn::Eq(a, b), bits);
    patterns[i] = static_cast<uint16_t>(bits[0] | uint32_t(x.corner[2] == y.corner[2]) << 8);
  }
}

void OverlappingFeatures(const BoxBlock* a, const BoxBlock* b, const PrimitivePair* pairs, size_t count,
                         uint16_t* masks) {
  const F8 d;
  const auto first0 = hn::SetTableIndices(d, kRounds.first[0]),
             first1 = hn::SetTableIndices(d, kRounds.first[1]);
  const auto second0 = hn::SetTableIndices(d, kRounds.second[0]),
             second1 = hn::SetTableIndices(d, kRounds.second[1]);
  for (size_t i = 0; i < count; ++i) {
    const BoxBlock &x = a[pairs[i].a], &y = b[pairs[i].b];
    const auto round = [&](auto first, auto second) HWY_ATTR {
      const auto mask =
          hn::And(hn::And(rowsOverlap(x.lower[0], x.upper[0], y.lower[0], y.upper[0], first, second),
                          rowsOverlap(x.lower[1], x.upper[1], y.lower[1], y.upper[1], first, second)),
                  rowsOverlap(x.lower[2], x.upper[2], y.lower[2], y.upper[2], first, second));
      uint8_t bits[8] = {};
      hn::StoreMaskBits(d, mask, bits);
      return uint32_t(bits[0]);
    };
    masks[i] = static_cast<uint16_t>(round(first0, second0) | round(first1, second1) << 8);
  }
}
#else
void EqualCorners(const PaddedTriangle* triangles, const PrimitivePair* pairs, size_t count,
                  uint16_t* patterns) {
  for (size_t i = 0; i < count; ++i) {
    const PaddedTriangle &x = triangles[pairs[i].a], &y = triangles[pairs[i].b];
    uint32_t pattern = 0;
    for (uint32_t bit = 0; bit < 9; ++bit) pattern |= uint32_t(x.corner[bit / 3] == y.corner[bit % 3]) << bit;
    patterns[i] = static_cast<uint16_t>(pattern);
  }
}

void OverlappingFeatures(const BoxBlock* a, const BoxBlock* b, const PrimitivePair* pairs, size_t count,
                         uint16_t* masks) {
  for (size_t i = 0; i < count; ++i) {
    const BoxBlock &x = a[pairs[i].a], &y = b[pairs[i].b];
    uint32_t mask = 0;
    for (uint32_t test = 0; test < 16; ++test) {
      const int32_t p = kRounds.first[test / 8][test % 8], q = kRounds.second[test / 8][test % 8];
      bool overlap = true;
      for (int axis = 0; axis < 3; ++axis)
        overlap &= (x.lower[axis][p] <= y.upper[axis][q]) & (y.lower[axis][q] <= x.upper[axis][p]);
      mask |= uint32_t(overlap) << test;
    }
    masks[i] = static_cast<uint16_t>(mask);
  }
}
#endif

}  // namespace sunder::spatial::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sunder::spatial::kernels {

HWY_EXPORT(BoxFeatures);
HWY_EXPORT(EqualCorners);
HWY_EXPORT(OverlappingFeatures);

void equalCorners(const PaddedTriangle* triangles, const PrimitivePair* pairs, size_t count,
                  uint16_t* patterns) {
  HWY_DYNAMIC_DISPATCH(EqualCorners)(triangles, pairs, count, patterns);
}

void overlappingFeatures(const BoxBlock* a, const BoxBlock* b, const PrimitivePair* pairs, size_t count,
                         uint16_t* masks) {
  HWY_DYNAMIC_DISPATCH(OverlappingFeatures)(a, b, pairs, count, masks);
}

void boxFeatures(const geometry::Triangle* triangles, const PaddedBox* vertexBoxes, const uint8_t* owned,
                 size_t begin, size_t end, BoxBlock* blocks) {
  HWY_DYNAMIC_DISPATCH(BoxFeatures)(triangles, vertexBoxes, owned, begin, end, blocks);
}

}  // namespace sunder::spatial::kernels
#endif
