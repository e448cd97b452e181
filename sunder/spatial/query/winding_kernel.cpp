#include "sunder/spatial/query/winding_kernel.h"

#include "sunder/base/math.h"
#include "sunder/spatial/query/float_point.h"

#include <algorithm>
#include <bit>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sunder/spatial/query/winding_kernel.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per target
#include <hwy/highway.h>

// clang-format off: has to come after the loop over targets
#include "sunder/base/lanes_inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace sunder::spatial::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using F8 = hn::CappedTag<float, 8>;
using D4 = hn::CappedTag<double, 4>;
using V = hn::Vec<F8>;
using W = hn::Vec<D4>;
constexpr size_t kLanes = hn::MaxLanes(F8());
constexpr size_t kWideLanes = hn::MaxLanes(D4());

using W3 = lanes::HWY_NAMESPACE::Lanes3<W>;

// Sums of angles without an arc tangent for each: angles are complex numbers that are multiplied, and whole
// turns are counted when a product passes the negative real axis. Eight sums side by side on every target.
// Numbers of the two signs never cancel in a product near that axis, so rounding cannot miscount.
struct AngleSums {
  alignas(64) double re[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  alignas(64) double im[8] = {};
  alignas(64) double turns[8] = {};
  uint32_t steps = 0;

  // Half the solid angles of eight triangles.
  HWY_INLINE void add(const PlainTriangle* triangles, D3 point) {
    const D4 d;
    const hn::RebindToSigned<D4> di;
    constexpr int64_t kStride = sizeof(PlainTriangle) / sizeof(double);
    const auto* base = reinterpret_cast<const double*>(triangles);
    alignas(64) static constexpr int64_t kRows[8] = {0,           kStride,     2 * kStride, 3 * kStride,
                                                     4 * kStride, 5 * kStride, 6 * kStride, 7 * kStride};
    const W3 p{hn::Set(d, point.x), hn::Set(d, point.y), hn::Set(d, point.z)};
    for (size_t k = 0; k < 8; k += kWideLanes) {
      const auto rows = hn::Load(di, kRows + k);
      const auto corner = [&](size_t i) HWY_ATTR {
        return W3{hn::GatherIndex(d, base + 3 * i, rows), hn::GatherIndex(d, base + 3 * i + 1, rows),
                  hn::GatherIndex(d, base + 3 * i + 2, rows)};
      };
      const W3 cornerA = corner(0), cornerB = corner(1), cornerC = corner(2);
      const W3 a = cornerA - p, b = cornerB - p, c = cornerC - p;
      const W3 ab = cornerB - cornerA, ac = cornerC - cornerA;
      const W la = hn::Sqrt(dot(a, a)), lb = hn::Sqrt(dot(b, b)), lc = hn::Sqrt(dot(c, c));
      const W volume = dot(a, cross(ab, ac));
      const W rest = hn::Add(hn::Add(hn::Mul(hn::Mul(la, lb), lc), hn::Mul(dot(a, b), lc)),
                             hn::Add(hn::Mul(dot(b, c), la), hn::Mul(dot(c, a), lb)));
      // A point in the triangle's plane sees nothing of it, also where it lies on the triangle.
      const W zero = hn::Zero(d), one = hn::Set(d, 1.0);
      const auto flat = hn::Eq(volume, zero);
      const W scale = hn::Div(one, hn::Add(hn::Abs(volume), hn::Abs(rest)));
      const W zre = hn::IfThenElse(flat, one, hn::Mul(rest, scale));
      const W zim = hn::IfThenElse(flat, zero, hn::Mul(volume, scale));
      const W oldRe = hn::Load(d, re + k), oldIm = hn::Load(d, im + k);
      const W newRe = hn::Sub(hn::Mul(oldRe, zre), hn::Mul(oldIm, zim));
      const W newIm = hn::Add(hn::Mul(oldRe, zim), hn::Mul(oldIm, zre));
      const auto up = hn::And(hn::And(hn::Ge(oldIm, zero), hn::Gt(zim, zero)), hn::Lt(newIm, zero));
      const auto down = hn::And(hn::And(hn::Lt(oldIm, zero), hn::Lt(zim, zero)), hn::Ge(newIm, zero));
      hn::Store(newRe, d, re + k);
      hn::Store(newIm, d, im + k);
      hn::Store(hn::Sub(hn::Add(hn::Load(d, turns + k), hn::IfThenElseZero(up, one)),
                        hn::IfThenElseZero(down, one)),
                d, turns + k);
    }
    if (++steps % 256 == 0) normalise();  // each step may shrink the product by a square root of two
  }
  void add(const PlainTriangle* triangles, size_t count, D3 point) {
    if (count == 8) {
      add(triangles, point);
      return;
    }
    PlainTriangle padded[8];
    for (size_t i = 0; i < 8; ++i)
      padded[i] = i < count ? triangles[i] : PlainTriangle{{point, point, point}};
    add(padded, point);
  }
  void normalise() {
    for (int i = 0; i < 8; ++i) {
      const double size = std::max(std::abs(re[i]), std::abs(im[i]));
      re[i] /= size;
      im[i] /= size;
    }
  }
  // Over 2 pi, which makes it the winding number.
  double sum() const {
    double angle = 0, whole = 0;
    for (int i = 0; i < 8; ++i) {
      angle += std::atan2(im[i] + 0.0, re[i]);
      whole += turns[i];
    }
    return angle / (2 * kPi) + whole;
  }
};

double Exact(const PlainTriangle* triangles, size_t count, D3 point) {
  AngleSums sums;
  for (size_t i = 0; i < count; i += 8) sums.add(triangles + i, std::min<size_t>(8, count - i), point);
  return sums.sum();
}

// Far fields of eight clusters, times 4 pi; returns which are far enough.
HWY_INLINE uint32_t farFields(const DipoleBlock& block, const float* high, const float* low, float beta,
                              float* out) {
  const F8 d;
  uint32_t bits = 0;
  for (size_t k = 0; k < 8; k += kLanes) {
    const auto load = [&](const float* row) HWY_ATTR { return hn::Load(d, row + k); };
    const auto times = [](V a, V b) HWY_ATTR { return hn::Mul(a, b); };
    const auto plus = [](V a, V b) HWY_ATTR { return hn::Add(a, b); };
    const auto inverse = load(block.inverseRadius);
    const auto offset = [&](int axis) HWY_ATTR {
      const auto rough = hn::Sub(load(block.centre[axis]), hn::Set(d, high[axis]));
      return hn::Mul(hn::Sub(rough, hn::Set(d, low[axis])), inverse);
    };
    const V x = offset(0), y = offset(1), z = offset(2);
    const V xx = times(x, x), yy = times(y, y), zz = times(z, z);
    const V r2 = plus(plus(xx, yy), zz);
    const V i2 = hn::Div(hn::Set(d, 1.0f), r2);
    const V i3 = hn::Mul(i2, hn::Sqrt(i2));
    const V trace = plus(plus(load(block.second[0]), load(block.second[1])), load(block.second[2]));
    const V dipole = plus(plus(plus(times(load(block.first[0]), x), times(load(block.first[1]), y)),
                               times(load(block.first[2]), z)),
                          trace);
    // second : r r
    const V mixed =
        plus(plus(times(load(block.second[3]), times(x, y)), times(load(block.second[4]), times(y, z))),
             times(load(block.second[5]), times(z, x)));
    const V quadratic = plus(plus(plus(times(load(block.second[0]), xx), times(load(block.second[1]), yy)),
                                  times(load(block.second[2]), zz)),
                             plus(mixed, mixed));
    // third : r r r, and its trace . r
    const V xxx = load(block.third[0]), yyy = load(block.third[1]), zzz = load(block.third[2]);
    const V xxy = load(block.third[3]), xxz = load(block.third[4]), yyx = load(block.third[5]);
    const V yyz = load(block.third[6]), zzx = load(block.third[7]), zzy = load(block.third[8]);
    const V threes = plus(
        plus(times(xx, plus(times(xxy, y), times(xxz, z))), times(yy, plus(times(yyx, x), times(yyz, z)))),
        times(zz, plus(times(zzx, x), times(zzy, y))));
    const V sixes = times(load(block.third[9]), times(x, times(y, z)));
    const V cubic =
        plus(plus(plus(times(xxx, times(xx, x)), times(yyy, times(yy, y))), times(zzz, times(zz, z))),
             plus(times(hn::Set(d, 3.0f), threes), times(hn::Set(d, 6.0f), sixes)));
    const V traces = plus(plus(times(plus(plus(xxx, yyx), zzx), x), times(plus(plus(yyy, xxy), zzy), y)),
                          times(plus(plus(zzz, xxz), yyz), z));
    const V fifth = plus(times(hn::Set(d, 3.0f), quadratic), times(hn::Set(d, 4.5f), traces));
    const V field = times(
        i3, hn::Add(hn::Sub(dipole, times(i2, fifth)), times(times(i2, i2), times(hn::Set(d, 7.5f), cubic))));
    const auto far = hn::Gt(r2, hn::Set(d, (1 + beta) * (1 + beta)));
    // Beyond the range of float a cluster is too far to count.
    const auto countable = hn::And(far, hn::Lt(r2, hn::Set(d, 1e12f)));
    hn::Store(hn::IfThenElseZero(countable, field), d, out + k);
    uint8_t mask[8] = {};
    hn::StoreMaskBits(d, far, mask);
    bits |= uint32_t(mask[0]) << k;
  }
  return bits;
}

double Fast(const WindingView& view, D3 point, double beta) {
  const OiTree& tree = *view.mesh.tree;
  if (tree.empty()) return 0;
  const OiLayout& layout = tree.layout();
  const uint32_t leafLevel = layout.leafLevel();
  AngleSums near;
  if (leafLevel == 0) {
    near.add(view.mesh.triangles, layout.leafCount(), point);
    return near.sum();
  }
  // The point as the sum of two floats.
  const double p[3] = {point.x, point.y, point.z};
  float high[3], low[3];
  for (int k = 0; k < 3; ++k) {
    high[k] = static_cast<float>(floatPart(p[k]));
    low[k] = static_cast<float>(p[k] - floatPart(p[k]));
  }
  alignas(64) double far[8] = {};
  alignas(64) float field[8];
  struct Entry {
    uint32_t level, block;  // a block of clusters of that level
  } stack[12 * 8];
  stack[0] = {0, 0};
  size_t top = 1;
  while (top > 0) {
    const Entry entry = stack[--top];
    const uint32_t first = entry.block * kBlockLanes;
    const uint32_t count = std::min(kBlockLanes, layout.levelSize(entry.level) - first);
    const uint32_t existing = (1u << count) - 1;
    const uint32_t done = farFields(view.blocks[view.firstBlock[entry.level] + entry.block], high, low,
                                    static_cast<float>(beta), field);
    for (uint32_t lane = 0; lane < count; ++lane) far[lane] += static_cast<double>(field[lane]);
    for (uint32_t open = existing & ~done; open; open &= open - 1) {
      const uint32_t position = first + static_cast<uint32_t>(std::countr_zero(open));
      if (entry.level + 1 == leafLevel) {
        const uint32_t leaf = position * kBlockLanes;
        near.add(view.mesh.triangles + leaf, std::min(kBlockLanes, layout.leafCount() - leaf), point);
      } else {
        stack[top++] = {entry.level + 1, position};
      }
    }
  }
  double sum = 0;
  for (const double f : far) sum += f;
  return near.sum() + sum / (4 * kPi);
}

}  // namespace sunder::spatial::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sunder::spatial::kernels {

HWY_EXPORT(Exact);
HWY_EXPORT(Fast);

double windingExact(const PlainTriangle* triangles, size_t count, D3 point) {
  return HWY_DYNAMIC_DISPATCH(Exact)(triangles, count, point);
}

double windingFast(const WindingView& view, D3 point, double beta) {
  return HWY_DYNAMIC_DISPATCH(Fast)(view, point, beta);
}

}  // namespace sunder::spatial::kernels
#endif
