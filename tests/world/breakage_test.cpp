#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/record/run_reader.h"
#include "sunder/world/run/runner.h"
#include "sunder/world/world.h"

#include "temporary_folder.h"
#include "world/parts_of.h"

#include <map>
#include <memory>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <malloc.h>

namespace sunder::world {
namespace {

// Two bars of porcelain, the second above the first, fall on the edge of a block.
const char* kBars = R"({
  "world": {"frames": 60, "timeStep": "1/120 s", "seed": 3},
  "shapes": {"bar": {"box": {"size": ["40 cm", "4 cm", "6 cm"]}}},
  "bodies": [
    {"id": "ground", "shape": {"plane": {}}, "kind": "static", "material": "concrete"},
    {"id": "block", "shape": {"box": {"size": [0.1, 0.2, 0.3]}}, "kind": "static", "material": "steel", "position": [0, 0.1, 0]},
    {"id": "low", "shape": "bar", "material": "porcelain", "position": [0.02, 0.24, 0], "velocity": [0, -6, 0], "fracture": {"edge": "3 cm"}},
    {"id": "high", "shape": "bar", "material": "porcelain", "position": [-0.03, 0.5, 0], "rotation": {"degrees": [0, 30, 5]},
     "velocity": [0, -8, 0], "fracture": {"edge": "3 cm", "noise": "2 mm"}},
    {"id": "plain", "shape": "bar", "material": "oak", "position": [0.5, 0.1, 0], "velocity": [0, -3, 0],
     "fracture": {"model": "voronoi", "pieces": 7, "impulse": "0.1 N s", "edge": "4 cm"}}
  ],
  "recording": {"checkpointFrames": 5}
})";

Scene breakageFrom(const std::string& text, const std::vector<std::string>& sets = {}) {
  return readScene(SceneDocument::parse(text, "scene.json", ".", sets));
}

struct Sum {
  double mass = 0;
  Vec3 momentum = Vec3::Zero(), angular = Vec3::Zero();
};
Sum sumOf(const rigid::Simulation& s) {
  Sum sum;
  for (uint32_t i = 0; i < s.bodyCount(); ++i)
    if (s.exists(rigid::BodyIndex(i)) && s.kind(rigid::BodyIndex(i)) == rigid::BodyKind::Dynamic)
      sum.mass += s.mass(rigid::BodyIndex(i));
  sum.momentum = s.momentum();
  sum.angular = s.angularMomentum();
  return sum;
}

TEST(Breakage, PiecesCarryTheMassAndTheMomentum) {
  const Scene scene = breakageFrom(kBars);
  const std::vector<BuiltShape> shapes = buildShapes(scene);
  Breakage breakage(scene, shapes);
  rigid::SimulationSettings settings = scene.world.simulation;
  settings.eventImpulse = 1e-12;
  rigid::Simulation simulation(settings);
  for (uint32_t b = 0; b < scene.bodies.size(); ++b) {
    rigid::BodySettings body;
    body.kind = scene.bodies[b].kind;
    body.shape = breakage.wholeShape(b) ? breakage.wholeShape(b) : shapes[scene.bodies[b].shape].shape;
    body.pose = scene.bodies[b].pose;
    body.velocity = scene.bodies[b].velocity;
    body.density = scene.materials[scene.bodies[b].material].density;
    simulation.addBody(body);
  }
  const double mass = sumOf(simulation).mass;
  size_t broke = 0;
  Ledger ledger;
  breakage.listen(simulation);
  for (int i = 0; i < 120; ++i) {
    breakage.watch(simulation);
    simulation.step();
    const Sum before = sumOf(simulation);
    const auto broken = breakage.act(simulation, uint64_t(i), ledger);
    if (broken.empty()) continue;
    broke += broken.size();
    const Sum after = sumOf(simulation);
    EXPECT_NEAR(after.mass, mass, 1e-10 * mass);
    EXPECT_LT((after.momentum - before.momentum).norm(), 1e-10 * mass);
    EXPECT_LT((after.angular - before.angular).norm(), 1e-10 * mass);
  }
  EXPECT_GE(broke, 2u);
  EXPECT_GE(breakage.spawned().size(), 4u);
}

