// Blows of stiff and narrow rigid bodies on soft ones: steps whose contacts do not converge, and planes of
// contacts that lie behind where a step began.
#include "sunder/world/parts/soft_part.h"
#include "sunder/world/run/runner.h"

#include "world/parts_of.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace sunder::world {
namespace {

// A wedge of steel, 2 mm wide at its tip, hits a block of wood that lies on the ground.
std::string blow(const std::string& young) {
  return fmt::format(R"({{
    "world": {{"frames": 8, "timeStep": "1/480 s", "gravity": [0, 0, 0]}},
    "materials": {{"wood": {{"like": "pine", "young": "{}", "poisson": 0.3, "friction": 0.4}}}},
    "shapes": {{"wedge": {{"hull": {{"points": [[-0.03, 0.18, -0.05], [0.03, 0.18, -0.05], [-0.001, 0, -0.05],
      [0.001, 0, -0.05], [-0.03, 0.18, 0.05], [0.03, 0.18, 0.05], [-0.001, 0, 0.05], [0.001, 0, 0.05]]}}}}}},
    "bodies": [{{"id": "ground", "shape": {{"plane": {{}}}}, "kind": "static", "material": "concrete"}},
      {{"id": "block", "shape": {{"box": {{"size": [0.2, 0.3, 0.2]}}}}, "kind": "deformable", "material": "wood",
        "position": [0, 0.151, 0], "soft": {{"tets": 100, "stiffnessDamping": "0.1 ms", "selfContact": false}}}},
      {{"id": "wedge", "shape": "wedge", "material": "steel", "position": [0, 0.32, 0], "velocity": [0, -7, 0],
        "mass": "4 kg"}}]}})",
                     young);
}

}  // namespace

class SoftBlow : public testing::TestWithParam<const char*> {};

TEST_P(SoftBlow, AddsNoEnergy) {
  World world(readScene(SceneDocument::parse(blow(GetParam()), "blow.json", ".", {})));
  const auto& simulation = simulationOf(world);
  const rigid::BodyIndex wedge(1);
  const double mass = simulation.mass(wedge);
  const fem::Motion& motion = world.find<SoftPart>()->motion();
  // Turning is left out, so this is at most the energy there is.
  const auto energy = [&] {
    return 0.5 * mass * simulation.velocity(wedge).squaredNorm() + motion.kineticEnergy() +
           motion.elasticEnergy();
  };
  const double before = energy();
  EXPECT_NEAR(before, 98, 1e-3);
  while (world.frame() < 8) {
    world.advance();
    ASSERT_LE(energy(), (1 + 1e-3) * before) << world.frame();
  }
  EXPECT_GT(simulation.velocity(wedge).y(), -1);  // it was stopped
}

INSTANTIATE_TEST_SUITE_P(Stiffness, SoftBlow, testing::Values("3 MPa", "300 MPa"));

}  // namespace sunder::world
