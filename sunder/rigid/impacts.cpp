#include "sunder/rigid/impacts.h"

#include <algorithm>
#include <cmath>

namespace sunder::rigid {

namespace {

constexpr int kMostRounds = 100;                       // over all pairs
constexpr uint64_t kStrikesAPair = 1, kStrikes = 500;  // in all, so that dense piles end in time
constexpr int kPairSweeps = 10;                        // over the contacts of one pair
constexpr double kTogether = 1.5;                      // substeps

}  // namespace

void Impacts::collect(const BodySet& bodies, const PairTable& table) {
  pairs_.clear();
  for (uint32_t i = 0; i < table.pairs.size(); ++i) {
    const PairRecord& pair = table.pairs[i];
    if (!pair.count || (!bodies.moves(pair.a) && !bodies.moves(pair.b))) continue;
    const double e =
        std::max(bodies.constants[pair.a].surface.restitution, bodies.constants[pair.b].surface.restitution);
    if (e > 0) pairs_.push_back({i, e, 0});
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
  const Vec3 pulled = pull(record.b) - pull(record.a);
  // Positions at the start of the step, from which the arms are taken.
  const Vec3 startA = bodies.state.position[record.a] - a.movedBy();
  const Vec3 apart = bodies.state.position[record.a] - bodies.state.position[record.b];

  points_.clear();
  double first = h;
  bool strikes = false, closes = false;
  for (uint32_t i = record.first; i < record.first + record.count; ++i) {
    const Contact& contact = table.contacts[i].contact;
    const Vec3 armA = contact.point - startA, armB = armA + apart;
    const double separation =
        contact.separation + contact.normal.dot((b.movedBy() + b.turnedBy().cross(armB)) -
                                                (a.movedBy() + a.turnedBy().cross(armA)));
    const double speed = contact.normal.dot(b.velocityAt(armB) - a.velocityAt(armA));
    // Those that close a little later strike along, so that a face that lands flat leaves flat.
    if (separation + kTogether * h * speed >= 0 || speed >= 0) continue;
    closes |= separation + h * speed < 0;
    const double time = separation > 0 ? std::min(separation / -speed, h) : 0.0;
    first = std::min(first, time);
    // Gravity and forces were added for the whole substep; the impact sees their part up to then.
    const double approach = speed - contact.normal.dot(pulled) * (h - time);
    const bool bounces = approach < -settings.bounceSpeed;
    strikes |= bounces;
    points_.push_back(
        {contact.normal, armA, armB, 0,
         (bounces ? -pair.restitution * approach : 0.0) + contact.normal.dot(pulled) * (h - time), 0, i});
  }
  if (!strikes || !closes) return false;

  // At the time of the impact both bodies are there with their old velocities.
  const Vec3 onTheWay = (a.velocity() - b.velocity()) * first;
  for (Point& point : points_) {
    point.armB += onTheWay;
    const Vec3 turnA = point.armA.cross(point.normal), turnB = point.armB.cross(point.normal);
    point.mass = 1 / (a.inverseMass + b.inverseMass + turnA.dot(a.inverseInertiaTimes(turnA)) +
                      turnB.dot(b.inverseInertiaTimes(turnB)));
  }
  const Vec3 oldA = a.velocity(), oldB = b.velocity();
  for (int sweep = 0; sweep < kPairSweeps; ++sweep) {
    double largest = 0;
    for (Point& point : points_) {
      const double speed = point.normal.dot(b.velocityAt(point.armB) - a.velocityAt(point.armA));
      const double impulse = std::max(point.impulse + point.mass * (point.target - speed), 0.0);
      const double change = impulse - point.impulse;
      point.impulse = impulse;
      if (a.movable()) a.push(-change * point.normal, point.armA);
      if (b.movable()) b.push(change * point.normal, point.armB);
      largest = std::max(largest, std::abs(change) / point.mass);
    }
    if (points_.size() == 1 || largest < 1e-3 * settings.bounceSpeed) break;
  }
  for (const Point& point : points_) table.contacts[point.contact].total += float(point.impulse);
  const auto moveBack = [&](uint32_t body, Mover& mover, const Vec3& old) {
    const Vec3 move = (old - mover.velocity()) * first;
    bodies.state.position[body] += move;
    mover.movedBy() += move;
  };
  if (a.movable()) moveBack(record.a, a, oldA);
  if (b.movable()) moveBack(record.b, b, oldB);
  return true;
}

}  // namespace sunder::rigid