TEST(Breakage, SameStateForAnyNumberOfThreadsAndAfterResume) {
  std::vector<uint64_t> hashes;
  for (const unsigned threads : {1u, 2u, 4u}) {
    const ThreadLimit limit(threads);
    World world(breakageFrom(kBars));
    for (int i = 0; i < 40; ++i) world.advance();
    EXPECT_GE(world.bodyCount(), 8u);
    hashes.push_back(world.hash());
  }
  EXPECT_EQ(hashes[1], hashes[0]);
  EXPECT_EQ(hashes[2], hashes[0]);
  // Stopped after each of the first frames, in which they break.
  for (const int stop : {1, 3, 5, 9, 20}) {
    std::string state;
    {
      World world(breakageFrom(kBars));
      for (int i = 0; i < stop; ++i) world.advance();
      state = world.save();
    }
    World world(breakageFrom(kBars));
    world.advance();  // what it was before does not matter
    world.load(state, "state");
    EXPECT_EQ(world.save(), state);
    while (world.frame() < 40) world.advance();
    EXPECT_EQ(world.hash(), hashes[0]) << stop;
  }
}

// One record a break, from which everything else follows.
TEST(Breakage, EveryBreakIsOneRecordOfChange) {
  World world(breakageFrom(kBars));
  size_t observed = 0;
  world.find<RigidPart>()->observeBreaks([&](const BreakRecord& record, const rigid::Simulation& simulation) {
    ++observed;
    EXPECT_TRUE(simulation.exists(rigid::BodyIndex(record.body)));
    EXPECT_EQ(simulation.bodyCount(), record.firstPiece + record.change.appeared.size());
  });
  size_t events = 0;
  std::string middle;
  while (world.frame() < 40) {
    world.advance();
    for (const record::Event& event : world.events()) events += event.kind == record::EventKind::Fracture;
    if (world.frame() == 6) middle = world.save();
  }
  const std::vector<BreakRecord>& changes = breakageOf(world).changes();
  ASSERT_GE(changes.size(), 4u);
  EXPECT_EQ(observed, changes.size());
  EXPECT_EQ(events, changes.size());
  // Bodies by number: who they are, and whose pieces.
  const auto own = uint32_t(world.scene().bodies.size());
  std::map<uint32_t, uint64_t> id;
  for (uint32_t b = 0; b < own; ++b) id[b] = b;
  uint32_t next = own;
  for (const BreakRecord& record : changes) {
    EXPECT_EQ(geometry::validate(record.change), "");
    EXPECT_EQ(record.change.kind, geometry::ChangeKind::Crack);
    ASSERT_EQ(record.change.disappeared.size(), 1u);
    EXPECT_EQ(record.change.disappeared[0].id, id.at(record.body));
    EXPECT_EQ(record.firstPiece, next);
    for (uint32_t p = 0; p < record.change.appeared.size(); ++p, ++next) {
      const geometry::AppearedBody& piece = record.change.appeared[p];
      EXPECT_EQ(piece.body.id, geometry::childId(id.at(record.body), p));
      id[next] = piece.body.id;
      const record::BodyEntry entry = world.body(next);
      EXPECT_EQ(entry.parent, record.body);
      EXPECT_EQ(entry.born, record.frame);
      EXPECT_EQ(breakageOf(world).spawned()[next - own].shape->surface().triangles.size(), piece.body.faces);
    }
    id.erase(record.body);
  }
  EXPECT_EQ(next, world.bodyCount());
  // From the scene to what there is now: pieces of pieces come from a body of the scene, and the faces that
  // come from none of its faces are those inside it.
  const geometry::TopologyChange all = breakageOf(world).sinceStart();
  EXPECT_EQ(geometry::validate(all), "");
  std::map<uint64_t, uint32_t> body;
  for (const auto& [b, identity] : id) body[identity] = b;
  const auto sources = geometry::sourcesByBody(all);
  size_t secondGeneration = 0;
  for (size_t p = 0; p < all.appeared.size(); ++p) {
    const uint32_t b = body.at(all.appeared[p].body.id);
    ASSERT_EQ(all.appeared[p].parents.size(), 1u);
    const uint64_t origin = all.disappeared[all.appeared[p].parents[0]].id;
    EXPECT_LT(origin, own);
    EXPECT_TRUE(world.body(b).name.starts_with(world.scene().bodies[origin].id + "."));
    secondGeneration += world.body(b).parent >= own;
    const std::vector<uint8_t> inside = world.mesh(world.body(b).mesh).interior;
    ASSERT_EQ(inside.size(), sources[p].faces.size());
    for (size_t f = 0; f < inside.size(); ++f) EXPECT_EQ(inside[f] != 0, sources[p].faces[f] == kNoIndex);
  }
  EXPECT_GT(secondGeneration, 0u);
  // Resuming makes the same records again.
  World resumed(breakageFrom(kBars));
  resumed.load(middle, "state");
  const size_t known = breakageOf(resumed).changes().size();
  EXPECT_GT(known, 0u);
  while (resumed.frame() < 40) resumed.advance();
  ASSERT_EQ(breakageOf(resumed).changes().size(), changes.size());
  for (size_t i = 0; i < changes.size(); ++i) {
    EXPECT_EQ(breakageOf(resumed).changes()[i].change, changes[i].change);
    EXPECT_EQ(breakageOf(resumed).changes()[i].frame, changes[i].frame);
  }
}

