#include "sunder/world/scene/scene_materials.h"

#include "sunder/base/error.h"
#include "sunder/base/json_parse.h"
#include "sunder/world/scene/scene.h"
#include "sunder/world/world.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace sunder::world {
namespace {

// A scene with a ball of the material "m".
std::string ballOfMaterial(const std::string& materials) {
  return R"({"materials": )" + materials +
         R"(, "bodies": [{"id": "a", "shape": {"sphere": {"radius": 0.1}}, "material": "m"}]})";
}

Scene materialScene(const std::string& text) {
  return readScene(SceneDocument::parse(text, "scene.json", "."));
}

Material materialFrom(const std::string& materials) {
  const Scene scene = materialScene(ballOfMaterial(materials));
  return scene.materials[scene.bodies[0].material];
}

std::string materialRefusal(const std::string& materials) {
  try {
    materialFrom(materials);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Format);
    return error.what();
  }
  return "";
}

TEST(SceneMaterials, LikeInheritsEverything) {
  for (const Material& preset : material::presets()) {
    Material made = materialFrom(fmt::format(R"({{"m": {{"like": "{}"}}}})", preset.name));
    EXPECT_EQ(made.name, "m");
    made.name = preset.name;
    EXPECT_EQ(made, preset);
  }
  // Over two steps, in any order of the names.
  const Material far = materialFrom(R"({"m": {"like": "z"}, "z": {"like": "water", "inside": "ice"}})");
  EXPECT_EQ(far.viscosity, 1e-6);
  EXPECT_EQ(far.inside, "ice");
  // A preset that a scene changes keeps its other values.
  EXPECT_EQ(materialFrom(R"({"glass": {"friction": 0.9}, "m": {"like": "glass"}})").young, 7e10);
}

TEST(SceneMaterials, EveryValueCanBeSet) {
  const Material made = materialFrom(R"({"m": {"density": "2 g/cm3", "friction": 0.11, "restitution": 0.12,
    "rollingFriction": "3 mm", "young": "4 GPa", "poisson": 0.31, "strength": "5 MPa",
    "toughness": "0.6 MPa m^0.5", "surfaceEnergy": "7 J/m2", "viscosity": "8 mm2/s",
    "surfaceTension": "9 mN/m", "colour": [0.1, 0.2, 0.3], "roughness": 0.13, "metallic": 0.14,
    "transparency": 0.15, "refraction": 1.6, "inside": "brick"}})");
  Material wanted;
  wanted.name = "m";
  const double values[] = {2000, 0.11, 0.12, 3e-3, 4e9, 0.31, 5e6, 6e5, 7, 8e-6, 9e-3, 0.13, 0.14, 0.15, 1.6};
  ASSERT_EQ(material::properties().size(), std::size(values));
  for (size_t i = 0; i < std::size(values); ++i) {
    const material::Property& property = material::properties()[i];
    EXPECT_DOUBLE_EQ(made.*property.value, values[i]) << property.name;
    EXPECT_NE(wanted.*property.value, values[i]) << property.name << ": the test must change it";
  }
  EXPECT_EQ(made.colour, Vec3(0.1, 0.2, 0.3));
  EXPECT_EQ(made.inside, "brick");
}

TEST(SceneMaterials, ValuesOutsideTheirRangeNameTheLine) {
  for (const material::Property& property : material::properties()) {
    const double bad = property.name == "refraction" ? 0.5 : -1.5;
    const std::string said =
        materialRefusal(fmt::format("{{\n\"m\": {{\n\"{}\": {}}}}}", property.name, bad));
    EXPECT_NE(said.find("scene.json:3"), std::string::npos) << said;
    EXPECT_NE(said.find(property.name), std::string::npos) << said;
    if (property.unit.empty()) continue;
    const std::string kind =
        materialRefusal(fmt::format("{{\n\"m\": {{\n\"{}\": \"3 rad\"}}}}", property.name));
    EXPECT_NE(kind.find("scene.json:3"), std::string::npos) << kind;
    EXPECT_NE(kind.find("another kind"), std::string::npos) << kind;
  }
  EXPECT_NE(materialRefusal(R"({"m": {"poisson": 0.5}})").find("poisson"), std::string::npos);
  EXPECT_NE(materialRefusal(R"({"m": {"colour": [0, 0, 1.5]}})").find("colour"), std::string::npos);
  EXPECT_NE(materialRefusal("{\n\"m\": {\"inside\": \"glas\"}}").find("did you mean 'glass'"),
            std::string::npos);
  EXPECT_NE(materialRefusal("{\n\"m\": {\"yong\": 1}}").find("did you mean 'young'"), std::string::npos);
}

