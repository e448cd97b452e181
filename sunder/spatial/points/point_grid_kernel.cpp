#include "sunder/spatial/points/point_grid_kernel.h"

#include "sunder/base/array/reusable_array.h"
#include "sunder/spatial/lane_table.h"
#include "sunder/spatial/points/grid_runs.h"

#include <algorithm>
#include <bit>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sunder/spatial/points/point_grid_kernel.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per target
#include <hwy/highway.h>

// clang-format off: has to come after the loop over targets
#include "sunder/base/lanes_inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace sunder::spatial::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using lanes::HWY_NAMESPACE::maskBits;

using F8 = hn::CappedTag<float, 8>;
using I8 = hn::RebindToSigned<F8>;
using U8 = hn::RebindToUnsigned<F8>;
constexpr size_t kLanes = hn::MaxLanes(F8());
constexpr size_t kAhead = 24;       // rows
constexpr size_t kAheadInRun = 20;  // points

using Three = lanes::HWY_NAMESPACE::Lanes3<hn::Vec<F8>>;

// Coordinates as they are.
struct NarrowCoordinates {
  const float *x, *y, *z;
  explicit NarrowCoordinates(const GridView& v, size_t) : x(v.x), y(v.y), z(v.z) {}
  HWY_INLINE void prefetch(size_t slot) const {
    __builtin_prefetch(x + slot);
    __builtin_prefetch(y + slot);
    __builtin_prefetch(z + slot);
  }
  HWY_INLINE Three load(size_t slot) const {
    const F8 d;
    return {hn::LoadU(d, x + slot), hn::LoadU(d, y + slot), hn::LoadU(d, z + slot)};
  }
};

// Coordinates relative to one of the cell's points: differences in double, then float.
struct WideCoordinates {
  const GridView& view;
  double x, y, z;
  WideCoordinates(const GridView& v, size_t slot)
      : view(v), x(v.wideX[slot]), y(v.wideY[slot]), z(v.wideZ[slot]) {}
  static HWY_INLINE hn::Vec<F8> one(const double* from, double origin) {
    const hn::CappedTag<double, 4> dd;
    const hn::Rebind<float, decltype(dd)> half;
    const auto base = hn::Set(dd, origin);
    alignas(32) float out[8];
    for (size_t k = 0; k < kLanes; k += hn::Lanes(dd))
      hn::Store(hn::DemoteTo(half, hn::Sub(hn::LoadU(dd, from + k), base)), half, out + k);
    return hn::Load(F8(), out);
  }
  HWY_INLINE void prefetch(size_t slot) const {
    __builtin_prefetch(view.wideX + slot);
    __builtin_prefetch(view.wideY + slot);
    __builtin_prefetch(view.wideZ + slot);
  }
  HWY_INLINE Three load(size_t slot) const {
    return {one(view.wideX + slot, x), one(view.wideY + slot, y), one(view.wideZ + slot, z)};
  }
};

// Writes the chosen lanes to the front of a row of eight, and rubbish behind them.
template <class D, class Lanes>
HWY_INLINE void pack(D d, hn::Vec<D> value, Lanes lanes, hn::TFromD<D>* out) {
  hn::StoreU(hn::TableLookupLanes(value, lanes), d, out);
}

HWY_INLINE auto frontLanes(uint32_t set) {
  const U8 d;
  const hn::Rebind<uint8_t, U8> bytes;
  return hn::PromoteTo(d, hn::LoadU(bytes, kLaneTable.lanes[set]));
}

// The points that a cell's own points are tested against, packed. The first ones hold the cell's own points,
// in order, from `ownFirst` on. Functions take it by value: vector stores may write anything as far as the
// compiler knows, and it would read these pointers again after each.
struct Candidates {
  float *x, *y, *z;
  uint32_t* ids;
  size_t count, ownFirst;
};

struct CandidateMemory {
  ReusableArray<float> coordinates;
  ReusableArray<uint32_t> ids;

  Candidates reserve(size_t most) {
    const size_t stride = most + kGridSlack;
    float* x = coordinates.reserve(3 * stride);
    return {x, x + stride, x + 2 * stride, ids.reserve(stride), 0, 0};
  }
};