// What pieces look like does not depend on when somebody looks, and is counted once.
namespace {

// With 120 pieces some are too hard to cut finely, and are shown as coarse as their tetrahedra.
void expectLooksDoNotDependOnWhenSomebodyLooks(int pieces) {
  const std::vector<std::string> sets{"bodies.star.fracture.pieces=" + std::to_string(pieces)};
  const char* text = R"({
    "world": {"frames": 8, "timeStep": "1/120 s", "seed": 5},
    "bodies": [
      {"id": "ground", "shape": {"plane": {}}, "kind": "static", "material": "concrete"},
      {"id": "ring", "shape": {"make": "torus", "with": {"radius": 0.3, "tube": 0.09}}, "material": "porcelain", "position": [0, 0.6, 0], "velocity": [0, -12, 0], "rotation": {"degrees": [70, 0, 0]}, "fracture": {"edge": "4 cm", "strength": "2 MPa"}},
      {"id": "star", "shape": {"make": "extrusion", "with": {"outline": "star", "radius": 0.3, "depth": 0.1}}, "material": "glass", "position": [0.9, 0.3, 0], "velocity": [0, -9, 0], "fracture": {"model": "voronoi", "pieces": 120, "impulse": "0.1 N s", "edge": "3.2 cm"}}
    ]})";
  World always(breakageFrom(text, sets)), late(breakageFrom(text, sets));
  std::string middle;
  std::vector<record::MeshEntry> seen;
  for (int i = 0; i < 8; ++i) {
    always.advance();
    late.advance();
    while (seen.size() < always.meshCount()) seen.push_back(always.mesh(uint32_t(seen.size())));
    if (i == 3) middle = always.save();
  }
  World resumed(breakageFrom(text, sets));
  resumed.load(middle, "state");
  while (resumed.frame() < 8) resumed.advance();
  ASSERT_GT(breakageOf(late).changes().size(), 2u);
  const auto coarse = [](const World& world) {
    for (const Degradation& d : world.degradations())
      if (d.what.find("coarse") != std::string::npos) return std::pair(d.count, d.firstFrame);
    return std::pair(uint64_t(0), uint64_t(0));
  };
  EXPECT_EQ(coarse(late).first, 0u);  // nobody has looked
  if (pieces >= 120) {
    EXPECT_GT(coarse(always).first, 0u);
  }
  for (World* world : {&late, &resumed}) {
    const std::vector<record::MeshEntry> meshes = world->meshes();
    ASSERT_EQ(meshes.size(), seen.size());
    for (size_t m = 0; m < seen.size(); ++m) {
      EXPECT_EQ(meshes[m].positions, seen[m].positions);
      EXPECT_EQ(meshes[m].triangles, seen[m].triangles);
      EXPECT_EQ(meshes[m].interior, seen[m].interior);
    }
    EXPECT_EQ(coarse(*world), coarse(always));
  }
  EXPECT_EQ(resumed.hash(), always.hash());
}

}  // namespace

