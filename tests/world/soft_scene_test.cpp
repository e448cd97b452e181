// Soft bodies in scenes: what is read, what is refused and how it says so, and what pins follow.
#include "sunder/base/error.h"
#include "sunder/world/build/ready_scene.h"
#include "sunder/world/scene/key_frames.h"
#include "sunder/world/scene/scene.h"
#include "sunder/world/scene/scene_text.h"

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sunder::world {
namespace {

Scene fromText(const std::string& text) { return readScene(SceneDocument::parse(text, "scene.json", ".")); }

// What reading the text says; empty where it is accepted.
std::string refusal(const std::string& text) {
  try {
    fromText(text);
  } catch (const Error& error) {
    EXPECT_EQ(exitCode(error.kind()), 2) << error.what();
    return error.what();
  }
  return "";
}

// A scene of a jelly with the keys of its block, and of its own, on lines 2 and 3; then other bodies.
std::string jelly(const std::string& soft, const std::string& own = "", const std::string& others = "",
                  const std::string& blocks = "") {
  return R"({"bodies": [{"id": "jelly", "shape": {"box": {"size": [0.1, 0.1, 0.1]}}, "kind": "deformable",
    "soft": {)" +
         soft + "}\n" + own + "}" + others + "]" + blocks + "}";
}

constexpr const char* kYoung = R"("young": "20 kPa")";

TEST(SoftScene, DefaultsAreThoseOfTheMaterial) {
  const Scene scene = fromText(jelly("", R"(, "material": "rubber")"));
  EXPECT_TRUE(scene.bodies.empty()) << "a soft body is no rigid one";
  ASSERT_EQ(scene.softBodies.size(), 1u);
  const SoftBodySpec& body = scene.softBodies[0];
  EXPECT_EQ(body.id, "jelly");
  EXPECT_EQ(body.soft.model, fem::ElasticModel::Corotated);
  EXPECT_EQ(body.soft.tets, 200u);
  EXPECT_EQ(body.soft.spheres, 0);
  EXPECT_FALSE(body.soft.tear);
  const fem::SolidMaterial made = solidMaterial(scene, body);
  const Material& rubber = *material::preset("rubber");
  EXPECT_EQ(made.elastic.young, rubber.young);
  EXPECT_EQ(made.elastic.poisson, rubber.poisson);
  EXPECT_EQ(made.elastic.density, rubber.density);
  EXPECT_EQ(made.fibreYoung, 0);
}

TEST(SoftScene, TheBlockIsOptional) {
  const Scene scene = fromText(R"({"bodies": [
    {"id": "a", "shape": {"sphere": {"radius": 0.1}}, "kind": "deformable", "material": "rubber"}]})");
  ASSERT_EQ(scene.softBodies.size(), 1u);
  EXPECT_EQ(scene.softBodies[0].soft.tets, 200u);
}

