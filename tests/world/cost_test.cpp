// What a scene costs, from its numbers.
#include "sunder/world/build/cost.h"

#include "sunder/base/error.h"
#include "sunder/base/memory_limit.h"
#include "sunder/geometry/mass_properties.h"
#include "sunder/sdf/mesh_field.h"
#include "sunder/shapes/catalogue.h"
#include "sunder/tet/solid_fill.h"
#include "sunder/tet/stuffing.h"
#include "sunder/world/build/cost_shapes.h"
#include "sunder/world/build/ready_scene.h"
#include "sunder/world/build/shape_library.h"
#include "sunder/world/world.h"

#include "folders.h"
#include "world/parts_of.h"

#include <array>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace sunder::world {
namespace {

constexpr uint64_t kGigabyte = 1'000'000'000;

Scene sceneOf(const std::string& text, const std::vector<std::string>& sets = {}) {
  return readScene(SceneDocument::parse(text, "scene.json", ".", sets));
}

// The refusal of a scene, or "" where it is affordable.
std::string refusalOf(const std::string& text, uint64_t memory = kGigabyte,
                      const std::vector<std::string>& sets = {}) {
  try {
    const MemoryBudget budget(memory);
    const Scene scene = sceneOf(text, sets);
    requireAffordable(scene, estimateCost(scene, memory), memory);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Limit) << error.what();
    return error.what();
  }
  return "";
}

// The key that a refusal names first and the value that it says would fit.
struct Advice {
  std::string key, value;
};

Advice adviceOf(const std::string& refused) {
  Advice advice;
  if (refused.empty()) return advice;
  const size_t place = refused.find(": "), key = refused.find(": ", place + 2);
  advice.key = refused.substr(place + 2, key - place - 2);
  const size_t open = refused.rfind('('), would = refused.find(" would ", open);
  if (open != std::string::npos && would != std::string::npos)
    advice.value = refused.substr(open + 1, would - open - 1);
  return advice;
}

struct Hostile {
  const char* name;
  const char* key;  // that the refusal must name
  std::string text;
};