TEST(Breakage, LooksDoNotDependOnWhenSomebodyLooks) { expectLooksDoNotDependOnWhenSomebodyLooks(30); }
TEST(BreakageFull, CoarseLooksDoNotDependOnWhenSomebodyLooks) {
  expectLooksDoNotDependOnWhenSomebodyLooks(120);
}

// Cracks that stop inside: the body stays, with a mesh of its own.
TEST(Breakage, CracksThatStopAreRecordedToo) {
  const std::vector<std::string> sets{"bodies.low.fracture.arrest=true",
                                      "bodies.low.fracture.surfaceEnergy=2e4"};
  World world(breakageFrom(kBars, sets));
  for (int i = 0; i < 30; ++i) world.advance();
  size_t inOne = 0;
  for (const BreakRecord& record : breakageOf(world).changes()) {
    EXPECT_EQ(geometry::validate(record.change), "");
    if (record.change.appeared.size() > 1) continue;
    ++inOne;
    EXPECT_EQ(record.firstPiece, record.body);
    EXPECT_GT(record.change.appeared[0].body.faces, record.change.disappeared[0].faces);
  }
  EXPECT_GT(inOne, 0u);
  EXPECT_EQ(geometry::validate(breakageOf(world).sinceStart()), "");
  World resumed(breakageFrom(kBars, sets));
  resumed.load(world.save(), "state");
  EXPECT_EQ(breakageOf(resumed).sinceStart(), breakageOf(world).sinceStart());
}

// Specification 07, AC-21: when a world is gone, so is all that was made for its pieces.
TEST(Breakage, NothingIsLeftOfAWorldThatIsGone) {
  const ThreadLimit limit(1);
  const auto held = [] {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
  };
  size_t most = 0;
  const auto live = [&] {
    World world(breakageFrom(kBars));
    std::string start = world.save();
    for (int i = 0; i < 30; ++i) world.advance();
    EXPECT_GE(breakageOf(world).changes().size(), 4u);
    most = std::max(most, held());
    world.load(start, "state");  // back to before anything broke
    EXPECT_TRUE(breakageOf(world).changes().empty());
    EXPECT_TRUE(breakageOf(world).spawned().empty());
  };
  live();  // what the first time leaves in pools is there now
  const size_t before = held();
  if (before == 0) GTEST_SKIP() << "this allocator does not count";
  live();
  live();
  EXPECT_GT(most, before + 1'000'000);
  EXPECT_LT(held(), before + 100'000);
}
// A ball that strikes at a slant: its normal impulse of 16 N s is too weak, with friction it is 22 N s.
TEST(Breakage, FrictionIsPartOfTheImpact) {
  const char* slant = R"({
    "world": {"frames": 8, "timeStep": "1/240 s"},
    "materials": {"stone": {"like": "granite", "density": 1000, "restitution": 0.3, "friction": 1}},
    "bodies": [
      {"id": "ground", "shape": {"plane": {}}, "kind": "static", "material": "stone"},
      {"id": "ball", "shape": {"sphere": {"radius": 0.1}}, "material": "stone", "position": [0, 0.15, 0], "velocity": [12, -3, 0],
       "fracture": {"model": "voronoi", "pieces": 6, "impulse": "19 N s", "edge": "2.6 cm"}}
    ]
  })";
  for (const bool rough : {false, true}) {
    World world(breakageFrom(slant, {rough ? "materials.stone.friction=1" : "materials.stone.friction=0"}));
    while (world.frame() < 8) world.advance();
    EXPECT_EQ(breakageOf(world).changes().size(), rough ? 1u : 0u);
  }
}

