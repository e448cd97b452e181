#include "sunder/rigid/solver/pair_table.h"

#include "sunder/base/parallel.h"
#include "sunder/rigid/solver/broad_phase.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace sunder::rigid {

namespace {

constexpr size_t kGrain = 64;
constexpr size_t kAhead = 6;          // pairs
constexpr double kSamePlace = 0.1;    // of the smaller body's outer radius
constexpr double kSameNormal = 0.95;  // cosine of the angle between two normals that count as one direction

// Shapes lie all over the memory; pairs are sorted by their first body, so the second one is the surprise.
void prefetch(const BodySet& bodies, uint32_t body) {
  if (const ShapeHead& head = bodies.heads[body]; head.kind > ShapeKind::Box) {
    const char* shape = reinterpret_cast<const char*>(head.shape);
    __builtin_prefetch(shape);
    __builtin_prefetch(shape + 64);
  }
  __builtin_prefetch(&bodies.state.modelPose[body]);
  __builtin_prefetch(&bodies.constants[body]);
}

void addImpulses(const KeptContact& before, KeptContact& kept) {
  kept.normalImpulse += before.normalImpulse;
  // The part within the new tangent plane, so that the old friction does not push along the normal.
  const Vec3& normal = kept.contact.normal;
  const Vec3 friction(before.friction[0], before.friction[1], before.friction[2]);
  const Vec3 tangential = friction - normal * normal.dot(friction);
  for (int k = 0; k < 3; ++k) kept.friction[k] += float(tangential[k]);
}

// By id; what is left, by place: a face that rests on a face may be clipped by the other one in the next
// step, with other ids for the same corners. A contact that carried and is found no more leaves its impulse
// to the nearest contact of the pair with the same normal: which corners are chosen changes, the load of the
// pair does not, and forgotten it would have to be built up again while the bodies sink into each other.
void keepImpulses(std::span<const KeptContact> before, std::span<KeptContact> now, double near) {
  constexpr size_t kMost = 64;
  uint64_t oldLeft = before.size() >= kMost ? ~uint64_t(0) : (uint64_t(1) << before.size()) - 1;
  uint64_t newLeft = 0;
  for (size_t i = 0; i < now.size(); ++i) {
    const auto same = std::find_if(before.begin(), before.end(), [&](const KeptContact& old) {
      return old.contact.id == now[i].contact.id;
    });
    if (same != before.end()) {
      addImpulses(*same, now[i]);
      const auto k = size_t(same - before.begin());
      if (k < kMost) oldLeft &= ~(uint64_t(1) << k);
    } else if (i < kMost) {
      newLeft |= uint64_t(1) << i;
    }
  }
  for (; newLeft && oldLeft; newLeft &= newLeft - 1) {
    KeptContact& kept = now[size_t(std::countr_zero(newLeft))];
    double best = near * near;
    size_t found = kMost;
    for (uint64_t left = oldLeft; left; left &= left - 1) {
      const auto k = size_t(std::countr_zero(left));
      const double distance = (before[k].contact.point - kept.contact.point).squaredNorm();
      if (distance < best && before[k].contact.normal.dot(kept.contact.normal) > kSameNormal) {
        best = distance;
        found = k;
      }
    }
    if (found == kMost) continue;
    addImpulses(before[found], kept);
    oldLeft &= ~(uint64_t(1) << found);
  }
  for (; oldLeft; oldLeft &= oldLeft - 1) {
    const KeptContact& gone = before[size_t(std::countr_zero(oldLeft))];
    if (!(gone.normalImpulse > 0)) continue;
    KeptContact* nearest = nullptr;
    double best = Box3::kInfinity;
    for (KeptContact& kept : now) {
      const double distance = (gone.contact.point - kept.contact.point).squaredNorm();
      if (distance < best && gone.contact.normal.dot(kept.contact.normal) > kSameNormal) {
        best = distance;
        nearest = &kept;
      }
    }
    if (nearest) addImpulses(gone, *nearest);
  }
}

}  // namespace

double pressureOf(const PairTable& table, const PairRecord& pair) {
  double sum = 0;
  for (uint32_t k = pair.first; k < pair.first + pair.count; ++k) sum += table.contacts[k].normalImpulse;
  return sum;
}

double pairMargin(const BodySet& bodies, std::span<const double> margin, const SimulationSettings& settings,
                  uint32_t a, uint32_t b) {
  const BodyConstants &ca = bodies.constants[a], &cb = bodies.constants[b];
  const double least = 4 * settings.slop * std::min(ca.outer, cb.outer);
  return std::max(least, std::min(margin[a] + margin[b], std::min(ca.ahead(), cb.ahead())));
}