TEST(SoftScene, ReadsValuesInSiUnits) {
  const Scene scene =
      fromText(jelly(R"("model": "neo-hookean", "young": "20 kPa", "poisson": 0.45,
      "density": "1.1 g/cm3", "massDamping": "0.2 Hz", "stiffnessDamping": "3 ms", "tets": 500, "spheres": "4 mm",
      "fibre": {"direction": [0, 3, 4], "young": "5 kPa"},
      "tear": {"strength": "30 kPa", "surfaceEnergy": "12 J/m2", "mostSplits": 5},
      "pins": [{"lower": ["-5 cm", 0, 0], "upper": ["5 cm", 0.1, 0.1], "until": "2 s",
                "keyFrames": [{"time": 0.5}, {"time": 1, "position": [0, 0.3, 0]}]}],
      "attach": [{"lower": [-1, -1, -1], "upper": [1, 0, 1], "body": "floor", "strength": "2 N", "collide": false}])",
                     R"(, "position": [0, 0.2, 0], "velocity": [1, 2, 3], "gravityScale": 0.5)",
                     R"(, {"id": "floor", "shape": {"plane": {}}, "kind": "static"})"));
  ASSERT_EQ(scene.softBodies.size(), 1u);
  const SoftBodySpec& body = scene.softBodies[0];
  const SoftSpec& soft = body.soft;
  EXPECT_EQ(body.pose.position, Vec3(0, 0.2, 0));
  EXPECT_EQ(body.velocity, Vec3(1, 2, 3));
  EXPECT_EQ(body.gravityScale, 0.5);
  EXPECT_EQ(soft.model, fem::ElasticModel::NeoHookean);
  EXPECT_DOUBLE_EQ(soft.young.value(), 2e4);
  EXPECT_DOUBLE_EQ(soft.density.value(), 1100);
  EXPECT_DOUBLE_EQ(soft.massDamping, 0.2);
  EXPECT_DOUBLE_EQ(soft.stiffnessDamping, 0.003);
  EXPECT_EQ(soft.tets, 500u);
  EXPECT_DOUBLE_EQ(soft.spheres, 0.004);
  EXPECT_LT((soft.fibre - Vec3(0, 0.6, 0.8)).norm(), 1e-15);
  EXPECT_DOUBLE_EQ(soft.fibreYoung, 5e3);
  ASSERT_TRUE(soft.tear);
  const Material torn = softMaterial(scene, body);
  EXPECT_DOUBLE_EQ(torn.strength, 3e4);
  EXPECT_DOUBLE_EQ(torn.surfaceEnergy, 12);
  EXPECT_EQ(soft.tear->mostSplits, 5u);
  ASSERT_EQ(soft.pins.size(), 1u);
  EXPECT_DOUBLE_EQ(soft.pins[0].box.lower.x(), -0.05);
  EXPECT_EQ(soft.pins[0].until, 2);
  ASSERT_EQ(soft.pins[0].keyFrames.size(), 3u) << "a key where the body starts goes first";
  EXPECT_EQ(soft.pins[0].keyFrames[0].time, 0);
  EXPECT_EQ(soft.pins[0].keyFrames[0].pose.position, body.pose.position);
  EXPECT_EQ(soft.pins[0].keyFrames[2].pose.position, Vec3(0, 0.3, 0));
  ASSERT_EQ(soft.attach.size(), 1u);
  EXPECT_EQ(soft.attach[0].body, 0u);
  EXPECT_FALSE(soft.attach[0].softBody);
  EXPECT_DOUBLE_EQ(soft.attach[0].strength, 2);
  EXPECT_FALSE(soft.attach[0].collide);
}

TEST(SoftScene, WhatItHoldsToMayComeLater) {
  const Scene scene =
      fromText(jelly(R"("young": 1e4, "pins": [{"lower": [0, 0, 0], "upper": [1, 1, 1], "body": "rod"}],
               "attach": [{"lower": [0, 0, 0], "upper": [1, 1, 1], "body": "other[1]"}])",
                     "", R"(, {"id": "floor", "shape": {"plane": {}}, "kind": "static"},
      {"id": "rod", "shape": {"capsule": {"length": 0.1, "radius": 0.01}}})",
                     R"(, "arrays": [{"id": "other", "stack": {"count": 2, "height": 0.2}, "body":
      {"shape": {"sphere": {"radius": 0.1}}, "kind": "deformable", "material": "rubber"}}])"));
  ASSERT_EQ(scene.softBodies.size(), 3u);
  EXPECT_EQ(scene.softBodies[0].soft.pins[0].body, 1u);
  EXPECT_EQ(scene.softBodies[0].soft.attach[0].softBody, 2u);
}

TEST(SoftScene, ArraysHaveSoftBodiesOfDifferentMaterials) {
  const Scene scene = fromText(R"({"materials": {"jelly": {"young": "8 kPa", "poisson": 0.48}},
    "arrays": [{"id": "heap", "shapes": [{"sphere": {"radius": 0.1}}, {"box": {"size": [0.1, 0.1, 0.1]}}],
      "materials": ["jelly", "rubber", "jelly"], "turned": true,
      "body": {"kind": "deformable", "velocity": [0, -1, 0], "soft": {"tets": 30}},
      "grid": {"count": [2, 2, 1], "spacing": [0.3, 0.3, 0.3]}, "position": [0, 1, 0]}]})");
  ASSERT_EQ(scene.softBodies.size(), 4u);
  EXPECT_TRUE(scene.bodies.empty());
  EXPECT_EQ(scene.softBodies[3].id, "heap[3]");
  EXPECT_EQ(scene.materials[scene.softBodies[1].material].name, "rubber");
  EXPECT_EQ(scene.softBodies[3].soft.tets, 30u);
  EXPECT_EQ(scene.softBodies[2].velocity, Vec3(0, -1, 0));
  EXPECT_NE(scene.softBodies[0].pose.position, scene.softBodies[1].pose.position);
  EXPECT_EQ(scene.usedMaterials().size(), 2u);
}

struct Bad {
  std::string text;
  std::vector<const char*> says;
};

