#include "sunder/rigid/solver/impact_law.h"

#include "sunder/base/random.h"
#include "sunder/rigid/solver/rotation.h"

#include <cmath>

#include <gtest/gtest.h>

namespace sunder::rigid {
namespace {

// A box of this half size as the solver sees it, with its inertia for sums of energy and momentum.
struct Struck {
  SolverBody solverBody;
  double mass = 0;
  Mat3 inertia = Mat3::Zero();
  Vec3 half = Vec3::Ones();
  Quat turn = Quat::Identity();

  double energy() const {
    const Vec3 angularVelocity = solverBody.angularVelocity();
    return 0.5 *
           (mass * solverBody.velocity().squaredNorm() + angularVelocity.dot(inertia * angularVelocity));
  }
  Vec3 momentum() const { return mass * solverBody.velocity(); }
  Vec3 angular(const Vec3& position) const {
    return position.cross(momentum()) + inertia * Vec3(solverBody.angularVelocity());
  }
};

Struck makeStruck(double mass, const Vec3& half, const Quat& turn) {
  const Vec3 s = half.cwiseProduct(half);
  const Vec3 inertia = mass / 3 * Vec3(s.y() + s.z(), s.x() + s.z(), s.x() + s.y());
  Struck body;
  body.mass = mass;
  body.half = half;
  body.turn = turn;
  body.inertia = turnedDiagonal(turn, inertia);
  body.solverBody.inverseMass = 1 / mass;
  body.solverBody.setInverseInertia(turnedDiagonal(turn, inertia.cwiseInverse()));
  return body;
}

Quat randomTurn(RandomStream& random) {
  return Quat(Eigen::AngleAxisd(random.uniform(0, 2 * kPi), random.unitVector()));
}

// A thin rod in the plane of x and y, one end on rough ground: what its end feels there.
struct Rod {
  double nn, nt, tt;  // velocities by impulses: (normal, tangent)

