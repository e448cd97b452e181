#include "bench/published/sweep_and_prune.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"

#include <algorithm>
#include <string>

namespace sunder::published {
using namespace spatial;

namespace {

constexpr size_t kSweepChunk = 256;
constexpr size_t kSweepChunksAtOnce = 256;

struct Entry {
  float lower[3], upper[3];  // the sweep's axis first
  uint32_t index;
};

void check(std::span<const Box3f> boxes) {
  for (size_t i = 0; i < boxes.size(); ++i)
    if (!boxes[i].lower.allFinite() || !boxes[i].upper.allFinite())
      throw Error(ErrorKind::Geometry, "box " + std::to_string(i) + " is not finite");
}

int widestAxis(std::span<const Box3f> first, std::span<const Box3f> second) {
  Vec3 sum = Vec3::Zero(), squares = Vec3::Zero();
  for (const auto& boxes : {first, second})
    for (const Box3f& box : boxes) {
      const Vec3 centre = box.center().cast<double>();
      sum += centre;
      squares += centre.cwiseProduct(centre);
    }
  const double count = static_cast<double>(std::max<size_t>(1, first.size() + second.size()));
  const Vec3 variance = squares / count - (sum / count).cwiseProduct(sum / count);
  int axis = 0;
  variance.maxCoeff(&axis);
  return axis;
}

std::vector<Entry> sorted(std::span<const Box3f> boxes, int axis) {
  std::vector<Entry> entries(boxes.size());
  for (size_t i = 0; i < boxes.size(); ++i) {
    for (int k = 0; k < 3; ++k) {
      entries[i].lower[k] = boxes[i].lower[(axis + k) % 3];
      entries[i].upper[k] = boxes[i].upper[(axis + k) % 3];
    }
    entries[i].index = static_cast<uint32_t>(i);
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.lower[0] != b.lower[0] ? a.lower[0] < b.lower[0] : a.index < b.index;
  });
  return entries;
}

// Tests `box` against the entries from `at` on that begin before it ends.
template <class Found>
uint64_t scan(const Entry& box, const std::vector<Entry>& entries, size_t at, Found&& found) {
  const size_t start = at;
  for (; at < entries.size() && entries[at].lower[0] <= box.upper[0]; ++at) {
    const Entry& other = entries[at];
    if ((box.lower[1] <= other.upper[1]) & (other.lower[1] <= box.upper[1]) &
        (box.lower[2] <= other.upper[2]) & (other.lower[2] <= box.upper[2]))
      found(other.index);
  }
  return at - start;
}

// body(i, output) -> tests for i in [0, count), the outputs joined in order.
template <class Body>
void sweep(size_t count, VariantPairs& result, Body&& body) {
  std::vector<GrowingArray<PrimitivePair>> parts(kSweepChunksAtOnce);
  for (size_t first = 0; first < count; first += kSweepChunk * kSweepChunksAtOnce) {
    const size_t now = std::min(count - first, kSweepChunk * kSweepChunksAtOnce);
    result.statistics.boxTests += parallelReduce(
        now, uint64_t(0),
        [&](size_t b, size_t e) {
          GrowingArray<PrimitivePair>& out = parts[b / kSweepChunk];
          out.clear();
          uint64_t tests = 0;
          for (size_t i = b; i < e; ++i) tests += body(first + i, out);
          return tests;
        },
        [](uint64_t x, uint64_t y) { return x + y; }, kSweepChunk);
    for (size_t c = 0; c * kSweepChunk < now; ++c) {
      std::copy_n(parts[c].data(), parts[c].size(), result.data.room(parts[c].size()));
      result.data.advance(parts[c].size());
    }
  }
}

}  // namespace

void sweepAndPrune(std::span<const Box3f> boxes, VariantPairs& result) {
  check(boxes);
  result.data.clear();
  result.statistics = {};
  const std::vector<Entry> entries = sorted(boxes, widestAxis(boxes, {}));
  sweep(entries.size(), result, [&](size_t i, GrowingArray<PrimitivePair>& out) {
    const uint32_t a = entries[i].index;
    return scan(entries[i], entries, i + 1, [&](uint32_t b) { out.push({std::min(a, b), std::max(a, b)}); });
  });
  result.jobBegin = {0, result.data.size()};
}

void sweepAndPrune(std::span<const Box3f> first, std::span<const Box3f> second, VariantPairs& result) {
  check(first);
  check(second);
  result.data.clear();
  result.statistics = {};
  const int axis = widestAxis(first, second);
  const std::vector<Entry> a = sorted(first, axis), b = sorted(second, axis);
  const auto before = [](const Entry& entry, float value) { return entry.lower[0] < value; };
  const auto notAfter = [](float value, const Entry& entry) { return value < entry.lower[0]; };
  // A pair is found from the box that begins first; from the first set when both begin together.
  sweep(a.size(), result, [&](size_t i, GrowingArray<PrimitivePair>& out) {
    const auto at = std::lower_bound(b.begin(), b.end(), a[i].lower[0], before) - b.begin();
    return scan(a[i], b, static_cast<size_t>(at), [&](uint32_t index) { out.push({a[i].index, index}); });
  });
  sweep(b.size(), result, [&](size_t i, GrowingArray<PrimitivePair>& out) {
    const auto at = std::upper_bound(a.begin(), a.end(), b[i].lower[0], notAfter) - a.begin();
    return scan(b[i], a, static_cast<size_t>(at), [&](uint32_t index) { out.push({index, b[i].index}); });
  });
  result.jobBegin = {0, result.data.size()};
}

}  // namespace sunder::published
