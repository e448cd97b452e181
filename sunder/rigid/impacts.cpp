#include "sunder/rigid/impacts.h"

#include <algorithm>
#include <cmath>

namespace sunder::rigid {

namespace {

constexpr int kMostRounds = 100;                       // over all pairs
constexpr uint64_t kStrikesAPair = 1, kStrikes = 500;  // in all, so that dense piles end in time
constexpr double kTogether = 1.5;                      // substeps

// How much of the first body's motion along the surface a contact takes part in, the rest is of the second's:
// where balls meet depends on their radii, and small bodies take contacts along over large ones.
double partOfFirst(const BodyConstants& a, const BodyConstants& b) {
  if (a.plane || b.plane) return a.plane ? 0 : 1;
  return b.outer / (a.outer + b.outer);
}

// A contact some time after now: how far apart the surfaces are there, and the middle between them.
struct Gap {
  Gap(const Contact& contact, double partA, const Mover& a, const Vec3& centreA, const Mover& b,
      const Vec3& centreB, double time) {
    // Since the start of the step, when contacts were found.
    const Vec3 moveA = a.movedBy() + time * a.velocity(), moveB = b.movedBy() + time * b.velocity();
    const Vec3 turnA = a.turnedBy() + time * a.spin(), turnB = b.turnedBy() + time * b.spin();
    const Vec3 armA = contact.point - (centreA - a.movedBy()), armB = contact.point - (centreB - b.movedBy());
    const double wayA = contact.normal.dot(moveA + turnA.cross(armA));
    const double wayB = contact.normal.dot(moveB + turnB.cross(armB));
    separation = contact.separation + wayB - wayA;
    const Vec3 along = partA * moveA + (1 - partA) * moveB;
    middle = contact.point + along + (0.5 * (wayA + wayB) - contact.normal.dot(along)) * contact.normal;
  }
  double separation;
  Vec3 middle;
};

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
  const Vec3 centreA = bodies.state.position[record.a], centreB = bodies.state.position[record.b];
  const double partA = partOfFirst(bodies.constants[record.a], bodies.constants[record.b]);

  points_.clear();
  contacts_.clear();
  double first = h;
  bool strikes = false, closes = false;
  for (uint32_t i = record.first; i < record.first + record.count; ++i) {
    const Contact& contact = table.contacts[i].contact;
    const Gap gap(contact, partA, a, centreA, b, centreB, 0);
    const double speed =
        contact.normal.dot(b.velocityAt(gap.middle - centreB) - a.velocityAt(gap.middle - centreA));
    // Those that close a little later strike along, so that a face that lands flat leaves flat; those that
    // touch are in the way.
    if (gap.separation > 0 && gap.separation + kTogether * h * speed >= 0) continue;
    contacts_.push_back(i);
    if (speed >= 0) continue;
    closes |= gap.separation + h * speed < 0;
    const double time = gap.separation > 0 ? std::min(gap.separation / -speed, h) : 0.0;
    first = std::min(first, time);
    // Gravity and forces were added for the whole substep; the impact sees their part up to then.
    strikes |= speed - contact.normal.dot(pullB - pullA) * (h - time) < -settings.bounceSpeed;
  }
  if (!strikes || !closes) return false;

  // At the time of the impact both bodies are there with their old velocities.
  for (const uint32_t i : contacts_) {
    const Contact& contact = table.contacts[i].contact;
    const Vec3 middle = Gap(contact, partA, a, centreA, b, centreB, first).middle;
    points_.push_back({contact.normal, middle - (centreA + a.velocity() * first),
                       middle - (centreB + b.velocity() * first), Vec3::Zero()});
  }
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