template <class Coordinates>
HWY_INLINE Candidates gather(const GridView& view, const Coordinates from, GridRun own, const GridRun* runs,
                             Candidates to) {
  const F8 d;
  const U8 du;
  const auto infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  const auto minusInfinity = hn::Neg(infinity);
  auto lowX = infinity, lowY = infinity, lowZ = infinity;
  auto highX = minusInfinity, highY = minusInfinity, highZ = minusInfinity;
  for (size_t s = own.begin; s < own.end; s += kLanes) {
    const auto in = hn::FirstN(d, own.end - s);
    const Three p = from.load(s);
    lowX = hn::Min(lowX, hn::IfThenElse(in, p.x, infinity));
    lowY = hn::Min(lowY, hn::IfThenElse(in, p.y, infinity));
    lowZ = hn::Min(lowZ, hn::IfThenElse(in, p.z, infinity));
    highX = hn::Max(highX, hn::IfThenElse(in, p.x, minusInfinity));
    highY = hn::Max(highY, hn::IfThenElse(in, p.y, minusInfinity));
    highZ = hn::Max(highZ, hn::IfThenElse(in, p.z, minusInfinity));
  }
  lowX = hn::MinOfLanes(d, lowX);
  lowY = hn::MinOfLanes(d, lowY);
  lowZ = hn::MinOfLanes(d, lowZ);
  highX = hn::MaxOfLanes(d, highX);
  highY = hn::MaxOfLanes(d, highY);
  highZ = hn::MaxOfLanes(d, highZ);

  // Rounding is monotone, so whoever passes the test of a point in the box passes this one too.
  const auto reach = hn::Set(d, view.high);
  const auto zero = hn::Zero(d);
  const uint32_t* ids = view.ids;
  size_t count = 0;
  const auto step = [&](size_t s, size_t end) HWY_ATTR {
    const Three p = from.load(s);
    const auto dx = hn::Max(hn::Max(hn::Sub(lowX, p.x), hn::Sub(p.x, highX)), zero);
    const auto dy = hn::Max(hn::Max(hn::Sub(lowY, p.y), hn::Sub(p.y, highY)), zero);
    const auto dz = hn::Max(hn::Max(hn::Sub(lowZ, p.z), hn::Sub(p.z, highZ)), zero);
    const auto d2 = hn::Add(hn::Add(hn::Mul(dx, dx), hn::Mul(dy, dy)), hn::Mul(dz, dz));
    const size_t left = std::min(end - s, kLanes);
    const uint32_t set = maskBits(F8(), hn::Le(d2, reach)) & ((1u << left) - 1);
    const auto front = frontLanes(set);
    const auto lanes = hn::IndicesFromVec(d, front);
    pack(d, p.x, lanes, to.x + count);
    pack(d, p.y, lanes, to.y + count);
    pack(d, p.z, lanes, to.z + count);
    pack(du, hn::LoadU(du, ids + s), hn::IndicesFromVec(du, front), to.ids + count);
    count += static_cast<size_t>(std::popcount(set));
  };
  for (int r = 0; r < 9; ++r) {
    const size_t end = runs[r].end;
    for (size_t s = runs[r].begin; s < end; s += kLanes) step(s, end);
    // For the cells that come next; more streams than the processor follows by itself.
    from.prefetch(end + kAheadInRun);
    __builtin_prefetch(ids + end + kAheadInRun);
  }
  to.count = count;
  to.ownFirst = 0;
  while (to.ids[to.ownFirst] != view.ids[own.begin]) ++to.ownFirst;
  hn::StoreU(infinity, d, to.x + count);
  hn::StoreU(zero, d, to.y + count);
  hn::StoreU(zero, d, to.z + count);
  hn::StoreU(hn::Zero(du), du, to.ids + count);
  return to;
}

struct OnePoint {
  hn::Vec<F8> x, y, z;
  HWY_INLINE OnePoint(const Candidates c, size_t k)
      : x(hn::Set(F8(), c.x[k])), y(hn::Set(F8(), c.y[k])), z(hn::Set(F8(), c.z[k])) {}
  HWY_INLINE hn::Vec<F8> squaredDistance(const Candidates c, size_t k) const {
    const F8 d;
    const auto dx = hn::Sub(hn::LoadU(d, c.x + k), x);
    const auto dy = hn::Sub(hn::LoadU(d, c.y + k), y);
    const auto dz = hn::Sub(hn::LoadU(d, c.z + k), z);
    return hn::Add(hn::Add(hn::Mul(dx, dx), hn::Mul(dy, dy)), hn::Mul(dz, dz));
  }
};

