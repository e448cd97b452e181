#include "sunder/world/build/ready_scene.h"

#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/base/file.h"
#include "sunder/world/check/check.h"
#include "sunder/world/world.h"

#include "temporary_folder.h"

#include <gtest/gtest.h>

namespace sunder::world {
namespace {

Scene sceneSaid(const std::string& text) { return readScene(SceneDocument::parse(text, "scene.json", ".")); }

// A ring in four pieces between other bodies, with joints and forces that name bodies and pieces.
const char* kCut = R"({
  "shapes": {"ring": {"make": "torus", "with": {"radius": 0.5, "tube": 0.2}}, "ball": {"sphere": {"radius": 0.1}}},
  "bodies": [
    {"id": "ground", "shape": {"plane": {}}, "kind": "static"},
    {"id": "ring", "shape": "ring", "position": [0, 1, 0],
     "cut": [{"normal": [1, 0.03, 0.02]}, {"point": [0, 0, "10 cm"], "normal": [0, 0.1, 1]}]},
    {"id": "ball", "shape": "ball", "position": [0, 3, 0]},
    {"id": "whole", "shape": "ring", "position": [3, 1, 0]},
    {"id": "twin", "shape": "ring", "position": [6, 1, 0], "cut": [{"normal": [1, 0.03, 0.02]}]}
  ],
  "joints": [
    {"id": "pin", "kind": "ball", "a": "ring.1", "b": "ring.0", "anchor": [0, 1, 0]},
    {"id": "hang", "kind": "ball", "b": "ball"},
    {"id": "ropes", "kind": "distance", "a": "ball", "b": "ring.*", "anchor": [0, 0, 0], "relative": true}
  ],
  "forces": [
    {"wind": {"velocity": [1, 0, 0]}, "bodies": ["ring.2", "ball"]},
    {"drag": {"linear": 0.1}},
    {"drag": {"linear": 0.2}, "bodies": ["whole"]}
  ]})";

TEST(ReadyScene, ReadingCutsNothing) {
  const Scene said = sceneSaid(kCut);
  ASSERT_EQ(said.bodies.size(), 5u);
  EXPECT_EQ(said.bodies[1].id, "ring");
  EXPECT_EQ(said.bodies[1].cut.size(), 2u);
  EXPECT_TRUE(said.anyCuts());
  EXPECT_EQ(said.joints.size(), 3u) << "those of pieces are not made yet";
}

TEST(ReadyScene, PiecesTakeThePlaceOfTheirBody) {
  const Scene scene = readyScene(sceneSaid(kCut));
  EXPECT_FALSE(scene.anyCuts());
  std::vector<std::string> ids;
  for (const BodySpec& body : scene.bodies) ids.push_back(body.id);
  EXPECT_EQ(ids, (std::vector<std::string>{"ground", "ring.0", "ring.1", "ring.2", "ring.3", "ball", "whole",
                                           "twin.0", "twin.1"}));
  std::vector<std::string> shapes;
  for (const ShapeSpec& shape : scene.shapes) shapes.push_back(shape.name);
  EXPECT_EQ(shapes, (std::vector<std::string>{"", "ring.0", "ring.1", "ring.2", "ring.3", "ball", "ring",
                                              "ring.0", "ring.1"}));
  ASSERT_EQ(scene.joints.size(), 6u);
  const auto joint = [&](size_t i, uint32_t a, uint32_t b, const char* id) {
    EXPECT_EQ(scene.joints[i].settings.a.value, a) << id;
    EXPECT_EQ(scene.joints[i].settings.b.value, b) << id;
    EXPECT_EQ(scene.joints[i].id, id);
  };
  joint(0, 2, 1, "pin");
  EXPECT_EQ(scene.joints[1].settings.b.value, 5u);
  for (uint32_t k = 0; k < 4; ++k) joint(2 + k, 5, 1 + k, ("ropes[" + std::to_string(k) + "]").c_str());
  EXPECT_EQ(scene.joints[2].settings.anchorA, Vec3(0, 1, 0));
  EXPECT_EQ(scene.forces[0].bodies, (std::vector<uint32_t>{3, 5}));
  EXPECT_EQ(scene.forces[1].bodies, (std::vector<uint32_t>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(scene.forces[2].bodies, (std::vector<uint32_t>{6}));
  // What is ready stays as it is.
  EXPECT_EQ(readyScene(scene).bodies.size(), scene.bodies.size());
}

TEST(ReadyScene, AnEstimateHasAsManyPiecesWithoutCutting) {
  const Scene scene = estimatedScene(sceneSaid(kCut));
  EXPECT_TRUE(scene.uncut);
  EXPECT_EQ(scene.bodies.size(), 9u);
  const CheckReport report = checkScene(sceneSaid(kCut), {.depth = CheckDepth::Numbers});
  EXPECT_EQ(report.bodies, 9u);
}

std::string refusalWhenReady(const std::string& text) {
  const Scene said = sceneSaid(text);  // reading accepts it
  try {
    readyScene(said);
  } catch (const Error& error) {
    std::string all = error.what();
    for (const Error& other : error.others()) all += std::string("\n") + other.what();
    return all;
  }
  return "";
}

// Reading looks at no mesh; building names the places in the scene, all of them.
TEST(ReadyScene, AMeshThatIsNotThereIsMissedWhenItIsBuilt) {
  const std::string said = refusalWhenReady(R"({"bodies": [
    {"id": "a", "shape": {"file": "nowhere.obj"}, "cut": [{"normal": [1, 0, 0]}]},

    {"id": "b", "shape": {"make": "torus", "with": {"radius": -1}}, "cut": [{"normal": [1, 0, 0]}]}]})");
  EXPECT_NE(said.find("scene.json:2"), std::string::npos) << said;
  EXPECT_NE(said.find("nowhere.obj"), std::string::npos) << said;
  EXPECT_NE(said.find("scene.json:4"), std::string::npos) << said;
  const std::string text = R"({"bodies": [{"id": "a", "shape": {"file": "nowhere.obj"}}]})";
  EXPECT_NO_THROW(sceneSaid(text));
  try {
    World world(sceneSaid(text));
    ADD_FAILURE() << "was built";
  } catch (const Error& error) {
    EXPECT_EQ(error.file(), "scene.json");
  }
}

