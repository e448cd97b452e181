#include "sunder/fluid/boundary/density_map_kernel.h"

#include "sunder/fluid/boundary/serendipity.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sunder/fluid/boundary/density_map_kernel.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per target
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sunder::fluid::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using F8 = hn::CappedTag<float, 8>;
using F4 = hn::FixedTag<float, 4>;
using V8 = hn::Vec<F8>;  // eight nodes, or half of them
using V4 = hn::Vec<F4>;
constexpr size_t kLanes = hn::MaxLanes(F8());
static_assert(kLanes == 4 || kLanes == 8);
constexpr size_t kBlock = 64;     // points at a time
constexpr float kBorder = 1e-3f;  // cells: points on the border are inside, whatever rounding says

// What the formulas need of a point, one row for each number: coordinates in the cell, and of each axis
// A0 +- A1 = 9/64 (1 - t^2)(1 +- 3t) with the derivatives of both; of the corners (9 |.|^2 - 19) / 64.
enum Number { kX, kY, kZ, kBubble, kA0, kA1 = kA0 + 3, kSlope0 = kA1 + 3, kSlope1 = kSlope0 + 3 };
constexpr size_t kNumbers = kSlope1 + 3;

// For the faces' functions, rows of four with anything in the last: coordinates, and with B = 1 - t^2 the
// products (By Bz, Bz Bx, Bx By), and B itself.
enum FaceRow { kFaceT, kFaceProduct, kFaceB };

struct Scratch {
  alignas(64) float faces[3][4 * kBlock];
  alignas(64) float numbers[kNumbers][kBlock];
  alignas(64) int32_t cells[kBlock];  // -1 outside
  const float* nodes[kBlock];
  uint32_t kept[kBlock + 3], deep[kBlock];
  int32_t deepCodes[kBlock];
  size_t keptCount, deepCount;
};

// A full block of points. Lists those in kept cells and those in deep ones.
HWY_INLINE void place(const MapView& map, const float* points, Scratch& s) {
  const F8 d;
  const hn::RebindToSigned<F8> di;
  const V8 one = hn::Set(d, 1.0f), nine64 = hn::Set(d, 9.0f / 64), three = hn::Set(d, 3.0f);
  for (size_t i = 0; i < kBlock; i += kLanes) {
    V8 p[3], unused;
    hn::LoadInterleaved4(d, points + 4 * i, p[0], p[1], p[2], unused);
    V8 squares = hn::Zero(d), t[3], bump[3];
    auto inside = hn::Eq(one, one);
    for (size_t a = 0; a < 3; ++a) {
      p[a] = hn::Mul(hn::Sub(p[a], hn::Set(d, map.lower[a])), hn::Set(d, map.perCell));
      const V8 end = hn::Set(d, static_cast<float>(map.cells[a]) + kBorder);
      inside = hn::And(inside, hn::And(hn::Ge(p[a], hn::Set(d, -kBorder)), hn::Le(p[a], end)));
    }
    auto cell = hn::Zero(di);
    for (size_t a = 3; a-- > 0;) {
      const V8 u = hn::IfThenElseZero(inside, p[a]);
      const V8 most = hn::Set(d, static_cast<float>(map.cells[a] - 1));
      const V8 first = hn::Min(hn::Max(hn::Floor(u), hn::Zero(d)), most);
      cell = hn::Add(hn::Mul(cell, hn::Set(di, map.cells[a])), hn::ConvertTo(di, first));
      const V8 fraction = hn::Sub(u, first);
      t[a] = hn::Sub(hn::Add(fraction, fraction), one);
      const V8 tt = hn::Mul(t[a], t[a]);
      bump[a] = hn::Sub(one, tt);
      const V8 a0 = hn::Mul(nine64, bump[a]);
      squares = hn::Add(squares, tt);
      hn::Store(t[a], d, s.numbers[kX + a] + i);
      hn::Store(a0, d, s.numbers[kA0 + a] + i);
      hn::Store(hn::Mul(hn::Mul(three, t[a]), a0), d, s.numbers[kA1 + a] + i);
      hn::Store(hn::Mul(hn::Set(d, -18.0f / 64), t[a]), d, s.numbers[kSlope0 + a] + i);
      hn::Store(hn::Sub(hn::Set(d, 27.0f / 64), hn::Mul(hn::Set(d, 81.0f / 64), tt)), d,
                s.numbers[kSlope1 + a] + i);
    }
    hn::StoreInterleaved4(t[0], t[1], t[2], one, d, s.faces[kFaceT] + 4 * i);
    hn::StoreInterleaved4(hn::Mul(bump[1], bump[2]), hn::Mul(bump[2], bump[0]), hn::Mul(bump[0], bump[1]),
                          one, d, s.faces[kFaceProduct] + 4 * i);
    hn::StoreInterleaved4(bump[0], bump[1], bump[2], one, d, s.faces[kFaceB] + 4 * i);
    hn::Store(hn::Sub(hn::Mul(nine64, squares), hn::Set(d, 19.0f / 64)), d, s.numbers[kBubble] + i);
    const auto outside = hn::Not(hn::VecFromMask(di, hn::RebindMask(di, inside)));
    hn::Store(hn::Or(cell, outside), di, s.cells + i);
  }
  s.keptCount = s.deepCount = 0;
  for (size_t i = 0; i < kBlock; ++i) {
    const int32_t code = s.cells[i] < 0 ? kNothing : map.codes[s.cells[i]];
    const float* nodes = map.nodes + kCellValues * static_cast<size_t>(std::max(code, 0));
    __builtin_prefetch(nodes);
    __builtin_prefetch(nodes + 16);
    __builtin_prefetch(nodes + 32);
    s.nodes[s.keptCount] = nodes;
    s.kept[s.keptCount] = static_cast<uint32_t>(i);
    s.keptCount += code >= 0;
    s.deep[s.deepCount] = static_cast<uint32_t>(i);
    s.deepCodes[s.deepCount] = kDeep - code;
    s.deepCount += code <= kDeep;
  }
}

