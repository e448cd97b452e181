// Rigid bodies that take part in the step of soft ones, and ties to them.
#include "contact_scene.h"

#include <gtest/gtest.h>

namespace sunder::soft {

TEST(ContactRigid, AFreeCollisionKeepsMomentum) {
  // A steel ball meets a free block: it feels all of the block, not the grams of a vertex.
  ContactScene s = blockScene(3, 0.2, 0, 1e5, {0.3, 0, 1e5});
  s.gravity = Vec3::Zero();
  s.bodies = {ball(Vec3(0.01, 0.27, 0.02), 0.05, 7800, Vec3(0.1, -3, 0))};
  s.bodies[0].angularVelocity = Vec3(0, 0, 2);
  const Vec3 before = s.momentum();
  const double size = 3 / s.bodies[0].inverseMass, energy = s.energy();
  for (int i = 0; i < 120; ++i) {
    s.step(1 / 240.0);
    ASSERT_LT((s.momentum() - before).norm(), 1e-10 * size) << i;
  }
  EXPECT_LE(s.energy(), energy);
  // Both masses are known, so is what they reach together at most: the ball has left or moves with the block.
  const double common = before.y() / (s.mass() + 1 / s.bodies[0].inverseMass);
  EXPECT_GT(s.bodies[0].velocity.y(), -3 + 0.5);
  EXPECT_LT(s.motion.momentum().y() / s.mass(), 0.8 * common);
}

TEST(ContactRigid, ABallRestsOnABlockWithItsWeight) {
  ContactScene s = blockScene(3, 0.2, 0, 2e5, {0.6, 0, 2e5, true}, motionSettings(1e-7));
  s.bodies = {ground(), ball(Vec3(0.003, 0.252, 0.002), 0.05, 7800, Vec3::Zero())};
  for (int i = 0; i < 200; ++i) s.step(1 / 60.0);
  s.motion.setSettings(motionSettings(1e-10));
  for (int i = 0; i < 40; ++i) s.step(1 / 60.0);
  const double weight = 9.81 / s.bodies[1].inverseMass;
  EXPECT_LT(s.bodies[1].velocity.norm(), 1e-6);
  EXPECT_NEAR(-s.force(1).y(), weight, 1e-6 * weight);
  EXPECT_NEAR(s.obstacles.reactions()[1].impulse.y(), weight / 60, 1e-6 * weight / 60);
  EXPECT_NEAR(s.force(0).y(), weight + 9.81 * s.mass(), 1e-6 * (weight + 9.81 * s.mass()));
  EXPECT_LT(s.bodies[1].before.position.y(), 0.25);  // it has sunk in
}

TEST(ContactRigid, ABallRollsWithFriction) {
  // On a wide stiff block pinned below: a ball that slides comes to roll at 5/7 of its speed.
  geometry::TetMesh mesh = fem::blockMesh({20, 1, 2}, Vec3(2, 0.1, 0.2));
  for (Vec3& p : mesh.positions) p -= Vec3(0, 0.1, 0.1);
  const ContactBody touch{0.4, 0, 1e6};
  std::vector<ContactSphere> spheres;
  for (const ContactSphere& c : surfaceSpheres(mesh, 16, 0.002)) {
    const Vec3 at = blended(mesh.tets[c.tet], c.weights, mesh.positions);
    if (at.y() > -0.003 && std::abs(at.z()) < 0.02) spheres.push_back(c);
  }
  ContactScene s(mesh, 1e6, spheres, std::span(&touch, 1));
  for (uint32_t v = 0; v < mesh.positions.size(); ++v)
    if (mesh.positions[v].y() < -0.09) s.pins.push_back({v, mesh.positions[v]});
  s.bodies = {ball(Vec3(0.2, 0.05, 0), 0.05, 1000, Vec3(1, 0, 0))};
  s.bodies[0].friction = 0.4;
  for (int i = 0; i < 120; ++i) s.step(1 / 120.0);
  const ObstacleBody& b = s.bodies[0];
  EXPECT_NEAR(b.velocity.x(), 5 / 7.0, 0.05 * 5 / 7.0);
  EXPECT_NEAR(b.angularVelocity.z(), -b.velocity.x() / 0.05, 0.05 * b.velocity.x() / 0.05);
}

TEST(Attachment, HoldsToWorldSoftAndRigid) {
  geometry::TetMesh mesh = fem::blockMesh({2, 2, 2}, Vec3::Constant(0.1));
  const geometry::TetMesh other = mesh;
  const auto first = static_cast<uint32_t>(mesh.tets.size());
  append(mesh, other, Vec3(0, -0.15, 0));
  const std::vector<ContactBody> touch(2);
  ContactScene s(mesh, 1e5, {}, touch, motionSettings(1e-9));
  // World above the first block, the second below the first, a ball below that.
  s.bodies = {ball(Vec3(0.05, -0.25, 0.05), 0.03, 2000, Vec3::Zero())};
  const auto pointOf = [&](uint32_t from, const Vec3& place) {
    for (uint32_t t = from; t < mesh.tets.size(); ++t) {
      const std::array<double, 4> w = weightsAt(mesh, t, place);
      if (*std::min_element(w.begin(), w.end()) > -1e-9) return TetPoint{t, w};
    }
    throw Error(ErrorKind::Usage, "no tetrahedron there");
  };
  std::vector<Attachment> ties(3);
  ties[0].point = pointOf(0, Vec3(0.05, 0.09, 0.05));
  ties[0].place = Vec3(0.05, 0.09, 0.05);
  ties[1].point = pointOf(0, Vec3(0.05, 0.01, 0.05));
  ties[1].to = Attachment::To::Soft;
  ties[1].other = pointOf(first, Vec3(0.05, -0.06, 0.05));
  ties[2].point = pointOf(first, Vec3(0.05, -0.14, 0.05));
  ties[2].to = Attachment::To::Obstacle;
  ties[2].key = 2000;
  ties[2].place = Vec3(0, 0.1, 0.01);
  s.attachments.set(mesh, ties);
  s.attachments.setCorners(mesh.tets, s.solid.masses());
  fem::MotionSettings settings = motionSettings(1e-9);
  settings.massDamping = 4;
  s.motion.setSettings(settings);
  for (int i = 0; i < 400; ++i) {
    s.step(1 / 60.0);
    s.bodies[0].velocity *= 0.95;
    s.bodies[0].angularVelocity *= 0.95;
    ASSERT_LE(s.attachments.report().longest, 1e-6) << i;
  }
  const double weight = 9.81 / s.bodies[0].inverseMass, half = 9.81 * s.mass() / 2;
  EXPECT_NEAR(-s.attachments.force(2).y(), weight, 1e-4 * weight);
  EXPECT_NEAR(-s.attachments.force(1).y(), weight + half, 1e-4 * (weight + half));
  EXPECT_NEAR(s.attachments.force(0).y(), weight + 2 * half, 1e-4 * (weight + 2 * half));
  EXPECT_NEAR(s.obstacles.reactions()[0].impulse.y(), weight / 60, 1e-4 * weight / 60);
}

TEST(Attachment, BreaksAboveItsStrength) {
  ContactScene s = blockScene(2, 0.1, 0.5, 1e5, {});
  Attachment tie;
  tie.point = {0, {0.25, 0.25, 0.25, 0.25}};
  tie.place = blended(s.mesh.tets[0], tie.point.weights, s.mesh.positions);
  tie.strength = 0.5 * s.mass() * 9.81;
  s.attachments.set(s.mesh, std::span(&tie, 1));
  s.attachments.setCorners(s.mesh.tets, s.solid.masses());
  int brokeAt = -1;
  for (int i = 0; i < 60 && brokeAt < 0; ++i) {
    s.step(1 / 60.0);
    if (!s.attachments.brokenNow().empty()) brokeAt = i;
  }
  ASSERT_GE(brokeAt, 0);
  EXPECT_TRUE(s.attachments.broken(0));
  s.step(1 / 60.0);
  EXPECT_TRUE(s.attachments.brokenNow().empty());
  EXPECT_EQ(s.attachments.force(0), Vec3::Zero());
  const Vec3 before = s.motion.momentum();
  s.step(1 / 60.0);
  EXPECT_NEAR((s.motion.momentum() - before).y(), -s.mass() * 9.81 / 60, 1e-9 * s.mass());
}

TEST(Attachment, RefusesWhatCannotBe) {
  ContactScene s = blockScene(1, 0.1, 0.5, 1e5, {});
  Attachment tie;
  tie.point.tet = 100;
  EXPECT_THROW(s.attachments.set(s.mesh, std::span(&tie, 1)), Error);
  tie = {};
  tie.point.weights[0] = 5;
  EXPECT_THROW(s.attachments.set(s.mesh, std::span(&tie, 1)), Error);
  tie = {};
  tie.strength = -1;
  EXPECT_THROW(s.attachments.set(s.mesh, std::span(&tie, 1)), Error);
}

}  // namespace sunder::soft
