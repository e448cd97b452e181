// Every break of every scene that comes along, seen by an observer: what appears carries the mass, momentum
// and angular momentum of what disappears, has its volume, and is closed.
#include "sunder/geometry/mass_properties.h"
#include "sunder/world/world.h"

#include "folders.h"
#include "geometry/closedness.h"
#include "world/parts_of.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

namespace sunder::world {
namespace {

using rigid::BodyIndex;

const std::filesystem::path kBalanceScenes = sourceFolder() / "scenes";

// Those with bodies that break.
std::vector<std::string> breakingScenes() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kBalanceScenes)) {
    if (entry.path().extension() != ".json") continue;
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    if (text.str().find("\"fracture\"") != std::string::npos) names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

struct Carried {
  double mass = 0, volume = 0;
  Vec3 momentum = Vec3::Zero(), angular = Vec3::Zero();  // about the origin

  void add(const rigid::Simulation& s, BodyIndex body) {
    const geometry::MassProperties& shape = s.shape(body)->mass();
    const double own = s.mass(body);
    const Mat3 turn = s.pose(body).rotation.toRotationMatrix();
    const Mat3 inertia = turn * (own / shape.volume * shape.inertia) * turn.transpose();
    mass += own;
    volume += shape.volume;
    momentum += own * s.velocity(body);
    angular += own * s.centre(body).cross(s.velocity(body)) + inertia * s.angularVelocity(body);
  }
};

struct Seen {
  size_t breaks = 0, pieces = 0, open = 0;
  double mass = 0, volume = 0, momentum = 0, angular = 0;  // worst errors, relative
  std::string invalid;
  std::map<uint32_t, int> level;  // of bodies of the simulation: pieces of pieces
  int deepest = 0;

  void look(const BreakRecord& record, const rigid::Simulation& s) {
    ++breaks;
    if (const std::string trouble = geometry::validate(record.change); !trouble.empty()) invalid = trouble;
    Carried before, after;
    before.add(s, BodyIndex(record.body));
    for (uint32_t p = 0; p < record.change.appeared.size(); ++p) {
      const BodyIndex piece(record.firstPiece + p);
      after.add(s, piece);
      deepest = std::max(deepest, level[piece.value] = level[record.body] + 1);
      open += geometry::closedness(s.shape(piece)->surface()).open;
      ++pieces;
    }
    const BodyIndex body(record.body);
    const double speed =
        s.velocity(body).norm() + s.angularVelocity(body).norm() * s.shape(body)->outerRadius();
    const double reach = s.centre(body).norm() + s.shape(body)->outerRadius();
    const auto most = [](double& worst, double error) { worst = std::max(worst, error); };
    most(mass, std::abs(after.mass / before.mass - 1));
    most(volume, std::abs(after.volume / before.volume - 1));
    most(momentum, (after.momentum - before.momentum).norm() / (before.mass * speed));
    most(angular, (after.angular - before.angular).norm() / (before.mass * speed * reach));
  }
};

Seen watch(const std::string& name, double seconds, size_t enough = SIZE_MAX) {
  Scene scene = readScene(kBalanceScenes / (name + ".json"));
  const auto frames =
      std::min<uint64_t>(scene.world.frames, uint64_t(std::lround(seconds * scene.world.frameRate)));
  World world(std::move(scene));
  Seen seen;
  world.find<RigidPart>()->observeBreaks(
      [&](const BreakRecord& record, const rigid::Simulation& s) { seen.look(record, s); });
  while (world.frame() < frames && seen.breaks < enough) world.advance();
  EXPECT_GE(seen.breaks, 1u);
  EXPECT_LE(seen.breaks, breakageOf(world).changes().size());
  EXPECT_EQ(seen.invalid, "");
  EXPECT_EQ(seen.open, 0u);
  EXPECT_LT(seen.mass, 1e-10);
  EXPECT_LT(seen.volume, 1e-9);
  EXPECT_LT(seen.momentum, 1e-10);
  EXPECT_LT(seen.angular, 1e-10);
  testing::Test::RecordProperty(name + "_breaks", std::to_string(seen.breaks));
  testing::Test::RecordProperty(name + "_pieces", std::to_string(seen.pieces));
  testing::Test::RecordProperty(
      name + "_worst",
      std::to_string(1e15 * std::max({seen.mass, seen.volume, seen.momentum, seen.angular})) + "e-15");
  // All of it as one change: from bodies of the scene to pieces, each of which the simulation has or had.
  const geometry::TopologyChange all = breakageOf(world).sinceStart();
  EXPECT_EQ(geometry::validate(all), "");
  for (const geometry::BodyRecord& b : all.disappeared) EXPECT_LT(b.id, world.scene().bodies.size());
  return seen;
}

TEST(BreakBalance, PiecesOfScenesCarryAllOfTheBody) {
  for (const char* name : {"cylinder", "letters"}) {
    SCOPED_TRACE(name);
    watch(name, 10, 4);
  }
}

class BreakBalanceFull : public testing::TestWithParam<std::string> {};
TEST_P(BreakBalanceFull, PiecesCarryAllOfTheBody) {
  const Seen seen = watch(GetParam(), 1e9);
  // Specification 07, AC-21: pieces of pieces of pieces.
  if (GetParam() == "tori") {
    EXPECT_GE(seen.deepest, 3);
  }
}
INSTANTIATE_TEST_SUITE_P(All, BreakBalanceFull, testing::ValuesIn(breakingScenes()), [](const auto& scene) {
  std::string name = scene.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace sunder::world