// Six blocks of ice press on the lowest with kilopascals; their strength is a megapascal. Neither the load of
// the stack nor the millimetre that blocks fall until they touch breaks them; a hammer does.
TEST(Breakage, StacksAtRestDoNotBreak) {
  const auto stack = [](double gap, bool hammer) {
    std::string text = R"({"world": {"frames": 60}, "bodies": [
      {"id": "ground", "shape": {"plane": {}}, "kind": "static", "material": "concrete"})";
    if (hammer)
      text += R"(, {"id": "hammer", "shape": {"sphere": {"radius": 0.05}}, "material": "steel",
                    "position": [0, 1.3, 0], "velocity": [0, -10, 0]})";
    for (int i = 0; i < 6; ++i)
      text += fmt::format(
          R"(, {{"id": "ice{}", "shape": {{"box": {{"size": [0.2, 0.2, 0.2]}}}}, "material": "ice",
                             "position": [0, {}, 0], "fracture": {{"edge": "4 cm"}}}})",
          i, 0.1 + gap + i * (0.2 + gap));
    return text + "]}";
  };
  for (const double gap : {0.0, 0.001, -0.001}) {
    World world(breakageFrom(stack(gap, false)));
    while (world.frame() < 60) world.advance();
    EXPECT_EQ(breakageOf(world).changes().size(), 0u) << gap;
  }
  World world(breakageFrom(stack(0, true)));
  while (world.frame() < 3) world.advance();
  ASSERT_GE(breakageOf(world).changes().size(), 1u);
  EXPECT_EQ(breakageOf(world).changes()[0].body, 7u);
}

TEST(Breakage, ForcesOnABodyActOnItsPieces) {
  std::string text = kBars;
  const std::string recording = "\"recording\"";
  text.insert(text.find(recording),
              R"("forces": [{"wind": {"velocity": [200, 0, 0]}, "bodies": ["low"]}], )");
  World calm(breakageFrom(kBars)), windy(breakageFrom(text));
  for (int i = 0; i < 12; ++i) {
    calm.advance();
    windy.advance();
  }
  // The same after resuming.
  World resumed(breakageFrom(text));
  resumed.load(windy.save(), "state");
  for (World* world : {&calm, &windy, &resumed})
    for (int i = 0; i < 12; ++i) world->advance();
  EXPECT_EQ(resumed.hash(), windy.hash());
  const auto pieces = [](const World& world) {
    double sum = 0;
    size_t count = 0;
    for (uint32_t i = 5; i < world.bodyCount(); ++i) {
      const rigid::BodyIndex body(i);
      if (!simulationOf(world).exists(body) || !simulationOf(world).name(body).starts_with("low.")) continue;
      sum += simulationOf(world).velocity(body).x();
      ++count;
    }
    EXPECT_GT(count, 1u);
    return sum / double(count);
  };
  EXPECT_GT(pieces(windy), pieces(calm) + 1);
}

// A bar that hangs by one end from the world is broken in the middle by a ball. Damping slows the piece that
// is left: at 30 rad/s and more a soft joint gives way by millimetres.
TEST(Breakage, JointsHoldThePieceThatHasTheirAnchor) {
  const char* text = R"({
    "world": {"frames": 60, "timeStep": "1/120 s", "seed": 3},
    "bodies": [
      {"id": "ground", "shape": {"plane": {}}, "kind": "static", "material": "concrete"},
      {"id": "bar", "shape": {"box": {"size": ["4 cm", "40 cm", "6 cm"]}}, "material": "porcelain", "position": [0, 1.0, 0], "angularDamping": 8, "linearDamping": 2, "fracture": {"edge": "3 cm"}},
      {"id": "ball", "shape": {"sphere": {"radius": "4 cm"}}, "material": "steel", "position": [0.2, 0.955, 0.005], "velocity": [15, 0, 0]},
      {"id": "shot", "shape": {"sphere": {"radius": "4 cm"}}, "material": "steel", "position": [-0.2, 0.955, 0.005], "velocity": [60, 0, 0]}
    ],
    "joints": [
      {"id": "pin", "kind": "ball", "b": "bar", "anchor": [0, 1.19, 0]},
      {"id": "rope", "kind": "distance", "b": "bar", "anchor": [0, 1.5, 0], "anchorB": [0, 1.18, 0]}
    ]
  })";
  World world(breakageFrom(text));
  std::string middle;
  for (int i = 0; i < 60; ++i) {
    world.advance();
    if (i == 20) middle = world.save();
  }
  const rigid::Simulation& simulation = simulationOf(world);
  ASSERT_GT(world.bodyCount(), 5u);
  for (uint32_t j = 0; j < 2; ++j) {
    const rigid::JointIndex joint(j);
    EXPECT_FALSE(simulation.jointState(joint).broken);
    const rigid::BodyIndex holder = simulation.joint(joint).b;
    ASSERT_TRUE(simulation.exists(holder));
    EXPECT_GE(holder.value, 4u);
    const Vec3 at = simulation.pose(holder).point(simulation.jointAnchor(joint, holder));
    if (j == 0)
      EXPECT_LT((at - Vec3(0, 1.19, 0)).norm(), 2e-3);
    else
      EXPECT_NEAR((at - Vec3(0, 1.5, 0)).norm(), 0.32, 2e-3);
  }
  // What nothing holds flew off.
  uint32_t gone = 0;
  for (uint32_t b = 4; b < world.bodyCount(); ++b)
    gone += simulation.exists(rigid::BodyIndex(b)) &&
            (simulation.centre(rigid::BodyIndex(b)) - Vec3(0, 1, 0)).norm() > 0.5;
  EXPECT_GE(gone, 1u);
  World resumed(breakageFrom(text));
  resumed.load(middle, "state");
  while (resumed.frame() < 60) resumed.advance();
  EXPECT_EQ(resumed.hash(), world.hash());
}

