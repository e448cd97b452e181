// Bodies of any density in water: specification 10, checks 24 and 28.
#include "sunder/world/world.h"

#include "world/parts_of.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

namespace sunder::world {
namespace {

constexpr double kRadius = 0.16, kSupport = 0.08, kWidth = 0.72, kFilled = 0.48;

// A ball in a pool whose sides are joined; the ball starts with its middle at `height`. All lengths but the
// particles' are `scale` times larger.
std::string pool(double density, double height, double scale = 1) {
  const auto text = [&](double x) { return std::to_string(scale * x); };
  return R"({
    "world": {"frames": 100000, "frameRate": 50, "timeStep": "1/200 s"},
    "materials": {"stuff": {"like": "oak", "density": )" +
         std::to_string(density) + R"(}},
    "bodies": [
      {"id": "floor", "shape": {"plane": {}}, "kind": "static"},
      {"id": "ball", "shape": {"sphere": {"radius": )" +
         text(kRadius) + R"(}}, "material": "stuff", "position": [)" + text(0.5 * kWidth) + ", " +
         text(height) + ", " + text(0.5 * kWidth) + R"(]}
    ],
    "fluid": {
      "radius": "2 cm", "longestStep": "2.5 ms", "periodic": [)" +
         text(kWidth) + ", 0, " + text(kWidth) + R"(],
      "liquids": [{"id": "water", "smoothing": 0.05,
        "blocks": [{"lower": [0, 0, 0], "upper": [)" +
         text(kWidth) + ", " + text(kFilled) + ", " + text(kWidth) + R"(]}]}]
    }
  })";
}

Scene floatingFrom(const std::string& text) {
  return readScene(SceneDocument::parse(text, "scene.json", ".", {}));
}

double heightOf(const World& world) { return simulationOf(world).centre(rigid::BodyIndex(1)).y(); }
double waterOf(const World& world) {
  const fluid::Fluid& fluid = *liquidsOf(world).fluid();
  return double(fluid.size()) * fluid.particleVolume();
}

// What the ball displaces below a level `deep` above its middle: it and the layer around it in which water
// thins, as maps with an offset of one half have it.
double displaced(double deep) {
  double sum = 0;
  const double reach = kRadius + 0.5 * kSupport, step = 2 * reach / 400;
  for (double y = -reach + 0.5 * step; y < std::min(deep, reach); y += step)
    for (double x = 0.5 * step; x < reach; x += step)
      sum += std::clamp(0.5 - (std::hypot(x, y) - kRadius) / kSupport, 0.0, 1.0) * 2 * kPi * x * step * step;
  return sum;
}
// Of the middle of the ball below the level.
double restingDepth(double density) {
  const double wanted = density / 1000 * 4 * kPi / 3 * kRadius * kRadius * kRadius;
  double low = -0.3, high = 0.3;
  for (int k = 0; k < 40; ++k) (displaced(0.5 * (low + high)) < wanted ? low : high) = 0.5 * (low + high);
  return 0.5 * (low + high);
}

// Boxes that lie flat on the floor, where no particle fits below them, and one that sinks.
std::string plank(const char* material, double height) {
  return R"({
    "world": {"frames": 1000, "frameRate": 50, "timeStep": "1/200 s"},
    "bodies": [
      {"id": "floor", "shape": {"plane": {}}, "kind": "static"},
      {"id": "plank", "shape": {"box": {"size": [0.36, 0.12, 0.36]}}, "material": ")" +
         std::string(material) + R"(", "position": [0.4, )" + std::to_string(height) + R"(, 0.4]}
    ],
    "fluid": {
      "radius": "2 cm", "longestStep": "2.5 ms", "periodic": [0.8, 0, 0.8],
      "liquids": [{"id": "water", "smoothing": 0.05, "blocks": [{"lower": [0, 0, 0], "upper": [0.8, 0.4, 0.8]}]}]
    }
  })";
}

TEST(FloatingFull, PlanksRiseFromTheFloorUnlessTheyAreHeavy) {
  {
    World world(floatingFrom(plank("ice", 0.06)));
    for (int k = 0; k < 150 && heightOf(world) < 0.28; ++k) world.advance();
    EXPECT_GT(heightOf(world), 0.28);
    EXPECT_LT(simulationOf(world).velocity(rigid::BodyIndex(1)).norm(), 1.5);
  }
  World world(floatingFrom(plank("granite", 0.2)));
  for (int k = 0; k < 60; ++k) world.advance();
  EXPECT_LT(heightOf(world), 0.065);
  EXPECT_LT(simulationOf(world).velocity(rigid::BodyIndex(1)).norm(), 0.05);
}

TEST(FloatingFull, BallsFloatAsDeepAsTheyAreHeavy) {
  for (const double density : {250.0, 500.0, 900.0}) {
    const double depth = restingDepth(density);
    World world(floatingFrom(pool(density, 0.55)));
    while (world.frame() < 150) world.advance();
    double mean = 0;
    for (int k = 0; k < 50; ++k) {
      world.advance();
      mean += heightOf(world) / 50;
    }
    const double level =
        (waterOf(world) + density / 1000 * 4 * kPi / 3 * kRadius * kRadius * kRadius) / (kWidth * kWidth);
    RecordProperty("depth" + std::to_string(int(density)), std::to_string((level - mean) / (2 * kRadius)));
    RecordProperty("expected" + std::to_string(int(density)), std::to_string(depth / (2 * kRadius)));
    EXPECT_NEAR(level - mean, depth, 0.05 * 2 * kRadius) << density;
  }
}

// A ball of two supports is pushed up by 1.10 of its volume, and hovers at that density; one of three
// by 1.06, and sinks.
TEST(FloatingFull, ABallThatIsATenthTooHeavySinks) {
  const double scale = 1.5;
  World world(floatingFrom(pool(1100, 0.24, scale)));
  while (world.frame() < 110) world.advance();
  EXPECT_LT(heightOf(world), scale * kRadius + kSupport);
}

// Check 28: a ball whose density doubles every time floats lower and lower, and sinks at 1600.
TEST(FloatingFull, ABallThatGrowsHeavierFloatsLowerAndSinks) {
  double last = 1e9, height = 0.6;
  for (const double density : {100.0, 200.0, 400.0, 800.0, 1600.0}) {
    World world(floatingFrom(pool(density, height)));
    const uint64_t frames = density > 1000 ? 250 : 150;  // of a fiftieth of a second
    while (world.frame() < frames) world.advance();
    height = heightOf(world);
    RecordProperty("height" + std::to_string(int(density)), std::to_string(height));
    EXPECT_LT(height, last) << density;
    last = height;
  }
  EXPECT_LT(last, kRadius + 0.5 * kSupport);
}

}  // namespace
}  // namespace sunder::world
