#include "sunder/spatial/tree/tree_kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sunder/spatial/tree/tree_kernels.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per target
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sunder::spatial::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using F4 = hn::FixedTag<float, 4>;
using F8 = hn::CappedTag<float, 8>;
using U8 = hn::RebindToUnsigned<F8>;
using D4 = hn::CappedTag<double, 4>;

// What is left of a double after its nearest float, scaled up so that it does not vanish in float.
template <class DF, class V, class VF>
HWY_INLINE auto roundingError(DF df, V value, VF nearest) {
  const hn::Rebind<double, DF> dd;
  return hn::DemoteTo(df, hn::Mul(hn::Sub(value, hn::PromoteTo(dd, nearest)), hn::Set(dd, 0x1p60)));
}

// At least the distance to the next float.
template <class DF, class VF>
HWY_INLINE auto outwardStep(DF df, VF nearest) {
  return hn::Add(hn::Mul(hn::Abs(nearest), hn::Set(df, 0x1p-23f)),
                 hn::Set(df, std::numeric_limits<float>::denorm_min()));
}

// Coordinates as floats not above (kUp = false) or not below (kUp = true) the doubles. A double that float
// holds exactly stays as it is.
template <bool kUp, class DF, class V>
HWY_INLINE auto roundOutwards(DF df, V value) {
  const auto nearest = hn::DemoteTo(df, value);
  const auto error = roundingError(df, value, nearest);
  const auto step = outwardStep(df, nearest);
  const auto zero = hn::Zero(df);
  if constexpr (kUp)
    return hn::Add(nearest, hn::IfThenElseZero(hn::Gt(error, zero), step));
  else
    return hn::Sub(nearest, hn::IfThenElseZero(hn::Lt(error, zero), step));
}

// Box of one point, whose four doubles may reach into the next. `strange` becomes NaN where a coordinate is
// not finite.
template <bool kMoving, class V>
HWY_INLINE void boxPoint(const double* start, const double* finish, double margin, float* lower, float* upper,
                         V& strange) {
  const D4 dd;
  const hn::Rebind<float, D4> df;
  const auto a = hn::LoadU(dd, start);
  if constexpr (kMoving) {
    const auto b = hn::LoadU(dd, finish);
    const auto grow = hn::Set(dd, margin);
    strange = hn::Add(strange, hn::Add(hn::Sub(a, a), hn::Sub(b, b)));
    hn::StoreU(roundOutwards<false>(df, hn::Sub(hn::Min(a, b), grow)), df, lower);
    hn::StoreU(roundOutwards<true>(df, hn::Add(hn::Max(a, b), grow)), df, upper);
  } else {
    strange = hn::Add(strange, hn::Sub(a, a));
    const auto nearest = hn::DemoteTo(df, a);
    const auto error = roundingError(df, a, nearest);
    const auto step = outwardStep(df, nearest);
    const auto zero = hn::Zero(df);
    hn::StoreU(hn::Sub(nearest, hn::IfThenElseZero(hn::Lt(error, zero), step)), df, lower);
    hn::StoreU(hn::Add(nearest, hn::IfThenElseZero(hn::Gt(error, zero), step)), df, upper);
  }
}