TEST(SoftScene, EveryDefectNamesItsPlaceAndTheWayOut) {
  const std::string box = R"("lower": [0, 0, 0], "upper": [1, 1, 1])";
  const std::string plain = R"({"id": "b", "shape": {"sphere": {"radius": 1}})";
  const std::vector<Bad> cases{
      {jelly(R"("young": 0)"), {"scene.json:2", "bodies.jelly.soft.young", "0 must be more than 0"}},
      {jelly(R"("young": "-2 kPa")"), {"more than 0"}},
      {jelly(R"("young": "2 kg")"), {"another kind", "40 MPa"}},
      {jelly(R"("young": 1e4, "poisson": 0.5)"),
       {"scene.json:2", "0.5 is out of range", "less than 0.5", "0.49 keeps its volume"}},
      {jelly(R"("young": 1e4, "poisson": 0.7)"), {"less than 0.5"}},
      {jelly(R"("young": 1e4, "poisson": -1)"), {"more than -1"}},
      {jelly(R"("young": 1e4, "density": 0)"), {"soft.density", "more than 0"}},
      {jelly(R"("young": 1e4, "model": "corotate")"), {"not one of", "did you mean 'corotated'"}},
      {jelly(R"("young": 1e4, "yung": 3)"), {"unknown key \"yung\"", "did you mean 'young'"}},
      {jelly(R"("young": 1e4, "tets": 1000000)"),
       {"scene.json:2", "1000000 is out of range", "at most 100000", "keeps its detail with a few hundred"}},
      {jelly(R"("young": 1e4, "tets": 0)"), {"at least 1"}},
      {jelly(R"("young": 1e4, "tets": 5, "cage": "a.vtk")"), {"has as many as it has"}},
      {jelly(R"("young": 1e4, "cageHash": "00")"), {"goes with a \"cage\""}},
      {jelly(R"("young": 1e4, "cage": "")"), {"names no file"}},
      {jelly(R"("young": 1e4, "spheres": 0)"), {"soft.spheres", "more than 0"}},
      {jelly(R"("young": 1e4, "massDamping": -1)"), {"must not be negative"}},
      {jelly(R"("young": 1e4, "fibre": {"direction": [0, 0, 0], "young": 1})"), {"must not be zero"}},
      {jelly(R"("young": 1e4, "fibre": {"direction": [0, 0, 1]})"), {"\"young\" is missing"}},
      {jelly(""), {"scene.json:1", "bodies.jelly", "how stiff the material \"default\" is", "\"young\""}},
      {jelly(R"("young": 1e4, "tear": {})"),
       {"strength of the material \"default\" is not known", "\"tear\""}},
      {jelly(R"("young": 1e4, "tear": {"strength": 0})"), {"more than 0"}},
      {jelly(kYoung, R"(, "mass": 1)"), {"scene.json:3", "a deformable body has none", "density"}},
      {jelly(kYoung, R"(, "linearDamping": 1)"), {"has none", "massDamping"}},
      {jelly(kYoung, R"(, "fracture": {})"), {"has none", "\"tear\""}},
      {jelly(kYoung, R"(, "cut": [{"normal": [1, 0, 0]}])"), {"has none", "sunder cut"}},
      {jelly(kYoung, R"(, "keyFrames": [{"time": 0}])"), {"has none", "\"pins\""}},
      {jelly(kYoung, R"(, "group": 1)"), {"has none"}},
      {jelly(kYoung, "", ", " + plain + R"(, "soft": {}})"),
       {"bodies.b.soft", "only a deformable body has it", "\"deformable\""}},
      {jelly(kYoung, "", ", " + plain + R"(, "kind": "deformabel"})"), {"did you mean 'deformable'"}},
      {R"({"bodies": [{"id": "a", "shape": {"plane": {}}, "kind": "deformable", "material": "rubber"}]})",
       {"a plane has no end"}},
      {jelly(kYoung, "", ", " + plain + R"(}, {"id": "jelly", "shape": {"sphere": {"radius": 1}}})"),
       {"two bodies \"jelly\""}},
      {jelly(
           kYoung, "", "",
           R"(, "fluid": {"liquids": [{"id": "jelly", "blocks": [{"lower": [0, 0, 0], "upper": [1, 1, 1]}]}]})"),
       {"two bodies \"jelly\""}},
      {jelly(kYoung, "", "", R"(, "fluid": {"liquids": [{"id": "w", "blocks": [{"pour": "jelly"}]}]})"),
       {"the body \"jelly\" is deformable", "only rigid bodies hold liquids"}},
      {jelly(kYoung, "", ", " + plain + "}", R"(, "joints": [{"kind": "ball", "a": "b", "b": "jelly"}])"),
       {"joints.0.b", "the body \"jelly\" is deformable", "\"pins\""}},
      {jelly(kYoung, "", ", " + plain + "}", R"(, "joints": [{"kind": "ball", "a": "b", "b": "jel*"}])"),
       {"are deformable", "\"pins\""}},
      {jelly(kYoung, "", "", R"(, "forces": [{"drag": {"linear": 1}, "bodies": ["jell"]}])"),
       {"no body has an id like \"jell\""}},
      {jelly(R"("young": 1, "pins": [{"lower": [0, 0, 0]}])"), {"\"upper\" is missing"}},
      {jelly(R"("young": 1, "pins": [{"lower": [0, 0, 0], "upper": [1, -1, 1]}])"),
       {"the upper corner must be above"}},
      {jelly(R"("young": 1, "pins": [{)" + box + R"(, "body": "nobody"}])"),
       {"scene.json:2", "pins.0.body", "no body \"nobody\""}},
      {jelly(R"("young": 1, "pins": [{)" + box + R"(, "body": "jelly"}])"), {"is deformable", "\"attach\""}},
      {jelly(R"("young": 1, "pins": [{)" + box + R"(, "body": "b", "keyFrames": [{"time": 0}]}])", "",
             ", " + plain + "}"),
       {"not both"}},
      {jelly(R"("young": 1, "pins": [{)" + box + R"(, "repeat": true}])"), {"is for pins that follow"}},
      {jelly(R"("young": 1, "pins": [{)" + box + R"(, "until": 0}])"), {"more than 0"}},
      {jelly(R"("young": 1, "pins": [{)" + box + R"(, "keyFrames": [{"time": 0, "position": [1, 0, 0]}]}])"),
       {"does not start where the body is", "at the time 0"}},
      {jelly(R"("young": 1, "pins": [{)" + box + R"(, "keyFrames": [{"time": 1}, {"time": 1}]}])"),
       {"times must grow"}},
      {jelly(R"("young": 1, "attach": [{)" + box + R"(, "body": "jelly"}])"), {"cannot stick to itself"}},
      {jelly(R"("young": 1, "attach": [{)" + box + "}]"), {"\"body\" is missing"}},
      {R"({"arrays": [{"id": "a", "stack": {"count": 2, "height": 1}, "body": {"kind": "deformable",
        "material": "rubber", "shape": {"sphere": {"radius": 0.1}},
        "soft": {"pins": [{"lower": [0, 0, 0], "upper": [1, 1, 1], "keyFrames": [{"time": 1}]}]}}}]})",
       {"scene.json:3", "start at places of their own", "one by one"}},
      {R"({"arrays": [{"id": "a", "stack": {"count": 200, "height": 1}, "body": {"kind": "deformable",
        "shape": {"sphere": {"radius": 0.1}}}}]})",
       {"how stiff"}},
  };
  for (const Bad& bad : cases) {
    const std::string said = refusal(bad.text);
    EXPECT_FALSE(said.empty()) << bad.text;
    for (const char* part : bad.says)
      EXPECT_NE(said.find(part), std::string::npos) << bad.text << "\nsaid: " << said;
  }
}

