// What a check says before a run.
#include "sunder/world/check/check.h"

#include "sunder/base/error.h"

#include "folders.h"

#include <filesystem>

#include <gtest/gtest.h>

namespace sunder::world {
namespace {

CheckReport check(const std::string& text, CheckDepth depth = CheckDepth::Built) {
  return checkScene(readScene(SceneDocument::parse(text, "scene.json", ".", {})), {.depth = depth});
}

// Whether a warning about `where` says `text`; all of them where not.
testing::AssertionResult warns(const std::string& scene, const std::string& where, const std::string& text) {
  const CheckReport report = check(scene, CheckDepth::Numbers);
  EXPECT_FALSE(report.built);
  std::string all;
  for (const Finding& f : report.findings) {
    if (!f.error && f.where == where && f.text.find(text) != std::string::npos)
      return testing::AssertionSuccess();
    all += f.where + ": " + f.text + "; ";
  }
  return testing::AssertionFailure() << "found: " << all;
}

bool silent(const std::string& scene) { return check(scene, CheckDepth::Numbers).findings.empty(); }

constexpr const char* kFloor = R"({"id": "floor", "shape": {"plane": {}}, "kind": "static"})";

std::string withFloor(const std::string& body, const std::string& more = "") {
  return std::string(R"({"world": {"frames": 30}, "bodies": [)") + kFloor + ", " + body + "]" + more + "}";
}

std::string tiles(const std::string& fracture) {
  return R"({"world": {"frames": 30}, "bodies": [
    {"id": "a", "shape": {"box": {"size": [0.4, 0.05, 0.4]}}, "material": "plaster", "position": [0, 3, 0])" +
         fracture + R"(},
    {"id": "b", "shape": {"box": {"size": [0.4, 0.05, 0.4]}}, "material": "plaster", "position": [1, 3, 0])" +
         fracture + R"(}]})";
}

// They do not break within the first frames, and count all the same.
TEST(Check, BodiesThatMayBreakCount) {
  const CheckReport whole = check(tiles("")), brittle = check(tiles(R"(, "fracture": {})"));
  EXPECT_EQ(whole.breakable, 0u);
  EXPECT_EQ(whole.breakingSeconds, 0);
  EXPECT_EQ(brittle.breakable, 2u);
  EXPECT_GT(brittle.breakingSeconds, 1e-3);  // two analyses of some hundred tetrahedra
  EXPECT_GT(brittle.seconds, brittle.breakingSeconds);
  EXPECT_GT(brittle.cost.memoryBytes, whole.cost.memoryBytes);
  const CheckReport cells = check(tiles(R"(, "fracture": {"model": "voronoi", "pieces": 9})"));
  EXPECT_EQ(cells.breakable, 2u);
  EXPECT_GT(cells.breakingSeconds, 0);
}

TEST(Check, LettersTakeTime) {
  const CheckReport report =
      checkScene(readScene(sourceFolder() / "scenes/letters.json"), {.depth = CheckDepth::Built});
  EXPECT_EQ(report.breakable, 6u);
  EXPECT_GT(report.breakingSeconds, 0.05);  // 0.6 s on the machine of this test
  EXPECT_FALSE(report.failed());
}

TEST(Check, BodiesAsLargeAsHillsAreDoubted) {
  const auto tower = [](const char* scale) {
    return withFloor(
        std::string(R"({"id": "tower", "shape": {"make": "cylinder", "with": {"height": 494}, "scale": )") +
        scale + R"(}, "position": [0, 250, 0]})");
  };
  EXPECT_TRUE(warns(tower("1"), "body tower", "is 494 m tall"));
  EXPECT_TRUE(silent(tower("0.001")));
  EXPECT_TRUE(
      warns(withFloor(R"({"id": "mote", "shape": {"sphere": {"radius": 5e-5}}, "position": [0, 1, 0]})"),
            "body mote", "is 0.0001 m"));
}

TEST(Check, JointsFarFromTheirBodiesAreDoubted) {
  const auto hinge = [](const char* anchor) {
    return withFloor(
        R"({"id": "door", "shape": {"box": {"size": [1, 2, 0.1]}}, "position": [0, 1, 0]})",
        std::string(
            R"(, "joints": [{"id": "hinge", "kind": "hinge", "b": "door", "axis": [0, 1, 0], "anchor": )") +
            anchor + "}]");
  };
  EXPECT_TRUE(warns(hinge("[-20, 1, 0]"), "joint hinge", "19.5 m away from body door"));
  EXPECT_TRUE(silent(hinge("[-0.5, 1, 0]")));
  // A rope may be long.
  const std::string rope = withFloor(
      R"({"id": "ball", "shape": {"sphere": {"radius": 0.1}}, "position": [0, 1, 0]})",
      R"(, "joints": [{"id": "rope", "kind": "distance", "b": "ball", "anchor": [0, 20, 0], "anchorB": [0, 1, 0]}])");
  EXPECT_TRUE(silent(rope));
}

TEST(Check, NothingBelowWhatFallsIsDoubted) {
  const std::string ball = R"({"id": "ball", "shape": {"sphere": {"radius": 0.1}}, "position": [0, 1, 0]})";
  EXPECT_TRUE(warns(R"({"bodies": [)" + ball + "]}", "body ball", "falls with nothing below"));
  EXPECT_TRUE(silent(withFloor(ball)));
  EXPECT_TRUE(silent(R"({"world": {"gravity": [0, 0, 0]}, "bodies": [)" + ball + "]}"));
  const auto table = [&](const char* place) {
    return R"({"bodies": [)" + ball +
           R"(, {"id": "table", "kind": "static", "shape": {"box": {"size": [1, 0.1, 1]}}, "position": )" +
           place + "}]}";
  };
  EXPECT_TRUE(silent(table("[0, 0, 0]")));
  EXPECT_TRUE(warns(table("[0, 2, 0]"), "body ball", "falls"));   // above it
  EXPECT_TRUE(warns(table("[30, 0, 0]"), "body ball", "falls"));  // beside it
}

TEST(Check, TetrahedraTooCoarseToHoldTogetherAreDoubted) {
  const auto shell = [](const char* edge) {
    return withFloor(
        std::string(
            R"({"id": "shell", "material": "porcelain", "position": [0, 1, 0], "fracture": {"fine": false, "edge": )") +
        edge +
        R"(}, "shape": {"field": {"difference": [{"sphere": {"radius": 0.2}}, {"sphere": {"radius": 0.15}}]}}})");
  };
  EXPECT_TRUE(warns(shell("0.08"), "body shell", "too coarse to hold walls of about 0.05 m together"));
  EXPECT_THROW(check(shell("0.08")), Error);  // it falls into parts
  EXPECT_TRUE(silent(shell("0.036")));
  EXPECT_NO_THROW(check(shell("0.036")));
}

TEST(Check, BlocksBeyondTheirTankAreDoubted) {
  const auto water = [](const char* depth) {
    return std::string(
               R"({"world": {"frames": 3}, "fluid": {"radius": "2 cm", "tank": {"lower": [0, 0, 0], "upper": [1, 1, 1]},
      "liquids": [{"id": "water", "blocks": [{"lower": [0, 0, 0], "upper": [0.2, 0.2, )") +
           depth + "]}]}]}}";
  };
  EXPECT_TRUE(warns(water("1.5"), "liquid water", "0.5 m beyond the tank"));
  EXPECT_TRUE(silent(water("1")));
}

TEST(Check, PartsOfAFieldThatLieFarApartAreDoubted) {
  const auto stairs = [](const std::string& last) {
    return withFloor(R"({"id": "x", "kind": "static", "shape": {"field": {"union": [
      {"box": {"centre": [0.2, 0.2, 0], "size": [0.9, 1.2, 1]}},
      {"box": {"centre": [)" +
                     last + R"(, 0.1, 0], "size": [0.9, 1, 1]}}]}}})");
  };
  EXPECT_TRUE(silent(stairs("0.8")));
  EXPECT_TRUE(silent(stairs("3")));
  EXPECT_TRUE(warns(stairs("35"), "shape field", "there is nothing in 3"));
  EXPECT_TRUE(warns(stairs("-3500"), "shape field", "along x"));
}

// A glass of a field, with a hole in its bottom or without, filled to a level.
TEST(Check, ContainersThatLeakAreFoundWithoutBuilding) {
  const auto glass = [](double hole, double level) {
    return R"({"world": {"frames": 2}, "bodies": [{"id": "glass", "kind": "static", "position": [1, 2, 0],
           "shape": {"field": {"difference": [
             {"cylinder": {"from": [0, -0.15, 0], "to": [0, 0.15, 0], "radius": 0.1}},
             {"cylinder": {"from": [0, -0.13, 0], "to": [0, 0.2, 0], "radius": 0.085}},
             {"cylinder": {"from": [0.02, -0.2, 0], "to": [0.02, 0, 0], "radius": )" +
           std::to_string(hole) + R"(}}]}}}],
           "fluid": {"radius": "2 mm", "liquids": [{"id": "water", "blocks": [{"pour": "glass", "level": )" +
           std::to_string(level) + "}]}]}}";
  };
  const auto errors = [](const std::string& scene) {
    std::string all;
    for (const Finding& f : check(scene, CheckDepth::Numbers).findings)
      if (f.error) all += f.where + ": " + f.text;
    return all;
  };
  EXPECT_EQ(errors(glass(1e-4, 2.1)), "");
  EXPECT_EQ(errors(glass(1e-4, 2.14)), "");
  EXPECT_NE(errors(glass(0.05, 2.1)).find("liquid water: runs out of body glass"), std::string::npos);
  EXPECT_NE(errors(glass(1e-4, 2.3)).find("runs out"), std::string::npos) << "above the rim";
}

// What comes along is sound.
TEST(Check, ScenesThatComeAlongAreNotDoubted) {
  for (const auto& entry : std::filesystem::directory_iterator(sourceFolder() / "scenes")) {
    if (entry.path().extension() != ".json") continue;
    for (const Finding& f : checkScene(readScene(entry.path()), {.depth = CheckDepth::Numbers}).findings)
      ADD_FAILURE() << entry.path() << ": " << f.where << ": " << f.text;
  }
}

// Also where building would take too long for a look.
TEST(Check, ShapesThatCannotBeMadeAreRefusedWithoutBuilding) {
  const auto refused = [](const std::string& shape) {
    try {
      check(withFloor(R"({"id": "a", "position": [0, 1, 0], "shape": )" + shape + "}"), CheckDepth::Numbers);
    } catch (const Error& error) {
      return error.message();
    }
    return std::string();
  };
  EXPECT_NE(refused(R"({"box": {"size": [1, -1, 1]}})").find("more than 0"), std::string::npos);
  EXPECT_NE(refused(R"({"box": {"size": [1, 1, 0]}})").find("more than 0"), std::string::npos);
  EXPECT_NE(refused(R"({"hull": {"points": [[0, 0, 0], [1, 0, 0], [0, 0, 1], [1, 0, 1]]}})").find("shape"),
            std::string::npos);
  EXPECT_EQ(refused(R"({"hull": {"points": [[0, 0, 0], [1, 0, 0], [0, 0, 1], [1, 1, 1]]}})"), "");
}

TEST(Check, BuildsOnlyWhatIsCheap) {
  const std::string cheap =
      withFloor(R"({"id": "ball", "shape": {"sphere": {"radius": 0.1}}, "position": [0, 1, 0]})");
  EXPECT_TRUE(check(cheap, CheckDepth::WhereCheap).built);
  const std::string water = R"({"world": {"frames": 3}, "fluid": {"radius": "5 mm", "liquids": [
      {"id": "w", "blocks": [{"lower": [0, 0, 0], "upper": [1, 1, 1]}]}]}})";
  const CheckReport report = check(water, CheckDepth::WhereCheap);
  EXPECT_FALSE(report.built);
  EXPECT_EQ(report.particles, 1000000u);
}

}  // namespace
}  // namespace sunder::world