template <bool kMoving>
HWY_INLINE bool boxRange(const Vec3* start, const Vec3* finish, size_t count, double margin, PaddedBox* out,
                         PaddedBox& bounds) {
  const F4 d4;
  const D4 dd;
  auto low = hn::Set(d4, std::numeric_limits<float>::infinity());
  auto high = hn::Set(d4, -std::numeric_limits<float>::infinity());
  auto strange = hn::Zero(dd);
  const auto one = [&](const double* a, const double* b, PaddedBox& box) HWY_ATTR {
    for (size_t k = 0; k < 4; k += hn::Lanes(dd))
      boxPoint<kMoving>(a + k, b + k, margin, box.lower + k, box.upper + k, strange);
    low = hn::Min(low, hn::Load(d4, box.lower));
    high = hn::Max(high, hn::Load(d4, box.upper));
  };
  for (size_t i = 0; i + 1 < count; ++i) one(start[i].data(), finish[i].data(), out[i]);
  if (count > 0) {  // the last point has no fourth double behind it
    const Vec3 &p = start[count - 1], &q = finish[count - 1];
    const double a[4] = {p.x(), p.y(), p.z(), 0}, b[4] = {q.x(), q.y(), q.z(), 0};
    one(a, b, out[count - 1]);
  }
  hn::Store(low, d4, bounds.lower);
  hn::Store(high, d4, bounds.upper);
  // Coordinates beyond the range of float are infinite in the bounds.
  bool finite = hn::AllTrue(dd, hn::Eq(strange, strange));
  for (int axis = 0; axis < 3; ++axis)
    finite = finite && std::isfinite(bounds.lower[axis]) && std::isfinite(bounds.upper[axis]);
  return finite || count == 0;
}

bool BoxPoints(const Vec3* start, const Vec3* finish, size_t count, double margin, PaddedBox* out,
               PaddedBox& bounds) {
  return start == finish && margin == 0 ? boxRange<false>(start, finish, count, margin, out, bounds)
                                        : boxRange<true>(start, finish, count, margin, out, bounds);
}

// Ten bits of each lane spread three apart.
template <class V>
HWY_INLINE V spreadTen(V x) {
  const hn::DFromV<V> d;
  x = hn::And(hn::Or(x, hn::ShiftLeft<16>(x)), hn::Set(d, 0x030000FFu));
  x = hn::And(hn::Or(x, hn::ShiftLeft<8>(x)), hn::Set(d, 0x0300F00Fu));
  x = hn::And(hn::Or(x, hn::ShiftLeft<4>(x)), hn::Set(d, 0x030C30C3u));
  return hn::And(hn::Or(x, hn::ShiftLeft<2>(x)), hn::Set(d, 0x09249249u));
}

// Morton codes of eight centres, given as lower + upper, x y z and one unused.
HWY_INLINE void codeEight(const float (*sums)[4], const CodeScale& scale, uint32_t* codes) {
  const F8 df;
  const hn::RebindToSigned<F8> di;
  const U8 du;
  const auto cell = [&](auto v, int axis) {
    v = hn::Mul(hn::Sub(v, hn::Set(df, scale.twiceOrigin[axis])), hn::Set(df, scale.scale[axis]));
    v = hn::Min(hn::Max(v, hn::Zero(df)), hn::Set(df, 1023.0f));
    return spreadTen(hn::BitCast(du, hn::ConvertTo(di, v)));
  };
  for (size_t k = 0; k < 8; k += hn::Lanes(df)) {
    hn::Vec<F8> x, y, z, unused;
    hn::LoadInterleaved4(df, sums[k], x, y, z, unused);
    hn::StoreU(hn::Or(hn::ShiftLeft<2>(cell(x, 0)), hn::Or(hn::ShiftLeft<1>(cell(y, 1)), cell(z, 2))), du,
               codes + k);
  }
}

// Groups of eight are coded one behind: wide loads of what was stored piecewise a moment ago are slow.
template <class BoxOf>
HWY_INLINE void codeRange(size_t begin, size_t end, const CodeScale& scale, uint64_t* words, BoxOf&& sumOf) {
  alignas(64) float sums[2][8][4] = {};
  const auto code = [&](size_t i, size_t turn) HWY_ATTR {
    alignas(32) uint32_t codes[8];
    codeEight(sums[turn], scale, codes);
    for (size_t k = 0; k < std::min<size_t>(8, end - i); ++k)
      words[i + k] = (uint64_t(codes[k]) << 32) | (i + k);
  };
  size_t turn = 0;
  for (size_t i = begin; i < end; i += 8, turn ^= 1) {
    for (size_t k = 0; k < std::min<size_t>(8, end - i); ++k) sumOf(i + k, sums[turn][k]);
    if (i > begin) code(i - 8, turn ^ 1);
  }
  if (begin < end) code(begin + (end - begin - 1) / 8 * 8, turn ^ 1);
}