std::vector<Hostile> hostileScenes() {
  const std::string ground = R"({"id": "g", "shape": {"plane": {}}, "kind": "static"})";
  const auto bodies = [&](const std::string& more) {
    return fmt::format(R"({{"world": {{"frames": 3}}, "bodies": [{}, {}]}})", ground, more);
  };
  const auto shape = [&](const std::string& description) {
    return bodies(fmt::format(R"({{"id": "x", "shape": {}, "position": [0, 3, 0]}})", description));
  };
  const auto fluid = [&](const std::string& settings) {
    return fmt::format(R"({{"world": {{"frames": 3}}, "bodies": [{}], "fluid": {{{}}}}})", ground, settings);
  };
  const auto array = [&](const std::string& pattern) {
    return fmt::format(
        R"({{"world": {{"frames": 3}}, "bodies": [{}], "arrays": [{{"id": "m", "body": {{"shape": {{"box": {{"size": [0.2, 0.2, 0.2]}}}}}}, {}}}]}})",
        ground, pattern);
  };
  return {
      {"small particles in a block", "fluid.radius",
       fluid(R"("radius": 0.002, "tank": {"lower": [0, 0, 0], "upper": [1, 1, 1]},
                "liquids": [{"id": "w", "blocks": [{"lower": [0, 0, 0], "upper": [1, 0.5, 1]}]}])")},
      {"small particles in a field", "fluid.radius",
       fluid(
           R"("radius": "1 mm", "liquids": [{"id": "w", "blocks": [{"field": {"sphere": {"radius": 0.6}}}]}])")},
      {"a block far beyond its tank", "fluid.liquids.0.blocks.0.upper.2",
       fluid(R"("radius": "1.4 mm", "tank": {"lower": [0, 0, 0], "upper": [0.4, 0.2, 0.05715]},
                "liquids": [{"id": "w", "blocks": [{"lower": [0, 0, 0], "upper": [0.05715, 0.1143, 149]}]}])")},
      {"a block as long as a street", "fluid.liquids.0.blocks.0.lower.0",
       fluid(
           R"("radius": "5 mm", "liquids": [{"id": "w", "blocks": [{"lower": [-400, 0, 0], "upper": [0.1, 0.1, 0.5]}]}])")},
      {"an emitter of many particles", "fluid.radius",
       fluid(R"("radius": 0.001, "liquids": [{"id": "w", "emitters": [
                {"position": [0, 1, 0], "direction": [0, -1, 0], "radius": 1.0, "speed": 1000}]}])")},
      {"a large tank for small particles", "fluid.radius",
       fluid(R"("radius": "1 mm", "tank": {"lower": [0, 0, 0], "upper": [3, 3, 3]},
                "liquids": [{"id": "w", "blocks": [{"lower": [0, 0, 0], "upper": [0.05, 0.05, 0.05]}]}])")},
      {"boundary particles on a large tank", "fluid.radius",
       fluid(R"("radius": "1 mm", "boundaries": "particles", "tank": {"lower": [0, 0, 0], "upper": [3, 3, 3]},
                "liquids": [{"id": "w", "blocks": [{"lower": [0, 0, 0], "upper": [0.05, 0.05, 0.05]}]}])")},
      {"short tetrahedra in a ball", "bodies.x.fracture.edge",
       bodies(R"({"id": "x", "shape": {"make": "icosphere", "with": {"radius": 0.2}}, "material": "glass",
                  "position": [0, 3, 0], "fracture": {"edge": 0.002}})")},
      {"short tetrahedra in a box", "bodies.x.fracture.edge",
       bodies(
           R"({"id": "x", "shape": {"box": {"size": [2, 2, 2]}}, "material": "glass", "position": [0, 3, 0],
                  "fracture": {"edge": "1 cm"}})")},
      {"short tetrahedra in a bowl", "bodies.x.fracture.edge",
       bodies(
           R"({"id": "x", "shape": {"make": "bowl", "with": {"radius": 1, "height": 1, "foot": 0.5, "wall": 0.02}},
                  "material": "glass", "position": [0, 3, 0], "fracture": {"edge": "0.5 mm"}})")},
      {"bodies in one place", "arrays.m.grid.spacing",
       array(R"("grid": {"count": [20, 20, 5], "spacing": [0, 0, 0]})")},
      {"bodies nearly in one place", "arrays.m.grid.spacing",
       array(R"("grid": {"count": [14, 14, 14], "spacing": [0.001, 0.001, 0.001]})")},
      {"a ring without a radius", "arrays.m.ring.radius",
       array(R"("ring": {"count": 2000, "radius": 1e-6})")},
      {"a stack without height", "arrays.m.stack.height",
       array(R"("stack": {"count": 2000, "height": 1e-6})")},
      {"a spiral without spacing", "arrays.m.spiral.count",
       array(R"("spiral": {"count": 2000, "radius": 0.1, "spacing": 1e-6})")},
      {"a box filled without spacing", "arrays.m.fill.count",
       array(
           R"("fill": {"count": 2000, "spacing": 1e-3, "box": {"lower": [0, 1, 0], "upper": [0.1, 1.1, 0.1]}})")},
      {"a grid of many bodies", "arrays.m.grid.count",
       array(R"("grid": {"count": [200, 200, 200], "spacing": [1, 1, 1]})")},
      {"a stack of many bodies", "arrays.m.stack.count",
       array(R"("stack": {"count": 9000000, "height": 1})")},
      {"a ball of many triangles", "bodies.x.shape.with.frequency",
       shape(R"({"make": "icosphere", "with": {"frequency": 900}})")},
      {"a bowl of many triangles", "bodies.x.shape.with.segments",
       shape(R"({"make": "bowl", "with": {"segments": 4000, "resolution": 3000}})")},
      {"a wall of many bricks", "bodies.x.shape.with.columns",
       shape(R"({"make": "brick-wall", "with": {"columns": 1000, "rows": 900}})")},
      {"a rope of many turns", "bodies.x.shape.with.turns",
       shape(R"({"make": "rope", "with": {"turns": 1000, "steps": 400, "sides": 100, "length": 10000}})")},
      {"a field with many cells", "bodies.x.shape.solid.cells",
       shape(R"({"field": {"sphere": {"radius": 0.3}}, "solid": {"cells": 1024}})")},
      {"a tank as long as a street", "fluid.tank.upper.0",
       fluid(R"("radius": "5 mm", "tank": {"lower": [0, 0, 0], "upper": [150, 0.5, 0.5]},
                "liquids": [{"id": "w", "blocks": [{"lower": [0, 0, 0], "upper": [0.2, 0.2, 0.2]}]}])")},
      {"a tank that begins far away", "fluid.tank.lower.0",
       fluid(R"("radius": "5 mm", "tank": {"lower": [-150, 0, 0], "upper": [0.5, 0.5, 0.5]},
                "liquids": [{"id": "w", "blocks": [{"lower": [0, 0, 0], "upper": [0.2, 0.2, 0.2]}]}])")},
      {"a liquid that repeats itself far away", "fluid.periodic.0",
       fluid(
           R"("radius": "1 cm", "periodic": [100000, 0, 0], "tank": {"lower": [0, 0, 0], "upper": [1, 1, 1]},
                "liquids": [{"id": "w", "blocks": [{"lower": [0, 0, 0], "upper": [0.2, 0.2, 0.2]}]}])")},
      {"many brittle rings of no given edge", "arrays.m.grid.count",
       fmt::format(
           R"({{"bodies": [{}], "arrays": [{{"id": "m", "body": {{"shape": {{"make": "torus", "with": {{"radius": 0.2, "tube": 0.05}}}},
                "material": "glass", "fracture": {{}}}}, "grid": {{"count": [20, 20, 20], "spacing": [1, 1, 1]}}}}]}})",
           ground)},
      {"a slab that is thin for its particles", "fluid.radius",
       fmt::format(
           R"({{"bodies": [{{"id": "x", "shape": {{"box": {{"size": [100, 0.01, 100]}}}}, "kind": "static"}}],
                "fluid": {{"radius": 0.005, "liquids": [{{"id": "w", "blocks": [{{"lower": [0, 0, 0], "upper": [0.2, 0.2, 0.2]}}]}}]}}}})")},
      {"many pieces", "bodies.x.fracture.pieces",
       bodies(
           R"({"id": "x", "shape": {"box": {"size": [1, 1, 1]}}, "material": "glass", "position": [0, 3, 0],
                  "fracture": {"model": "voronoi", "pieces": 10000, "edge": 0.1}})")},
      {"fine collision spheres", "bodies.x.soft.spheres",
       bodies(
           R"({"id": "x", "shape": {"box": {"size": [1, 1, 1]}}, "kind": "deformable", "material": "rubber",
                  "soft": {"spheres": 0.0001}})")},
      {"many soft bodies of fine cages", "arrays.m.body.soft.tets",
       fmt::format(
           R"({{"bodies": [{}], "arrays": [{{"id": "m", "body": {{"shape": {{"sphere": {{"radius": 0.2}}}},
                "kind": "deformable", "material": "rubber", "soft": {{"tets": 50000}}}},
                "grid": {{"count": [5, 5, 5], "spacing": [1, 1, 1]}}}}]}})",
           ground)},
      {"a billion frames", "world.frames",
       fmt::format(R"({{"world": {{"frames": 1000000000}}, "bodies": [{}]}})", ground)},
      {"a long duration", "world.duration",
       fmt::format(R"({{"world": {{"duration": 1000000, "frameRate": 900}}, "bodies": [{}]}})", ground)},
  };
}