TEST(SceneMaterials, ToughnessAndSurfaceEnergyFollowFromEachOther) {
  // K^2 (1 - nu^2) / E
  const Material tough = materialFrom(R"({"m": {"like": "glass", "toughness": "0.8 MPa m^0.5"}})");
  EXPECT_NEAR(tough.surfaceEnergy, 0.64e12 * (1 - 0.22 * 0.22) / 7e10, 1e-9);
  const Material given = materialFrom(R"({"m": {"like": "glass", "surfaceEnergy": 6}})");
  EXPECT_NEAR(given.toughness, std::sqrt(6 * 7e10 / (1 - 0.22 * 0.22)), 1e-6);
  const Material both =
      materialFrom(R"({"m": {"like": "glass", "toughness": 1e6, "surfaceEnergy": 3, "young": 1e10}})");
  EXPECT_EQ(both.toughness, 1e6);
  EXPECT_EQ(both.surfaceEnergy, 3);
  // Another Young's modulus keeps the energy.
  const Material soft = materialFrom(R"({"m": {"like": "glass", "young": "10 GPa"}})");
  EXPECT_EQ(soft.surfaceEnergy, 8);
  EXPECT_NEAR(soft.toughness, std::sqrt(8 * 1e10 / (1 - 0.22 * 0.22)), 1e-6);
  EXPECT_NE(materialRefusal("{\n\"m\": {\n\"toughness\": 1e6}}").find("\"young\""), std::string::npos);
  // 0 takes away what a preset has.
  const Material none = materialFrom(R"({"m": {"like": "glass", "toughness": 0, "strength": 0}})");
  EXPECT_EQ(none.surfaceEnergy, 0);
  EXPECT_EQ(none.strength, 0);
}

TEST(SceneMaterials, ResolvedTextHasAllValuesOfWhatIsUsed) {
  const Scene scene = materialScene(ballOfMaterial(
      R"({"m": {"like": "glass", "toughness": 1e6, "surfaceEnergy": 3, "inside": "n"}, "n": {"like": "brick"},
          "unused": {"density": 3}})"));
  const auto table = readJson(scene.resolvedText())["materials"];
  ASSERT_EQ(table.size(), 2u);
  for (const auto& [name, m] : table.members()) {
    EXPECT_FALSE(m.contains("like"));
    for (const material::Property& property : material::properties())
      EXPECT_TRUE(m.contains(std::string(property.name))) << name << " " << property.name;
  }
  const Scene again = materialScene(scene.resolvedText());
  EXPECT_EQ(again.resolvedText(), scene.resolvedText());
  for (const uint32_t i : scene.usedMaterials()) {
    const Material& wanted = scene.materials[i];
    EXPECT_EQ(*material::find(again.materials, wanted.name), wanted);
  }
}