// Minus on the lower side of the axis, for the lanes of one part of the eight nodes.
struct Signs {
  V8 x, y, z;
  HWY_INLINE explicit Signs(size_t part) {
    alignas(32) static constexpr uint32_t kLower[3][8] = {
        {1u << 31, 0, 1u << 31, 0, 1u << 31, 0, 1u << 31, 0},
        {1u << 31, 1u << 31, 0, 0, 1u << 31, 1u << 31, 0, 0},
        {1u << 31, 1u << 31, 1u << 31, 1u << 31, 0, 0, 0, 0}};
    const F8 d;
    const hn::RebindToUnsigned<F8> du;
    x = hn::BitCast(d, hn::Load(du, kLower[0] + part * kLanes));
    y = hn::BitCast(d, hn::Load(du, kLower[1] + part * kLanes));
    z = hn::BitCast(d, hn::Load(du, kLower[2] + part * kLanes));
  }
};

struct Sample {
  V8 x, y, z, value;
};

// The terms of eight nodes of each group (or of four). With X = 1 +- x and a = A0 +- A1 of the axes:
//   value = Z P + X Y c Ez,   P = Y U + X b Ey,   U = X q C + a Ex
// where C are the corners' values, q the bubble, E those of the edges.
template <bool kGradient>
HWY_INLINE Sample terms(const Scratch& s, size_t i, const float* nodes, size_t part, const Signs& sign) {
  const F8 d;
  const auto number = [&](size_t which) HWY_ATTR { return hn::Set(d, s.numbers[which][i]); };
  const auto either = [&](size_t even, size_t odd, V8 signs)
                          HWY_ATTR { return hn::Add(number(even), hn::Xor(number(odd), signs)); };
  const V8 one = hn::Set(d, 1.0f);
  const V8 corner = hn::Load(d, nodes + part * kLanes), ex = hn::Load(d, nodes + 8 + part * kLanes);
  const V8 ey = hn::Load(d, nodes + 16 + part * kLanes), ez = hn::Load(d, nodes + 24 + part * kLanes);
  const V8 x = hn::Add(one, hn::Xor(number(kX), sign.x)), y = hn::Add(one, hn::Xor(number(kY), sign.y));
  const V8 z = hn::Add(one, hn::Xor(number(kZ), sign.z));
  const V8 a = either(kA0, kA1, sign.x), b = either(kA0 + 1, kA1 + 1, sign.y);
  const V8 c = either(kA0 + 2, kA1 + 2, sign.z);
  const V8 qc = hn::Mul(number(kBubble), corner);
  const V8 u = hn::Add(hn::Mul(x, qc), hn::Mul(a, ex));
  const V8 xey = hn::Mul(x, ey), xez = hn::Mul(x, ez), xyez = hn::Mul(y, xez);
  const V8 p = hn::Add(hn::Mul(y, u), hn::Mul(b, xey));
  Sample out;
  out.value = hn::Add(hn::Mul(z, p), hn::Mul(c, xyez));
  if constexpr (kGradient) {
    // The bubble's derivative is minus the slope of A0.
    const V8 xc = hn::Mul(x, corner), xyc = hn::Mul(y, xc);
    const V8 ux = hn::Add(hn::Sub(hn::Xor(qc, sign.x), hn::Mul(number(kSlope0), xc)),
                          hn::Mul(either(kSlope0, kSlope1, sign.x), ex));
    const V8 px = hn::Add(hn::Mul(y, ux), hn::Mul(b, hn::Xor(ey, sign.x)));
    out.x = hn::Add(hn::Mul(z, px), hn::Mul(c, hn::Xor(hn::Mul(y, ez), sign.x)));
    const V8 py = hn::Add(hn::Sub(hn::Xor(u, sign.y), hn::Mul(number(kSlope0 + 1), xyc)),
                          hn::Mul(either(kSlope0 + 1, kSlope1 + 1, sign.y), xey));
    out.y = hn::Add(hn::Mul(z, py), hn::Mul(c, hn::Xor(xez, sign.y)));
    out.z = hn::Add(hn::Sub(hn::Xor(p, sign.z), hn::Mul(z, hn::Mul(number(kSlope0 + 2), xyc))),
                    hn::Mul(either(kSlope0 + 2, kSlope1 + 2, sign.z), xyez));
  }
  return out;
}