TEST(ReadyScene, NamesOfPiecesThatAreNotThereAreErrors) {
  const std::string body =
      R"({"bodies": [{"id": "a", "shape": {"make": "torus"}, "cut": [{"normal": [1, 0.01, 0]}]}, {"id": "b", "shape": {"sphere": {"radius": 1}}}], )";
  EXPECT_NE(refusalWhenReady(body + R"("joints": [{"kind": "ball", "b": "a.7"}]})").find("no body \"a.7\""),
            std::string::npos);
  EXPECT_NE(refusalWhenReady(body + R"("forces": [{"drag": {}, "bodies": ["a.7*"]}]})").find("like \"a.7*\""),
            std::string::npos);
  EXPECT_NE(
      refusalWhenReady(body + R"("joints": [{"kind": "ball", "a": "a.0", "b": "a.0"}]})").find("to itself"),
      std::string::npos);
  // What no piece can be called is found while reading.
  EXPECT_THROW(sceneSaid(body + R"("joints": [{"kind": "ball", "b": "a"}]})"), Error);
  EXPECT_THROW(sceneSaid(body + R"("joints": [{"kind": "ball", "b": "c.0"}]})"), Error);
  EXPECT_NE(refusalWhenReady(
                R"({"bodies": [{"id": "a", "shape": {"make": "torus"}, "cut": [{"normal": [1, 0.01, 0]}]},
    {"id": "a.1", "shape": {"sphere": {"radius": 1}}}]})")
                .find("two bodies \"a.1\""),
            std::string::npos);
}

TEST(ReadyScene, PatternsThatMayFitPieces) {
  EXPECT_TRUE(mayFitPiece("a.0", "a"));
  EXPECT_TRUE(mayFitPiece("*", "a"));
  EXPECT_TRUE(mayFitPiece("a.*", "a"));
  EXPECT_TRUE(mayFitPiece("a*1", "a"));
  EXPECT_FALSE(mayFitPiece("a", "a"));
  EXPECT_FALSE(mayFitPiece("a.", "a"));
  EXPECT_FALSE(mayFitPiece("a.x", "a"));
  EXPECT_FALSE(mayFitPiece("b*", "a"));
}

TEST(ReadyScene, AStateOfAnotherSceneIsRefused) {
  const char* text = R"({"bodies": [{"id": "a", "shape": {"sphere": {"radius": "5 cm"}}}]})";
  World world(sceneSaid(text));
  world.advance();
  const std::string state = world.save();
  World again(sceneSaid(R"({"bodies": [{"id": "a", "shape": {"sphere": {"radius": 0.05}}}]})"));
  again.load(state, "the same values in other words");
  EXPECT_EQ(again.hash(), world.hash());
  World other(sceneSaid(R"({"bodies": [{"id": "a", "shape": {"sphere": {"radius": "6 cm"}}}]})"));
  EXPECT_THROW(other.load(state, "another size"), Error);
}

}  // namespace
}  // namespace sunder::world
