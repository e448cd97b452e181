#include "sunder/world/scene/scene.h"

#include "sunder/base/error.h"
#include "sunder/base/file.h"
#include "sunder/world/build/ready_scene.h"
#include "sunder/world/build/shape_library.h"
#include "sunder/world/scene/scene_schema.h"

#include "temporary_folder.h"

#include <cmath>

#include <gtest/gtest.h>

namespace sunder::world {
namespace {

Scene fromText(const std::string& text, const std::vector<std::string>& sets = {}) {
  return readScene(SceneDocument::parse(text, "scene.json", ".", sets));
}

// What reading the text says; empty where it is accepted.
std::string refusal(const std::string& text, const std::vector<std::string>& sets = {}) {
  try {
    fromText(text, sets);
  } catch (const Error& error) {
    EXPECT_EQ(exitCode(error.kind()), 2) << error.what();
    return error.what();
  }
  return "";
}

const char* kSmall = R"({
  // comments are fine
  "world": {"gravity": [0, "-1 gee", 0], "duration": "2 s", "timeStep": "1/240 s", "seed": 7},
  "materials": {"putty": {"like": "rubber", "density": "1.5 g/cm3"}, "glass": {"friction": 0.9}},
  "shapes": {"ball": {"sphere": {"radius": "5 cm"}}},
  "bodies": [
    {"id": "ground", "shape": {"plane": {}}, "kind": "static"},
    {"id": "a", "shape": "ball", "material": "putty", "position": [0, "20 cm", 0], "rotation": {"degrees": [0, 90, 0]}},
    {"id": "b", "shape": {"sphere": {"radius": "5 cm"}}, "material": "glass"}
  ],
  "joints": [{"id": "j", "kind": "ball", "a": "a", "b": "b", "anchor": [0, 0.1, 0]}]
})";

TEST(SceneFile, ReadsValuesInSiUnits) {
  const Scene scene = fromText(kSmall);
  EXPECT_DOUBLE_EQ(scene.world.simulation.gravity.y(), -9.80665);
  EXPECT_EQ(scene.world.frames, 120u);
  EXPECT_EQ(scene.world.stepsPerFrame, 4u);
  EXPECT_DOUBLE_EQ(scene.world.simulation.timeStep, 1.0 / 240);
  ASSERT_EQ(scene.bodies.size(), 3u);
  EXPECT_EQ(scene.shapes.size(), 2u) << "equal shapes are one";
  EXPECT_EQ(scene.bodies[1].shape, scene.bodies[2].shape);
  const Material& putty = scene.materials[scene.bodies[1].material];
  EXPECT_DOUBLE_EQ(putty.density, 1500);
  EXPECT_EQ(putty.restitution, 0.75);
  const Material& glass = scene.materials[scene.bodies[2].material];
  EXPECT_EQ(glass.density, 2500);
  EXPECT_EQ(glass.friction, 0.9);
  EXPECT_LT((scene.bodies[1].pose.rotation * Vec3::UnitX() + Vec3::UnitZ()).norm(), 1e-12);
  ASSERT_EQ(scene.joints.size(), 1u);
  EXPECT_EQ(scene.joints[0].settings.a.value, 1u);
}

TEST(SceneFile, ResolvedTextGivesTheSameScene) {
  const Scene scene = fromText(kSmall);
  const Scene again = fromText(scene.resolvedText());
  EXPECT_EQ(again.resolvedText(), scene.resolvedText());
  ASSERT_EQ(again.bodies.size(), scene.bodies.size());
  for (size_t i = 0; i < scene.bodies.size(); ++i) {
    EXPECT_EQ(again.bodies[i].pose.position, scene.bodies[i].pose.position);
    EXPECT_EQ(again.materials[again.bodies[i].material].density,
              scene.materials[scene.bodies[i].material].density);
  }
}

struct Bad {
  const char* text;
  std::vector<const char*> says;
};