TEST(Breakage, RecordingsHaveThePiecesFromTheirBirthOn) {
  const TemporaryFolder folder;
  RunOptions options;
  options.file = folder / "run.sunder";
  options.program = "test";
  runScene(breakageFrom(kBars), options);
  const record::RunReader run(options.file);
  EXPECT_TRUE(run.verify().empty());
  ASSERT_GT(run.bodies().size(), 7u);
  size_t pieces = 0, fractures = 0;
  for (uint32_t b = 0; b < run.bodies().size(); ++b) {
    const record::BodyEntry& body = run.bodies()[b];
    if (body.parent == kNoIndex) continue;
    ++pieces;
    EXPECT_LT(body.parent, b);
    EXPECT_GT(body.born, 0u);
    EXPECT_GT(body.mass, 0);
    EXPECT_EQ(body.material, body.name.starts_with("plain") ? "oak" : "porcelain");
    record::Frame before, at;
    run.readFrame(body.born - 1, before);
    run.readFrame(body.born, at);
    EXPECT_TRUE(b >= before.bodies.size() || !before.bodies[b].present) << body.name;
  }
  for (size_t i = 0; i < run.frameCount(); ++i)
    for (const record::Event& event : run.events(i)) fractures += event.kind == record::EventKind::Fracture;
  EXPECT_GE(pieces, 4u);
  EXPECT_GE(fractures, 2u);
}

TEST(Breakage, WhatCannotBreakIsRefusedWithItsPlace) {
  const auto refused = [](const std::string& body, const std::string& says) {
    const std::string text =
        R"({"bodies": [{"id": "b", "shape": {"box": {"size": [1, 1, 1]}}, )" + body + "}]}";
    try {
      World world(breakageFrom(text));
      FAIL() << body;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
    }
  };
  refused(R"("material": "steel", "fracture": {})", "strength");
  refused(R"("material": "glass", "kind": "static", "fracture": {})", "dynamic");
  refused(R"("material": "glass", "fracture": {"poisson": 0.5})", "Poisson");
  refused(R"("material": "glass", "fracture": {"strength": 0})", "strength");
  refused(R"("material": "glass", "fracture": {"pieces": 5})", "voronoi");
  refused(R"("material": "glass", "fracture": {"strength": -3})", "strength");
  refused(R"("material": "glass", "fracture": {"poisson": -1})", "Poisson");
}