// Each is refused from numbers, with file, line, key and a value; with that value in its place it fits.
TEST(Cost, HostileScenesAreRefusedWithAValueThatFits) {
  for (const Hostile& hostile : hostileScenes()) {
    SCOPED_TRACE(hostile.name);
    const std::string refused = refusalOf(hostile.text);
    EXPECT_TRUE(refused.starts_with("scene.json:")) << refused;
    const Advice advice = adviceOf(refused);
    EXPECT_EQ(advice.key, hostile.key) << refused;
    ASSERT_FALSE(advice.value.empty()) << refused;
    EXPECT_EQ(refusalOf(hostile.text, kGigabyte, {advice.key + "=" + advice.value}), "") << refused;
  }
}

TEST(Cost, MoreMemoryAffordsMore) {
  const std::string text =
      R"({"fluid": {"radius": "5 mm", "liquids": [{"id": "w", "blocks": [{"lower": [0, 0, 0], "upper": [1, 1, 1]}]}]}})";
  EXPECT_NE(refusalOf(text), "");
  EXPECT_EQ(refusalOf(text, 64 * kGigabyte), "");
}

TEST(Cost, CountsWhatAWorldHas) {
  const std::string text = R"({"world": {"frames": 10}, "bodies": [
      {"id": "floor", "shape": {"plane": {}}, "kind": "static"},
      {"id": "plate", "shape": {"box": {"size": [0.3, 0.1, 0.2]}}, "material": "glass", "position": [0, 2, 0],
       "fracture": {"edge": "5 cm"}}],
    "arrays": [{"id": "b", "body": {"shape": {"sphere": {"radius": 0.1}}}, "grid": {"count": [4, 1, 1], "spacing": [0.15, 1, 1]},
      "position": [5, 1, 0]}],
    "fluid": {"radius": "2 cm", "liquids": [{"id": "w", "blocks": [{"lower": [2, 0, 0], "upper": [2.4, 0.2, 0.4]}]}]}})";
  const Cost cost = estimateCost(sceneOf(text));
  EXPECT_EQ(cost.bodies, 7u);  // the liquid is one
  EXPECT_EQ(cost.dynamicBodies, 5u);
  EXPECT_EQ(cost.breakable, 1u);
  EXPECT_EQ(cost.tetrahedra, 6u * 6 * 2 * 4);
  EXPECT_EQ(cost.particles, 500u);
  EXPECT_EQ(cost.pairs, 3u);
  const World world(sceneOf(text));
  EXPECT_EQ(liquidsOf(world).fluid()->size(), cost.particles);
}

