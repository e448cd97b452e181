#include "sunder/world/part/exchange.h"

#include "sunder/base/bytes.h"
#include "sunder/base/hash.h"

#include <string>

namespace sunder::world {

Mat3 MovingSolid::inverseInertia(const Mat3& rotation) const {
  if (!movable()) return Mat3::Zero();
  const Mat3 frame = rotation * inertiaFrame.toRotationMatrix();
  return frame * inertia.cwiseInverse().asDiagonal() * frame.transpose();
}

Vec3 MovingSolid::velocityAt(const Vec3& point) const {
  Vec3 v = velocity, w = angularVelocity;
  if (movable() && !(linear.isZero(0) && angular.isZero(0))) {
    v += linear / mass;
    w += inverseInertia(after.rotation.toRotationMatrix()) * angular;
  }
  return v + w.cross(point - centreAfter());
}

double MovingSolid::inverseMassAt(const Vec3& point, const Vec3& direction) const {
  if (!movable()) return 0;
  const Vec3 turn = (point - centreAfter()).cross(direction);
  return 1 / mass + turn.dot(inverseInertia(after.rotation.toRotationMatrix()) * turn);
}

MovingSolid& Exchange::publish(uint32_t body) {
  if (solids_.size() <= body) solids_.resize(body + 1);
  return solids_[body];
}

void Exchange::push(uint32_t body, const Vec3& impulse, const Vec3& point) {
  MovingSolid& solid = solids_[body];
  solid.linear += impulse;
  solid.angular += (point - solid.centreAfter()).cross(impulse);
}

void Exchange::pushCentre(uint32_t body, const Vec3& linear, const Vec3& angular) {
  solids_[body].linear += linear;
  solids_[body].angular += angular;
}

void Exchange::clearImpulses() {
  for (MovingSolid& solid : solids_) {
    solid.linear.setZero();
    solid.angular.setZero();
  }
}

uint32_t Exchange::addSite(const rigid::Site& site) {
  sites_.push_back(site);
  return static_cast<uint32_t>(sites_.size() - 1);
}

uint32_t Exchange::addContact(uint32_t site, uint32_t body, const Vec3& normal, double separation,
                              double friction, double startImpulse) {
  contacts_.push_back({{.site = site,
                        .body = {},
                        .other = kNoIndex,
                        .normal = normal,
                        .separation = separation,
                        .friction = friction,
                        .startImpulse = startImpulse},
                       body});
  return static_cast<uint32_t>(contacts_.size() - 1);
}

uint32_t Exchange::addSiteContact(uint32_t site, uint32_t other, const Vec3& normal, double separation,
                                  double friction, double startImpulse) {
  const uint32_t contact = addContact(site, kNoIndex, normal, separation, friction, startImpulse);
  contacts_[contact].values.other = other;
  return contact;
}

void Exchange::setOutcomes(std::span<const rigid::SiteImpulse> impulses,
                           std::span<const rigid::SiteMotion> motions) {
  impulses_.assign(impulses.begin(), impulses.end());
  motions_.assign(motions.begin(), motions.end());
}

void Exchange::clearContacts() {
  sites_.clear();
  contacts_.clear();
  impulses_.clear();
  motions_.clear();
}

void Exchange::save(ByteWriter& out) const {
  out.u32(static_cast<uint32_t>(solids_.size()));
  for (const MovingSolid& solid : solids_)
    for (const Vec3* v : {&solid.linear, &solid.angular})
      for (const double x : *v) out.f64(x);
}

void Exchange::load(ByteReader& in, uint32_t bodies) {
  const uint32_t count = in.u32("number of solids");
  in.need(count, 48, "solids");
  if (count > bodies) in.fail("the state has more solids than bodies");
  solids_.assign(count, {});
  for (MovingSolid& solid : solids_)
    for (Vec3* v : {&solid.linear, &solid.angular})
      for (double& x : *v) x = in.boundedF64("an impulse on a body");
}

void Exchange::hash(Hasher& hasher) const {
  std::string bytes;
  ByteWriter out(bytes);
  save(out);
  hasher.updateSized(std::string_view(bytes));
}

}  // namespace sunder::world