HWY_INLINE void triangleBox(const geometry::Triangle& t, const PaddedBox* v, hn::Vec<F4>& lower,
                            hn::Vec<F4>& upper) {
  const F4 d4;
  const PaddedBox &a = v[t[0]], &b = v[t[1]], &c = v[t[2]];
  lower = hn::Min(hn::Min(hn::Load(d4, a.lower), hn::Load(d4, b.lower)), hn::Load(d4, c.lower));
  upper = hn::Max(hn::Max(hn::Load(d4, a.upper), hn::Load(d4, b.upper)), hn::Load(d4, c.upper));
}

void BoxTriangles(const geometry::Triangle* triangles, const PaddedBox* vertexBoxes, size_t begin, size_t end,
                  const CodeScale& scale, PaddedBox* boxes, uint64_t* words, PaddedBox& bounds) {
  const F4 d4;
  auto allLower = hn::Set(d4, std::numeric_limits<float>::infinity());
  auto allUpper = hn::Set(d4, -std::numeric_limits<float>::infinity());
  codeRange(begin, end, scale, words, [&](size_t i, float* sum) {
    hn::Vec<F4> lower, upper;
    triangleBox(triangles[i], vertexBoxes, lower, upper);
    hn::Store(lower, d4, boxes[i].lower);
    hn::Store(upper, d4, boxes[i].upper);
    allLower = hn::Min(allLower, lower);
    allUpper = hn::Max(allUpper, upper);
    hn::Store(hn::Add(lower, upper), d4, sum);
  });
  hn::Store(allLower, d4, bounds.lower);
  hn::Store(allUpper, d4, bounds.upper);
}

void CodeBoxes(const PaddedBox* boxes, size_t begin, size_t end, const CodeScale& scale, uint64_t* words) {
  const F4 d4;
  codeRange(begin, end, scale, words, [&](size_t i, float* sum) {
    hn::Store(hn::Add(hn::Load(d4, boxes[i].lower), hn::Load(d4, boxes[i].upper)), d4, sum);
  });
}

// Turns eight boxes, one after the other, into a block.
HWY_INLINE void transposeBoxes(const float (*lower)[4], const float (*upper)[4], BoxBlock& block) {
  const F8 d;
  for (size_t k = 0; k < 8; k += hn::Lanes(d)) {
    hn::Vec<F8> x, y, z, unused;
    hn::LoadInterleaved4(d, lower[k], x, y, z, unused);
    hn::Store(x, d, block.lower[0] + k);
    hn::Store(y, d, block.lower[1] + k);
    hn::Store(z, d, block.lower[2] + k);
    hn::LoadInterleaved4(d, upper[k], x, y, z, unused);
    hn::Store(x, d, block.upper[0] + k);
    hn::Store(y, d, block.upper[1] + k);
    hn::Store(z, d, block.upper[2] + k);
  }
}

// As in codeRange, blocks are transposed one behind.
template <class BoxOf>
HWY_INLINE void fillBlocks(size_t begin, size_t end, BoxBlock* blocks, BoxOf&& boxOf) {
  const F4 d4;
  alignas(64) float lower[2][8][4], upper[2][8][4];
  size_t turn = 0;
  for (size_t i = begin; i < end; i += 8, turn ^= 1) {
    const size_t count = std::min<size_t>(8, end - i);
    for (size_t k = 0; k < count; ++k) {
      hn::Vec<F4> lo, hi;
      boxOf(i + k, lo, hi);
      hn::Store(lo, d4, lower[turn][k]);
      hn::Store(hi, d4, upper[turn][k]);
    }
    for (size_t k = count; k < 8; ++k) {
      hn::Store(hn::Set(d4, std::numeric_limits<float>::infinity()), d4, lower[turn][k]);
      hn::Store(hn::Set(d4, -std::numeric_limits<float>::infinity()), d4, upper[turn][k]);
    }
    if (i > begin) transposeBoxes(lower[turn ^ 1], upper[turn ^ 1], blocks[i / 8 - 1]);
  }
  if (begin < end) transposeBoxes(lower[turn ^ 1], upper[turn ^ 1], blocks[(end - 1) / 8]);
}