  Rod(double mass, double halfLength, double angle) {  // from the horizontal
    const double x = halfLength * std::cos(angle), y = -halfLength * std::sin(angle);
    const double inertia = mass * halfLength * halfLength / 3;
    nn = 1 / mass + x * x / inertia;
    tt = 1 / mass + y * y / inertia;
    nt = -x * y / inertia;
  }
  Mat3 response() const {
    Mat3 k = Mat3::Zero();
    k(0, 0) = nn, k(0, 1) = k(1, 0) = nt, k(1, 1) = tt, k(2, 2) = nn;
    return k;
  }
};

// Routh's equations in tiny steps of the normal impulse, in three dimensions.
Vec3 bruteForce(const Mat3& k, Vec3 u, double friction, double e, double step) {
  Vec3 impulse = Vec3::Zero();
  double work = 0, least = 0;
  const Vec2 hold = -(k.bottomRightCorner<2, 2>().inverse() * k.bottomLeftCorner<2, 1>());
  for (;;) {
    Vec3 force(1, 0, 0);
    const Vec2 slip = u.tail<2>();
    // What would stop the sliding within this step, or the most that friction can do.
    const Vec2 stop = hold - k.bottomRightCorner<2, 2>().inverse() * slip / step;
    force.tail<2>() = stop.norm() <= friction ? stop : Vec2(-friction * slip.normalized());
    const Vec3 next = u + step * (k * force);
    work += step * 0.5 * (u.x() + next.x());
    u = next;
    impulse += step * force;
    least = std::min(least, work);
    if (u.x() >= 0 && work >= (1 - e * e) * least) return impulse;
  }
}

}  // namespace

// Stronge, Impact Mechanics (2000), chapter 3: sliding that goes on, ends, or turns round during the impact.
TEST(ImpactLaw, RodOnRoughGroundFollowsTheClosedForm) {
  for (const double e : {0.0, 0.4, 0.8, 1.0}) {
    const double v = -1.5;
    const auto impulse = [&](const Rod& rod, double friction, double slip) {
      return energeticImpulse(rod.response(), Vec3(v, slip, 0), friction, e);
    };
    const auto check = [&](const Vec3& found, double normal, double tangent, const char* what) {
      EXPECT_NEAR(found.x(), normal, 1e-12 * normal) << what << ", e = " << e;
      EXPECT_NEAR(found.y(), tangent, 1e-12 * normal) << what << ", e = " << e;
      EXPECT_EQ(found.z(), 0) << what;
    };
    {
      // Fast: it slides all the way. p = (1 + e) |v| / (nn - mu nt)
      const Rod rod(2, 0.5, 1.1);
      const double mu = 0.3, p = (1 + e) * -v / (rod.nn - mu * rod.nt);
      check(impulse(rod, mu, 50), p, -mu * p, "slides");
      // ... and the other way, where friction pushes the end into the ground.
      const double q = (1 + e) * -v / (rod.nn + mu * rod.nt);
      check(impulse(rod, mu, -50), q, mu * q, "slides back");
    }
    {
      // Sliding ends in compression and friction holds: no more sliding.
      const Rod rod(2, 0.5, 1.4);
      const double mu = 0.9, slip = 0.4;
      ASSERT_LT(rod.nt, mu * rod.tt);
      const double end = slip / (mu * rod.tt - rod.nt), held = -rod.nt / rod.tt;
      const double first = rod.nn - mu * rod.nt, second = rod.nn + held * rod.nt;
      const double atEnd = v + first * end;
      ASSERT_LT(atEnd, 0);
      const double compression = v * end + 0.5 * first * end * end - 0.5 * atEnd * atEnd / second;
      const double p = end - atEnd / second + e * std::sqrt(-2 * compression / second);
      check(impulse(rod, mu, slip), p, -mu * end + held * (p - end), "sticks");
    }
    {
      // Friction cannot hold: sliding turns round in compression.
      const Rod rod(2, 0.5, 0.8);
      const double mu = 0.3, slip = -0.2;
      ASSERT_GT(rod.nt, mu * rod.tt);
      const double end = -slip / (mu * rod.tt + rod.nt);
      const double first = rod.nn + mu * rod.nt, second = rod.nn - mu * rod.nt;
      const double atEnd = v + first * end;
      ASSERT_LT(atEnd, 0);
      const double compression = v * end + 0.5 * first * end * end - 0.5 * atEnd * atEnd / second;
      const double p = end - atEnd / second + e * std::sqrt(-2 * compression / second);
      check(impulse(rod, mu, slip), p, mu * end - mu * (p - end), "turns round in compression");
    }
    if (e > 0.5) {
      // ... or in restitution.
      const Rod rod(2, 0.5, 0.8);
      const double mu = 0.3, first = rod.nn + mu * rod.nt, second = rod.nn - mu * rod.nt;
      const double end = 1.2 * -v / first, slip = -end * (mu * rod.tt + rod.nt);
      const double atEnd = v + first * end;
      ASSERT_GT(atEnd, 0);
      const double missing = e * e * 0.5 * v * v / first - 0.5 * atEnd * atEnd / first;
      ASSERT_GT(missing, 0);
      const double more = (-atEnd + std::sqrt(atEnd * atEnd + 2 * second * missing)) / second;
      check(impulse(rod, mu, slip), end + more, mu * end - mu * more, "turns round in restitution");
    }
  }
}

// Kane and Levinson 1985: with friction, Newton's law lets some impacts add energy. Ours does not.
TEST(ImpactLaw, NewtonsLawWouldAddEnergyWhereOursDoesNot) {
  const Rod rod(1, 1, 0.9);
  const double v = -1, slip = -0.7, mu = 0.5, e = 0.95;
  const Mat3 k = rod.response();
  const Vec3 before(v, slip, 0);
  const auto gain = [&](const Vec3& p) { return p.dot(before) + 0.5 * p.dot(k * p); };
  // Friction against the sliding until that turns round, then with it, until the normal velocity is -e v.
  const double end = -slip / (mu * rod.tt + rod.nt);
  const double first = rod.nn + mu * rod.nt, second = rod.nn - mu * rod.nt;
  const double p = end + (-e * v - v - first * end) / second;
  ASSERT_GT(p, end);
  EXPECT_GT(gain(Vec3(p, mu * end - mu * (p - end), 0)), 0);
  EXPECT_LE(gain(energeticImpulse(k, before, mu, e)), 0);
}

TEST(ImpactLaw, OneContactFollowsRouthsEquationsInThreeDimensions) {
  RandomStream random(7);
  for (int i = 0; i < 40; ++i) {
    const Vec3 half(random.uniform(0.1, 1), random.uniform(0.1, 1), random.uniform(0.1, 1));
    const Struck body = makeStruck(random.uniform(0.5, 2), half, randomTurn(random));
    Mat3 k;
    const Vec3 arm = half.cwiseProduct(random.unitVector());
    for (int c = 0; c < 3; ++c)
      k.col(c) = Vec3::Unit(c) * body.solverBody.inverseMass +
                 body.solverBody.inverseInertiaTimes(arm.cross(Vec3::Unit(c))).cross(arm);
    const Vec3 u(-1, random.uniform(-1, 1), random.uniform(-1, 1));
    const double friction = random.uniform(0.05, 1), e = random.uniform();
    const Vec3 found = energeticImpulse(k, u, friction, e);
    const Vec3 expected = bruteForce(k, u, friction, e, 1e-5 * found.x());
    EXPECT_LT((found - expected).norm(), 2e-3 * expected.norm()) << i;
  }
}

// Struck again at once, contacts approach by rounding errors: impulses are too small to change a velocity.
TEST(ImpactLaw, ApproachOfRoundingErrorsIsNoImpact) {
  RandomStream random(7);
  ImpactLaw law;
  std::vector<ImpactPoint> points(2);
  for (int i = 0; i < 3000; ++i) {
    Struck a = makeStruck(1, Vec3(0.5, 0.4, 0.3), randomTurn(random));
    Struck b = makeStruck(1, Vec3(0.5, 0.4, 0.3), randomTurn(random));
    a.solverBody.velocity() = 3 * random.unitVector();
    b.solverBody.velocity() = -a.solverBody.velocity();
    a.solverBody.angularVelocity() = random.unitVector();
    b.solverBody.angularVelocity() = random.unitVector();
    for (ImpactPoint& point : points) {
      point.normal = a.solverBody.velocity() / 3;
      point.armA = 0.3 * random.unitVector();
      point.armB = point.armA - 0.5 * point.normal;
    }
    for (int strike = 0; strike < 3; ++strike) law.strike(a.solverBody, b.solverBody, points, 0, 0);
    const Vec3 velocity = b.solverBody.velocity();
    law.strike(a.solverBody, b.solverBody, points, 0, 0);
    ASSERT_TRUE(b.solverBody.velocity().allFinite() && points[0].impulse.allFinite()) << i;
    ASSERT_LT((b.solverBody.velocity() - velocity).norm(), 1e-12) << i;
  }
}

TEST(ImpactLaw, TenThousandImpactsNeitherAddEnergyNorLeaveAnApproach) {
  RandomStream random(42);
  ImpactLaw law;
  std::vector<ImpactPoint> points;
  int impacts = 0;
  double gain = 0, momentum = 0, angular = 0, approaching = 0, cone = 0;
  while (impacts < 10000) {
    const auto make = [&] {
      const double size = std::pow(10, random.uniform(-2, 0));
      const Vec3 half = size * Vec3(random.uniform(0.1, 1), random.uniform(0.1, 1), random.uniform(0.1, 1));
      Struck body =
          makeStruck(8 * half.prod() * std::pow(10, random.uniform(2, 4)), half, randomTurn(random));
      body.solverBody.velocity() = random.unitVector() * random.uniform(0, 3);
      body.solverBody.angularVelocity() = random.unitVector() * random.uniform(0, 3) / size;
      return body;
    };
    Struck a = make(), b = make();
    const bool wall = random.uniform() < 0.3;
    if (wall) {
      a.solverBody = SolverBody();
      a.mass = 0;
      a.inertia.setZero();
    }
    // Points about a place on each body; of a face, or with normals of their own.
    const auto within = [&](const Struck& body) {
      return Vec3(body.turn * body.half.cwiseProduct(
                                  Vec3(random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1))));
    };
    const Vec3 placeA = within(a), placeB = within(b), normal = random.unitVector();
    const double spread = std::min(a.half.norm(), b.half.norm()) * random.uniform();
    const bool face = random.uniform() < 0.5;
    points.clear();
    const auto count = size_t(1 + random.uniform() * 6);
    double fastest = 0;
    for (size_t i = 0; i < count; ++i) {
      ImpactPoint point;
      Vec3 at = spread * random.unitVector();
      if (face) at -= at.dot(normal) * normal;
      point.normal = face ? normal : Vec3((normal + 0.4 * random.unitVector()).normalized());
      point.armA = placeA + at;
      point.armB = placeB + at;
      fastest = std::max(fastest, -point.normal.dot(b.solverBody.velocityAt(point.armB) -
                                                    a.solverBody.velocityAt(point.armA)));
      points.push_back(point);
    }
    if (fastest <= 0) continue;
    ++impacts;
    const double friction = random.uniform() < 0.1 ? 0 : random.uniform(0, 1.5);
    const double e = random.uniform() < 0.2 ? 1 : random.uniform();
    const double energy = a.energy() + b.energy();
    const Vec3 linear = a.momentum() + b.momentum();
    // Positions with both arms of every point ending in one place.
    const Vec3 atA = -placeA, atB = -placeB;
    const Vec3 turning = a.angular(atA) + b.angular(atB);
    const double slow = random.uniform() < 0.5 ? 0 : random.uniform(0, 1.2) * fastest;
    law.strike(a.solverBody, b.solverBody, points, friction, e, slow);
    gain = std::max(gain, (a.energy() + b.energy()) / energy - 1);
    Vec3 sum = Vec3::Zero(), torque = Vec3::Zero();
    double size = 0;
    for (const ImpactPoint& point : points) size += point.impulse.norm();
    for (const ImpactPoint& point : points) {
      const double normalPart = point.normal.dot(point.impulse);
      const double tangent = (point.impulse - normalPart * point.normal).norm();
      EXPECT_GE(normalPart, -1e-12 * size);
      cone = std::max(cone, (tangent - friction * normalPart) / size);
      approaching = std::max(approaching, -point.normal.dot(b.solverBody.velocityAt(point.armB) -
                                                            a.solverBody.velocityAt(point.armA)) /
                                              fastest);
      sum += point.impulse;
      torque += (point.armB + atB).cross(point.impulse);
    }
    // What a wall takes is the impulse itself.
    const Vec3 lost = wall ? sum : Vec3::Zero(), lostTurning = wall ? torque : Vec3::Zero();
    momentum =
        std::max(momentum, (a.momentum() + b.momentum() - linear - lost).norm() / (size + linear.norm()));
    const double reach = placeA.norm() + placeB.norm() + spread;
    angular = std::max(angular, (a.angular(atA) + b.angular(atB) - turning - lostTurning).norm() /
                                    (size * reach + turning.norm()));
  }
  EXPECT_LT(gain, 1e-12);
  EXPECT_LT(momentum, 1e-12);
  EXPECT_LT(angular, 1e-12);
  EXPECT_LT(cone, 1e-12);
  EXPECT_LT(approaching, 1.001e-4);
  RecordProperty("gain", std::to_string(gain));
}

// Four contacts of a face, pushed sideways: it leaves flat, and friction is mu times the normal impulse.
TEST(ImpactLaw, FaceThatSlidesLeavesFlat) {
  Struck box = makeStruck(3, Vec3(0.3, 0.2, 0.4), Quat::Identity());
  SolverBody ground;
  box.solverBody.velocity() = Vec3(6, -2, 0);
  std::vector<ImpactPoint> points;
  for (const double x : {-0.3, 0.3})
    for (const double z : {-0.4, 0.4}) points.push_back({Vec3::UnitY(), Vec3(x, 0, z), Vec3(x, -0.2, z)});
  const double friction = 0.2, e = 0.6;
  ImpactLaw().strike(ground, box.solverBody, points, friction, e);
  EXPECT_NEAR(box.solverBody.velocity().y(), 2 * e, 1e-3);
  EXPECT_NEAR(box.solverBody.velocity().x(), 6 - friction * (1 + e) * 2, 1e-3);
  EXPECT_LT(box.solverBody.angularVelocity().norm(), 5e-3);
}

}  // namespace sunder::rigid
