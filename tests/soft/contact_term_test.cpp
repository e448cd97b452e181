// Contacts as a term of a potential, without a motion: derivatives, ways, forces, what they refuse.
#include "sunder/base/bytes.h"
#include "sunder/base/hash.h"
#include "sunder/base/random.h"
#include "sunder/sdf/analytic_field.h"
#include "sunder/soft/contact/sphere_contacts.h"

#include "contact_cases.h"

#include <gtest/gtest.h>

namespace sunder::soft {

namespace {

constexpr double kStep = 0.01;

// Two blocks, one pressed into the other, into the ground and into a ball that is movable.
struct TermCase {
  geometry::TetMesh mesh = fem::blockMesh({4, 2, 2}, Vec3(0.4, 0.2, 0.2));
  std::vector<ContactBody> bodies{{0.4, 0, 1e4, true}, {0.3, 0, 1e4, true}};
  std::vector<double> masses;
  std::vector<Vec3> velocities, predicted, x;
  ObstacleBodies obstacles;
  SphereContacts contacts{obstacles};
  fem::SparsePattern pattern;

  TermCase() {
    std::vector<ContactSphere> spheres = surfaceSpheres(mesh, 2, 0.01, 0);
    const size_t first = mesh.tets.size();
    const geometry::TetMesh other = mesh;
    append(mesh, other, Vec3(0.02, 0.201, 0.01));
    for (ContactSphere s : surfaceSpheres(other, 2, 0.01, 1)) {
      s.tet += static_cast<uint32_t>(first);
      spheres.push_back(s);
    }
    pattern.build(mesh);
    masses = lumped(mesh, 1000);
    velocities.assign(mesh.positions.size(), Vec3(0.3, -1, 0.1));
    predicted = mesh.positions;
    RandomStream random(3, 1);
    for (size_t v = 0; v < predicted.size(); ++v) {
      if (v >= predicted.size() / 2) velocities[v] = Vec3(-0.5, -2, 0);
      predicted[v] += kStep * velocities[v];
    }
    ObstacleBody moving = ball(Vec3(0.1, 0.1, -0.1005), 0.1, 2000, Vec3(0.3, 0.2, 1.5));
    moving.after.position += kStep * moving.velocity;
    obstacles.set(std::vector<ObstacleBody>{ground(), moving});
    contacts.set(mesh, spheres, bodies);
    contacts.setCorners(mesh.tets, masses);
  }
  void begin() {
    std::vector<Vec3> own(obstacles.ownBlocks());
    const fem::StepStart start{kStep, mesh.positions, velocities, predicted,
                               static_cast<uint32_t>(mesh.positions.size())};
    obstacles.begin(start, own);
    contacts.begin(start, {});
    x = predicted;
    x.insert(x.end(), own.begin(), own.end());
  }
  std::vector<Vec3> gradient(const std::vector<Vec3>& at) const {
    std::vector<Vec3> g(at.size(), Vec3::Zero());
    contacts.addGradient(at, g);
    return g;
  }
};

}  // namespace

TEST(ContactTerm, GradientIsTheDerivativeOfTheEnergy) {
  TermCase c;
  c.begin();
  c.contacts.update(c.x, 1);  // so that friction has bounds
  c.contacts.update(c.x, 2);
  ASSERT_GT(c.contacts.contacts().size(), 20u);
  const std::vector<Vec3> g = c.gradient(c.x);
  double largest = 0;
  for (const Vec3& row : g) largest = std::max(largest, row.norm());
  ASSERT_GT(largest, 1);
  const double step = 1e-8;
  for (size_t i = 0; i < c.x.size(); ++i)
    for (int k = 0; k < 3; ++k) {
      std::vector<Vec3> up = c.x, down = c.x;
      up[i][k] += step;
      down[i][k] -= step;
      const double slope = (c.contacts.energy(up) - c.contacts.energy(down)) / (2 * step);
      EXPECT_NEAR(slope, g[i][k], 2e-5 * largest) << i << ' ' << k;
    }
}

TEST(ContactTerm, CurvatureIsTheDerivativeOfTheGradient) {
  TermCase c;
  c.begin();
  c.contacts.update(c.x, 1);
  c.contacts.update(c.x, 2);
  fem::BlockMatrix matrix;
  matrix.setPattern(c.pattern);
  std::vector<Mat3> diagonal(c.x.size(), Mat3::Zero());
  fem::OuterTerms outer;
  c.contacts.addCurvature(c.x, matrix, diagonal, outer);
  EXPECT_GT(outer.size(), 0u);
  RandomStream random(7, 2);
  for (int trial = 0; trial < 5; ++trial) {
    std::vector<Vec3> way(c.x.size()), up = c.x, down = c.x;
    const double step = 1e-9;
    for (size_t i = 0; i < way.size(); ++i) {
      way[i] = random.pointIn({Vec3::Constant(-1), Vec3::Constant(1)});
      up[i] += step * way[i];
      down[i] -= step * way[i];
    }
    std::vector<Vec3> product(c.mesh.positions.size());
    matrix.multiply(std::span(way).first(product.size()), product);
    product.resize(way.size(), Vec3::Zero());
    for (size_t i = 0; i < way.size(); ++i) product[i] += diagonal[i] * way[i];
    for (size_t t = 0; t < outer.size(); ++t) {
      double inner = 0;
      for (uint32_t b = outer.starts[t]; b < outer.starts[t + 1]; ++b)
        inner += outer.blocks[b].dot(way[outer.rows[b]]);
      for (uint32_t b = outer.starts[t]; b < outer.starts[t + 1]; ++b)
        product[outer.rows[b]] += outer.weights[t] * inner * outer.blocks[b];
    }
    const std::vector<Vec3> high = c.gradient(up), low = c.gradient(down);
    double error = 0, size = 0;
    for (size_t i = 0; i < way.size(); ++i) {
      error += ((high[i] - low[i]) / (2 * step) - product[i]).squaredNorm();
      size += product[i].squaredNorm();
    }
    EXPECT_LT(std::sqrt(error / size), 1e-4);
  }
}

TEST(ContactTerm, ForcesHaveTheirOppositeInTheReactions) {
  TermCase c;
  std::vector<ObstacleBody> bodies(c.obstacles.bodies().begin(), c.obstacles.bodies().end());
  bodies[1].inverseMass = 0;  // nothing has moved it: this is no minimum
  c.obstacles.set(bodies);
  c.begin();
  for (uint32_t round = 1; round <= 4; ++round) c.contacts.update(c.x, round);
  const std::vector<Vec3> g = c.gradient(c.x);
  c.contacts.update(c.x, 5);
  Vec3 force = Vec3::Zero(), moment = Vec3::Zero();
  const size_t n = c.mesh.positions.size();
  for (size_t v = 0; v < n; ++v) {
    force -= g[v];
    moment -= c.x[v].cross(g[v]);
  }
  std::vector<Vec3> velocities = c.velocities;
  c.obstacles.end(c.x, velocities);
  c.contacts.end(c.x, velocities);
  Vec3 impulse = Vec3::Zero(), angular = Vec3::Zero();
  for (size_t o = 0; o < c.obstacles.size(); ++o) {
    const ObstacleReaction& reaction = c.obstacles.reactions()[o];
    impulse += reaction.impulse;
    angular += reaction.angularImpulse +
               c.obstacles.pose(o).point(c.obstacles.bodies()[o].centre).cross(reaction.impulse);
  }
  ASSERT_GT(force.norm(), 1);
  EXPECT_LT((impulse + kStep * force).norm(), 1e-12 * kStep * force.norm());
  EXPECT_LT((angular + kStep * moment).norm(), 1e-12 * kStep * force.norm());
  // The blocks of the ball get what the vertices' gradient says of them.
  EXPECT_GT(c.obstacles.reactions()[1].impulse.norm(), 0);
  for (const Contact& contact : c.contacts.contacts()) {
    EXPECT_GE(contact.normalForce, 0);
    EXPECT_LE(frictionUse(contact), 1 + 1e-12);
    EXPECT_NEAR(contact.frictionForce.dot(contact.normal), 0, 1e-9 * (1 + contact.normalForce));
  }
}

TEST(ContactTerm, AStepEndsWhereSomethingIsTouchedFirst) {
  // A block a metre above a plate of a tenth of a millimetre, whose way leads far through it.
  TermCase c;
  ObstacleBody plate;
  plate.shape = makeFieldObstacle(sdf::makeBoxField({Vec3(-5, -1.0001, -5), Vec3(5, -1, 5)}));
  c.obstacles.set(std::span(&plate, 1));
  c.velocities.assign(c.velocities.size(), Vec3::Zero());
  c.predicted = c.mesh.positions;
  c.begin();
  EXPECT_EQ(c.contacts.contacts().size(), 0u);
  std::vector<Vec3> dx(c.x.size(), Vec3(0, -100, 0));
  const double share = c.contacts.longestStep(c.x, dx);
  EXPECT_LE(share, 0.1);
  ASSERT_GT(c.contacts.contacts().size(), 0u);
  std::vector<Vec3> there = c.x;
  for (Vec3& p : there) p.y() -= 100;
  for (const Contact& contact : c.contacts.contacts()) {
    EXPECT_NEAR(contact.normal.y(), 1, 1e-12);
    EXPECT_NEAR(contact.gap(there), c.contacts.centre(contact.sphere, c.mesh.positions).y() - 99 - 0.01,
                1e-3);
  }
  EXPECT_GT(c.contacts.energy(there), 0);
}

TEST(ContactTerm, WhatPassesByTouchesNothing) {
  TermCase c;
  const ObstacleBody obstacle = ball(Vec3(2, -1, 0.1), 0.5, 1000, Vec3::Zero());
  c.obstacles.set(std::span(&obstacle, 1));
  c.velocities.assign(c.velocities.size(), Vec3(0, -300, 0));
  c.predicted = c.mesh.positions;
  for (Vec3& p : c.predicted) p.y() -= 3;
  c.begin();
  EXPECT_EQ(c.contacts.contacts().size(), 0u);
  EXPECT_EQ(c.contacts.longestStep(c.x, std::vector<Vec3>(c.x.size(), Vec3(0, -1, 0))), 1);
  EXPECT_FALSE(c.contacts.update(c.x, 1));
}

TEST(ContactTerm, TetrahedraOfOneVertexDoNotMeet) {
  TermCase c;
  c.predicted = c.mesh.positions;
  c.velocities.assign(c.velocities.size(), Vec3::Zero());
  c.obstacles.set({});
  // Crumpled, so that spheres of one body are everywhere in each other.
  for (size_t v = 0; v < c.predicted.size() / 2; ++v) c.predicted[v] *= 0.1;
  c.begin();
  c.contacts.update(c.x, 1);
  ASSERT_GT(c.contacts.contacts().size(), 0u);
  for (const Contact& contact : c.contacts.contacts()) {
    const ContactSphere &a = c.contacts.spheres()[contact.sphere], &b = c.contacts.spheres()[contact.other];
    if (a.body != b.body) continue;
    for (const uint32_t p : c.mesh.tets[a.tet])
      for (const uint32_t q : c.mesh.tets[b.tet]) EXPECT_NE(p, q);
    EXPECT_GE((c.contacts.centre(contact.sphere, c.mesh.positions) -
               c.contacts.centre(contact.other, c.mesh.positions))
                  .norm(),
              contact.radius);
  }
}

TEST(ContactTerm, RemembersItsForces) {
  TermCase c;
  c.begin();
  for (uint32_t round = 1; round <= 3; ++round) c.contacts.update(c.x, round);
  std::vector<Vec3> velocities = c.velocities;
  c.obstacles.end(c.x, velocities);
  c.contacts.end(c.x, velocities);
  std::string bytes;
  ByteWriter out(bytes);
  c.contacts.save(out);
  TermCase other;
  ByteReader in(std::as_bytes(std::span(bytes)), "state");
  other.contacts.load(in);
  EXPECT_TRUE(in.atEnd());
  Hasher a, b;
  c.contacts.hash(a);
  other.contacts.hash(b);
  EXPECT_EQ(a.digest(), b.digest());
  // One that does not fit.
  for (size_t cut : {size_t(2), bytes.size() / 2, bytes.size() - 1}) {
    ByteReader part(std::as_bytes(std::span(bytes)).first(cut), "state");
    EXPECT_THROW(other.contacts.load(part), Error);
  }
  bytes[4] = bytes[5] = char(0xff);
  ByteReader broken(std::as_bytes(std::span(bytes)), "state");
  EXPECT_THROW(other.contacts.load(broken), Error);
}

TEST(ContactTerm, RefusesWhatCannotBe) {
  TermCase c;
  std::vector<ContactSphere> spheres(c.contacts.spheres().begin(), c.contacts.spheres().end());
  spheres[3].tet = 1000000;
  EXPECT_THROW(c.contacts.set(c.mesh, spheres, c.bodies), Error);
  spheres[3] = spheres[2];
  spheres[3].weights[0] += 1;
  EXPECT_THROW(c.contacts.set(c.mesh, spheres, c.bodies), Error);
  spheres[3] = spheres[2];
  spheres[3].radius = 0;
  EXPECT_THROW(c.contacts.set(c.mesh, spheres, c.bodies), Error);
  EXPECT_THROW(c.contacts.setCorners(std::span(c.mesh.tets).first(3), c.masses), Error);
  ObstacleBody bad = ground();
  bad.shape = nullptr;
  EXPECT_THROW(c.obstacles.set(std::span(&bad, 1)), Error);
  bad = ball(Vec3::Zero(), 1, 1, Vec3::Zero());
  bad.inertia(0, 0) = -1;
  EXPECT_THROW(c.obstacles.set(std::span(&bad, 1)), Error);
  EXPECT_THROW(c.obstacles.set(std::vector<ObstacleBody>{ground(), ground()}), Error);
  EXPECT_THROW(makePlaneObstacle(Vec3::Zero(), 0), Error);
  EXPECT_THROW(makeSphereObstacle(Vec3::Zero(), 0), Error);
  EXPECT_THROW(makeFieldObstacle(nullptr), Error);
}

TEST(ObstaclePoses, TurnAboutTheirCentre) {
  ObstaclePose pose;
  pose.position = Vec3(1, 2, 3);
  pose.rotation = Quat(0.8, 0.6, 0, 0);
  const Vec3 centre(0.1, -0.2, 0.3), move(0.5, 0, -1), turn(0.3, -1.1, 0.4);
  const ObstaclePose end = moved(pose, centre, move, turn);
  EXPECT_LT((end.point(centre) - pose.point(centre) - move).norm(), 1e-14);
  EXPECT_LT((rotationVector(pose.rotation, end.rotation) - turn).norm(), 1e-14);
  EXPECT_LT((end.toLocal(end.point(turn)) - turn).norm(), 1e-14);
}

}  // namespace sunder::soft
