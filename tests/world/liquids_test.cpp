#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/record/run_reader.h"
#include "sunder/world/check/check.h"
#include "sunder/world/run/runner.h"
#include "sunder/world/world.h"

#include "temporary_folder.h"
#include "world/parts_of.h"

#include <string>

#include <gtest/gtest.h>

namespace sunder::world {
namespace {

Scene liquidFrom(const std::string& text, const std::vector<std::string>& sets = {}) {
  return readScene(SceneDocument::parse(text, "scene.json", ".", sets));
}

// A ball of oak and one of steel fall into a pool, a jet comes in.
constexpr const char* kPool = R"({
  "world": {"frames": 30, "frameRate": 60, "timeStep": "1/120 s", "seed": 3},
  "bodies": [
    {"id": "light", "shape": {"sphere": {"radius": "8 cm"}}, "material": "oak", "position": [0.3, 0.42, 0.25]},
    {"id": "heavy", "shape": {"sphere": {"radius": "8 cm"}}, "material": "steel", "position": [0.7, 0.42, 0.25]},
    {"id": "floor", "shape": {"plane": {}}, "kind": "static"}
  ],
  "fluid": {
    "radius": "2 cm",
    "tank": {"lower": [0, 0, 0], "upper": [1, 1, 0.5]},
    "liquids": [{"id": "water", "smoothing": 0.02, "blocks": [{"lower": [0, 0, 0], "upper": [1, 0.32, 0.5]}],
                 "emitters": [{"position": [0.5, 0.8, 0.25], "direction": [0, -1, 0], "radius": "5 cm", "speed": 2, "until": 0.2}]}]
  }
})";

TEST(Liquids, OakFloatsAndSteelSinks) {
  World world(liquidFrom(kPool, {"world.frames=120"}));
  const size_t start = liquidsOf(world).fluid()->size();
  while (world.frame() < 120) world.advance();
  EXPECT_GT(liquidsOf(world).fluid()->size(), start);
  const auto height = [&](uint32_t body) { return simulationOf(world).centre(rigid::BodyIndex(body)).y(); };
  EXPECT_GT(height(0), 0.2);  // bobs by two centimetres about the level
  EXPECT_LT(height(1), 0.12);
  for (const Vec3& p : liquidsOf(world).fluid()->positions()) {
    EXPECT_GT(p.minCoeff(), -0.04);
    EXPECT_LT(p.x(), 1.04);
    EXPECT_LT(p.z(), 0.54);
  }
}

void expectSameStateForAnyNumberOfThreadsAndAfterResume(const std::vector<std::string>& sets, uint64_t stop,
                                                        uint64_t end) {
  const auto run = [&](unsigned threads, std::string* middle) {
    const ThreadLimit limit(threads);
    World world(liquidFrom(kPool, sets));
    while (world.frame() < end) {
      world.advance();
      if (middle && world.frame() == stop) *middle = world.save();
    }
    return world.hash();
  };
  std::string middle;
  const uint64_t hash = run(1, &middle);
  EXPECT_EQ(run(2, nullptr), hash);
  EXPECT_EQ(run(4, nullptr), hash);
  World resumed(liquidFrom(kPool, sets));
  resumed.load(middle, "state");
  EXPECT_EQ(resumed.frame(), stop);
  while (resumed.frame() < end) resumed.advance();
  EXPECT_EQ(resumed.hash(), hash);
}
TEST(Liquids, SameStateForAnyNumberOfThreadsAndAfterResume) {
  expectSameStateForAnyNumberOfThreadsAndAfterResume({}, 13, 20);
}
TEST(Liquids, SameStateOfFewParticlesForAnyNumberOfThreadsAndAfterResume) {
  expectSameStateForAnyNumberOfThreadsAndAfterResume({"fluid.radius=4 cm", "fluid.boundaries=particles"}, 2,
                                                     4);
}

