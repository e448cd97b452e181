// Restitution, on velocities, when a step is over. The step itself leaves contacts that closed without
// separating speed. Impulses are found by projected Gauss-Seidel over all contacts that closed, then scaled
// so that they give back at most the energy that these contacts took in the step: what forces h p did is -sum
// h p (v0 + v1) / 2 with the normal speeds before and after, what impulses P do is sum P (v1 + v2) / 2. Nor
// do they give back more than all bodies lost in the step: forces that have not converged say little.
#include "sunder/soft/contact/sphere_contacts.h"

#include <algorithm>
#include <cmath>

namespace sunder::soft {

namespace {

constexpr int kBounceSweeps = 50;
constexpr double kBounceSettled = 1e-12;  // of the largest impulse

}  // namespace

double SphereContacts::inverseMassOf(const Contact& c, std::span<const Vec3> x) const {
  return inverseMassOf(c.sphere) + (c.obstacle
                                        ? obstacles_.inverseMassAt(c.other, centre(c.sphere, x), c.normal)
                                        : inverseMassOf(c.other));
}

// How fast both come closer.
double SphereContacts::closing(const Contact& c, std::span<const Vec3> x,
                               std::span<const Vec3> velocities) const {
  const Vec3 other =
      c.obstacle ? obstacles_.velocityAt(c.other, centre(c.sphere, x)) : centre(c.other, velocities);
  return c.normal.dot(other - centre(c.sphere, velocities));
}

void SphereContacts::pushApart(const Contact& c, double impulse, std::span<const Vec3> x,
                               std::span<Vec3> velocities) {
  const auto push = [&](uint32_t sphere, const Vec3& by) {
    for (size_t k = 0; k < 4; ++k) {
      const uint32_t v = tets_[spheres_[sphere].tet][k];
      velocities[v] += spheres_[sphere].weights[k] * inverseMasses_[v] * by;
    }
  };
  const Vec3 by = impulse * c.normal;
  push(c.sphere, by);
  if (c.obstacle) {
    obstacles_.push(c.other, -by, centre(c.sphere, x), true);
  } else {
    push(c.other, -by);
  }
}

void SphereContacts::bounce(std::span<const Vec3> x, std::span<Vec3> velocities) {
  struct Bounce {
    const Contact* contact;
    double inverseMass, wanted, before, impulse;
  };
  std::vector<Bounce> bounces;
  double taken = 0;
  for (const Contact& c : contacts_) {
    if (!c.fresh || !(c.normalForce > 0) || !(c.approach > settings_.bounceSpeed)) continue;
    const double own = bodies_[spheres_[c.sphere].body].restitution;
    const double e = restitutionOf(own, c.obstacle ? obstacles_.bodies()[c.other].restitution
                                                   : bodies_[spheres_[c.other].body].restitution);
    const double inverseMass = inverseMassOf(c, x);
    if (!(e > 0) || !(inverseMass > 0)) continue;
    const double before = closing(c, x, velocities);
    taken += h_ * c.normalForce * 0.5 * (c.approach + before);
    bounces.push_back({&c, inverseMass, e * c.approach, before, 0});
  }
  taken = std::min(taken, took_ + obstacles_.tookKinetic());
  if (bounces.empty() || !(taken > 0)) return;

  for (int sweep = 0; sweep < kBounceSweeps; ++sweep) {
    double change = 0, largest = 0;
    for (Bounce& b : bounces) {
      const double wish = (b.wanted + closing(*b.contact, x, velocities)) / b.inverseMass;
      const double more = std::max(-b.impulse, wish);
      pushApart(*b.contact, more, x, velocities);
      b.impulse += more;
      change = std::max(change, std::abs(more));
      largest = std::max(largest, b.impulse);
    }
    if (change <= kBounceSettled * largest) break;
  }
  // Of all impulses scaled by s, the energy is  s linear + s^2 square.
  double linear = 0, square = 0;
  for (const Bounce& b : bounces) {
    linear -= b.impulse * b.before;
    square += b.impulse * 0.5 * (b.before - closing(*b.contact, x, velocities));
  }
  double scale = 1;
  if (linear + square > taken && square > 0)
    scale = (std::sqrt(linear * linear + 4 * square * taken) - linear) / (2 * square);
  scale = std::clamp(scale, 0.0, 1.0);
  report_.bounceScale = scale;
  for (const Bounce& b : bounces) {
    report_.bounced += b.impulse > 0;
    if (scale < 1) pushApart(*b.contact, (scale - 1) * b.impulse, x, velocities);
  }
}

}  // namespace sunder::soft