// The row of candidate `self` where float alone cannot decide it; the same order as the fast path.
HWY_NOINLINE size_t carefulRow(const GridView& view, const Candidates& c, size_t self, uint32_t* row) {
  const OnePoint point(c, self);
  const Vec3& p = view.points[c.ids[self]];
  alignas(32) float d2[8];
  size_t count = 0;
  for (size_t k = 0; k < c.count; k += kLanes) {
    hn::Store(point.squaredDistance(c, k), F8(), d2);
    for (size_t lane = 0; lane < kLanes && k + lane < c.count; ++lane) {
      if (!(d2[lane] <= view.high) || k + lane == self) continue;
      if (d2[lane] >= view.low) {
        const Vec3& q = view.points[c.ids[k + lane]];
        const double dx = p.x() - q.x(), dy = p.y() - q.y(), dz = p.z() - q.z();
        if (!((dx * dx + dy * dy) + dz * dz <= view.radiusSquared)) continue;
      }
      row[count++] = c.ids[k + lane];
    }
  }
  return count;
}

// Writes the row of candidate `self` and up to a vector of rubbish behind it.
HWY_NOINLINE size_t writeRow(const GridView& view, const Candidates c, size_t self, size_t ownEnd,
                             uint32_t* row) {
  const F8 d;
  const U8 du;
  const OnePoint point(c, self);
  const auto low = hn::Set(d, view.low), high = hn::Set(d, view.high);
  const auto selfId = hn::Set(du, c.ids[self]);
  auto unsure = hn::Zero(d);
  uint32_t* out = row;
  const auto emit = [&](hn::Mask<F8> in, hn::Vec<U8> ids) HWY_ATTR {
    const uint32_t set = maskBits(F8(), in);
    pack(du, ids, hn::IndicesFromVec(du, frontLanes(set)), out);
    out += std::popcount(set);
  };
  size_t k = 0;
  for (; k < ownEnd; k += kLanes) {
    const auto d2 = point.squaredDistance(c, k);
    const auto ids = hn::LoadU(du, c.ids + k);
    const auto in = hn::And(hn::Le(d2, high), hn::RebindMask(d, hn::Ne(ids, selfId)));
    unsure = hn::Or(unsure, hn::VecFromMask(d, hn::And(in, hn::Ge(d2, low))));
    emit(in, ids);
  }
  for (; k < c.count; k += kLanes) {
    const auto d2 = point.squaredDistance(c, k);
    const auto in = hn::Le(d2, high);
    unsure = hn::Or(unsure, hn::VecFromMask(d, hn::And(in, hn::Ge(d2, low))));
    emit(in, hn::LoadU(du, c.ids + k));
  }
  const I8 di;
  if (HWY_UNLIKELY(!hn::AllTrue(di, hn::Eq(hn::BitCast(di, unsure), hn::Zero(di)))))
    return carefulRow(view, c, self, row);
  return static_cast<size_t>(out - row);
}

HWY_INLINE void copyRow(const uint32_t* from, size_t count, uint32_t* to) {
  const U8 du;
  if (count < kLanes) {
    for (size_t k = 0; k < count; ++k) to[k] = from[k];
    return;
  }
  for (size_t k = 0; k + kLanes <= count; k += kLanes) hn::StoreU(hn::LoadU(du, from + k), du, to + k);
  hn::StoreU(hn::LoadU(du, from + count - kLanes), du, to + count - kLanes);
}

// Each number goes to the place that the count of smaller ones names: no branches, and fast for the few dozen
// that a row has.
HWY_INLINE void copySorted(const uint32_t* from, size_t count, uint32_t* to) {
  const I8 di;
  if (count > 128) {
    std::copy_n(from, count, to);
    std::sort(to, to + count);
    return;
  }
  alignas(32) int32_t places[8];
  for (size_t k = 0; k < count; k += kLanes) {
    const auto ids = hn::LoadU(di, reinterpret_cast<const int32_t*>(from) + k);
    auto rank = hn::Zero(di), rankToo = hn::Zero(di);
    size_t j = 0;
    for (; j + 2 <= count; j += 2) {
      rank = hn::Sub(rank, hn::VecFromMask(di, hn::Lt(hn::Set(di, static_cast<int32_t>(from[j])), ids)));
      rankToo =
          hn::Sub(rankToo, hn::VecFromMask(di, hn::Lt(hn::Set(di, static_cast<int32_t>(from[j + 1])), ids)));
    }
    if (j < count)
      rank = hn::Sub(rank, hn::VecFromMask(di, hn::Lt(hn::Set(di, static_cast<int32_t>(from[j])), ids)));
    hn::Store(hn::Add(rank, rankToo), di, places);
    const size_t here = std::min(kLanes, count - k);
    for (size_t lane = 0; lane < here; ++lane) to[places[lane]] = from[k + lane];
  }
}