// Water that runs round and round over a block, on particles and on maps: stays between the sides, and a
// resumed run is the same.
void expectSidesMayBeJoined(const std::vector<std::string>& shared, uint64_t stop, uint64_t end,
                            size_t leastBuried) {
  const std::string channel = R"({
    "world": {"frames": 12, "frameRate": 30, "timeStep": "1/60 s"},
    "bodies": [{"id": "block", "shape": {"box": {"size": [0.3, 0.2, 0.24]}}, "kind": "static", "position": [0.6, 0.1, 0.24]}],
    "fluid": {"radius": "2 cm", "tank": {"lower": [0, 0, 0], "upper": [1.2, 1, 0.48]}, "periodic": [1.2, 0, 0],
      "liquids": [{"id": "water", "blocks": [{"lower": [0, 0, 0], "upper": [1.2, 0.2, 0.48], "velocity": [3, 0, 0]}]}]}
  })";
  for (const std::string boundaries : {"maps", "particles"}) {
    std::vector<std::string> sets = shared;
    sets.push_back("fluid.boundaries=" + boundaries);
    World world(liquidFrom(channel, sets));
    const size_t start = liquidsOf(world).fluid()->size();
    EXPECT_GT(liquidsOf(world).report().buried, leastBuried);  // where the block is
    std::string middle;
    while (world.frame() < end) {
      world.advance();
      if (world.frame() == stop) middle = world.save();
    }
    EXPECT_EQ(liquidsOf(world).fluid()->size(), start);
    for (const Vec3& p : liquidsOf(world).fluid()->positions()) {
      EXPECT_GE(p.x(), 0);
      EXPECT_LT(p.x(), 1.2);
      EXPECT_GT(p.y(), -0.04);
      EXPECT_LT(std::abs(p.z() - 0.24), 0.28);
    }
    World resumed(liquidFrom(channel, sets));
    resumed.load(middle, "state");
    while (resumed.frame() < end) resumed.advance();
    EXPECT_EQ(resumed.hash(), world.hash());
  }
}
TEST(Liquids, SidesMayBeJoinedAndBoundariesOfParticles) { expectSidesMayBeJoined({}, 5, 12, 60); }
TEST(Liquids, SidesMayBeJoinedForFewParticles) {
  expectSidesMayBeJoined({"fluid.radius=4 cm", "fluid.tank.upper=[1.2, 0.4, 0.48]"}, 1, 2, 3);
}

TEST(Liquids, RecordingsHaveTheirParticles) {
  const TemporaryFolder folder;
  RunOptions options;
  options.file = folder / "run.sunder";
  runScene(liquidFrom(kPool, {"world.frames=6"}), options);
  const record::RunReader run(options.file);
  ASSERT_EQ(run.bodies().size(), 4u);
  EXPECT_EQ(run.bodies()[3].name, "water");
  EXPECT_EQ(run.bodies()[3].kind, record::BodyKind::Fluid);
  EXPECT_EQ(run.bodies()[3].mesh, kNoIndex);
  EXPECT_GT(run.bodies()[3].mass, 100);
  for (const size_t frame : {size_t(0), size_t(6)}) {
    record::Frame at;
    run.readFrame(frame, at);
    ASSERT_EQ(at.points.size(), 1u);
    EXPECT_EQ(at.points[0].body, 3u);
    EXPECT_GT(at.points[0].positions.size(), 2000u);
    EXPECT_FLOAT_EQ(at.points[0].radius, 0.02f);
  }
}

// A glass of water breaks and the water runs out; nothing is lost on the way, also after resuming.
TEST(LiquidsFull, WhatHeldWaterMayBreak) {
  const std::string text = R"({
    "world": {"frames": 40, "timeStep": "1/240 s", "seed": 3},
    "shapes": {"jar": {"field": {"difference": [
      {"cylinder": {"from": [0, 0, 0], "to": [0, 0.4, 0], "radius": 0.2}},
      {"cylinder": {"from": [0, 0.06, 0], "to": [0, 0.6, 0], "radius": 0.14}}]}, "solid": {"cells": 32}}},
    "bodies": [
      {"id": "floor", "shape": {"plane": {}}, "kind": "static", "material": "concrete"},
      {"id": "jar", "shape": "jar", "material": "porcelain", "position": [0, 0.001, 0],
       "fracture": {"model": "voronoi", "pieces": 8, "impulse": "5 N s", "edge": "4.5 cm"}},
      {"id": "ball", "shape": {"sphere": {"radius": "5 cm"}}, "material": "steel", "position": [-0.5, 0.2, 0.01], "velocity": [9, 0, 0]}
    ],
    "fluid": {"radius": "1.5 cm", "liquids": [{"id": "water", "blocks": [
      {"field": {"cylinder": {"from": [0, 0.06, 0], "to": [0, 0.3, 0], "radius": 0.15}}}]}]}
  })";
  World world(liquidFrom(text));
  const size_t all = liquidsOf(world).fluid()->size();
  ASSERT_GT(all, 300u);
  std::string middle;
  while (world.frame() < 40) {
    world.advance();
    if (world.frame() == 25) middle = world.save();
  }
  EXPECT_GT(world.bodyCount(), 6u);
  EXPECT_EQ(liquidsOf(world).fluid()->size(), all);
  double widest = 0;
  for (const Vec3& p : liquidsOf(world).fluid()->positions()) {
    EXPECT_TRUE(p.allFinite());
    EXPECT_GT(p.y(), -0.05);
    widest = std::max(widest, std::hypot(p.x(), p.z()));
  }
  EXPECT_GT(widest, 0.25);
  World resumed(liquidFrom(text));
  resumed.load(middle, "state");
  while (resumed.frame() < 40) resumed.advance();
  EXPECT_EQ(resumed.hash(), world.hash());
}