// Eight lanes to four, lane k with lane k + 4.
template <class V>
HWY_INLINE V4 fold(V first, V second) {
  if constexpr (hn::MaxLanes(hn::DFromV<V>()) == 8) {
    const hn::Half<F8> half;
    return hn::Add(hn::LowerHalf(half, first), hn::UpperHalf(half, first));
  } else {
    return hn::Add(first, second);
  }
}

// The sums of four vectors, each (0 + 2) + (1 + 3).
HWY_INLINE V4 sums(V4 a, V4 b, V4 c, V4 e) {
  const F4 d;
  const V4 ab = hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
  const V4 ce = hn::Add(hn::InterleaveLower(d, c, e), hn::InterleaveUpper(d, c, e));
  return hn::Add(hn::ConcatLowerLower(d, ce, ab), hn::ConcatUpperUpper(d, ce, ab));
}

HWY_INLINE float deepValue(const MapView& map, const Scratch& s, size_t n) {
  const float* deep = map.deep + 4 * static_cast<size_t>(s.deepCodes[n]);
  const size_t i = s.deep[n];
  const float half = 0.5f * map.cell;
  return deep[3] +
         half * (deep[0] * s.numbers[kX][i] + deep[1] * s.numbers[kY][i] + deep[2] * s.numbers[kZ][i]);
}

struct FaceSample {
  V4 gradient, value;  // (x, y, z, 0), and terms to add up
};

// With L = mean + t difference of the factors across each axis: value By Bz Lx + ..., and along x
// By Bz dLx - 2x (By Lz + Bz Ly).
template <bool kGradient>
HWY_INLINE FaceSample faceTerms(const Scratch& s, size_t i, const float* nodes) {
  const F4 d;
  alignas(16) static constexpr int32_t kNext[4] = {1, 2, 0, 3}, kAfter[4] = {2, 0, 1, 3};
  const V4 t = hn::Load(d, s.faces[kFaceT] + 4 * i), product = hn::Load(d, s.faces[kFaceProduct] + 4 * i);
  const V4 mean = hn::Load(d, nodes + 32), difference = hn::Load(d, nodes + 36);
  const V4 factor = hn::Add(mean, hn::Mul(t, difference));
  FaceSample out;
  out.value = hn::Mul(product, factor);
  if constexpr (kGradient) {
    const V4 b = hn::Load(d, s.faces[kFaceB] + 4 * i);
    const auto next = hn::SetTableIndices(d, kNext), after = hn::SetTableIndices(d, kAfter);
    const V4 cross = hn::Add(hn::Mul(hn::TableLookupLanes(b, next), hn::TableLookupLanes(factor, after)),
                             hn::Mul(hn::TableLookupLanes(b, after), hn::TableLookupLanes(factor, next)));
    out.gradient = hn::Sub(hn::Mul(product, difference), hn::Mul(hn::Add(t, t), cross));
  }
  return out;
}