// The rows of a cell's own points.
HWY_INLINE void writeRows(const GridView& view, GridRun own, const Candidates c, RowBuffer& rows,
                          uint32_t* counts) {
  const size_t ownCount = own.end - own.begin, ownEnd = c.ownFirst + ownCount;
  for (size_t k = 0; k < ownCount; ++k) {
    uint32_t* row = rows.items.room(c.count + kGridSlack);
    const size_t count = writeRow(view, c, c.ownFirst + k, ownEnd, row);
    rows.items.advance(count);
    counts[view.ids[own.begin + k]] = static_cast<uint32_t>(count);
  }
}

template <class Runs, class Coordinates>
void findInCells(const GridView& view, size_t begin, size_t end, RowBuffer& rows, uint32_t* counts) {
  // Candidates are gathered a cell ahead: vectors that were stored piecewise a moment ago are slow to load.
  CandidateMemory memory[2];
  Candidates previous{};
  GridRun previousOwn{0, 0};
  Runs finder(view);
  GridRun runs[9];
  GridRun own{finder.firstCellFrom(begin), 0};
  rows.items.clear();
  rows.first = own.begin;
  for (unsigned turn = 0; own.begin < end; own.begin = own.end, turn ^= 1) {
    own.end = finder.cellEnd(own.begin);
    size_t most = 0;
    finder.around(own.begin, runs);
    for (const GridRun& run : runs) most += run.end - run.begin;
    const Candidates c = gather(view, Coordinates(view, own.begin), own, runs, memory[turn].reserve(most));
    writeRows(view, previousOwn, previous, rows, counts);
    previous = c;
    previousOwn = own;
  }
  writeRows(view, previousOwn, previous, rows, counts);
  rows.last = own.begin;
}

void FindNeighbours(const GridView& view, size_t begin, size_t end, RowBuffer& rows, uint32_t* counts) {
  if (view.starts)
    view.x ? findInCells<DenseRuns, NarrowCoordinates>(view, begin, end, rows, counts)
           : findInCells<DenseRuns, WideCoordinates>(view, begin, end, rows, counts);
  else
    view.x ? findInCells<SortedRuns, NarrowCoordinates>(view, begin, end, rows, counts)
           : findInCells<SortedRuns, WideCoordinates>(view, begin, end, rows, counts);
}

// Rows lie where their points' indices say, all over memory: they are asked for ahead of time.
void PlaceRows(const GridView& view, const RowBuffer& rows, const uint64_t* offsets, bool sorted,
               uint32_t* items) {
  const uint32_t* from = rows.items.data();
  const size_t final = view.count - 1;
  for (size_t s = rows.first; s < rows.last; ++s) {
    __builtin_prefetch(offsets + view.ids[std::min(s + 2 * kAhead, final)]);
    const uint32_t* soon = items + offsets[view.ids[std::min(s + kAhead, final)]];
    for (size_t line = 0; line < 3; ++line) __builtin_prefetch(soon + 16 * line, 1);
    const uint64_t* offset = offsets + view.ids[s];
    const size_t count = offset[1] - offset[0];
    if (sorted)
      copySorted(from, count, items + offset[0]);
    else
      copyRow(from, count, items + offset[0]);
    from += count;
  }
}

}  // namespace sunder::spatial::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sunder::spatial::kernels {

HWY_EXPORT(FindNeighbours);
HWY_EXPORT(PlaceRows);

void findNeighbours(const GridView& view, size_t begin, size_t end, RowBuffer& rows, uint32_t* counts) {
  HWY_DYNAMIC_DISPATCH(FindNeighbours)(view, begin, end, rows, counts);
}

void placeRows(const GridView& view, const RowBuffer& rows, const uint64_t* offsets, bool sorted,
               uint32_t* items) {
  HWY_DYNAMIC_DISPATCH(PlaceRows)(view, rows, offsets, sorted, items);
}

}  // namespace sunder::spatial::kernels
#endif