std::vector<std::string> errorsOf(const std::string& text) {
  try {
    fromText(text);
  } catch (const Error& error) {
    std::vector<std::string> all{error.what()};
    for (const Error& other : error.others()) all.emplace_back(other.what());
    return all;
  }
  return {};
}

TEST(SceneFile, OneReportNamesAllErrors) {
  const std::vector<std::string> keys = errorsOf(R"({"word": {},
    "world": {"gravty": [0, 0, 0]},
    "bodies": [{"id": "a"}]})");
  ASSERT_EQ(keys.size(), 3u);
  EXPECT_NE(keys[0].find("unknown key \"word\""), std::string::npos) << keys[0];
  EXPECT_NE(keys[1].find("unknown key \"gravty\""), std::string::npos) << keys[1];
  EXPECT_NE(keys[2].find("\"shape\" is missing"), std::string::npos) << keys[2];

  const std::vector<std::string> values = errorsOf(R"({"world": {"duration": "2 kg"},
    "shapes": {"ball": {"sphere": {"radius": -1}}},
    "bodies": [
      {"id": "a", "shape": "ball"},
      {"id": "b", "shape": "ball"},
      {"id": "c", "shape": {"box": {"size": [1, 1, 1]}}, "material": "glas"}],
    "joints": [{"kind": "ball", "a": "a", "b": "c"}, {"kind": "ball", "b": "nobody"}]})");
  ASSERT_EQ(values.size(), 4u) << "what follows from another error is not told, nor the same twice";
  EXPECT_NE(values[0].find("world.duration"), std::string::npos) << values[0];
  EXPECT_NE(values[1].find("-1 must be more than 0"), std::string::npos) << values[1];
  EXPECT_NE(values[2].find("no material \"glas\""), std::string::npos) << values[2];
  EXPECT_NE(values[3].find("no body \"nobody\""), std::string::npos) << values[3];
}

