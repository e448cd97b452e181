#include "sunder/base/error.h"
#include "sunder/base/random.h"
#include "sunder/rigid/solver/simulation.h"

#include <gtest/gtest.h>

namespace sunder::rigid {
namespace {

BodySettings boxAt(const Vec3& half, const Vec3& position, BodyKind kind = BodyKind::Dynamic) {
  BodySettings body;
  body.kind = kind;
  body.shape = makeBox(half);
  body.pose.position = position;
  return body;
}

// Impulses between sites and bodies that float freely: what one side gets the other loses, about any point.
TEST(SiteContacts, KeepMomentumAndAngularMomentum) {
  SimulationSettings settings;
  settings.gravity.setZero();
  Simulation simulation(settings);
  const BodyIndex box = simulation.addBody(boxAt({0.2, 0.1, 0.3}, {0.1, -0.1, 0}));
  RandomStream random(3, 1);
  std::vector<Site> sites;
  std::vector<SiteContact> contacts;
  for (uint32_t i = 0; i < 20; ++i) {
    Site site;
    const double x = random.uniform(-0.1, 0.3), z = random.uniform(-0.3, 0.3);
    site.position = {x, 0.0, z};
    const double vx = random.uniform(-2, 2), vy = random.uniform(-3, 0), vz = random.uniform(-2, 2);
    site.velocity = {vx, vy, vz};
    site.inverseMass = 1 / random.uniform(0.01, 10);
    sites.push_back(site);
    contacts.push_back({.site = i, .body = box, .normal = Vec3::UnitY(), .separation = 0, .friction = 0.7});
  }
  // Two sites that meet each other.
  sites.push_back({{0, 1, 0}, {1, 0, 0}, Vec3::Zero(), 2});
  sites.push_back({{0, 1, 0}, {-1, 0.5, 0}, Vec3::Zero(), 0.1});
  contacts.push_back({.site = 21, .body = {}, .other = 20, .normal = Vec3::UnitX(), .separation = 0});
  const auto total = [&](const std::vector<SiteMotion>* after) {
    Vec3 linear = simulation.momentum(), angular = simulation.angularMomentum();
    for (size_t i = 0; i < sites.size(); ++i) {
      // At their places before the step, where the impulses act.
      const Vec3 momentum = (after ? (*after)[i].velocity : sites[i].velocity) / sites[i].inverseMass;
      linear += momentum;
      angular += sites[i].position.cross(momentum);
    }
    return std::pair{linear, angular};
  };
  const auto [linear, angular] = total(nullptr);
  simulation.touch(sites, contacts);
  simulation.step();
  const std::vector<SiteMotion> after = simulation.siteMotions();
  const auto [linearAfter, angularAfter] = total(&after);
  EXPECT_LT((linearAfter - linear).norm(), 1e-12 * 100);
  // Of the angular momentum, what the box moves in the step while the arms stay: of second order.
  EXPECT_LT((angularAfter - angular).norm(), 0.05);
  Vec3 given = Vec3::Zero();
  for (const SiteImpulse& impulse : simulation.siteImpulses()) given += impulse.impulse;
  EXPECT_GT(given.y(), 1);
  for (size_t i = 0; i < 20; ++i) {
    const Vec3 change = after[i].velocity - sites[i].velocity;
    EXPECT_LT((change - sites[i].inverseMass * simulation.siteImpulses()[i].impulse).norm(), 1e-9);
    // Coulomb's cone.
    const Vec3& p = simulation.siteImpulses()[i].impulse;
    EXPECT_LE(Vec3(p.x(), 0, p.z()).norm(), 0.7 * p.y() + 1e-12);
  }
  // A contact is for one step.
  simulation.step();
  EXPECT_TRUE(simulation.siteImpulses().empty());
}

// A block that slides on a static body comes to rest after v^2 / (2 mu g).
TEST(SiteContacts, SlidingFollowsCoulomb) {
  Simulation simulation({});
  const BodyIndex ground = simulation.addBody(boxAt({5, 1, 5}, {0, -1, 0}, BodyKind::Static));
  Vec3 position = Vec3::Zero(), velocity(2, 0, 0);
  double impulse = 0;
  for (int i = 0; i < 120; ++i) {
    const Site site{position, velocity, {0, -9.81, 0}, 0.5};
    const SiteContact contact{.site = 0,
                              .body = ground,
                              .normal = Vec3::UnitY(),
                              .separation = position.y(),
                              .friction = 0.4,
                              .startImpulse = impulse};
    simulation.touch({&site, 1}, {&contact, 1});
    simulation.step();
    const SiteMotion motion = simulation.siteMotions()[0];
    position += motion.moved;
    velocity = motion.velocity;
    impulse = simulation.siteImpulses()[0].last;
    EXPECT_GT(position.y(), -1e-3);
  }
  EXPECT_LT(velocity.norm(), 1e-3);
  EXPECT_NEAR(position.x(), 4 / (2 * 0.4 * 9.81), 0.02 * 4 / (2 * 0.4 * 9.81));
}

TEST(SiteContacts, WakeWhatTheyStrikeAndRefuseWhatIsNotThere) {
  SimulationSettings settings;
  Simulation simulation(settings);
  simulation.addBody(boxAt({5, 1, 5}, {0, -1, 0}, BodyKind::Static));
  const BodyIndex box = simulation.addBody(boxAt({0.1, 0.1, 0.1}, {0, 0.1, 0}));
  for (int i = 0; i < 120; ++i) simulation.step();
  ASSERT_FALSE(simulation.awake(box));
  Site site{{0, 0.2, 0}, {0, -2, 0}, Vec3::Zero(), 1};
  SiteContact contact{.site = 0, .body = box, .normal = Vec3::UnitY()};
  simulation.touch({&site, 1}, {&contact, 1});
  EXPECT_TRUE(simulation.awake(box));
  contact.body = BodyIndex(9);
  EXPECT_THROW(simulation.touch({&site, 1}, {&contact, 1}), Error);
  contact = {.site = 1, .body = box};
  EXPECT_THROW(simulation.touch({&site, 1}, {&contact, 1}), Error);
  contact = {.site = 0, .body = {}};  // neither body nor site
  EXPECT_THROW(simulation.touch({&site, 1}, {&contact, 1}), Error);
  site.velocity.x() = NAN;
  contact.body = box;
  EXPECT_THROW(simulation.touch({&site, 1}, {&contact, 1}), Error);
}

// Events: those above the threshold, and all of a body that somebody listens to.
TEST(ContactEvents, AreReportedWhereSomebodyListens) {
  SimulationSettings settings;
  settings.sleep = false;
  Simulation simulation(settings);
  simulation.addBody(boxAt({5, 1, 5}, {0, -1, 0}, BodyKind::Static));
  const BodyIndex first = simulation.addBody(boxAt({0.1, 0.1, 0.1}, {0, 0.1, 0}));
  simulation.addBody(boxAt({0.1, 0.1, 0.1}, {1, 0.1, 0}));
  for (int i = 0; i < 5; ++i) simulation.step();
  EXPECT_TRUE(simulation.events().empty());
  EXPECT_EQ(simulation.everyContact().size(), 8u);
  simulation.listen(first);
  simulation.step();
  EXPECT_EQ(simulation.events().size(), 4u);
  for (const ContactEvent& event : simulation.events()) EXPECT_TRUE(event.a == first || event.b == first);
  simulation.listen(first, false);
  simulation.step();
  EXPECT_TRUE(simulation.events().empty());
}

}  // namespace
}  // namespace sunder::rigid