// The pieces that planes make, from numbers, against the true cut.
TEST(Cost, PiecesOfCutBodiesAreCountedWithoutCutting) {
  const std::string scene = R"({{"bodies": [{{"id": "m", "shape": {}, "cut": {}}}]}})";
  const std::array<std::array<const char*, 2>, 4> cases{{
      {R"({"make": "torus", "with": {"radius": 0.5, "tube": 0.2}})",
       R"([{"normal": [1, 0.03, 0.02]}, {"point": [0, 0, 0.1], "normal": [0, 0.1, 1]}])"},
      {R"({"make": "torus", "with": {"radius": 0.5, "tube": 0.1}, "scale": 2})",
       R"([{"normal": [1, 0.03, 0.02]}])"},
      {R"({"make": "icosphere", "with": {"frequency": 20}})",
       R"([{"point": [0, -0.5, 0], "normal": [0, 1, 0]}, {"point": [0, 0.01, 0], "normal": [0, 1, 0]},
           {"point": [0, 0.5, 0], "normal": [0, 1, 0]}])"},
      {R"({"make": "box"})", R"([{"point": [0.1, 0.2, 0.05], "normal": [1, 0.3, 0.2]}])"},
  }};
  for (const auto& [shape, planes] : cases) {
    const std::string text = fmt::format(fmt::runtime(scene), shape, planes);
    const Scene whole = readyScene(sceneOf(text));
    const Scene estimated =
        estimatedScene(sampleScene(SceneDocument::parse(text, "scene.json", "."), 30'000));
    EXPECT_TRUE(estimated.uncut);
    EXPECT_FALSE(whole.uncut);
    ASSERT_EQ(estimated.bodies.size(), whole.bodies.size()) << text;
    const std::vector<ShapeSize> sizes = sizesOfShapes(whole, UINT64_MAX);
    const std::vector<BuiltShape> built = buildShapes(whole);
    for (size_t i = 0; i < built.size(); ++i) {
      const auto& surface = built[i].shape->surface();
      const auto near = [&](double estimate, double is, double factor) {
        EXPECT_LT(estimate, factor * is) << text << i;
        EXPECT_GT(estimate, is / factor) << text << i;
      };
      near(sizes[i].volume, built[i].shape->mass().volume, 1.25);
      near(sizes[i].area, geometry::surfaceArea(surface), 1.5);
      near(sizes[i].triangles, double(surface.triangles.size()), 2);
      near(sizes[i].bounds.diagonal(), geometry::bounds(surface.positions).diagonal(), 1.25);
    }
  }
}

// Lattices that fill bodies: the estimate against the tetrahedra there are.
TEST(Cost, TetrahedraAreWithinAFactorOfTwo) {
  for (const double edge : {0.03, 0.036})
    for (
        const std::string shape :
        {R"({"make": "icosphere", "with": {"radius": 0.2}})",
         R"({"make": "torus", "with": {"radius": 0.2, "tube": 0.08}})",
         R"({"field": {"difference": [{"box": {"size": [0.4, 0.3, 0.3]}}, {"sphere": {"radius": 0.1}}]}})"}) {
      const std::string text = fmt::format(
          R"({{"bodies": [{{"id": "x", "shape": {}, "material": "glass", "fracture": {{"edge": {}}}}}]}})",
          shape, edge);
      const Cost cost = estimateCost(sceneOf(text));
      const World world(sceneOf(text));
      const double tets = double(breakageOf(world).cost().tets);
      EXPECT_LT(double(cost.tetrahedra), 2 * tets) << text;
      EXPECT_GT(double(cost.tetrahedra), 0.5 * tets) << text;
    }
}

// Edges that the scene leaves open are shortened until the volume is kept: the estimate follows.
TEST(Cost, TetrahedraOfShortenedEdgesAreWithinAFactorOfTwo) {
  for (const char* shape : {"torus-knot", "noisy-sheet"}) {
    const std::string text = fmt::format(
        R"({{"bodies": [{{"id": "x", "shape": {{"make": "{}"}}, "material": "glass", "fracture": {{}}}}]}})",
        shape);
    const Cost cost = estimateCost(sceneOf(text));
    const geometry::TriMesh mesh = shapes::makeShape(shape, {});
    const sdf::MeshField field(mesh);
    const double thickness = 2 * geometry::massProperties(mesh).volume / geometry::surfaceArea(mesh);
    const auto fill = [&](double edge) {
      tet::FillReport report;
      return tet::fill(field, {.edge = edge, .sharp = true}, report);
    };
    const double edge = 1.2 * thickness;
    const double tets =
        double(tet::fillSolid(fill, tet::solidSize(field, mesh, edge), edge, true).mesh.tets.size());
    EXPECT_LT(double(cost.tetrahedra), 2 * tets) << shape;
    EXPECT_GT(double(cost.tetrahedra), 0.5 * tets) << shape;
  }
}

// Every shape of the catalogue: as it is, and with each whole number doubled.
TEST(Cost, TrianglesOfShapesAreWithinAFactorOfTwo) {
  for (const shapes::ShapeInfo& info : shapes::shapeCatalogue()) {
    std::vector<shapes::ShapeValues> cases(1);
    for (const shapes::ShapeParameter& p : info.parameters)
      if (p.kind == shapes::ParameterKind::Integer && p.upper > 100)
        cases.push_back({{p.name, fmt::format("{}", 2 * p.value)}});
    for (const shapes::ShapeValues& values : cases) {
      double triangles = 0;
      try {
        triangles = double(shapes::makeShape(info.name, values).triangles.size());
      } catch (const Error&) {
        continue;  // a combination that makes no sense
      }
      const double expected = shapeTriangles(info.name, values);
      const std::string what = values.empty() ? "" : values.begin()->first;
      EXPECT_LE(expected, 2 * triangles) << info.name << " " << what;
      EXPECT_GE(expected, 0.5 * triangles) << info.name << " " << what;
    }
  }
}

// Values of noise are smaller than distances, and parts far apart leave most of their box empty.
TEST(Cost, SurfacesOfFieldsAreWithinAThird) {
  const auto area = [](const std::string& field) {
    const Scene scene =
        sceneOf(R"({"bodies": [{"id": "x", "kind": "static", "shape": {"field": )" + field + "}}]}");
    return sizesOfShapes(scene, UINT64_MAX).front().area;
  };
  const auto expectNear = [](double estimate, double exact) {
    EXPECT_GT(estimate, exact / 1.33);
    EXPECT_LT(estimate, exact * 1.33);
  };
  expectNear(area(R"({"sphere": {"radius": 0.3}})"), 4 * kPi * 0.09);
  for (const double far : {0.0, 2.0, 35.0})
    expectNear(area(R"({"union": [{"box": {"size": [1, 1.2, 0.8]}}, {"box": {"centre": [)" +
                    std::to_string(1 + far) + R"(, 0, 0], "size": [1, 1.2, 0.8]}}]})"),
               far > 0 ? 2 * 5.92 : 2 * 5.92 - 2 * 0.96);
  // Low noise changes the area little, however many octaves there are and however small values become.
  for (const char* noise : {R"("amplitude": 0.002, "wavelength": 0.05, "octaves": 1)",
                            R"("amplitude": 0.004, "wavelength": 0.02, "octaves": 2)",
                            R"("amplitude": 0.002, "wavelength": 0.05, "octaves": 12)"})
    expectNear(area(std::string(R"({"noise": {"of": {"sphere": {"radius": 0.3}}, )") + noise + "}}"),
               4 * kPi * 0.09);
}

// The engine has a bound of its own, for bodies that come together later.
TEST(Cost, StepsOfBodiesInOnePlaceAreRefusedBeforeTheirContactsAreMade) {
  const MemoryBudget budget(50'000'000);
  rigid::Simulation simulation({});
  for (int i = 0; i < 300; ++i) {
    rigid::BodySettings body;
    body.shape = rigid::makeSphere(0.1);
    body.name = fmt::format("ball {}", i);
    simulation.addBody(body);
  }
  try {
    simulation.step();
    FAIL() << "44850 pairs";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Limit);
    EXPECT_NE(std::string(error.what()).find("'ball 0' and 'ball 1'"), std::string::npos) << error.what();
  }
}

