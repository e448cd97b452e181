#include "sunder/sdf/hp/hp_probe.h"

#include "sunder/base/parallel.h"
#include "sunder/base/random.h"

#include <algorithm>
#include <cmath>

namespace sunder::sdf {

HpProbe::HpProbe(const Field& source, std::span<const Box3> boxes, size_t count, uint64_t seed)
    : points_(count), exact_(count) {
  std::vector<double> upTo;  // volume
  for (const Box3& box : boxes) upTo.push_back((upTo.empty() ? 0 : upTo.back()) + box.extent().prod());
  RandomStream random(seed);
  for (Vec3& p : points_) {
    const double pick = boxes.size() == 1 ? 0 : random.uniform(0, upTo.back());
    const auto at = std::upper_bound(upTo.begin(), upTo.end() - 1, pick) - upTo.begin();
    p = random.pointIn(boxes[static_cast<size_t>(at)]);
  }
  valuesOf(source, points_, exact_);
}

std::vector<HpProbe::Range> HpProbe::gather(std::span<const uint32_t> cellOf, size_t cells) {
  std::vector<Range> ranges(cells);
  for (const uint32_t cell : cellOf) ++ranges[cell].end;
  uint32_t at = 0;
  for (Range& range : ranges) {
    const uint32_t count = range.end;
    range.begin = range.end = at;
    at += count;
  }
  order_.resize(points_.size());
  for (uint32_t i = 0; i < points_.size(); ++i) order_[ranges[cellOf[i]].end++] = i;
  return ranges;
}

std::array<HpProbe::Range, 8> HpProbe::split(const Range& range, const Vec3& middle) {
  const auto childOf = [&](uint32_t i) {
    const Vec3& p = points_[i];
    return size_t(p.x() >= middle.x()) | size_t(p.y() >= middle.y()) << 1 | size_t(p.z() >= middle.z()) << 2;
  };
  std::array<Range, 8> children;
  const std::vector<uint32_t> before(order_.begin() + range.begin, order_.begin() + range.end);
  for (const uint32_t i : before) ++children[childOf(i)].end;
  uint32_t at = range.begin;
  for (Range& child : children) {
    const uint32_t count = child.end;
    child.begin = child.end = at;
    at += count;
  }
  for (const uint32_t i : before) order_[children[childOf(i)].end++] = i;
  return children;
}

double HpProbe::squaredError(const Range& range, const Box3& box, int degree,
                             std::span<const double> c) const {
  double squares = 0;
  for (uint32_t k = range.begin; k < range.end; ++k) {
    const double error = evaluate(box, degree, c, points_[order_[k]]) - exact_[order_[k]];
    squares += error * error;
  }
  return squares;
}

HpError errorAt(const HpForest& forest, const HpProbe& probe, double near) {
  struct Sum {
    double squares = 0, largest = 0, largestNear = 0, squaresNear = 0;
    size_t near = 0;
  };
  const std::span<const Vec3> points = probe.points();
  const std::span<const double> exact = probe.exact();
  const Sum sum = parallelReduce(
      points.size(), Sum{},
      [&](size_t begin, size_t end) {
        Sum s;
        for (size_t i = begin; i < end; ++i) {
          const double error = std::abs(evaluate(forest, points[i]) - exact[i]);
          s.squares += error * error;
          s.largest = std::max(s.largest, error);
          if (std::abs(exact[i]) > near) continue;
          s.largestNear = std::max(s.largestNear, error);
          s.squaresNear += error * error;
          ++s.near;
        }
        return s;
      },
      [](const Sum& a, const Sum& b) {
        return Sum{a.squares + b.squares, std::max(a.largest, b.largest),
                   std::max(a.largestNear, b.largestNear), a.squaresNear + b.squaresNear, a.near + b.near};
      },
      1024);
  return {std::sqrt(sum.squares / double(points.size())), sum.largest, sum.largestNear,
          sum.near ? std::sqrt(sum.squaresNear / double(sum.near)) : 0.0};
}

}  // namespace sunder::sdf
