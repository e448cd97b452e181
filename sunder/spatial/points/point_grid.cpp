#include "sunder/spatial/points/point_grid.h"

#include "sunder/base/bounds.h"
#include "sunder/base/error.h"
#include "sunder/base/parallel.h"

#include <atomic>
#include <bit>
#include <cmath>
#include <string>

namespace sunder::spatial {

namespace {

constexpr size_t kBlock = 4096;                 // slots, for the search
constexpr size_t kSlotChunk = size_t(1) << 15;  // slots, for cheap loops
constexpr double kWiden = 1 + 0x1p-16;  // cells are wider than the radius by more than rounding can matter
constexpr double kSmallestEdge = 1e-150;
constexpr uint32_t kNarrowCells = 4096;
constexpr size_t kCrowd = 4096;

}  // namespace

void PointGrid::build(std::span<const Vec3> points, double radius) {
  view_ = {};
  const size_t n = points.size();
  if (!(radius >= 0) || radius > 1e150)
    throw Error(ErrorKind::Usage, "the radius of a neighbour search is " + std::to_string(radius) +
                                      ", it must be between 0 and 1e150");
  if (n >= size_t(1) << 31) throw Error(ErrorKind::Limit, "a grid holds at most 2^31 - 1 points");
  if (const size_t bad = firstNonFinite(points); bad < n)
    throw Error(ErrorKind::Geometry, "point " + std::to_string(bad) + " is not finite");
  if (n == 0) return;

  const double edge = std::max(radius * kWiden, kSmallestEdge);
  cells_.assign(points, boundsOf(points), edge);
  view_.points = points.data();
  view_.count = n;
  view_.radiusSquared = radius * radius;

  const double allCells = double(cells_.dims(0)) * cells_.dims(1) * cells_.dims(2);
  const bool dense = allCells <= std::max<double>(65536, 4.0 * double(n)) && allCells < 0x1p31;
  if (dense)
    sortByTable(static_cast<size_t>(allCells));
  else
    sortByKey();
  copyCoordinates();

  // How far the float result can be from the squared distance in units of the edge: both coordinates err by
  // `error` on each axis, and the float operations by a few units in the last place.
  unsigned shift = 0;
  for (int axis = 0; axis < 3; ++axis) shift = std::max(shift, cells_.shift(axis));
  const double span = view_.x ? cells_.largestCoordinate() + 1 : std::ldexp(4.0, static_cast<int>(shift));
  const double error = span * 0x1p-24 + cells_.coordinateError();
  const double reach = radius / edge;
  const double slack = 7.5 * error + 13 * error * error + 0x1p-20;
  view_.low = static_cast<float>(reach * reach - slack);
  view_.high = static_cast<float>(reach * reach + slack);
}

void PointGrid::sortByTable(size_t cells) {
  const size_t n = view_.count;
  const uint32_t dimX = cells_.dims(0), layer = dimX * cells_.dims(1);
  uint64_t* words = words_.reserve(n);
  parallelFor(
      n,
      [&](size_t i) {
        const uint32_t x = cells_.cell(cells_.coordinate(i, 0), 0);
        const uint32_t y = cells_.cell(cells_.coordinate(i, 1), 1);
        const uint32_t z = cells_.cell(cells_.coordinate(i, 2), 2);
        words[i] = uint64_t(z * layer + y * dimX + x) << 32 | i;
      },
      kSlotChunk);
  const auto bits = static_cast<unsigned>(std::bit_width(cells - 1));
  const std::span<const uint64_t> sorted = radixSortWords({words, n}, 32, bits, sort_);

  uint32_t* ids = ids_.reserve(n + kernels::kGridSlack);
  uint32_t* cellOfSlot = cellOfSlot_.reserve(n);
  uint32_t* starts = starts_.reserve(cells + 2);
  parallelFor(
      n,
      [&](size_t s) {
        const auto cell = static_cast<uint32_t>(sorted[s] >> 32);
        ids[s] = static_cast<uint32_t>(sorted[s]);
        cellOfSlot[s] = cell;
        // The cells after the last one before, up to this one, begin here.
        for (uint32_t c = s == 0 ? 0 : static_cast<uint32_t>(sorted[s - 1] >> 32) + 1; c <= cell; ++c)
          starts[c] = static_cast<uint32_t>(s);
      },
      kSlotChunk);
  for (size_t c = size_t(cellOfSlot[n - 1]) + 1; c < cells + 2; ++c) starts[c] = static_cast<uint32_t>(n);
  view_.ids = ids;
  view_.cells = cellOfSlot;
  view_.starts = starts;
  view_.rowStep = dimX;
  view_.layerStep = layer;
}

void PointGrid::sortByKey() {
  const size_t n = view_.count;
  const auto bitsX = static_cast<unsigned>(std::bit_width(cells_.dims(0)));
  const auto bitsY = static_cast<unsigned>(std::bit_width(cells_.dims(1)));
  const auto bitsZ = static_cast<unsigned>(std::bit_width(cells_.dims(2)));
  uint64_t* keys = words_.reserve(n);
  uint32_t* ids = ids_.reserve(n + kernels::kGridSlack);
  parallelFor(
      n,
      [&](size_t i) {
        const uint64_t x = cells_.cell(cells_.coordinate(i, 0), 0);
        const uint64_t y = cells_.cell(cells_.coordinate(i, 1), 1);
        const uint64_t z = cells_.cell(cells_.coordinate(i, 2), 2);
        keys[i] = (z << bitsY | y) << bitsX | x;
        ids[i] = static_cast<uint32_t>(i);
      },
      kSlotChunk);
  radixSortPairs(std::span(keys, n), std::span(ids, n), sort_, bitsX + bitsY + bitsZ);
  view_.ids = ids;
  view_.keys = keys;
  view_.rowStep = uint64_t(1) << bitsX;
  view_.layerStep = uint64_t(1) << (bitsX + bitsY);
}

void PointGrid::copyCoordinates() {
  const size_t n = view_.count, padded = n + kernels::kGridSlack;
  uint32_t* ids = ids_.data();
  std::fill(ids + n, ids + padded, 0u);
  const auto copy = [&](auto* arrays) {
    using Scalar = std::remove_reference_t<decltype(*arrays[0].data())>;
    Scalar* out[3];
    for (int axis = 0; axis < 3; ++axis) {
      out[axis] = arrays[axis].reserve(padded);
      std::fill(out[axis] + n, out[axis] + padded, Scalar(0));
    }
    parallelFor(
        n,
        [&](size_t s) {
          for (int axis = 0; axis < 3; ++axis)
            out[axis][s] = static_cast<Scalar>(cells_.coordinate(ids[s], axis));
        },
        kSlotChunk);
  };
  const bool narrow = std::max({cells_.dims(0), cells_.dims(1), cells_.dims(2)}) <= kNarrowCells;
  if (narrow) {
    copy(narrow_);
    view_.x = narrow_[0].data();
    view_.y = narrow_[1].data();
    view_.z = narrow_[2].data();
  } else {
    copy(wide_);
    view_.wideX = wide_[0].data();
    view_.wideY = wide_[1].data();
    view_.wideZ = wide_[2].data();
  }
}

// Points crowded into a place smaller than the radius are all neighbours of each other: counting them by
// tests would take as long as finding them, so the worst cases are told by their numbers alone.
void PointGrid::refuseCrowds(uint64_t most) const {
  const auto sameCell = [&](size_t a, size_t b) {
    return dense() ? view_.cells[a] == view_.cells[b] : view_.keys[a] == view_.keys[b];
  };
  uint64_t surely = 0;
  for (size_t s = 0; s + kCrowd < view_.count;) {
    if (!sameCell(s, s + kCrowd)) {
      s += kCrowd;
      continue;
    }
    Box3 box;
    size_t end = s;
    for (; end < view_.count && sameCell(s, end); ++end) box.grow(view_.points[view_.ids[end]]);
    const uint64_t crowd = end - s;
    if (box.extent().squaredNorm() <= view_.radiusSquared * (1 - 0x1p-40)) surely += crowd * (crowd - 1);
    s = end;
  }
  if (surely > most) refuseNeighbours("at least", surely, most);
}

void PointGrid::neighbours(NeighbourRows& rows, const NeighbourSettings& settings) {
  rows.clear();
  refuseCrowds(settings.mostNeighbours);
  const size_t blocks = (view_.count + kBlock - 1) / kBlock;
  if (buffers_.size() < blocks) buffers_.resize(blocks);
  uint32_t* counts = rows.begin(view_.count);
  std::atomic<uint64_t> total{0};
  parallelBlocks(view_.count, kBlock, [&](size_t begin, size_t end) {
    kernels::RowBuffer& buffer = buffers_[begin / kBlock];
    kernels::findNeighbours(view_, begin, end, buffer, counts);
    const uint64_t found = buffer.items.size();
    if (total.fetch_add(found, std::memory_order_relaxed) + found > settings.mostNeighbours)
      refuseNeighbours("more than", settings.mostNeighbours, settings.mostNeighbours);
  });
  uint32_t* items = rows.allocate(settings.mostNeighbours);
  parallelBlocks(view_.count, kBlock, [&](size_t begin, size_t) {
    kernels::placeRows(view_, buffers_[begin / kBlock], rows.offsets().data(), settings.sorted, items);
  });
}

size_t PointGrid::listBytes() const {
  size_t sum = 0;
  for (const kernels::RowBuffer& buffer : buffers_) sum += buffer.items.bytes();
  return sum;
}

size_t PointGrid::bytes() const {
  size_t sum = sort_.bytes() + words_.bytes() + ids_.bytes() + cellOfSlot_.bytes() + starts_.bytes();
  for (int axis = 0; axis < 3; ++axis) sum += narrow_[axis].bytes() + wide_[axis].bytes();
  for (const kernels::RowBuffer& buffer : buffers_) sum += buffer.items.bytes();
  return sum;
}

void pointNeighbours(std::span<const Vec3> points, double radius, NeighbourRows& rows,
                     const NeighbourSettings& settings) {
  PointGrid grid;
  grid.build(points, radius);
  grid.neighbours(rows, settings);
}

}  // namespace sunder::spatial