// out: a full block of rows of four.
HWY_INLINE void blockSamples(const MapView& map, const float* points, Scratch& s, float* out) {
  const F4 d;
  place(map, points, s);
  for (size_t i = 0; i < kBlock; ++i) hn::StoreU(hn::Zero(d), d, out + 4 * i);
  const float chain = 2 * map.perCell;  // cells have edge 2 in their own coordinates
  alignas(16) const float factors[4] = {chain, chain, chain, 1.0f};
  const V4 scale = hn::Load(d, factors);
  const Signs signs(0), upperSigns(kLanes == 8 ? 0 : 1);
  for (size_t n = 0; n < s.keptCount; ++n) {
    const size_t i = s.kept[n];
    const Sample f = terms<true>(s, i, s.nodes[n], 0, signs);
    Sample g = f;
    if constexpr (kLanes == 4) g = terms<true>(s, i, s.nodes[n], 1, upperSigns);
    const FaceSample faces = faceTerms<true>(s, i, s.nodes[n]);
    const V4 sum =
        sums(fold(f.x, g.x), fold(f.y, g.y), fold(f.z, g.z), hn::Add(fold(f.value, g.value), faces.value));
    // The factors of the faces end with zeros, so the value's lane stays.
    hn::StoreU(hn::Mul(hn::Add(sum, faces.gradient), scale), d, out + 4 * i);
  }
  for (size_t n = 0; n < s.deepCount; ++n) {
    const float* deep = map.deep + 4 * static_cast<size_t>(s.deepCodes[n]);
    float* to = out + 4 * s.deep[n];
    std::copy_n(deep, 3, to);
    to[3] = deepValue(map, s, n);
  }
}

HWY_INLINE void blockValues(const MapView& map, const float* points, Scratch& s, float* out) {
  const F4 d;
  place(map, points, s);
  std::fill_n(out, kBlock, 0.0f);
  const Signs signs(0), upperSigns(kLanes == 8 ? 0 : 1);
  const auto value = [&](size_t n) HWY_ATTR {
    const size_t i = s.kept[n];
    const V8 f = terms<false>(s, i, s.nodes[n], 0, signs).value;
    V8 g = f;
    if constexpr (kLanes == 4) g = terms<false>(s, i, s.nodes[n], 1, upperSigns).value;
    return hn::Add(fold(f, g), faceTerms<false>(s, i, s.nodes[n]).value);
  };
  for (size_t n = 0; n < s.keptCount; n += 4) {
    const size_t last = s.keptCount - 1;
    alignas(16) float four[4];
    hn::Store(sums(value(n), value(std::min(n + 1, last)), value(std::min(n + 2, last)),
                   value(std::min(n + 3, last))),
              d, four);
    for (size_t k = 0; k < 4 && n + k <= last; ++k) out[s.kept[n + k]] = four[k];
  }
  for (size_t n = 0; n < s.deepCount; ++n) out[s.deep[n]] = deepValue(map, s, n);
}

void MapSamples(const MapView& map, const float* points, size_t count, float* out) {
  Scratch s;
  size_t i = 0;
  for (; i + kBlock <= count; i += kBlock) blockSamples(map, points + 4 * i, s, out + 4 * i);
  if (i == count) return;
  alignas(64) float rest[4 * kBlock] = {}, results[4 * kBlock];
  std::copy_n(points + 4 * i, 4 * (count - i), rest);
  blockSamples(map, rest, s, results);
  std::copy_n(results, 4 * (count - i), out + 4 * i);
}

void MapValues(const MapView& map, const float* points, size_t count, float* out) {
  Scratch s;
  size_t i = 0;
  for (; i + kBlock <= count; i += kBlock) blockValues(map, points + 4 * i, s, out + i);
  if (i == count) return;
  alignas(64) float rest[4 * kBlock] = {}, results[kBlock];
  std::copy_n(points + 4 * i, 4 * (count - i), rest);
  blockValues(map, rest, s, results);
  std::copy_n(results, count - i, out + i);
}

}  // namespace sunder::fluid::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sunder::fluid::kernels {

HWY_EXPORT(MapSamples);
HWY_EXPORT(MapValues);

void mapSamples(const MapView& map, const float* points, size_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(MapSamples)(map, points, count, out);
}

void mapValues(const MapView& map, const float* points, size_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(MapValues)(map, points, count, out);
}

}  // namespace sunder::fluid::kernels
#endif