// A spiral that comes round again and has the memory: a crowd all the same.
TEST(Cost, CrowdsAreRefusedWhateverTheMemory) {
  const std::string text = R"({"arrays": [{"id": "m", "body": {"shape": {"sphere": {"radius": 0.1}}},
      "spiral": {"count": 1500, "radius": 0.1, "spacing": 0.01}}]})";
  const std::string refused = refusalOf(text, 500 * kGigabyte);
  const Advice advice = adviceOf(refused);
  EXPECT_EQ(advice.key, "arrays.m.spiral.count") << refused;
  EXPECT_EQ(refusalOf(text, 500 * kGigabyte, {advice.key + "=" + advice.value}), "") << refused;
}

// Rods that lie across each other have boxes that overlap, and touch nothing.
TEST(Cost, ThinBodiesAreNotACrowd) {
  std::string text =
      R"({"arrays": [{"id": "rod", "body": {"shape": {"capsule": {"length": 2, "radius": 0.005}},
      "rotation": {"degrees": [45, 45, 0]}}, "grid": {"count": [30, 1, 30], "spacing": [0.05, 1, 0.05]}}]})";
  EXPECT_FALSE(estimateCost(sceneOf(text)).crowded);
}

// The same water ten times over has ten times as many neighbours.
TEST(Cost, BlocksInOnePlaceCountTheirNeighbours) {
  const auto water = [](int times) {
    std::string blocks;
    for (int i = 0; i < times; ++i)
      blocks += std::string(i > 0 ? ", " : "") + R"({"lower": [0, 0, 0], "upper": [0.4, 0.4, 0.4]})";
    return estimateCost(sceneOf(R"({"fluid": {"radius": "1 cm", "liquids": [{"id": "w", "blocks": [)" +
                                blocks + "]}]}}"))
        .memoryBytes;
  };
  EXPECT_GT(water(10) - water(1), 30 * (water(2) - water(1)) / 2);
}