std::string liquidRefusal(const std::vector<std::string>& sets) {
  try {
    World world(liquidFrom(kPool, sets));
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Liquids, WrongLiquidsAreRefusedWithTheirPlace) {
  EXPECT_NE(liquidRefusal({"fluid.radius=60 cm"}).find("thinner than a particle"), std::string::npos);
  EXPECT_NE(liquidRefusal({"fluid.radius=0"}).find("radius"), std::string::npos);
  EXPECT_NE(liquidRefusal({"fluid.radius=10 um"}).find("particles"), std::string::npos);
  EXPECT_NE(liquidRefusal({"fluid.liquids.0.viscosity=-1"}).find("viscosity"), std::string::npos);
  EXPECT_NE(liquidRefusal({"fluid.liquids.0.material=wine"}).find("wine"), std::string::npos);
  EXPECT_NE(liquidRefusal({"fluid.liquids.0.id=light"}).find("light"), std::string::npos);
  EXPECT_NE(liquidRefusal({"fluid.liquids.0.blocks.0.upper=[-1, 1, 1]"}).find("upper"), std::string::npos);
  EXPECT_NE(liquidRefusal({"fluid.periodic=[0.1, 0, 0]"}).find("two supports"), std::string::npos);
  EXPECT_NE(liquidRefusal({"fluid.boundaries=walls"}).find("boundaries"), std::string::npos);
  EXPECT_NE(liquidRefusal({"fluid.solver=magic"}).find("solver"), std::string::npos);
  EXPECT_NE(liquidRefusal({"fluid.iterations=0"}).find("iterations"), std::string::npos);
  EXPECT_NE(liquidRefusal({"fluid.liquids.0.drag=-1"}).find("drag"), std::string::npos);
  EXPECT_NE(liquidRefusal({"fluid.liquids.0.vorticity=-1"}).find("vorticity"), std::string::npos);
  EXPECT_NE(liquidRefusal({"fluid.colour=1"}).find("colour"), std::string::npos);
}

TEST(Liquids, ScenesChooseSolverVorticityAndAir) {
  const Scene scene = liquidFrom(
      kPool, {"fluid.solver=position-based", "fluid.iterations=300", "fluid.air={\"velocity\": [3, 0, 0]}",
              "fluid.liquids.0.vorticity=0.01", "fluid.liquids.0.drag=0.47"});
  const fluid::FluidSettings& settings = scene.fluid->settings;
  EXPECT_EQ(settings.solver, fluid::PressureSolver::PositionBased);
  EXPECT_EQ(settings.density.most, 300u);
  EXPECT_EQ(settings.wind, Vec3(3, 0, 0));
  EXPECT_EQ(settings.airDensity, 1.2);
  EXPECT_EQ(scene.fluid->liquids[0].phase.vorticity, 0.01);
  EXPECT_EQ(scene.fluid->liquids[0].phase.drag, 0.47);
  EXPECT_EQ(liquidFrom(kPool).fluid->settings.solver, fluid::PressureSolver::DivergenceFree);
  EXPECT_EQ(liquidFrom(kPool, {"fluid.solver=implicit"}).fluid->settings.solver,
            fluid::PressureSolver::Implicit);
  EXPECT_EQ(liquidFrom(kPool, {"fluid.solver=predictive-corrective"}).fluid->settings.solver,
            fluid::PressureSolver::PredictiveCorrective);
  World world(liquidFrom(kPool, {"fluid.solver=implicit", "fluid.liquids.0.vorticity=0.01"}));
  while (world.frame() < 3) world.advance();
}

// A slot four particles wide and two high: layers of eight, where they should be.
TEST(Liquids, NozzlesMayBeRectangles) {
  constexpr const char* kSlot = R"({
    "world": {"frames": 6, "frameRate": 60, "timeStep": "1/120 s", "gravity": [0, 0, 0]},
    "fluid": {"radius": "2 cm", "liquids": [{"id": "water", "emitters": [
      {"position": [0, 1, 0], "direction": [1, 0, 0], "size": ["16 cm", "8 cm"], "speed": 2}]}]}
  })";
  World world(liquidFrom(kSlot));
  while (world.frame() < 6) world.advance();
  Box3 box;
  for (const Vec3& p : liquidsOf(world).fluid()->positions()) box.grow(p);
  EXPECT_EQ(liquidsOf(world).fluid()->size() % 8, 0u);
  EXPECT_GE(liquidsOf(world).fluid()->size(), 5 * 8u);
  EXPECT_NEAR(box.extent().z(), 0.12, 5e-3);
  EXPECT_NEAR(box.extent().y(), 0.04, 5e-3);
  EXPECT_NEAR(box.center().y(), 1, 1e-3);
  const auto refusal = [&](const std::string& change) {
    try {
      liquidFrom(kSlot, {change});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(refusal("fluid.liquids.0.emitters.0.radius=1").find("one of both"), std::string::npos);
  EXPECT_NE(refusal("fluid.liquids.0.emitters.0.up=[-1, 0, 0]").find("along the direction"),
            std::string::npos);
  EXPECT_NE(refusal("fluid.liquids.0.emitters.0.size=[1]").find("size"), std::string::npos);
  EXPECT_NE(refusal("fluid.liquids.0.emitters.0.size=[1e9, 1e9]").find("too wide"), std::string::npos);
}

// A glass stands on the floor; what is poured in stays in and weighs what the glass holds.
constexpr const char* kFilledGlass = R"({
    "world": {"frames": 12, "frameRate": 60, "timeStep": "1/240 s"},
    "bodies": [
      {"id": "floor", "shape": {"plane": {}}, "kind": "static"},
      {"id": "glass", "shape": {"field": {"difference": [
        {"cylinder": {"from": [0, 0, 0], "to": [0, 0.12, 0], "radius": 0.05}},
        {"cylinder": {"from": [0, 0.012, 0], "to": [0, 0.2, 0], "radius": 0.038}}]}}, "material": "glass"}
    ],
    "fluid": {"radius": "3 mm", "liquids": [{"id": "water", "blocks": [{"pour": "glass", "level": "8 cm"}]}]}
  })";

