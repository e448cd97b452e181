#include "sunder/rigid/impacts.h"

#include <algorithm>
#include <cmath>

namespace sunder::rigid {

namespace {

constexpr int kMostRounds = 100;                       // over all pairs
constexpr uint64_t kStrikesAPair = 1, kStrikes = 500;  // in all, so that dense piles end in time
constexpr double kTogether = 1.5;                      // substeps

}  // namespace

void Impacts::collect(const BodySet& bodies, const PairTable& table) {
  pairs_.clear();
  for (uint32_t i = 0; i < table.pairs.size(); ++i) {
    const PairRecord& pair = table.pairs[i];
    if (!pair.count || (!bodies.moves(pair.a) && !bodies.moves(pair.b))) continue;
    const Surface &a = bodies.constants[pair.a].surface, &b = bodies.constants[pair.b].surface;
    const double restitution = std::max(a.restitution, b.restitution);
    if (restitution > 0) pairs_.push_back({i, std::sqrt(a.friction * b.friction), restitution, 0});
  }
}

bool Impacts::run(BodySet& bodies, PairTable& table, const SimulationSettings& settings, double substep) {
  // A pair is looked at again only when one of its bodies was struck since.
  struck_.assign(bodies.count(), 0);
  uint64_t now = 0, left = kStrikesAPair * pairs_.size() + kStrikes;
  for (Pair& pair : pairs_) pair.seen = 0;
  for (int round = 0; round < kMostRounds; ++round) {
    bool any = false;
    for (Pair& pair : pairs_) {
      const PairRecord& record = table.pairs[pair.record];
      if (round > 0 && struck_[record.a] <= pair.seen && struck_[record.b] <= pair.seen) continue;
      pair.seen = now;
      if (!strike(bodies, table, settings, substep, pair)) continue;
      any = true;
      ++now;
      if (bodies.moves(record.a)) struck_[record.a] = now;
      if (bodies.moves(record.b)) struck_[record.b] = now;
      // Its own contacts may close again only when somebody else strikes one of the two.
      pair.seen = now;
      if (--left == 0) return false;
    }
    if (!any) return true;
  }
  return false;
}

bool Impacts::strike(BodySet& bodies, PairTable& table, const SimulationSettings& settings, double h,
                     const Pair& pair) {
  const PairRecord& record = table.pairs[pair.record];
  Mover &a = bodies.state.mover[record.a], &b = bodies.state.mover[record.b];
  const auto pull = [&](uint32_t body) -> Vec3 {
    const BodyConstants& c = bodies.constants[body];
    return bodies.moves(body)
               ? Vec3(settings.gravity * c.gravityScale + bodies.state.force[body] * c.inverseMass)
               : Vec3::Zero();
  };
  const Vec3 pullA = pull(record.a), pullB = pull(record.b);
  // Positions at the start of the step, from which the arms are taken.
  const Vec3 startA = bodies.state.position[record.a] - a.movedBy();
  const Vec3 between = bodies.state.position[record.a] - bodies.state.position[record.b];

  points_.clear();
  contacts_.clear();
  double first = h;
  bool strikes = false, closes = false;
  for (uint32_t i = record.first; i < record.first + record.count; ++i) {
    const Contact& contact = table.contacts[i].contact;
    const Vec3 armA = contact.point - startA, armB = armA + between;
    const double separation =
        contact.separation + contact.normal.dot((b.movedBy() + b.turnedBy().cross(armB)) -
                                                (a.movedBy() + a.turnedBy().cross(armA)));
    const double speed = contact.normal.dot(b.velocityAt(armB) - a.velocityAt(armA));
    // Those that close a little later strike along, so that a face that lands flat leaves flat; those that
    // touch are in the way.
    if (separation > 0 && separation + kTogether * h * speed >= 0) continue;
    points_.push_back({contact.normal, armA, armB, Vec3::Zero()});
    contacts_.push_back(i);
    if (speed >= 0) continue;
    closes |= separation + h * speed < 0;
    const double time = separation > 0 ? std::min(separation / -speed, h) : 0.0;
    first = std::min(first, time);
    // Gravity and forces were added for the whole substep; the impact sees their part up to then.
    strikes |= speed - contact.normal.dot(pullB - pullA) * (h - time) < -settings.bounceSpeed;
  }
  if (!strikes || !closes) return false;

  // At the time of the impact both bodies are there with their old velocities.
  const Vec3 onTheWay = (a.velocity() - b.velocity()) * first;
  for (ImpactPoint& point : points_) point.armB += onTheWay;
  const double rest = h - first;
  const auto toTheImpact = [&](uint32_t body, Mover& mover, const Vec3& pulled) {
    if (!mover.movable()) return;
    bodies.move(body, first);
    mover.velocity() -= pulled * rest;
  };
  const auto andBack = [&](uint32_t body, Mover& mover, const Vec3& pulled) {
    if (!mover.movable()) return;
    mover.velocity() += pulled * rest;
    bodies.move(body, -first);
  };
  toTheImpact(record.a, a, pullA);
  toTheImpact(record.b, b, pullB);
  law_.strike(a, b, points_, pair.friction, pair.restitution);
  andBack(record.a, a, pullA);
  andBack(record.b, b, pullB);
  for (size_t k = 0; k < points_.size(); ++k) {
    KeptContact& kept = table.contacts[contacts_[k]];
    const double normal = points_[k].normal.dot(points_[k].impulse);
    const Vec3 slide = points_[k].impulse - normal * points_[k].normal;
    kept.total += float(normal);
    for (int c = 0; c < 3; ++c) kept.slide[c] += float(slide[c]);
  }
  return true;
}

}  // namespace sunder::rigid