// A body of the scene on the ground, struck by a steel ball; the world after 20 frames.
std::unique_ptr<World> struck(const std::string& shape, const std::string& fracture) {
  auto world = std::make_unique<World>(breakageFrom(
      R"({
    "world": {"frames": 60, "timeStep": "1/120 s", "seed": 3},
    "bodies": [
      {"id": "ground", "shape": {"plane": {}}, "kind": "static", "material": "concrete"},
      {"id": "body", "shape": )" +
      shape + R"(, "material": "glass", "position": [0, 0.51, 0], "fracture": )" + fracture + R"(},
      {"id": "ball", "shape": {"sphere": {"radius": "10 cm"}}, "material": "steel", "position": [0.03, 1.2, 0.02], "velocity": [0, -30, 0]}
    ]})"));
  for (int i = 0; i < 20; ++i) world->advance();
  return world;
}

// Bodies of the scene that are hard to break: nothing is lost, what was not done is counted.
TEST(Breakage, WhatIsHardToBreakLosesNothing) {
  const auto count = [](const World& world, const char* what) {
    for (const Degradation& d : world.degradations())
      if (d.what == what) return d.count;
    return uint64_t(0);
  };
  const std::string cube = R"({"box": {"size": [1, 1, 1]}})";
  const double mass = 2500;  // of the cube in glass
  // Far more pieces than its tetrahedra can be cut into: it stays whole, and that is said.
  auto world = struck(cube, R"({"model": "voronoi", "pieces": 900, "impulse": "0.1 N s", "edge": "50 cm"})");
  EXPECT_EQ(world->bodyCount(), 3u);
  EXPECT_GT(count(*world, "breaks could not be made"), 0u);
  EXPECT_NEAR(sumOf(simulationOf(*world)).mass, mass + 7850 * 4 * kPi / 3 * 1e-3, 40);
  // A strength that nothing reaches.
  world = struck(cube, R"({"strength": "1e30 Pa", "edge": "25 cm"})");
  EXPECT_EQ(world->bodyCount(), 3u);
  EXPECT_TRUE(breakageOf(*world).changes().empty());
  // Next to no strength: as many cracks as one impact may make, and all of the mass.
  world = struck(cube, R"({"strength": "1 Pa", "edge": "40 cm", "mostCracks": 6})");
  EXPECT_GT(world->bodyCount(), 3u);
  EXPECT_NEAR(sumOf(simulationOf(*world)).mass, mass + 7850 * 4 * kPi / 3 * 1e-3, 40);
  // A pane of a millimetre in tetrahedra of twenty centimetres.
  world = struck(R"({"box": {"size": [1, 0.001, 1]}})", R"({"edge": "20 cm"})");
  double sum = 0;
  for (const BreakRecord& record : breakageOf(*world).changes())
    EXPECT_EQ(geometry::validate(record.change), "");
  for (uint32_t b = 1; b < world->bodyCount(); ++b)
    if (b != 2 && simulationOf(*world).exists(rigid::BodyIndex(b)))
      sum += simulationOf(*world).mass(rigid::BodyIndex(b));
  EXPECT_GT(world->bodyCount(), 3u);
  EXPECT_NEAR(sum, 2.5, 1e-9);
}

TEST(Breakage, BodiesThinnerThanTheirTetrahedraAreRefused) {
  try {
    World world(breakageFrom(
        R"({"bodies": [{"id": "pane", "shape": {"make": "extrusion", "with": {"radius": 0.5, "depth": 0.02}},
            "material": "glass", "fracture": {"edge": "20 cm"}}]})"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(exitCode(error.kind()), 2);
    EXPECT_NE(std::string(error.what()).find("bodies.pane.fracture"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("lose 100 % of the body"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("m would do"), std::string::npos) << error.what();
  }
}