// A coarse one, which sanitizers can watch.
TEST(Liquids, AGlassIsFilledWithAFewParticles) {
  World world(liquidFrom(kFilledGlass, {"fluid.radius=6 mm", "fluid.boundaries=particles"}));
  EXPECT_GT(liquidsOf(world).fluid()->size(), 20u);
  world.advance();
  for (const Vec3& p : liquidsOf(world).fluid()->positions()) {
    EXPECT_LT(std::hypot(p.x(), p.z()), 0.044);
    EXPECT_GT(p.y(), 0.006);
  }
}

TEST(Liquids, AGlassIsFilledToALevel) {
  World world(liquidFrom(kFilledGlass));
  const double volume = kPi * 0.038 * 0.038 * (0.08 - 0.012);
  // Walls this thin (one support) keep water two fifths of a support away.
  EXPECT_NEAR(liquidsOf(world).mass(0), 1000 * volume, 0.3 * 1000 * volume);
  while (world.frame() < 12) world.advance();
  for (const Vec3& p : liquidsOf(world).fluid()->positions()) {
    EXPECT_LT(std::hypot(p.x(), p.z()), 0.044);
    EXPECT_GT(p.y(), 0.006);
    EXPECT_LT(p.y(), 0.1);
  }
  const auto refused = [](const std::string& block) {
    try {
      const World unused(
          liquidFrom(kFilledGlass, {"fluid.radius=4 mm", "fluid.liquids.0.blocks.0=" + block}));
    } catch (const Error& error) {
      return error.message();
    }
    return std::string();
  };
  EXPECT_NE(refused(R"({"pour": "glass", "level": "8 cm", "from": [0.046, 0.05, 0.046]})").find("run out"),
            std::string::npos);
  EXPECT_NE(refused(R"({"pour": "floor"})").find("without end"), std::string::npos);
  EXPECT_NE(refused(R"({"pour": "cup"})").find("no body \"cup\""), std::string::npos);
  EXPECT_NE(refused(R"({"level": 1})").find("is for liquid that is poured"), std::string::npos);
}