TEST(SoftScene, PathsOfCagesCountFromTheirFile) {
  const std::string text =
      R"({"bodies": [{"id": "a", "shape": {"sphere": {"radius": 1}}, "kind": "deformable",
    "material": "rubber", "soft": {"cage": "ball.vtk"}}], "arrays": [{"id": "b", "stack": {"count": 1, "height": 1},
    "body": {"shape": {"sphere": {"radius": 1}}, "kind": "deformable", "material": "rubber",
             "soft": {"cage": "/else/where.vtk"}}}]})";
  const Scene scene = readScene(SceneDocument::parse(text, "scene.json", "/some/folder"));
  ASSERT_EQ(scene.softBodies.size(), 2u);
  EXPECT_EQ(scene.softBodies[0].soft.cage, "/some/folder/ball.vtk");
  EXPECT_EQ(scene.softBodies[1].soft.cage, "/else/where.vtk");
}

// A program's scene has no document; what is wrong in its values is found by the document that they make.
TEST(SoftScene, ProgramsPutSoftBodiesTogether) {
  Scene scene;
  SoftBodySpec body;
  body.id = "ball";
  body.shape = scene.addShape(SphereShape{0.1});
  body.material = scene.materialNamed("rubber");
  BodySpec rod;
  rod.id = "rod";
  rod.shape = scene.addShape(CapsuleShape{});
  const uint32_t at = scene.addBody(rod);
  body.soft.pins.push_back({.pointer = "", .box = {Vec3(-1, 0, -1), Vec3(1, 1, 1)}, .body = at, .piece = ""});
  EXPECT_EQ(scene.addSoftBody(body), 0u);
  EXPECT_EQ(scene.softBodyNamed("ball"), 0u);
  EXPECT_THROW(scene.softBodyNamed("rod"), Error);
  const Scene ready = readyScene(scene);
  ASSERT_EQ(ready.softBodies.size(), 1u);
  EXPECT_EQ(ready.softBodies[0].soft.pins.at(0).body, at);
  EXPECT_FALSE(ready.shapes[ready.softBodies[0].shape].identity.empty());
  scene.softBodies[0].soft.young = -1;
  EXPECT_THROW(readyScene(scene), Error);
  scene.softBodies[0].soft.young = 1e5;
  scene.softBodies[0].soft.pins[0].body = 7;
  EXPECT_THROW(readyScene(scene), Error);
}