TEST(SceneFile, EveryDefectNamesItsLineAndTheWayOut) {
  const std::vector<Bad> cases{
      {"{\n \"word\": {}\n}", {"scene.json:2", "unknown key \"word\"", "did you mean 'world'"}},
      {"{\n \"world\": {\n  \"gravty\": [0,0,0]}}",
       {"scene.json:3", "world.gravty", "did you mean 'gravity'"}},
      {"{\"world\": {\"gravity\": [0, -9.81]}}", {"has 2 entries", "3"}},
      {"{\"world\": {\"gravity\": -9.81}}", {"is not what is wanted", "three numbers"}},
      {"{\"world\": {\"duration\": \"2 kg\"}}", {"world.duration", "another kind", "10 ms"}},
      {"{\"world\": {\"timeStep\": 0.011}}", {"does not divide"}},
      {"{\"world\": {\"timeStep\": -1}}", {"more than 0"}},
      {"{\"world\": {\"substeps\": 0}}", {"out of range", "at least 1"}},
      {"{\"world\": {\"duration\": NaN}}", {"scene.json:1"}},
      {"{\"world\": {\"duration\": 1e999}}", {"scene.json:1"}},
      {"{\"world\": {\"frames\": 3, \"duration\": 1}}", {"both"}},
      {"[]", {"a scene is an object"}},
      {"{\"bodies\": [\n{\"id\": \"a\"}]}", {"scene.json:2", "bodies.a", "\"shape\" is missing"}},
      {"{\"bodies\": [{\"id\": \"a\", \"shape\": \"bal\"}], \"shapes\": {\"ball\": {\"sphere\": {\"radius\": "
       "1}}}}",
       {"no shape \"bal\"", "did you mean 'ball'"}},
      {"{\"bodies\": [{\"id\": \"a\", \"shape\": {\"sphere\": {\"radius\": 1}}, \"material\": \"glas\"}]}",
       {"no material \"glas\"", "did you mean 'glass'"}},
      {"{\"bodies\": [{\"id\": \"a\", \"shape\": {\"sphere\": {\"radius\": 1}}, \"mass\": 0}]}",
       {"more than 0"}},
      {"{\"bodies\": [{\"id\": \"a\", \"shape\": {\"sphere\": {\"radius\": 1}}, \"mass\": -2}]}",
       {"more than 0"}},
      {"{\"bodies\": [{\"id\": \"a\", \"shape\": {\"sphere\": {\"radius\": 1}, \"box\": {\"size\": "
       "[1,1,1]}}}]}",
       {"only one may be there"}},
      {"{\"bodies\": [{\"id\": \"a\", \"shape\": {}}]}", {"give one of", "sphere"}},
      {"{\"bodies\": [{\"id\": \"a\", \"shape\": {\"plane\": {}}}]}", {"a plane cannot move"}},
      {"{\"bodies\": [{\"id\": \"a\", \"shape\": {\"plane\": {}}, \"kind\": \"statc\"}]}",
       {"did you mean 'static'"}},
      {"{\"bodies\": [{\"id\": \"a\", \"shape\": {\"plane\": {}}, \"kind\": \"static\"},\n"
       "{\"id\": \"a\", \"shape\": {\"plane\": {}}, \"kind\": \"static\"}]}",
       {"scene.json:2", "two bodies \"a\""}},
      {"{\"joints\": [{\"kind\": \"ball\", \"b\": \"x\"}]}", {"no body \"x\""}},
      {"{\"materials\": {\"a\": {\"like\": \"b\"}, \"b\": {\"like\": \"a\"}}}", {"circle"}},
      {"{\"materials\": {\"a\": {\"density\": 0}}}", {"more than 0"}},
      {"{\"arrays\": [{\"id\": \"p\", \"body\": {\"shape\": {\"sphere\": {\"radius\": 1}}}, \"fill\": "
       "{\"count\": 99, "
       "\"box\": {\"lower\": [0,0,0], \"upper\": [1,1,1]}, \"spacing\": 0.5}}]}",
       {"room for 8 bodies"}},
      {"{\"forces\": [{}]}", {"give one of"}},
      {"{\"bodies\": [{\"id\": \"a\", \"shape\": {\"sphere\": {\"radius\": 1}}, \"rotation\": {\"axis\": "
       "[0,0,0], "
       "\"angle\": 1}}]}",
       {"direction must not be zero"}},
      {"{\"bodies\": 3}", {"bodies", "is not what is wanted"}},
  };
  for (const Bad& bad : cases) {
    const std::string said = refusal(bad.text);
    EXPECT_FALSE(said.empty()) << bad.text;
    for (const char* part : bad.says)
      EXPECT_NE(said.find(part), std::string::npos) << bad.text << "\nsaid: " << said;
  }
}

TEST(SceneFile, BodiesAreCutBeforeTheRun) {
  const std::string text = R"({
    "bodies": [
      {"id": "ring", "shape": {"make": "torus", "with": {"radius": 0.5, "tube": 0.2}}, "position": [0, 1, 0], "mass": 3,
       "cut": [{"normal": [1, 0.03, 0.02]}, {"point": [0, 0, "10 cm"], "normal": [0, 0.1, 1]}]}
    ]})";
  const Scene scene = readyScene(fromText(text));
  ASSERT_EQ(scene.bodies.size(), 4u);
  double mass = 0;
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(scene.bodies[i].id, "ring." + std::to_string(i));
    EXPECT_EQ(scene.bodies[i].pose.position, Vec3(0, 1, 0));
    mass += *scene.bodies[i].mass;
  }
  EXPECT_NEAR(mass, 3, 1e-12);
  const std::vector<BuiltShape> shapes = buildShapes(scene);
  ASSERT_EQ(shapes.size(), 4u);
  double volume = 0;
  for (const BodySpec& body : scene.bodies) volume += shapes[body.shape].shape->mass().volume;
  EXPECT_NEAR(volume / (2 * kPi * kPi * 0.5 * 0.2 * 0.2), 1, 0.02);
  EXPECT_NE(
      refusal(
          R"({"bodies": [{"id": "a", "shape": {"sphere": {"radius": 1}}, "cut": [{"normal": [1, 0, 0]}]}]})"),
      "");
  EXPECT_NE(
      refusal(R"({"bodies": [{"id": "a", "shape": {"make": "torus"}, "cut": [{"normal": [0, 0, 0]}]}]})"),
      "");
}