constexpr size_t kAhead = 24;  // leaves to prefetch ahead: their boxes lie anywhere

void GatherLeaves(const PaddedBox* boxes, const uint32_t* primitives, size_t begin, size_t end,
                  BoxBlock* blocks) {
  const F4 d4;
  fillBlocks(begin, end, blocks, [&](size_t i, hn::Vec<F4>& lower, hn::Vec<F4>& upper) {
    if (i + kAhead < end) __builtin_prefetch(&boxes[primitives[i + kAhead]]);
    const PaddedBox& box = boxes[primitives[i]];
    lower = hn::Load(d4, box.lower);
    upper = hn::Load(d4, box.upper);
  });
}

void GatherTriangles(const geometry::Triangle* triangles, const PaddedBox* vertexBoxes,
                     const uint32_t* primitives, size_t begin, size_t end, BoxBlock* blocks) {
  fillBlocks(begin, end, blocks, [&](size_t i, hn::Vec<F4>& lower, hn::Vec<F4>& upper) {
    if (i + 2 * kAhead < end) __builtin_prefetch(&triangles[primitives[i + 2 * kAhead]]);
    if (i + kAhead < end) {
      const geometry::Triangle& next = triangles[primitives[i + kAhead]];
      for (uint32_t v : next) __builtin_prefetch(&vertexBoxes[v]);
    }
    triangleBox(triangles[primitives[i]], vertexBoxes, lower, upper);
  });
}

HWY_INLINE float least(const float* row) {
  const F8 d;
  auto m = hn::Load(d, row);
  for (size_t k = hn::Lanes(d); k < 8; k += hn::Lanes(d)) m = hn::Min(m, hn::Load(d, row + k));
  return hn::GetLane(hn::MinOfLanes(d, m));
}

HWY_INLINE float greatest(const float* row) {
  const F8 d;
  auto m = hn::Load(d, row);
  for (size_t k = hn::Lanes(d); k < 8; k += hn::Lanes(d)) m = hn::Max(m, hn::Load(d, row + k));
  return hn::GetLane(hn::MaxOfLanes(d, m));
}

void MergeEight(const BoxBlock* children, size_t begin, size_t end, BoxBlock* parents) {
  for (size_t p = begin; p < end; ++p) {
    BoxBlock& parent = parents[p / 8];
    for (int axis = 0; axis < 3; ++axis) {
      parent.lower[axis][p % 8] = least(children[p].lower[axis]);
      parent.upper[axis][p % 8] = greatest(children[p].upper[axis]);
    }
  }
}

// Row of eight results from the even and odd lanes of the sixteen in two rows.
template <class Join>
HWY_INLINE void joinNeighbours(const float* first, const float* second, float* out, Join join) {
  const F8 d;
  constexpr size_t kRow = 8;
  const size_t lanes = hn::Lanes(d);
  for (size_t k = 0; k < kRow; k += lanes) {
    const size_t at = 2 * k, next = 2 * k + lanes;
    const auto low = hn::Load(d, at < kRow ? first + at : second + (at - kRow));
    const auto high = hn::Load(d, next < kRow ? first + next : second + (next - kRow));
    hn::Store(join(hn::ConcatEven(d, high, low), hn::ConcatOdd(d, high, low)), d, out + k);
  }
}

