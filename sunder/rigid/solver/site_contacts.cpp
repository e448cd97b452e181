#include "sunder/rigid/solver/site_contacts.h"

#include "sunder/base/error.h"

#include <algorithm>

#include <fmt/core.h>

namespace sunder::rigid {

void SiteContacts::clear() {
  given_.clear();
  sites_.clear();
  contacts_.clear();
  impulses_.clear();
  lightened_ = 0;
}

void SiteContacts::set(std::span<const Site> sites, std::span<const SiteContact> contacts,
                       uint32_t bodyCount) {
  const auto require = [](bool fine, size_t contact, const char* what) {
    if (!fine) throw Error(ErrorKind::Usage, fmt::format("contact {} of a site: {}", contact, what));
  };
  for (size_t i = 0; i < contacts.size(); ++i) {
    const SiteContact& c = contacts[i];
    require(c.site < sites.size(), i, "there is no such site");
    require(c.body.valid() ? c.body.value < bodyCount : c.other < sites.size() && c.other != c.site, i,
            "it touches neither a body nor another site");
    require(c.normal.allFinite() && std::isfinite(c.separation) && std::isfinite(c.startImpulse), i,
            "a number is not finite");
    require(c.friction >= 0, i, "its friction is negative");
  }
  for (const Site& site : sites)
    if (!site.position.allFinite() || !site.velocity.allFinite() || !site.acceleration.allFinite() ||
        !(site.inverseMass >= 0))
      throw Error(ErrorKind::Usage, "a site has a number that is not finite, or a negative mass");
  given_.assign(contacts.begin(), contacts.end());
  sites_.assign(sites.size(), {});
  accelerations_.resize(sites.size());
  positions_.resize(sites.size());
  for (size_t i = 0; i < sites.size(); ++i) {
    sites_[i].velocity() = sites[i].velocity;
    sites_[i].inverseMass = sites[i].inverseMass;
    accelerations_[i] = sites[i].acceleration;
    positions_[i] = sites[i].position;
  }
}

void SiteContacts::prepare(const BodySet& bodies) {
  contacts_.clear();
  impulses_.assign(given_.size(), {});
  std::vector<uint8_t> lighter(sites_.size(), 0);
  for (const SiteContact& c : given_) {
    if (!c.body.valid()) continue;
    const SolverBody& body = bodies.state.solverBody[c.body.value];
    const double least = body.inverseMass / kHeaviestSite;
    if (!sites_[c.site].movable() || sites_[c.site].inverseMass >= least) continue;
    sites_[c.site].inverseMass = least;
    lighter[c.site] = 1;
  }
  lightened_ = uint64_t(std::count(lighter.begin(), lighter.end(), uint8_t(1)));
  for (const SiteContact& c : given_) {
    Row& row = contacts_.emplace_back();
    row.site = c.site;
    row.normal = c.normal;
    row.separation = c.separation;
    row.friction = c.friction;
    row.normalImpulse = std::max(c.startImpulse, 0.0);
    double normalInverse = sites_[c.site].inverseMass, frictionInverse = normalInverse;
    if (c.body.valid()) {
      row.body = c.body.value;
      const SolverBody& body = bodies.state.solverBody[row.body];
      row.onStatic = !body.movable();
      row.arm = positions_[c.site] - bodies.state.position[row.body];
      const Mat3 inertia = body.inverseInertia();
      const Vec3 turn = row.arm.cross(row.normal);
      normalInverse += body.inverseMass + turn.dot(inertia * turn);
      // At most what any direction asks for, so that one number serves both tangents.
      frictionInverse += body.inverseMass + row.arm.squaredNorm() * inertia.trace();
    } else {
      row.other = c.other;
      normalInverse += sites_[c.other].inverseMass;
      frictionInverse += sites_[c.other].inverseMass;
    }
    row.normalMass = normalInverse > 0 ? 1 / normalInverse : 0;
    row.frictionMass = frictionInverse > 0 ? 1 / frictionInverse : 0;
  }
}

std::vector<SiteMotion> SiteContacts::motions() const {
  std::vector<SiteMotion> out;
  for (const SolverBody& site : sites_) out.push_back({site.movedBy(), site.velocity()});
  return out;
}

void SiteContacts::accelerate(double substep) {
  for (size_t i = 0; i < sites_.size(); ++i)
    if (sites_[i].movable()) sites_[i].velocity() += substep * accelerations_[i];
}

// `impulse` acts on the site.
void SiteContacts::push(Row& row, SolverBody* bodies, const Vec3& impulse) {
  SolverBody& site = sites_[row.site];
  site.velocity() += site.inverseMass * impulse;
  SolverBody& second = secondBody(row, bodies);
  if (second.movable()) second.push(-impulse, row.arm);
}

void SiteContacts::warmStart(SolverBody* bodies) {
  for (Row& row : contacts_) push(row, bodies, row.normalImpulse * row.normal + row.frictionImpulse);
}

void SiteContacts::solve(SolverBody* bodies, const SiteSolveSettings& settings, bool bias) {
  for (Row& row : contacts_) {
    SolverBody& site = sites_[row.site];
    SolverBody& second = secondBody(row, bodies);
    const Vec3 moved = site.movedBy() - second.movedBy() - Vec3(second.turnedBy()).cross(row.arm);
    const double separation = row.separation + row.normal.dot(moved);
    const Softness& soft = row.onStatic ? settings.softOnStatic : settings.soft;
    double speed = 0, massScale = 1, impulseScale = 0;
    if (separation > 0) {
      speed = separation / settings.substep;
    } else if (bias) {
      speed = std::max(soft.biasRate * separation, -settings.pushSpeed);
      massScale = soft.massScale;
      impulseScale = soft.impulseScale;
    }
    const Vec3 relative = site.velocity() - second.velocityAt(row.arm);
    const double wanted = row.normalImpulse -
                          row.normalMass * massScale * (row.normal.dot(relative) + speed) -
                          impulseScale * row.normalImpulse;
    const double change = std::max(wanted, 0.0) - row.normalImpulse;
    row.normalImpulse += change;
    push(row, bodies, change * row.normal);

    const Vec3 now = site.velocity() - second.velocityAt(row.arm);
    const Vec3 sliding = now - row.normal.dot(now) * row.normal;
    Vec3 friction = row.frictionImpulse - row.frictionMass * sliding;
    const double most = row.friction * row.normalImpulse, length = friction.norm();
    if (length > most) friction *= most / length;
    const Vec3 more = friction - row.frictionImpulse;
    row.frictionImpulse = friction;
    push(row, bodies, more);
  }
}

void SiteContacts::move(double substep) {
  for (SolverBody& site : sites_) site.movedBy() += substep * site.velocity();
}

void SiteContacts::addUp() {
  for (size_t i = 0; i < contacts_.size(); ++i) {
    const Row& row = contacts_[i];
    impulses_[i].impulse += row.normalImpulse * row.normal + row.frictionImpulse;
    impulses_[i].last = row.normalImpulse;
  }
}

}  // namespace sunder::rigid