// Bodies with a cut become pieces, so that indices of bodies and shapes move.
TEST(SoftScene, PinsMayHoldToPiecesOfCutBodies) {
  const std::string text = R"({"bodies": [
    {"id": "ring", "shape": {"make": "torus", "scale": 0.1}, "cut": [{"normal": [1, 0, 0]}]},
    {"id": "rod", "shape": {"capsule": {"length": 0.1, "radius": 0.01}}},
    {"id": "a", "shape": {"make": "icosphere", "scale": 0.1}, "kind": "deformable", "material": "rubber",
     "soft": {"pins": [{"lower": [0, 0, 0], "upper": [1, 1, 1], "body": "ring.1"},
                       {"lower": [-1, -1, -1], "upper": [0, 0, 0], "body": "rod"}]}}]})";
  const Scene scene = fromText(text);
  ASSERT_EQ(scene.softBodies.size(), 1u);
  EXPECT_EQ(scene.softBodies[0].soft.pins[0].piece, "ring.1");
  EXPECT_EQ(sceneText(fromText(sceneText(scene))), sceneText(scene));
  const Scene ready = readyScene(scene);
  const SoftBodySpec& body = ready.softBodies.at(0);
  ASSERT_EQ(ready.bodies.size(), 3u);
  EXPECT_EQ(ready.bodies[body.soft.pins[0].body.value()].id, "ring.1");
  EXPECT_EQ(ready.bodies[body.soft.pins[1].body.value()].id, "rod");
  EXPECT_EQ(std::get<MeshShape>(ready.shapes[body.shape].value).make, "icosphere");
}

TEST(SoftScene, StatesOfOtherCagesAreNotLoaded) {
  const auto identity = [](const std::string& soft) {
    return identityOfScene(readyScene(fromText(jelly(soft))));
  };
  const uint64_t usual = identity(kYoung);
  EXPECT_EQ(identity(R"("young": 3e4, "massDamping": 1)"), usual);
  EXPECT_NE(identity(R"("young": 2e4, "tets": 201)"), usual);
  EXPECT_NE(identity(R"("young": 2e4, "spheres": 0.01)"), usual);
  EXPECT_NE(identity(R"("young": 2e4, "cage": "a.vtk")"), usual);
}

TEST(KeyFrames, AreFollowedStraightAndTurnEvenly) {
  const Quat turned(Eigen::AngleAxisd(kPi / 2, Vec3::UnitY()));
  const std::vector<KeyFrame> keys{{1, {Vec3(1, 0, 0), Quat::Identity()}}, {3, {Vec3(3, 2, 0), turned}}};
  const auto place = [&](double time, bool repeat) { return poseAt(keys, repeat, time).position; };
  EXPECT_EQ(place(0, false), Vec3(1, 0, 0));
  EXPECT_EQ(place(2, false), Vec3(2, 1, 0));
  EXPECT_EQ(place(9, false), Vec3(3, 2, 0));
  EXPECT_NEAR(poseAt(keys, false, 1.5).rotation.angularDistance(Quat::Identity()), kPi / 8, 1e-12);
  EXPECT_EQ(place(4, true), Vec3(2, 1, 0)) << "the last key is the first one again";
  EXPECT_EQ(place(2, true), Vec3(2, 1, 0));
  const std::vector<KeyFrame> one{{2, {Vec3(5, 0, 0), Quat::Identity()}}};
  EXPECT_EQ(poseAt(one, true, 7).position, Vec3(5, 0, 0));
}

}  // namespace
}  // namespace sunder::world