// Walls of a millimetre and a half: no tetrahedra of a lattice, no other surface, and nothing lost.
TEST(Breakage, VesselsAreFilledExactly) {
  const auto text = [](const char* make, const char* with, const char* scale, const char* height) {
    return std::string(R"({
      "world": {"frames": 60, "timeStep": "1/240 s", "seed": 3},
      "bodies": [
        {"id": "ground", "shape": {"plane": {}}, "kind": "static", "material": "concrete"},
        {"id": "body", "shape": {"make": ")") +
           make + R"(", "with": )" + with + R"(, "scale": )" + scale +
           R"(}, "material": "glass", "fracture": {"leastPart": 0.002, "edge": 1, "strength": "10 MPa"}},
        {"id": "ball", "shape": {"sphere": {"radius": "1 cm"}}, "material": "steel", "position": [-0.4, )" +
           height + R"(, 0.005], "velocity": [60, 0, 0]}
      ]})";
  };
  const std::string glass =
      text("wine-glass", R"({"wall": 0.0015, "segments": 24, "resolution": 10})", "1", "0.17");
  const std::string bowl = text("bowl", R"({"wall": 0.003, "segments": 20, "resolution": 8})", "1.5", "0.1");
  for (const std::string& scene : {glass, bowl}) {
    World world(breakageFrom(scene));
    const rigid::Shape& own = *world.shapes()[world.scene().bodies[1].shape].shape;
    const geometry::TriMesh& seen = breakageOf(world).wholeSurface(1);
    EXPECT_EQ(seen.triangles.size(), own.surface().triangles.size());
    const double volume = breakageOf(world).wholeShape(1)->mass().volume;
    EXPECT_NEAR(volume / own.mass().volume, 1, 1e-12);
    for (int i = 0; i < 12; ++i) world.advance();
    EXPECT_GE(breakageOf(world).spawned().size(), 3u);
    EXPECT_EQ(breakageOf(world).report().coarse, 0u);
    EXPECT_EQ(breakageOf(world).report().refused, 0u);
    double pieces = 0;
    for (uint32_t b = 3; b < world.bodyCount(); ++b)
      if (simulationOf(world).exists(rigid::BodyIndex(b)))
        pieces += simulationOf(world).shape(rigid::BodyIndex(b))->mass().volume;
    EXPECT_NEAR(pieces / volume, 1, 1e-9);
  }
}

TEST(Breakage, VesselsResumeAndDoNotDependOnThreads) {
  const std::string text = R"({
    "world": {"frames": 60, "timeStep": "1/240 s", "seed": 3},
    "bodies": [
      {"id": "ground", "shape": {"plane": {}}, "kind": "static", "material": "concrete"},
      {"id": "glass", "shape": {"make": "wine-glass", "with": {"segments": 12, "resolution": 8}}, "material": "glass", "position": [0, 0.02, 0], "velocity": [0, -9, 1],
       "rotation": {"degrees": [70, 10, 0]}, "fracture": {"leastPart": 0.004}}
    ]})";
  std::vector<uint64_t> hashes;
  for (const unsigned threads : {1u, 2u}) {
    const ThreadLimit limit(threads);
    World world(breakageFrom(text));
    for (int i = 0; i < 10; ++i) world.advance();
    EXPECT_GE(world.bodyCount(), 4u);
    hashes.push_back(world.hash());
  }
  EXPECT_EQ(hashes[1], hashes[0]);
  for (const int stop : {2, 6}) {
    World first(breakageFrom(text)), second(breakageFrom(text));
    for (int i = 0; i < stop; ++i) first.advance();
    second.load(first.save(), "state");
    while (second.frame() < 10) second.advance();
    EXPECT_EQ(second.hash(), hashes[0]) << stop;
  }
}

// A pane of revolution is no thinner than its tetrahedra either.
TEST(Breakage, ThinPlatesOfRevolutionAreFilled) {
  const World world(breakageFrom(
      R"({"bodies": [{"id": "pane", "shape": {"make": "plate", "with": {"width": 1, "depth": 1, "thickness": 0.002}},
          "material": "glass", "fracture": {"edge": "20 cm"}}]})"));
  EXPECT_NEAR(breakageOf(world).wholeShape(0)->mass().volume, 0.002, 1e-14);
}

TEST(Breakage, BodiesInSeveralPartsAreRefused) {
  try {
    World world(breakageFrom(
        R"({"bodies": [{"id": "word", "shape": {"make": "letters", "with": {"text": "UN", "height": 0.4, "depth": 0.1}},
            "material": "plaster", "fracture": {}}]})"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(exitCode(error.kind()), 2);
    for (const char* says : {"bodies.word.fracture", "2 parts", "hang together", "a body of each"})
      EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace sunder::world