// A pane of a material like plaster, struck by a ball of one like steel, breaks as plaster struck by steel
// does.
TEST(SceneMaterials, BreakingTakesTheValuesOfLike) {
  const auto scene = [](const std::string& material, const std::string& fracture,
                        const std::string& ball = "s") {
    return materialScene(
        R"({"materials": {"m": {"like": "plaster"}, "s": {"like": "steel"}, "u": {"young": 0}},
      "world": {"timeStep": "1/240 s", "frames": 8},
      "bodies": [{"id": "pane", "shape": {"box": {"size": [0.3, 0.3, 0.02]}}, "material": ")" +
        material + R"(", "position": [0, 0, 0], "fracture": )" + fracture + R"(},
                 {"id": "ball", "shape": {"sphere": {"radius": 0.03}}, "position": [0, 0, 0.06],
                  "velocity": [0, 0, -30], "material": ")" +
        ball + R"("}]})");
  };
  World inherited(scene("m", R"({"edge": 0.1, "cycles": 0})"));
  World own(scene("plaster", R"({"edge": 0.1, "cycles": 0})", "steel"));
  while (own.frame() < 8) {
    inherited.advance();
    own.advance();
  }
  EXPECT_GT(own.bodyCount(), 2u);
  EXPECT_EQ(inherited.hash(), own.hash());
  const Material with =
      fractureMaterial(scene("m", R"({"strength": 7, "young": 8, "poisson": 0.1})"),
                       scene("m", R"({"strength": 7, "young": 8, "poisson": 0.1})").bodies[0]);
  EXPECT_EQ(with.strength, 7);
  EXPECT_EQ(with.young, 8);
  EXPECT_EQ(with.poisson, 0.1);
  EXPECT_EQ(with.surfaceEnergy, 10);
  try {
    World refused(scene("u", "{}"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("young"), std::string::npos) << error.what();
  }
}

TEST(SceneMaterials, LiquidsTakeTheirViscosityFromTheMaterial) {
  const auto viscosity = [](const std::string& more) {
    return materialScene(
               R"({"materials": {"honey": {"like": "water", "density": 1400, "viscosity": "50 cm2/s"}},
      "fluid": {"liquids": [{"id": "l", "blocks": [{"lower": [0, 0, 0], "upper": [1, 1, 1]}])" +
               more + "}]}}")
        .fluid->liquids[0]
        .phase.viscosity;
  };
  EXPECT_EQ(viscosity(""), 1e-6);
  EXPECT_DOUBLE_EQ(viscosity(R"(, "material": "honey")"), 5e-3);
  EXPECT_EQ(viscosity(R"(, "material": "honey", "viscosity": 0.1)"), 0.1);
  EXPECT_EQ(viscosity(R"(, "material": "oak")"), 1e-6) << "a material without one";
}

TEST(SceneMaterials, FacesOfPlanesThatCutAreInside) {
  World world(materialScene(R"({"bodies": [{"id": "b", "shape": {"make": "torus", "scale": 0.1},
    "cut": [{"point": [0, 0, 0], "normal": [1, 0.2, 0]}, {"point": [0, 0, 0.01], "normal": [0, 0, 1]}]}]})"));
  ASSERT_GE(world.bodyCount(), 3u);
  for (const record::BodyEntry& body : world.bodies()) {
    const record::MeshEntry mesh = world.mesh(body.mesh);
    ASSERT_EQ(mesh.interior.size(), mesh.triangles.size());
    size_t inside = 0;
    double insideArea = 0, missedArea = 0, outsideArea = 0;
    for (size_t t = 0; t < mesh.triangles.size(); ++t) {
      // In the frame of the shape a face that a plane made lies in it.
      const auto& [a, b, c] = mesh.triangles[t];
      bool inPlane = false;
      for (const auto& [point, normal] :
           {std::pair(Vec3f(0, 0, 0), Vec3f(1, 0.2f, 0)), std::pair(Vec3f(0, 0, 0.01f), Vec3f(0, 0, 1))}) {
        bool all = true;
        for (const uint32_t v : {a, b, c})
          all &= std::abs(normal.normalized().dot(mesh.positions[v] - point)) < 1e-6f;
        inPlane |= all;
      }
      const double area =
          (mesh.positions[b] - mesh.positions[a]).cross(mesh.positions[c] - mesh.positions[a]).norm() / 2;
      EXPECT_TRUE(inPlane || !mesh.interior[t]) << t;
      (mesh.interior[t] ? insideArea : inPlane ? missedArea : outsideArea) += area;
      inside += mesh.interior[t];
    }
    EXPECT_GT(inside, 0u);
    EXPECT_GT(outsideArea, insideArea);
    EXPECT_LT(missedArea, 1e-3 * insideArea) << insideArea;
    EXPECT_LT(inside, mesh.triangles.size());
  }
}

}  // namespace
}  // namespace sunder::world
