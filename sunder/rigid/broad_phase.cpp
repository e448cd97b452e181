#include "sunder/rigid/broad_phase.h"

#include "sunder/base/parallel.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sunder::rigid {

Box3f outwards(const Box3& box) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Box3f out;
  for (int i = 0; i < 3; ++i) {
    const float low = float(box.lower[i]), high = float(box.upper[i]);
    out.lower[i] = double(low) > box.lower[i] ? std::nextafter(low, -kInfinity) : low;
    out.upper[i] = double(high) < box.upper[i] ? std::nextafter(high, kInfinity) : high;
  }
  return out;
}

bool BroadPhase::meet(const BodySet& bodies, uint32_t a, uint32_t b, std::span<const uint64_t> unlinked) {
  const BodyConstants &ca = bodies.constants[a], &cb = bodies.constants[b];
  if (!ca.dynamic() && !cb.dynamic()) return false;
  if (!(ca.category & cb.mask) || !(cb.category & ca.mask)) return false;
  if (ca.group != 0 && ca.group == cb.group) return false;
  return unlinked.empty() || !std::binary_search(unlinked.begin(), unlinked.end(), pairKey(a, b));
}

std::span<const uint64_t> BroadPhase::find(const BodySet& bodies, std::span<const double> margin,
                                           std::span<const uint64_t> unlinked, bool onlyActive) {
  bodies_.clear();
  planes_.clear();
  keys_.clear();
  for (uint32_t i = 0; i < bodies.count(); ++i) {
    if (bodies.state.exists[i]) (bodies.constants[i].plane ? planes_ : bodies_).push_back(i);
  }
  boxes_.resize(bodies_.size());
  parallelFor(
      bodies_.size(),
      [&](size_t k) {
        Box3 box = bodies.bounds(bodies_[k]);
        box.lower.array() -= margin[bodies_[k]];
        box.upper.array() += margin[bodies_[k]];
        boxes_[k] = outwards(box);
      },
      256);
  constexpr uint64_t kNoPair = ~uint64_t(0);
  const auto keyOf = [&](uint32_t a, uint32_t b) {
    const bool still = onlyActive && !bodies.active(a) && !bodies.active(b);
    return !still && meet(bodies, a, b, unlinked) ? pairKey(a, b) : kNoPair;
  };
  if (boxes_.size() > 1) {
    builder_.build(tree_, std::span<const Box3f>(boxes_));
    spatial::selfOverlapPairs(tree_, list_);
    const auto found = list_.pairs();
    keys_.resize(found.size());
    parallelFor(
        found.size(), [&](size_t i) { keys_[i] = keyOf(bodies_[found[i].a], bodies_[found[i].b]); }, 1024);
  }
  for (const uint32_t plane : planes_) {
    const Pose& pose = bodies.state.modelPose[plane];
    const Vec3 up = pose.direction(Vec3::UnitY());
    for (size_t k = 0; k < bodies_.size(); ++k) {
      const Vec3 centre = boxes_[k].center().cast<double>(), half = 0.5 * boxes_[k].extent().cast<double>();
      const double lowest = up.dot(centre - pose.position) - up.cwiseAbs().dot(half);
      if (lowest <= margin[plane] + 1e-6 * centre.norm()) keys_.push_back(keyOf(plane, bodies_[k]));
    }
  }
  std::erase(keys_, kNoPair);
  // Bodies are few against 2^32: sorting by the bits in use saves passes.
  radixSort(std::span<uint64_t>(keys_), scratch_);
  return keys_;
}

}  // namespace sunder::rigid
