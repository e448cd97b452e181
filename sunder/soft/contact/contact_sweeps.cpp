// Which spheres come near each other on their ways to a state. Looked for anew for every state, where
// spheres move so far in a step, against their size, that a list of all that may meet would hold nearly every
// pair: pieces that fly apart, bodies that began deep in each other.
#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/soft/contact/sphere_contacts.h"
#include "sunder/spatial/pairs/overlap_pairs.h"
#include "sunder/spatial/points/sphere_set.h"
#include "sunder/spatial/tree/oi_tree.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace sunder::soft {

namespace {

// Of the radius: what never comes so near is no contact, whatever rounding does. More than gaps that are
// looked after before they close (contact_search.cpp).
constexpr double kLooselyNear = 1.03;
constexpr size_t kSweepGrain = 64;

}  // namespace

// Whether two spheres come as near as `level` anywhere on the way.
bool SphereContacts::comeNear(const Pair& pair, double level, std::span<const Vec3> starts) const {
  const Vec3 from = starts[pair.sphere] - starts[pair.other];
  const Vec3 to = centres_[pair.sphere] - centres_[pair.other], way = to - from;
  const double squared = level * level, before = from.dot(way);
  if (before >= 0) return from.squaredNorm() <= squared;
  if (to.dot(way) <= 0) return to.squaredNorm() <= squared;
  const double length = way.squaredNorm();  // squared, as what follows
  return from.squaredNorm() * length - before * before <= squared * length;
}

// Boxes around the ways of spheres, without what the spheres of a body have in common where the ways begin
// with the step.
void SphereContacts::addSweptPairs(std::span<const Vec3> starts, std::vector<Pair>& near) const {
  const bool whole = starts.data() == startCentres_.data();
  const std::vector<double> margins = commonMargins();
  std::vector<Box3f> leaves;
  std::vector<uint32_t> numbers;
  for (uint32_t i = 0; i < spheres_.size(); ++i) {
    const uint32_t body = spheres_[i].body;
    if (margins[body] < 0) continue;
    const double far = kLooselyNear * spheres_[i].radius + (whole ? margins[body] : 0);
    Box3f box = spatial::boxAround(starts[i], far);
    const Vec3 common = whole ? reaches_[body].common : Vec3(Vec3::Zero());
    const Box3f end = spatial::boxAround(centres_[i] - common, far);
    box.grow(end.lower);
    box.grow(end.upper);
    numbers.push_back(i);
    leaves.push_back(box);
  }
  if (leaves.size() < 2) return;
  spatial::OiTreeBuilder builder;
  spatial::OiTree tree;
  builder.build(tree, leaves);
  spatial::PairList found;
  try {
    spatial::selfOverlapPairs(tree, found);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Limit) throw;
    throw Error(ErrorKind::Limit,
                fmt::format("the {} collision spheres of soft bodies move so far in a step, for their size, "
                            "that too many of them may meet",
                            leaves.size()))
        .hint(
            "shorten the time step, give \"spheres\" that are further apart, or set \"selfContact\" to "
            "false");
  }
  for (const spatial::PrimitivePair& pair : found.pairs()) {
    Pair met{numbers[std::min(pair.a, pair.b)], false, numbers[std::max(pair.a, pair.b)], 0};
    if (mayMeet(met.sphere, met.other, met.radius) && comeNear(met, kLooselyNear * met.radius, starts))
      near.push_back(met);
  }
}

// Pairs that are no contacts yet and may become ones on the ways from `starts` to x, ascending.
void SphereContacts::gatherNear(std::span<const Vec3> starts, std::span<const Vec3> x,
                                std::vector<Pair>& near) const {
  near.clear();
  if (pairs_.empty() && listed_) return;
  placeCentres(x);
  std::vector<uint8_t> wanted(pairs_.size());
  parallelFor(
      pairs_.size(),
      [&](size_t i) {
        wanted[i] = pairs_[i].obstacle || comeNear(pairs_[i], kLooselyNear * pairs_[i].radius, starts);
      },
      kSweepGrain);
  near_.clear();
  for (size_t i = 0; i < pairs_.size(); ++i)
    if (wanted[i]) near_.push_back(pairs_[i]);
  if (!listed_) {
    addSweptPairs(starts, near_);
    std::sort(near_.begin(), near_.end());
  }
  std::set_difference(near_.begin(), near_.end(), contactPairs_.begin(), contactPairs_.end(),
                      std::back_inserter(near));
}

}  // namespace sunder::soft
