// Soft bodies among obstacles, in motion: rest, friction, restitution, fast bodies, themselves.
#include "sunder/base/parallel.h"
#include "sunder/sdf/analytic_field.h"

#include "contact_scene.h"

#include <gtest/gtest.h>

namespace sunder::soft {

TEST(ContactMotion, WhatIsDroppedComesToRestAndWeighsWhatItWeighs) {
  ContactScene s = blockScene(2, 0.2, 0.05, 1e5, {0.5, 0, 1e5});
  s.bodies = {ground()};
  double most = 0;
  for (int i = 0; i < 300; ++i) {
    s.step(1 / 60.0);
    most = std::max(most, s.motion.kineticEnergy());
    ASSERT_LE(s.contacts.report().deepestOfRadius, 2e-3) << i;
    ASSERT_EQ(s.contacts.report().notMet, 0u) << i << " rounds " << s.contacts.report().rounds;
  }
  EXPECT_GT(most, 0.5 * s.mass() * 9.81 * 0.05);
  EXPECT_LT(s.motion.kineticEnergy(), 1e-6 * most);
  s.motion.setSettings(motionSettings(1e-9));
  for (int i = 0; i < 20; ++i) s.step(1 / 60.0);
  const double weight = s.mass() * 9.81;
  EXPECT_NEAR(s.force(0).y(), weight, 1e-6 * weight);
  EXPECT_NEAR(s.obstacles.reactions()[0].impulse.y(), -weight / 60, 1e-6 * weight / 60);
  EXPECT_LE(s.contacts.report().rounds, 2u);
}

TEST(ContactMotion, ABlockOnASlopeSticksAndSlipsAsCoulombSays) {
  constexpr double kFriction = 0.4;
  const auto slide = [&](double slope) {
    ContactScene s = blockScene(2, 0.1, 0, 1e6, {kFriction, 0, 1e6}, motionSettings(1e-7));
    s.bodies = {ground(0, kFriction)};
    for (int i = 0; i < 20; ++i) s.step(1 / 60.0);  // comes to rest on the level
    const double angle = std::atan(slope);
    s.gravity = 9.81 * Vec3(std::sin(angle), -std::cos(angle), 0);
    for (int i = 0; i < 30; ++i) s.step(1 / 60.0);
    const Vec3 before = s.motion.momentum() / s.mass();
    for (int i = 0; i < 30; ++i) s.step(1 / 60.0);
    for (const Contact& c : s.contacts.contacts()) EXPECT_LE(frictionUse(c), 1 + 1e-9);
    return Vec3((s.motion.momentum() / s.mass() - before) / 0.5);
  };
  const auto expected = [](double slope) {
    const double angle = std::atan(slope);
    return 9.81 * (std::sin(angle) - kFriction * std::cos(angle));
  };
  EXPECT_LT(std::abs(slide(0.98 * kFriction).x()), 1e-4);
  EXPECT_NEAR(slide(1.02 * kFriction).x(), expected(1.02 * kFriction), 0.02 * 9.81 * kFriction);
  EXPECT_GT(slide(1.02 * kFriction).x(), 0.5 * expected(1.02 * kFriction));
  EXPECT_NEAR(slide(1.5 * kFriction).x(), expected(1.5 * kFriction), 0.02 * expected(1.5 * kFriction));
}

TEST(ContactMotion, WhatSticksDoesNotCreep) {
  ContactScene s = blockScene(2, 0.1, 0, 1e5, {0.5, 0, 1e5}, motionSettings(1e-7));
  s.bodies = {ground(0, 0.5)};
  const double angle = std::atan(0.3);
  s.gravity = 9.81 * Vec3(std::sin(angle), -std::cos(angle), 0);
  for (int i = 0; i < 120; ++i) s.step(1 / 60.0);
  const std::vector<Vec3> before(s.motion.positions().begin(), s.motion.positions().end());
  for (int i = 0; i < 120; ++i) s.step(1 / 60.0);
  double most = 0;
  for (size_t v = 0; v < before.size(); ++v)
    most = std::max(most, (s.motion.positions()[v] - before[v]).norm());
  EXPECT_LT(most, 1e-6);
}

TEST(ContactMotion, RestitutionAddsNoEnergy) {
  for (const double e : {0.0, 0.5, 1.0}) {
    ContactScene s = blockScene(2, 0.1, 0.01, 1e5, {0.3, e, 1e5}, motionSettings(1e-8));
    s.bodies = {ground()};
    s.gravity = Vec3::Zero();
    s.setVelocity(Vec3(0.5, -2, 0.2));
    double energy = s.energy();
    uint32_t bounced = 0;
    for (int i = 0; i < 120; ++i) {
      s.step(1 / 240.0);
      ASSERT_LE(s.energy(), energy * (1 + 1e-9)) << e << ' ' << i;
      energy = s.energy();
      bounced += s.contacts.report().bounced;
    }
    EXPECT_EQ(bounced > 0, e > 0);
    EXPECT_GT(s.motion.momentum().y(), 0) << e;
  }
}

TEST(ContactMotion, FastBodiesDoNotTunnel) {
  // 3 m of way in a step, at a plate of 1 mm; the block is 10 cm.
  for (const double speed : {20.0, 200.0}) {
    ContactScene s = blockScene(2, 0.1, 0.3, 1e6, {0.3, 0, 1e6});
    ObstacleBody plate = ground();
    plate.shape = makeFieldObstacle(sdf::makeBoxField({Vec3(-1, -0.001, -1), Vec3(1, 0, 1)}));
    s.bodies = {plate};
    s.setVelocity(Vec3(0, -speed, 0));
    for (int i = 0; i < 30; ++i) {
      s.step(1 / 60.0);
      for (size_t k = 0; k < s.contacts.spheres().size(); ++k)
        ASSERT_GT(s.contacts.centre(k, s.motion.positions()).y(), 0) << speed << ' ' << i << ' ' << k;
    }
  }
}

TEST(ContactMotion, ABulletDoesNotPassASoftSheet) {
  geometry::TetMesh mesh = fem::blockMesh({8, 1, 8}, Vec3(0.4, 0.02, 0.4));
  for (Vec3& p : mesh.positions) p -= Vec3(0.2, 0.02, 0.2);
  const ContactBody touch{0.3, 0, 1e7};
  const std::vector<ContactSphere> spheres = surfaceSpheres(mesh, 2, 0.004);
  ContactScene s(mesh, 1e7, spheres, std::span(&touch, 1));
  for (uint32_t v = 0; v < mesh.positions.size(); ++v)
    if (mesh.positions[v].cwiseAbs().maxCoeff() > 0.199) s.pins.push_back({v, mesh.positions[v]});
  // A metre of way in a step.
  s.bodies = {ball(Vec3(0.012, 0.5, 0.007), 0.03, 100, Vec3(0, -60, 0))};
  for (int i = 0; i < 10; ++i) {
    s.step(1 / 60.0);
    const Vec3 place = s.bodies[0].before.position;
    double lowest = 1;  // of the sheet below the ball
    for (size_t k = 0; k < spheres.size(); ++k) {
      const Vec3 c = s.contacts.centre(k, s.motion.positions());
      if (std::hypot(c.x() - place.x(), c.z() - place.z()) < 0.03) lowest = std::min(lowest, c.y());
    }
    ASSERT_GT(place.y(), lowest) << i;
  }
}

TEST(ContactMotion, AFoldedStripDoesNotPassThroughItself) {
  // A strip bent to a U, whose arms are pulled towards each other by more than what keeps them apart.
  geometry::TetMesh mesh = fem::blockMesh({16, 1, 2}, Vec3(1.6, 0.05, 0.2));
  for (Vec3& p : mesh.positions) {
    const double along = p.x() - 0.8, side = p.y() + 0.05;  // the fold: half a circle of 0.1 m at its middle
    const double bend = 0.1 * kPi / 2;
    if (std::abs(along) < bend) {
      const double angle = along / 0.1;
      p = Vec3((0.1 + side - 0.05) * std::cos(angle), (0.1 + side - 0.05) * std::sin(angle), p.z());
    } else {
      const double sign = along > 0 ? 1 : -1;
      p = Vec3(-(std::abs(along) - bend), sign * (0.1 + side - 0.05), p.z());
    }
  }
  geometry::flipInverted(mesh);
  const ContactBody touch{0.3, 0, 1e5};
  const std::vector<ContactSphere> spheres = surfaceSpheres(mesh, 2, 0.01);
  ContactScene s(mesh, 1e5, spheres, std::span(&touch, 1));
  s.gravity = Vec3::Zero();
  for (uint32_t v = 0; v < mesh.positions.size(); ++v) {
    const Vec3& p = mesh.positions[v];
    if (p.x() < -0.5) s.forces.push_back({v, Vec3(0, p.y() > 0 ? -5 : 5, 0)});
    if (p.x() > 0.09) s.pins.push_back({v, p});
  }
  std::vector<uint8_t> upper;
  for (const ContactSphere& sphere : spheres)
    upper.push_back(blended(mesh.tets[sphere.tet], sphere.weights, mesh.positions).y() > 0);
  uint32_t contacts = 0;
  for (int i = 0; i < 60; ++i) {
    s.step(1 / 60.0);
    contacts += s.contacts.report().contacts;
    EXPECT_LE(s.contacts.report().deepestOfRadius, 2e-3) << i;
    for (size_t a = 0; a < spheres.size(); a += 3) {
      const Vec3 c = s.contacts.centre(a, s.motion.positions());
      if (c.x() > -0.1) continue;
      if (upper[a])
        ASSERT_GT(c.y(), -0.01) << i;
      else
        ASSERT_LT(c.y(), 0.01) << i;
    }
  }
  EXPECT_GT(contacts, 0u);
}

// A block of two cubes that share a face, torn there. The halves part, and are thrown at each other: they
// meet where they were joined, and neither enters the other.
TEST(ContactMotion, TornNeighboursMeetAgain) {
  geometry::TetMesh mesh = fem::blockMesh({2, 1, 1}, {0.2, 0.1, 0.1});
  // Joined at first. Every tetrahedron has spheres on all of its faces, also those that a tear may open.
  const double radius = 0.01;
  std::vector<ContactSphere> spheres;
  for (uint32_t t = 0; t < mesh.tets.size(); ++t)
    for (size_t k = 0; k < 4; ++k) {
      ContactSphere s{t, {1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3}, radius, 0};
      s.weights[k] = 0;
      spheres.push_back(s);
    }
  const ContactBody touch{0, 0, 1e5};
  ContactScene s(mesh, 1e5, spheres, std::span(&touch, 1));
  s.gravity = Vec3::Zero();
  // The tear: vertices of the middle are doubled, for the right half.
  std::vector<geometry::Tetrahedron> tets = mesh.tets;
  std::vector<uint32_t> sources, copyOf(mesh.positions.size(), kNoIndex);
  std::vector<uint8_t> right(tets.size(), 0);
  for (size_t t = 0; t < tets.size(); ++t) {
    double middle = 0;
    for (const uint32_t v : tets[t]) middle += mesh.positions[v].x() / 4;
    right[t] = middle > 0.1;
    for (uint32_t& v : tets[t]) {
      if (!right[t] || std::abs(mesh.positions[v].x() - 0.1) > 1e-9) continue;
      if (copyOf[v] == kNoIndex) {
        copyOf[v] = static_cast<uint32_t>(mesh.positions.size() + sources.size());
        sources.push_back(v);
      }
      v = copyOf[v];
    }
  }
  s.motion.setCorners(tets, sources);
  s.contacts.setCorners(tets, s.solid.masses());
  s.attachments.setCorners(tets, s.solid.masses());
  s.mesh.tets = tets;
  std::vector<uint8_t> isRight(s.motion.vertices(), 0);
  for (size_t t = 0; t < tets.size(); ++t)
    if (right[t])
      for (const uint32_t v : tets[t]) isRight[v] = 1;
  const auto push = [&](double speed) {
    const std::vector<Vec3> x(s.motion.positions().begin(), s.motion.positions().end());
    std::vector<Vec3> v;
    for (const uint8_t r : isRight) v.push_back(Vec3(r ? speed : -speed, 0, 0));
    s.motion.setState(x, v);
  };
  const auto apart = [&] {  // of the centres
    double sum = 0, mass = 0;
    for (size_t v = 0; v < isRight.size(); ++v) {
      sum += (isRight[v] ? 1 : -1) * s.solid.masses()[v] * s.motion.positions()[v].x();
      mass += s.solid.masses()[v] / 2;
    }
    return sum / mass;
  };
  ASSERT_NEAR(apart(), 0.1, 1e-9);
  push(0);
  s.step(1 / 120.0);
  EXPECT_EQ(s.contacts.report().contacts, 0u);  // as they overlap in the whole body
  EXPECT_NEAR(apart(), 0.1, 1e-9);
  push(1);
  for (int i = 0; i < 10; ++i) s.step(1 / 120.0);
  EXPECT_GT(apart(), 0.2);
  push(-1);
  uint32_t contacts = 0;
  double nearest = 1;
  for (int i = 0; i < 60; ++i) {
    s.step(1 / 120.0);
    contacts += s.contacts.report().contacts;
    nearest = std::min(nearest, apart());
    ASSERT_EQ(s.contacts.report().notMet, 0u) << i;
  }
  EXPECT_GT(contacts, 0u);
  EXPECT_GT(nearest, 0.08);  // they press each other flatter, and do not pass
  EXPECT_GT(apart(), 0.1);   // and part again
}

TEST(ContactMotion, TwoSoftBodiesKeepTheirMomentum) {
  geometry::TetMesh mesh = fem::blockMesh({2, 2, 2}, Vec3::Constant(0.1));
  std::vector<ContactSphere> spheres = surfaceSpheres(mesh, 1, 0.005, 0);
  const auto first = static_cast<uint32_t>(mesh.tets.size());
  const geometry::TetMesh other = mesh;
  append(mesh, other, Vec3(0.03, 0.12, 0.02));
  for (ContactSphere c : surfaceSpheres(other, 1, 0.007, 1)) {
    c.tet += first;
    spheres.push_back(c);
  }
  const std::vector<ContactBody> touch(2, ContactBody{0.3, 0.5, 1e5});
  ContactScene s(mesh, 1e5, spheres, touch);
  s.gravity = Vec3::Zero();
  std::vector<Vec3> velocities(mesh.positions.size(), Vec3(0, 1, 0));
  for (size_t v = velocities.size() / 2; v < velocities.size(); ++v) velocities[v] = Vec3(0.3, -2, 0);
  s.motion.setState(mesh.positions, velocities);
  const Vec3 before = s.momentum();
  uint32_t contacts = 0;
  for (int i = 0; i < 60; ++i) {
    s.step(1 / 120.0);
    contacts += s.contacts.report().contacts;
  }
  EXPECT_GT(contacts, 0u);
  const double size = s.mass() * 1.5;
  EXPECT_LT((s.momentum() - before).norm(), 1e-10 * size);
  double low = 0, high = 0;
  for (size_t v = 0; v < velocities.size(); ++v)
    (v < velocities.size() / 2 ? low : high) += s.solid.masses()[v] * s.motion.velocities()[v].y();
  EXPECT_LT(low, high);
}

TEST(ContactMotion, SameBitsForAnyThreadsAndAfterResuming) {
  const auto make = [] { return blockScene(3, 0.2, 0.02, 1e5, {0.4, 0.3, 1e5}); };
  const std::vector<ObstacleBody> bodies{ground(), ball(Vec3(0.02, 0.4, 0.01), 0.06, 3000, Vec3(0, -2, 0.1))};
  uint64_t hash = 0;
  for (const unsigned threads : {1u, 2u, 4u}) {
    const ThreadLimit limit(threads);
    ContactScene s = make();
    s.bodies = bodies;
    for (int i = 0; i < 40; ++i) s.step(1 / 100.0);
    if (threads == 1) hash = s.hash();
    EXPECT_EQ(s.hash(), hash) << threads;
  }
  ContactScene s = make();
  s.bodies = bodies;
  for (int i = 0; i < 23; ++i) s.step(1 / 100.0);
  EXPECT_GT(s.contacts.report().contacts, 0u);
  const std::string state = s.save();
  ContactScene later = make();
  later.load(state);
  later.bodies = s.bodies;
  EXPECT_EQ(later.hash(), s.hash());
  for (int i = 23; i < 40; ++i) later.step(1 / 100.0);
  EXPECT_EQ(later.hash(), hash);
}

}  // namespace sunder::soft
