// The energy of contacts and its derivatives: an augmented Lagrangian for the normal, the Moreau envelope of
// the dissipation across it.
#include "sunder/soft/contact/sphere_contacts.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace sunder::soft {

namespace {

// A unit vector across `normal`, along `way` where that has a direction.
Vec3 acrossNormal(const Vec3& normal, const Vec3& way) {
  const double length = way.norm();
  if (length > 0) return way / length;
  Eigen::Index axis = 0;
  normal.cwiseAbs().minCoeff(&axis);
  return normal.cross(Vec3::Unit(axis)).normalized();
}

}  // namespace

double SphereContacts::energy(std::span<const Vec3> x) const {
  double sum = 0;
  for (const Contact& c : contacts_) {
    const double k = c.stiffness, force = std::max(0.0, c.normalForce - k * c.gap(x));
    double twice = force * force - c.normalForce * c.normalForce;
    if (c.bound > 0) {
      const double pull = (c.frictionForce - k * c.slip(x)).norm();
      twice += pull <= c.bound ? pull * pull : c.bound * (2 * pull - c.bound);
    }
    sum += twice / (2 * k);
  }
  return sum;
}

void SphereContacts::addGradient(std::span<const Vec3> x, std::span<Vec3> gradient) const {
  for (const Contact& c : contacts_) {
    const double k = c.stiffness, force = std::max(0.0, c.normalForce - k * c.gap(x));
    if (force > 0) c.place.addGradient(-force * c.normal, gradient);
    if (c.bound > 0) c.touch.addGradient(-clippedForce(c.frictionForce - k * c.slip(x), c.bound), gradient);
  }
}

void SphereContacts::addCurvature(std::span<const Vec3> x, fem::BlockMatrix& matrix,
                                  std::span<Mat3> /*diagonal*/, fem::OuterTerms& outer) const {
  for (const Contact& c : contacts_) {
    const double k = c.stiffness;
    if (c.normalForce - k * c.gap(x) > 0) c.place.addCurvature({&c.normal, 1}, {&k, 1}, matrix, outer);
    if (!(c.bound > 0)) continue;
    const Vec3 pull = c.frictionForce - k * c.slip(x);
    const double size = pull.norm();
    const Vec3 along = acrossNormal(c.normal, pull);
    // Beyond the bound the force keeps its size: only its direction can change.
    const std::array<Vec3, 2> directions{c.normal.cross(along), along};
    const std::array<double, 2> weights{size > c.bound ? k * c.bound / size : k, k};
    const size_t count = size > c.bound ? 1 : 2;
    c.touch.addCurvature({directions.data(), count}, {weights.data(), count}, matrix, outer);
  }
}

}  // namespace sunder::soft
