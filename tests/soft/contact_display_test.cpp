// What a picture shows of contact: vertices of the surface in a cage that are inside an obstacle, and how far
// a method is from the best that the cage could do.
#include "sunder/shapes/round.h"
#include "sunder/soft/contact/embedding_error.h"
#include "sunder/soft/contact/largest_offset.h"

#include "contact_scene.h"

#include <gtest/gtest.h>

namespace sunder::soft {

namespace {

constexpr double kRadius = 0.1;

// A ball in a cage of 48 tetrahedra, with spheres that touch its surface from inside, one for each
// point of a grid that is close to it.
struct BallInCage {
  geometry::TetMesh cage = fem::blockMesh({2, 2, 2}, Vec3::Constant(0.22));
  std::vector<SurfacePoint> surface;
  std::vector<ContactSphere> spheres;

  explicit BallInCage(double radius) {
    for (Vec3& p : cage.positions) p -= Vec3::Constant(0.11);
    const geometry::TriMesh mesh = shapes::makeIcosphere({kRadius, 16});
    const double area = 4 * kPi * kRadius * kRadius / double(mesh.positions.size());
    for (const Vec3& p : mesh.positions) surface.push_back({pointAt(p), area});
    const double spacing = 2 * radius, inner = kRadius - radius;
    const int cells = int(kRadius / spacing) + 1;
    for (int x = -cells; x <= cells; ++x)
      for (int y = -cells; y <= cells; ++y)
        for (int z = -cells; z <= cells; ++z) {
          const Vec3 at = spacing * Vec3(x + 0.37, y + 0.21, z + 0.43);
          if (std::abs(at.norm() - inner) > radius) continue;
          const TetPoint point = pointAt(inner * at.normalized());
          spheres.push_back({point.tet, point.weights, radius, 0});
        }
  }
  TetPoint pointAt(const Vec3& p) const {
    for (uint32_t t = 0; t < cage.tets.size(); ++t) {
      const std::array<double, 4> w = weightsAt(cage, t, p);
      if (*std::min_element(w.begin(), w.end()) > -1e-9) return {t, w};
    }
    throw Error(ErrorKind::Usage, "no tetrahedron there");
  }
};

}  // namespace

TEST(ContactDisplay, SmallerSpheresLetFewerVerticesThrough) {
  uint32_t last = 1u << 31;  // most in any step of a fall
  for (const double radius : {0.02, 0.01, 0.005}) {
    const BallInCage ball(radius);
    geometry::TetMesh mesh = ball.cage;
    for (Vec3& p : mesh.positions) p.y() += kRadius + 0.02;
    const ContactBody touch{0.5, 0, 1e4};
    ContactScene s(mesh, 1e4, ball.spheres, std::span(&touch, 1));
    s.bodies = {ground()};
    s.setVelocity(Vec3(0, -3, 0));
    uint32_t most = 0;
    double deepest = 0;
    for (int i = 0; i < 60; ++i) {
      s.step(1 / 60.0);
      const PenetrationTargets targets =
          penetrationTargets(s.mesh.tets, ball.surface, s.bodies, s.motion.positions());
      most = std::max(most, targets.penetrating);
      deepest = std::max(deepest, targets.deepest);
    }
    RecordProperty("penetrating_" + std::to_string(ball.spheres.size()), std::to_string(most));
    EXPECT_LE(most, last) << radius;
    EXPECT_LE(deepest, 2 * radius) << radius;
    last = most;
  }
}

TEST(ContactDisplay, NoMethodIsBetterThanTheCageCanBe) {
  for (const double radius : {0.02, 0.01, 0.005}) {
    const BallInCage ball(radius);
    geometry::TetMesh mesh = ball.cage;
    for (Vec3& p : mesh.positions) p.y() += kRadius + 0.001;
    const ContactBody touch{0.5, 0, 3e4};
    ContactScene s(mesh, 3e4, ball.spheres, std::span(&touch, 1));
    s.bodies = {ground()};
    const Vec3 velocity(0, -1.5, 0);
    s.setVelocity(velocity);
    std::vector<Vec3> there(s.motion.positions().begin(), s.motion.positions().end());
    for (Vec3& p : there) p += velocity / 60 + s.gravity / 3600;
    const PenetrationTargets targets = penetrationTargets(s.mesh.tets, ball.surface, s.bodies, there);
    ASSERT_GT(targets.penetrating, 0u);
    const BestOffsets best = bestOffsets(s.mesh.tets, ball.surface, targets.offsets, there.size());
    ASSERT_GT(best.error, 0);

    std::vector<Vec3> moved = there, velocities(there.size(), velocity), offsets(there.size());
    applyLargestOffset(s.mesh.tets, ball.spheres, std::span(&touch, 1), s.bodies, s.solid.masses(), moved,
                       velocities);
    for (size_t v = 0; v < there.size(); ++v) offsets[v] = moved[v] - there[v];
    const double published = offsetError(s.mesh.tets, ball.surface, targets.offsets, offsets) / best.error;
    s.step(1 / 60.0);
    for (size_t v = 0; v < there.size(); ++v) offsets[v] = s.motion.positions()[v] - there[v];
    const double inside = offsetError(s.mesh.tets, ball.surface, targets.offsets, offsets) / best.error;
    RecordProperty("largest_offset_" + std::to_string(radius), std::to_string(published));
    RecordProperty("inside_newton_" + std::to_string(radius), std::to_string(inside));
    EXPECT_GE(published, 1) << radius;
    EXPECT_GE(inside, 1) << radius;
  }
}

// Hertz: a ball pressed into a half-space by d needs 4/3 E* sqrt(R) d^(3/2) with E* = E / (1 - nu^2), and
// touches a disc of radius sqrt(R d). The cage is graded, held at forty
// radii of the disc where it ends, as the force there falls off with the distance; the disc has eight edges
// in its radius, spheres are a quarter of an edge apart.
TEST(ContactHertzFull, ABallPressedIntoABlock) {
  constexpr double kEdge = 0.0075, kYoung = 1e5, kPoisson = 0.3, kBall = 0.45, kDepth = 0.008;
  const auto graded = [](int cells, int fine) {  // from 0 on
    std::vector<double> at{0};
    double edge = kEdge;
    for (int i = 0; i < cells; ++i) {
      if (i >= fine) edge *= 1.5;
      at.push_back(at.back() + edge);
    }
    return at;
  };
  const std::vector<double> side = graded(22, 10), down = graded(19, 7);
  geometry::TetMesh mesh = fem::blockMesh({44, 19, 44}, Vec3(44, 19, 44));
  for (Vec3& p : mesh.positions) {
    const auto spread = [&](double at) {
      const int i = int(std::lround(at)) - 22;
      return i < 0 ? -side[size_t(-i)] : side[size_t(i)];
    };
    p = Vec3(spread(p.x()), -down[size_t(19 - std::lround(p.y()))], spread(p.z()));
  }
  std::vector<ContactSphere> spheres;
  for (const ContactSphere& s : surfaceSpheres(mesh, 4, 0.0005)) {
    const Vec3 c = blended(mesh.tets[s.tet], s.weights, mesh.positions);
    if (c.y() > -0.001 && std::hypot(c.x(), c.z()) < 0.07) spheres.push_back(s);
  }
  const ContactBody touch{0, 0, kYoung};
  ContactSettings until;
  until.mostRounds = 40;
  ContactScene s(mesh, kYoung, spheres, std::span(&touch, 1), motionSettings(1e-5), until,
                 fem::ElasticModel::Linear, kPoisson);
  s.gravity = Vec3::Zero();
  const double depth = -down.back() + 1e-9, wide = side.back() - 1e-9;
  for (uint32_t v = 0; v < mesh.positions.size(); ++v) {
    const Vec3& p = mesh.positions[v];
    if (p.y() < depth || std::abs(p.x()) > wide || std::abs(p.z()) > wide) s.pins.push_back({v, p});
  }
  ObstacleBody indenter = ball(Vec3(0, kBall, 0), kBall, 1000, Vec3::Zero());
  indenter.inverseMass = 0;
  indenter.friction = 0;
  indenter.after.position.y() -= kDepth;
  s.bodies = {indenter};
  s.step(1e5);
  double widest = 0;
  for (const Contact& c : s.contacts.contacts())
    if (c.normalForce > 0) {
      const Vec3 at = s.contacts.centre(c.sphere, mesh.positions);
      widest = std::max(widest, std::hypot(at.x(), at.z()));
    }
  const double modulus = kYoung / (1 - kPoisson * kPoisson);
  const double force = 4.0 / 3 * modulus * std::sqrt(kBall) * std::pow(kDepth, 1.5);
  RecordProperty("force", std::to_string(-s.force(0).y() / force));
  RecordProperty("radius", std::to_string(widest / std::sqrt(kBall * kDepth)));
  EXPECT_EQ(s.contacts.report().notMet, 0u) << s.contacts.report().rounds;
  EXPECT_GE(std::sqrt(kBall * kDepth), 5 * kEdge);
  EXPECT_NEAR(-s.force(0).y(), force, 0.1 * force);
  EXPECT_NEAR(widest, std::sqrt(kBall * kDepth), 0.1 * std::sqrt(kBall * kDepth));
}

}  // namespace sunder::soft
