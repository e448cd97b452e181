// Soft bodies that move among obstacles, for tests.
#pragma once

#include "sunder/base/bytes.h"
#include "sunder/base/hash.h"
#include "sunder/fem/motion/motion.h"
#include "sunder/fem/solid/solid.h"
#include "sunder/soft/contact/attachment.h"

#include "contact_cases.h"

#include <string>

namespace sunder::soft {

inline fem::MotionSettings motionSettings(double tolerance = 1e-5) {
  fem::MotionSettings s;
  s.tolerance = tolerance;
  s.mostIterations = 200;
  s.mostRounds = 40;
  return s;
}

struct ContactScene {
  geometry::TetMesh mesh;
  fem::Solid solid;
  fem::Motion motion;
  ObstacleBodies obstacles;
  SphereContacts contacts;
  Attachments attachments;
  std::vector<ObstacleBody> bodies;
  std::vector<fem::Pin> pins;
  std::vector<fem::NodalForce> forces;
  Vec3 gravity{0, -9.81, 0};
  fem::StepReport last;

  ContactScene(geometry::TetMesh rest, double young, std::span<const ContactSphere> spheres,
               std::span<const ContactBody> touch, const fem::MotionSettings& how = motionSettings(),
               const ContactSettings& contactSettings = {},
               fem::ElasticModel model = fem::ElasticModel::Corotated, double poisson = 0.3)
      : mesh(std::move(rest)), contacts(obstacles, contactSettings), attachments(obstacles) {
    fem::SolidMaterial material;
    material.elastic = {young, poisson, 1000};
    material.model = model;
    solid.set(mesh, std::span(&material, 1));
    motion.set(solid, mesh.positions, how);
    contacts.set(mesh, spheres, touch);
    contacts.setCorners(mesh.tets, solid.masses());
    attachments.set(mesh, {});
    attachments.setCorners(mesh.tets, solid.masses());
  }

  ContactScene(const ContactScene&) = delete;  // its members know each other
  ContactScene& operator=(const ContactScene&) = delete;

  void setVelocity(const Vec3& velocity) {
    const std::vector<Vec3> x(motion.positions().begin(), motion.positions().end());
    motion.setState(x, std::vector<Vec3>(x.size(), velocity));
  }

  void step(double h) {
    for (ObstacleBody& b : bodies) {
      if (!b.movable()) continue;
      b.after = moved(b.before, b.centre, h * (b.velocity + h * gravity), h * b.angularVelocity);
    }
    obstacles.set(bodies);
    const std::array<fem::StepTerm*, 3> terms{&obstacles, &contacts, &attachments};
    fem::Loads loads;
    loads.gravity = gravity;
    loads.pins = pins;
    loads.forces = forces;
    last = motion.step(h, terms, loads);
    for (size_t i = 0; i < bodies.size(); ++i) {
      ObstacleBody& b = bodies[i];
      b.before = b.movable() ? obstacles.pose(i) : b.after;
      if (!b.movable()) continue;
      b.velocity = obstacles.velocity(i);
      b.angularVelocity = obstacles.angularVelocity(i);
    }
  }

  double mass() const {
    double sum = 0;
    for (const double m : solid.masses()) sum += m;
    return sum;
  }
  // Of the bodies, at the speeds they have now.
  double rigidKinetic() const {
    double sum = 0;
    for (const ObstacleBody& b : bodies)
      if (b.movable())
        sum += 0.5 * b.velocity.squaredNorm() / b.inverseMass +
               0.5 * b.angularVelocity.dot(b.inertia * b.angularVelocity);
    return sum;
  }
  double energy() const { return motion.kineticEnergy() + motion.elasticEnergy() + rigidKinetic(); }
  Vec3 momentum() const {
    Vec3 sum = motion.momentum();
    for (const ObstacleBody& b : bodies)
      if (b.movable()) sum += b.velocity / b.inverseMass;
    return sum;
  }
  // On the soft bodies by an obstacle, in the last step.
  Vec3 force(uint32_t obstacle) const {
    Vec3 sum = Vec3::Zero();
    for (const Contact& c : contacts.contacts())
      if (c.obstacle && c.other == obstacle) sum += c.push + c.drag;
    return sum;
  }
  uint64_t hash() const {
    Hasher hasher;
    hasher.update(motion.hash());
    contacts.hash(hasher);
    attachments.hash(hasher);
    return hasher.digest();
  }
  std::string save() const {
    std::string bytes;
    ByteWriter out(bytes);
    motion.save(out);
    contacts.save(out);
    attachments.save(out);
    return bytes;
  }
  void load(const std::string& bytes) {
    ByteReader in(std::as_bytes(std::span(bytes)), "state");
    motion.load(in);
    contacts.load(in);
    attachments.load(in);
  }
};

// A block over the ground, with a sphere of a hundredth of its size below each triangle of its surface.
inline ContactScene blockScene(uint32_t boxes, double size, double height, double young, ContactBody touch,
                               const fem::MotionSettings& how = motionSettings()) {
  geometry::TetMesh mesh = fem::blockMesh({boxes, boxes, boxes}, Vec3::Constant(size));
  for (Vec3& p : mesh.positions) p += Vec3(-size / 2, height, -size / 2);
  touch.young = young;
  const std::vector<ContactSphere> spheres = surfaceSpheres(mesh, 1, 0.05 * size / boxes);
  return ContactScene(std::move(mesh), young, spheres, std::span(&touch, 1), how);
}

}  // namespace sunder::soft