// A full tank stops no emitter, and what is let in stays in one place.
TEST(Cost, EmittersThatFillTheirTankManyTimesAreRefused) {
  const auto jet = [](const char* speed, const char* more) {
    return std::string(
               R"({"world": {"frames": 30}, "fluid": {"radius": 0.1, "tank": {"lower": [0, 0, 0], "upper": [2, 2, 2]},
      "liquids": [{"id": "water", "emitters": [{"position": [0.5, 0.9, 0.5], "direction": [0, -1, 0], "radius": 0.2, "speed": )") +
           speed + "}]}]" + more + "}}";
  };
  EXPECT_EQ(refusalOf(jet("2", "")), "");
  const char* sink = R"(, "sinks": [{"lower": [0, 0, 0], "upper": [2, 0.1, 2]}])";
  for (const char* speed : {"1e6", "1e12", "1e18"})
    for (const char* more : {"", sink}) {
      const std::string refusal = refusalOf(jet(speed, more));
      EXPECT_NE(refusal.find("fluid.liquids.0.emitters.0.speed: "), std::string::npos) << refusal;
      const size_t fits = refusal.find(" would fit"), value = refusal.rfind('(', fits) + 1;
      ASSERT_NE(fits, std::string::npos) << refusal;
      EXPECT_EQ(refusalOf(jet(refusal.substr(value, fits - value).c_str(), more)), "") << refusal;
    }
}

TEST(Cost, RecordingsThatDoNotFitTheDiskAreRefused) {
  const std::string text =
      R"({"world": {"duration": 100}, "fluid": {"radius": "1 cm", "liquids": [{"id": "w", "blocks": [{"lower": [0, 0, 0], "upper": [0.5, 0.5, 0.5]}]}]}})";
  const Scene scene = sceneOf(text);
  const Cost cost = estimateCost(scene);
  EXPECT_NO_THROW(requireDiskSpace(scene, cost, 1e12));
  std::string refused;
  try {
    requireDiskSpace(scene, cost, 1e6);
  } catch (const Error& error) {
    refused = error.what();
  }
  const Advice advice = adviceOf(refused);
  EXPECT_EQ(advice.key, "world.duration") << refused;
  const Scene shorter = sceneOf(text, {advice.key + "=" + advice.value});
  EXPECT_NO_THROW(requireDiskSpace(shorter, estimateCost(shorter), 1e6)) << refused;
}

// All that come along fit a machine of 16 GB.
TEST(Cost, ScenesThatComeAlongAreAffordable) {
  size_t seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(sourceFolder() / "scenes")) {
    if (entry.path().extension() != ".json") continue;
    const Scene scene = readScene(entry.path());
    EXPECT_NO_THROW(requireAffordable(scene, estimateCost(scene), 12 * kGigabyte)) << entry.path();
    ++seen;
  }
  EXPECT_GT(seen, 30u);
}

}  // namespace
}  // namespace sunder::world
