// What a solid adds to the density of fluid near it (Koschier and Bender 2017, density maps): the solid is
// thought of as fluid that fades away across its surface,
//
//   rho_B(x) / rho_0 = integral of gamma(Phi(y)/r + offset) W(|x - y|) dy,   gamma(t) = 1 - t, from zero up
//
// over the ball of the kernel's support r, Phi the signed distance. With offset 1/2 the missing fluid and the
// wall balance on the surface itself; the source has offset 0, which keeps fluid r/2 away.
//
// Here are the closed form for a plane and the quadrature of the ball for everything else: Gauss-Legendre
// along the radius, with the kernel's knot between two panels, and along the cosine of the polar angle,
// equal steps around. Weights sum to one and the points' centre of mass is the origin, so that fields that
// are linear where gamma is not cut off are integrated to rounding.
#pragma once

#include "sunder/base/math.h"
#include "sunder/sdf/field.h"

#include <vector>

namespace sunder::fluid {

struct PlaneDensity {
  double value = 0;  // of the boundary density, in rest densities
  double slope = 0;  // with respect to t
};

// A half-space, at t supports from its surface plus the offset: 1 - t for t <= 0, zero from 2 on.
PlaneDensity planeBoundaryDensity(double t);

// Points of the unit ball with weights that hold the kernel of unit support.
struct BallRule {
  std::vector<Vec3> offsets;
  std::vector<double> weights;
  size_t ring = 1;  // points that share radius and polar angle, one after the other
};

struct BallRuleSize {
  int radial = 6;  // in each of two panels
  int polar = 12, azimuth = 24;
};
BallRule makeBallRule(const BallRuleSize& size = {});

// The integral at a point with the field as it is, all points of the rule asked: some microseconds to
// milliseconds, for checks. `side` is -1 where the solid is what lies outside of the field's surface.
double integrateBoundary(const BallRule& rule, const sdf::Field& field, const Vec3& point, double support,
                         double offset, double side = 1);

}  // namespace sunder::fluid