TEST(SceneFile, SetChangesAnything) {
  const Scene scene = fromText(kSmall, {"world.duration=1", "bodies.a.position.1=3", "bodies.b.mass=5 g",
                                        "materials.putty.friction=0.1", "world.gravity=[0,-1,0]"});
  EXPECT_EQ(scene.world.frames, 60u);
  EXPECT_EQ(scene.bodies[1].pose.position.y(), 3);
  EXPECT_EQ(scene.bodies[2].mass, 0.005);
  EXPECT_EQ(scene.world.simulation.gravity, Vec3(0, -1, 0));
  EXPECT_NE(refusal(kSmall, {"bodies.c.mass=1"}).find("no 'c'"), std::string::npos);
  EXPECT_NE(refusal(kSmall, {"world.gravty=1"}).find("--set world.gravty=1"), std::string::npos);
  EXPECT_NE(refusal(kSmall, {"world"}).find("a.b=c"), std::string::npos);
  EXPECT_NE(refusal(kSmall, {"bodies.a.mass=-1"}).find("--set bodies.a.mass=-1"), std::string::npos);
}

TEST(SceneFile, IncludesAreTakenInFirst) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "lib");
  writeFile(folder / "lib/shapes.json",
            R"({"shapes": {"rock": {"file": "rock.obj"}, "ball": {"sphere": {"radius": 1}}},
    "bodies": [{"id": "first", "shape": "ball"}], "world": {"seed": 3, "frames": 5}})");
  writeFile(folder / "main.json", R"({"include": ["lib/shapes.json", "lib/../lib/shapes.json"],
    "world": {"frames": 9}, "bodies": [{"id": "second", "shape": "ball"}, {"id": "third", "shape": "rock"}]})");
  const Scene scene = readScene(folder / "main.json");
  ASSERT_EQ(scene.bodies.size(), 3u);
  EXPECT_EQ(scene.bodies[0].id, "first");
  EXPECT_EQ(scene.world.frames, 9u);
  EXPECT_EQ(scene.world.seed, 3u);
  EXPECT_EQ(std::get<MeshShape>(scene.shapes[scene.bodies[2].shape].value).file,
            (folder / "lib/rock.obj").string())
      << "paths are relative to the file they stand in";

  writeFile(folder / "a.json", "{\"include\": [\n\"b.json\"]}");
  writeFile(folder / "b.json", "{\"include\": [\"a.json\"]}");
  try {
    readScene(folder / "a.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("a.json -> b.json -> a.json"), std::string::npos)
        << error.what();
  }
  writeFile(folder / "c.json", "{\"include\": [\n\"none.json\"]}");
  try {
    readScene(folder / "c.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("c.json:2"), std::string::npos) << error.what();
  }
  // An error in an included file names that file.
  writeFile(folder / "lib/bad.json", "{\n\n\"bodies\": [{\"id\": \"x\", \"shpe\": 1}]}");
  writeFile(folder / "d.json", "{\"include\": [\"lib/bad.json\"], \"bodies\": []}");
  try {
    readScene(folder / "d.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("bad.json:3"), std::string::npos) << error.what();
  }
}

std::string arrayScene(const std::string& pattern) {
  return "{\"arrays\": [{\"id\": \"p\", \"body\": {\"shape\": {\"sphere\": {\"radius\": 0.1}}}, " + pattern +
         "}]}";
}

TEST(SceneFile, PatternsStandWhereTheySay) {
  const Scene grid = fromText(
      arrayScene("\"grid\": {\"count\": [3, 2, 1], \"spacing\": [1, 2, 3]}, \"position\": [0, 5, 0]"));
  ASSERT_EQ(grid.bodies.size(), 6u);
  EXPECT_EQ(grid.bodies[0].id, "p[0]");
  EXPECT_EQ(grid.bodies[0].pose.position, Vec3(-1, 5, 0));
  EXPECT_EQ(grid.bodies[5].pose.position, Vec3(1, 7, 0));

  const Scene ring = fromText(arrayScene("\"ring\": {\"count\": 8, \"radius\": 2}"));
  for (const BodySpec& b : ring.bodies) {
    EXPECT_NEAR(b.pose.position.norm(), 2, 1e-12);
    EXPECT_LT((b.pose.rotation * Vec3::UnitX() - b.pose.position / 2).norm(), 1e-12) << "x points outwards";
  }

  const Scene spiral =
      fromText(arrayScene("\"spiral\": {\"count\": 200, \"radius\": 1, \"growth\": 0.3, \"spacing\": 0.1}"));
  for (size_t i = 1; i < spiral.bodies.size(); ++i)
    EXPECT_NEAR((spiral.bodies[i].pose.position - spiral.bodies[i - 1].pose.position).norm(), 0.1, 1e-3);

  const Scene stack =
      fromText(arrayScene("\"stack\": {\"count\": 4, \"height\": 0.5, \"turn\": \"90 deg\"}"));
  EXPECT_EQ(stack.bodies[3].pose.position.y(), 1.5);

  const std::string fill = arrayScene(
      "\"fill\": {\"count\": 100, \"box\": {\"lower\": [-1, 0, -1], \"upper\": [1, 4, 1]}, \"spacing\": "
      "0.3}, "
      "\"jitter\": {\"position\": [0.02, 0.02, 0.02]}, \"turned\": true");
  const Scene one = fromText(fill), two = fromText(fill), other = fromText(fill, {"world.seed=2"});
  double nearest = 1e9;
  for (size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(one.bodies[i].pose.position, two.bodies[i].pose.position);
    EXPECT_NE(one.bodies[i].pose.position, other.bodies[i].pose.position);
    for (size_t j = 0; j < i; ++j)
      nearest = std::min(nearest, (one.bodies[i].pose.position - one.bodies[j].pose.position).norm());
  }
  EXPECT_GT(nearest, 0.26 - 1e-12);

  const Scene text =
      fromText("{\"arrays\": [{\"id\": \"t\", \"body\": {}, \"letters\": {\"text\": \"AB A\"}}]}");
  ASSERT_EQ(text.bodies.size(), 3u);
  EXPECT_EQ(text.shapes.size(), 2u);
  EXPECT_EQ(text.bodies[0].shape, text.bodies[2].shape);
}

TEST(SceneFile, PatternsOfIds) {
  EXPECT_TRUE(fitsPattern("pile[*]", "pile[12]"));
  EXPECT_TRUE(fitsPattern("*", ""));
  EXPECT_TRUE(fitsPattern("a*b*c", "axxbyyc"));
  EXPECT_FALSE(fitsPattern("a*b", "axxc"));
  EXPECT_FALSE(fitsPattern("pile", "pile[1]"));
}

// Cutting and changing a scene anywhere gives a scene or an Error.
TEST(SceneFile, BrokenTextsNeverCrash) {
  const std::string text = kSmall;
  size_t refused = 0;
  for (size_t cut = 0; cut < text.size(); ++cut) {
    for (const char put : {'\0', '"', '{', ']', '9', '-', ','}) {
      std::string changed = text;
      changed[cut] = put;
      try {
        fromText(changed);
      } catch (const Error&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, text.size());
}

}  // namespace
}  // namespace sunder::world
