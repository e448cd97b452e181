#include "sunder/rigid/solver/broad_phase.h"

#include "sunder/base/error.h"
#include "sunder/base/memory_limit.h"
#include "sunder/base/parallel.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/core.h>

namespace sunder::rigid {

namespace {

constexpr float kRoom = 0.05f;         // of the longest side, around a kept box
constexpr double kMotion = 4;          // margins more
constexpr uint32_t kWorthKeeping = 2;  // times that kept pairs must be of use
constexpr uint32_t kWait = 8;
constexpr size_t kBlock = 4096;
constexpr uint64_t kBoxPairs =
    16;  // pairs of boxes, which take a few bytes, for each pair that may be a contact

[[noreturn]] void refusePairs(const BodySet& bodies, uint64_t most, uint32_t a, uint32_t b) {
  const Vec3 place = bodies.bounds(a).center();
  throw Error(
      ErrorKind::Limit,
      fmt::format("more than {} pairs of bodies overlap, '{}' and '{}' near ({:.4g}, {:.4g}, {:.4g}) "
                  "among them: there is no memory for their contacts",
                  most, bodies.constants[a].name, bodies.constants[b].name, place.x(), place.y(), place.z()))
      .hint("are there many bodies in one place? put them apart, or give them the same \"group\"");
}

}  // namespace

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

bool BroadPhase::keptHold() const {
  if (keptBodies_ != bodies_) return false;
  return parallelReduce(
             boxes_.size(), uint8_t(1),
             [&](size_t begin, size_t end) {
               bool inside = true;
               for (size_t k = begin; k < end; ++k)
                 inside &= keptBoxes_[k].contains(boxes_[k].lower) && keptBoxes_[k].contains(boxes_[k].upper);
               return uint8_t(inside);
             },
             [](uint8_t a, uint8_t b) { return uint8_t(a & b); }, 1024) != 0;
}

void BroadPhase::findOverlapping(std::span<const double> margin) {
  overlapping_.clear();
  if (boxes_.size() < 2) return;
  const auto pairsOf = [&](std::span<const Box3f> boxes, std::vector<uint64_t>& out) {
    builder_.build(tree_, boxes);
    spatial::selfOverlapPairs(tree_, list_, kBoxPairs * mostPairs_);
    const auto found = list_.pairs();
    out.resize(found.size());
    parallelFor(
        found.size(), [&](size_t i) { out[i] = pairKey(found[i].a, found[i].b); }, 4096);
    // Boxes are few against 2^32: sorting by the bits in use saves passes.
    radixSort(std::span<uint64_t>(out), scratch_);
  };
  if (!keptHold()) {
    keptBodies_.clear();
    if (age_ < kWorthKeeping && wait_ > 0) {
      --wait_;
      pairsOf(boxes_, overlapping_);
      return;
    }
    if (age_ < kWorthKeeping) wait_ = kWait;
    age_ = 0;
    keptBodies_ = bodies_;
    keptBoxes_ = boxes_;
    parallelFor(
        boxes_.size(),
        [&](size_t k) {
          Box3f& box = keptBoxes_[k];
          const float more = kRoom * box.extent().maxCoeff() + float(kMotion * margin[bodies_[k]]);
          box.lower.array() -= more;
          box.upper.array() += more;
        },
        1024);
    pairsOf(keptBoxes_, kept_);
  } else {
    ++age_;
  }
  overlapping_.resize(kept_.size());
  const size_t blocks = (kept_.size() + kBlock - 1) / kBlock;
  counts_.assign(blocks + 1, 0);
  parallelFor(
      blocks,
      [&](size_t block) {
        size_t at = block * kBlock;
        const size_t end = std::min(kept_.size(), at + kBlock);
        uint64_t* out = overlapping_.data() + at;
        for (; at < end; ++at) {
          *out = kept_[at];
          out += overlap(boxes_[kept_[at] >> 32], boxes_[uint32_t(kept_[at])]);
        }
        counts_[block] = uint32_t(out - (overlapping_.data() + block * kBlock));
      },
      1);
  size_t size = 0;
  for (size_t block = 0; block < blocks; ++block) {
    const auto first = overlapping_.begin() + std::ptrdiff_t(block * kBlock);
    std::copy(first, first + counts_[block], overlapping_.begin() + std::ptrdiff_t(size));
    size += counts_[block];
  }
  overlapping_.resize(size);
}

std::span<const uint64_t> BroadPhase::find(const BodySet& bodies, std::span<const double> margin,
                                           std::span<const uint64_t> unlinked, bool onlyActive) {
  if (mostPairs_ == 0) mostPairs_ = uint64_t(std::max(1e4, double(memoryLimit()) / kBytesAPair));
  bodies_.clear();
  planes_.clear();
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
  findOverlapping(margin);
  // Numbers of boxes rise with those of bodies, so keys are in order too.
  keys_.resize(overlapping_.size());
  parallelFor(
      overlapping_.size(),
      [&](size_t i) { keys_[i] = keyOf(bodies_[overlapping_[i] >> 32], bodies_[uint32_t(overlapping_[i])]); },
      1024);
  std::erase(keys_, kNoPair);
  if (keys_.size() > mostPairs_)
    refusePairs(bodies, mostPairs_, uint32_t(keys_[0] >> 32), uint32_t(keys_[0]));
  const size_t others = keys_.size();
  for (const uint32_t plane : planes_) {
    const Pose& pose = bodies.state.modelPose[plane];
    const Vec3 up = pose.direction(Vec3::UnitY());
    for (size_t k = 0; k < bodies_.size(); ++k) {
      const Vec3 centre = boxes_[k].center().cast<double>(), half = 0.5 * boxes_[k].extent().cast<double>();
      const double lowest = up.dot(centre - pose.position) - up.cwiseAbs().dot(half);
      if (lowest > margin[plane] + 1e-6 * centre.norm()) continue;
      if (const uint64_t key = keyOf(plane, bodies_[k]); key != kNoPair) keys_.push_back(key);
    }
  }
  const auto middle = keys_.begin() + std::ptrdiff_t(others);
  std::sort(middle, keys_.end());
  std::inplace_merge(keys_.begin(), middle, keys_.end());
  return keys_;
}

}  // namespace sunder::rigid
