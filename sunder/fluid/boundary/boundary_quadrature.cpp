#include "sunder/fluid/boundary/boundary_quadrature.h"

#include "sunder/base/random.h"
#include "sunder/fluid/kernel.h"
#include "sunder/sdf/hp/legendre.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

namespace sunder::fluid {

namespace {

// G(t) is the kernel's marginal along the normal, integrated twice from t = 2 down; below t = 1 by
// G(t) = G(2 - t) + (1 - t), as the marginal is even.
PlaneDensity outer(double t) {
  if (t >= 2) return {};
  if (t >= 1.5) {
    const double u = 2 - t, u5 = u * u * u * u * u;
    return {u5 * u * (4.0 / 15 - 16.0 / 105 * u), -u5 * (1.6 - 16.0 / 15 * u)};
  }
  const double s = t - 1, s2 = s * s, s4 = s2 * s2;
  return {31.0 / 280 - 0.5 * s + 0.7 * s2 - 2.0 / 3 * s4 + 0.8 * s4 * s2 - 16.0 / 35 * s4 * s2 * s,
          -0.5 + 1.4 * s - 8.0 / 3 * s2 * s + 4.8 * s4 * s - 3.2 * s4 * s2};
}

}  // namespace

PlaneDensity planeBoundaryDensity(double t) {
  if (t >= 1) return outer(t);
  const PlaneDensity mirrored = outer(2 - t);
  return {mirrored.value + (1 - t), -1 - mirrored.slope};
}

BallRule makeBallRule(const BallRuleSize& size) {
  assert(size.radial > 0 && size.polar > 0 && size.azimuth > 0 && size.azimuth % 2 == 0);
  const CubicKernel kernel(1);
  const sdf::GaussRule radial = sdf::gaussLegendre(size.radial), polar = sdf::gaussLegendre(size.polar);
  BallRule rule;
  rule.ring = size_t(size.azimuth);
  double sum = 0;
  RandomStream random(1);
  for (int panel = 0; panel < 2; ++panel) {
    for (size_t i = 0; i < radial.nodes.size(); ++i) {
      const double s = 0.25 * (radial.nodes[i] + 1) + 0.5 * panel;
      const double shell = radial.weights[i] * s * s * kernel.value(s);
      // A plane square to the polar axis meets whole rings at once, so the rule is worst there. Every shell
      // is turned in its own way: no direction is the axis of all of them. Opposite points stay opposite,
      // which keeps the centre of mass.
      std::array<double, 4> q;  // one draw a statement: compilers order arguments differently
      for (double& part : q) part = random.uniform(-1, 1);
      const Mat3 turn = Quat(q[3], q[2], q[1], q[0]).normalized().toRotationMatrix();
      for (size_t j = 0; j < polar.nodes.size(); ++j) {
        const double c = polar.nodes[j], across = std::sqrt(1 - c * c);
        for (int k = 0; k < size.azimuth; ++k) {
          const double phi = 2 * kPi * k / size.azimuth;
          rule.offsets.push_back(s * (turn * Vec3(across * std::cos(phi), across * std::sin(phi), c)));
          rule.weights.push_back(shell * polar.weights[j]);
          sum += rule.weights.back();
        }
      }
    }
  }
  for (double& w : rule.weights) w /= sum;
  Vec3 centre = Vec3::Zero();
  for (size_t k = 0; k < rule.weights.size(); ++k) centre += rule.weights[k] * rule.offsets[k];
  for (Vec3& o : rule.offsets) o -= centre;  // rounding only
  return rule;
}

double integrateBoundary(const BallRule& rule, const sdf::Field& field, const Vec3& point, double support,
                         double offset, double side) {
  std::vector<Vec3> points(rule.offsets.size());
  std::vector<double> distances(points.size());
  for (size_t k = 0; k < points.size(); ++k) points[k] = point + support * rule.offsets[k];
  field.values(points, distances);
  double sum = 0;
  for (size_t k = 0; k < points.size(); ++k)
    sum += rule.weights[k] * std::max(0.0, 1 - offset - side * distances[k] / support);
  return sum;
}

}  // namespace sunder::fluid