void PairDetection::fillBlock(const BodySet& bodies, std::span<const double> margin,
                              const SimulationSettings& settings, const PairTable& last, PairTable& next,
                              size_t block) {
  Block& out = blocks_[block];
  out.contacts.clear();
  out.report = {};
  const ScratchPool<ContactScratch>::Loan scratch(scratch_);
  scratch->work = {};
  const size_t end = std::min(next.pairs.size(), (block + 1) * kGrain);
  for (size_t i = block * kGrain; i < end; ++i) {
    PairRecord& pair = next.pairs[i];
    pair.a = uint32_t(source_[i].key >> 32);
    pair.b = uint32_t(source_[i].key);
    if (i + kAhead < end) prefetch(bodies, uint32_t(source_[i + kAhead].key));
    const PairRecord* old = source_[i].last == kNoIndex ? nullptr : &last.pairs[source_[i].last];
    pair.first = uint32_t(out.contacts.size());
    pair.memory = old ? old->memory : PairMemory{};
    for (int k = 0; k < 3; ++k) pair.rolling[k] = old ? old->rolling[k] : 0;
    PairGap* gap = next.gaps.empty() ? nullptr : &next.gaps[i];
    if (gap) *gap = old && !last.gaps.empty() ? last.gaps[source_[i].last] : PairGap{};
    if (old && !bodies.active(pair.a) && !bodies.active(pair.b)) {
      out.contacts.insert(out.contacts.end(), last.contacts.begin() + old->first,
                          last.contacts.begin() + old->first + old->count);
    } else {
      out.found.clear();
      findContacts(bodies.heads[pair.a], bodies.state.modelPose[pair.a], bodies.heads[pair.b],
                   bodies.state.modelPose[pair.b], pairMargin(bodies, margin, settings, pair.a, pair.b),
                   settings.selection, pair.memory, *scratch, out.found, gap);
      for (const Contact& contact : out.found) {
        KeptContact& kept = out.contacts.emplace_back();
        kept.contact = contact;
      }
      if (old && old->count) {
        const double size = std::min(bodies.constants[pair.a].outer, bodies.constants[pair.b].outer);
        keepImpulses(std::span(last.contacts).subspan(old->first, old->count),
                     std::span(out.contacts).subspan(pair.first), kSamePlace * size);
      }
    }
    pair.count = uint32_t(out.contacts.size()) - pair.first;
    if (pair.count) ++out.report.touching;
    for (uint32_t k = pair.first; k < pair.first + pair.count; ++k) {
      const double depth = -out.contacts[k].contact.separation;
      if (depth <= 0) continue;
      out.report.deepest = std::max(out.report.deepest, depth);
      out.report.depthSum += depth;
      ++out.report.overlapping;
    }
  }
  out.report.work = scratch->work;
}

DetectionReport PairDetection::run(const BodySet& bodies, std::span<const uint64_t> keys,
                                   std::span<const double> margin, const SimulationSettings& settings,
                                   const PairTable& last, PairTable& next) {
  // Both lists are sorted. Old pairs stay without being found again where neither body moved.
  source_.clear();
  const auto add = [&](uint64_t key, uint32_t source) { source_.push_back({key, source}); };
  const auto rests = [&](const PairRecord& pair) {
    return bodies.state.exists[pair.a] && bodies.state.exists[pair.b] && !bodies.active(pair.a) &&
           !bodies.active(pair.b);
  };
  size_t old = 0;
  for (const uint64_t key : keys) {
    for (; old < last.pairs.size() && pairKey(last.pairs[old].a, last.pairs[old].b) < key; ++old) {
      if (rests(last.pairs[old])) add(pairKey(last.pairs[old].a, last.pairs[old].b), uint32_t(old));
    }
    const bool known = old < last.pairs.size() && pairKey(last.pairs[old].a, last.pairs[old].b) == key;
    add(key, known ? uint32_t(old) : kNoIndex);
    if (known) ++old;
  }
  for (; old < last.pairs.size(); ++old) {
    if (rests(last.pairs[old])) add(pairKey(last.pairs[old].a, last.pairs[old].b), uint32_t(old));
  }

  next.pairs.resize(source_.size());
  next.gaps.resize(bodies.solids ? source_.size() : 0);
  const size_t blockCount = (next.pairs.size() + kGrain - 1) / kGrain;
  if (blocks_.size() < blockCount) blocks_.resize(blockCount);
  parallelFor(
      blockCount, [&](size_t block) { fillBlock(bodies, margin, settings, last, next, block); }, 1);

  DetectionReport report;
  std::vector<size_t> start(blockCount + 1, 0);
  for (size_t block = 0; block < blockCount; ++block) {
    const DetectionReport& r = blocks_[block].report;
    start[block + 1] = start[block] + blocks_[block].contacts.size();
    report.work.visited += r.work.visited;
    report.work.fieldQueries += r.work.fieldQueries;
    report.work.insidePoints += r.work.insidePoints;
    report.work.skipped += r.work.skipped;
    report.deepest = std::max(report.deepest, r.deepest);
    report.depthSum += r.depthSum;
    report.overlapping += r.overlapping;
    report.touching += r.touching;
  }
  next.contacts.resize(start[blockCount]);
  parallelFor(
      blockCount,
      [&](size_t block) {
        std::copy(blocks_[block].contacts.begin(), blocks_[block].contacts.end(),
                  next.contacts.begin() + std::ptrdiff_t(start[block]));
        const size_t end = std::min(next.pairs.size(), (block + 1) * kGrain);
        for (size_t i = block * kGrain; i < end; ++i) next.pairs[i].first += uint32_t(start[block]);
      },
      8);
  return report;
}

}  // namespace sunder::rigid