void MergeTwo(const BoxBlock* children, size_t childBlocks, size_t begin, size_t end, BoxBlock* parents) {
  BoxBlock none;
  none.clear();
  for (size_t q = begin / 8; q < (end + 7) / 8; ++q) {
    const BoxBlock& first = children[2 * q];
    const BoxBlock& second = 2 * q + 1 < childBlocks ? children[2 * q + 1] : none;
    for (int axis = 0; axis < 3; ++axis) {
      joinNeighbours(first.lower[axis], second.lower[axis], parents[q].lower[axis],
                     [](auto a, auto b) { return hn::Min(a, b); });
      joinNeighbours(first.upper[axis], second.upper[axis], parents[q].upper[axis],
                     [](auto a, auto b) { return hn::Max(a, b); });
    }
  }
}

}  // namespace sunder::spatial::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sunder::spatial::kernels {

HWY_EXPORT(BoxPoints);
HWY_EXPORT(BoxTriangles);
HWY_EXPORT(CodeBoxes);
HWY_EXPORT(GatherLeaves);
HWY_EXPORT(GatherTriangles);
HWY_EXPORT(MergeEight);
HWY_EXPORT(MergeTwo);

bool boxPoints(const Vec3* start, const Vec3* finish, size_t count, double margin, PaddedBox* out,
               PaddedBox& bounds) {
  return HWY_DYNAMIC_DISPATCH(BoxPoints)(start, finish, count, margin, out, bounds);
}

CodeScale codeScale(const PaddedBox& bounds, bool commonScale, unsigned bitsPerAxis) {
  CodeScale result{};
  float extent[3], largest = 0;
  for (int axis = 0; axis < 3; ++axis) {
    result.twiceOrigin[axis] = 2 * bounds.lower[axis];
    extent[axis] = bounds.upper[axis] - bounds.lower[axis];
    largest = std::max(largest, extent[axis]);
  }
  const float cells = std::ldexp(0.5f, static_cast<int>(bitsPerAxis));  // half, as centres come doubled
  for (int axis = 0; axis < 3; ++axis) {
    const float e = commonScale ? largest : extent[axis];
    const float scale = cells / e;
    result.scale[axis] = e > 0 && std::isfinite(scale) ? scale : 0.0f;
  }
  return result;
}

void boxTriangles(const geometry::Triangle* triangles, const PaddedBox* vertexBoxes, size_t begin, size_t end,
                  const CodeScale& scale, PaddedBox* boxes, uint64_t* words, PaddedBox& bounds) {
  HWY_DYNAMIC_DISPATCH(BoxTriangles)(triangles, vertexBoxes, begin, end, scale, boxes, words, bounds);
}

void codeBoxes(const PaddedBox* boxes, size_t begin, size_t end, const CodeScale& scale, uint64_t* words) {
  HWY_DYNAMIC_DISPATCH(CodeBoxes)(boxes, begin, end, scale, words);
}

void gatherLeaves(const PaddedBox* boxes, const uint32_t* primitives, size_t begin, size_t end,
                  BoxBlock* blocks) {
  HWY_DYNAMIC_DISPATCH(GatherLeaves)(boxes, primitives, begin, end, blocks);
}

void gatherTriangles(const geometry::Triangle* triangles, const PaddedBox* vertexBoxes,
                     const uint32_t* primitives, size_t begin, size_t end, BoxBlock* blocks) {
  HWY_DYNAMIC_DISPATCH(GatherTriangles)(triangles, vertexBoxes, primitives, begin, end, blocks);
}

void mergeEight(const BoxBlock* children, size_t begin, size_t end, BoxBlock* parents) {
  HWY_DYNAMIC_DISPATCH(MergeEight)(children, begin, end, parents);
}

void mergeTwo(const BoxBlock* children, size_t childBlocks, size_t begin, size_t end, BoxBlock* parents) {
  HWY_DYNAMIC_DISPATCH(MergeTwo)(children, childBlocks, begin, end, parents);
}

}  // namespace sunder::spatial::kernels
#endif