// However high the level is, what is tried ends a little above the rim.
TEST(Liquids, ALevelFarAboveAnOpenBodyRunsOver) {
  constexpr const char* kTrough = R"({
    "world": {"frames": 1},
    "bodies": [{"id": "trough", "kind": "static", "shape": {"field": {"difference": [
      {"box": {"size": [1.2, 0.6, 1.2]}}, {"box": {"size": [0.8, 0.6, 0.8], "centre": [0, 0.2, 0]}}]},
      "solid": {"cells": 24, "error": 0.1, "points": 50}}}],
    "fluid": {"radius": "5 cm", "liquids": [{"id": "water", "blocks": [{"pour": "trough"}]}]}
  })";
  const World filled(liquidFrom(kTrough, {"fluid.liquids.0.blocks.0.level=0.2"}));
  EXPECT_GT(liquidsOf(filled).mass(0), 0);
  try {
    const World unused(liquidFrom(kTrough, {"fluid.liquids.0.blocks.0.level=1e9"}));
    ADD_FAILURE() << "it stayed in";
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("run out"), std::string::npos) << error.message();
  }
}

// Two plates of 5 cm with a slot of 1 cm between them, and two blocks in one place.
TEST(Liquids, ACheckSaysWhatIsTooThinOrTooMuch) {
  const CheckReport report = checkScene(liquidFrom(R"({
    "world": {"frames": 10},
    "bodies": [{"id": "sheet", "kind": "static", "position": [0.5, 0.25, 0.25], "shape": {"field": {"union": [
      {"box": {"size": [0.05, 0.3, 0.3]}},
      {"box": {"centre": [0.06, 0, 0], "size": [0.05, 0.3, 0.3]}}]}}}],
    "fluid": {"radius": "2 cm", "tank": {"lower": [0, 0, 0], "upper": [1, 1, 0.5]},
      "liquids": [{"id": "water", "blocks": [{"lower": [0, 0, 0], "upper": [0.3, 0.3, 0.3]},
                                             {"lower": [0.01, 0, 0], "upper": [0.31, 0.3, 0.3]}]}]}
  })"),
                                        {.depth = CheckDepth::Built});
  const CheckReport sinking = checkScene(liquidFrom(R"({
    "world": {"frames": 10},
    "bodies": [{"id": "ball", "shape": {"sphere": {"radius": "8 cm"}}, "position": [0.3, 0.42, 0.25]}],
    "fluid": {"radius": "2 cm", "tank": {"lower": [0, 0, 0], "upper": [1, 1, 0.5]},
      "liquids": [{"id": "water", "blocks": [{"lower": [0, 0, 0], "upper": [0.5, 0.3, 0.3]}]}]}
  })"),
                                         {.depth = CheckDepth::Built});
  ASSERT_EQ(sinking.findings.size(), 1u);
  EXPECT_NE(sinking.findings[0].text.find("falls through the tank"), std::string::npos);
  std::string all;
  for (const Finding& finding : report.findings) all += finding.where + ": " + finding.text + "\n";
  EXPECT_NE(all.find("body sheet: has walls of 0.05 m, thin for particles of 0.04 m"), std::string::npos)
      << all;
  EXPECT_NE(all.find("has gaps of 0.01 m, where no particle"), std::string::npos) << all;
  EXPECT_NE(all.find("blocks overlap"), std::string::npos) << all;
  EXPECT_GT(report.particles, 600u);
  EXPECT_GT(report.cost.memoryBytes, 5e5);
}

// Blocks over bodies: what would be in them is left out, and counted.
TEST(Liquids, ParticlesInBodiesAreLeftOutAndCounted) {
  World world(liquidFrom(kPool, {"bodies.light.position=[0.3, 0.15, 0.25]"}));
  uint64_t counted = 0;
  for (const Degradation& d : world.degradations())
    if (d.what.find("left out") != std::string::npos) counted = d.count;
  EXPECT_GT(counted, 5u);
}

}  // namespace
}  // namespace sunder::world
