// Soft bodies and liquids act on each other.
#include "sunder/base/parallel.h"
#include "sunder/world/build/cost.h"
#include "sunder/world/build/ready_scene.h"
#include "sunder/world/check/check.h"
#include "sunder/world/parts/soft_part.h"

#include "world/parts_of.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace sunder::world {
namespace {

Scene wetScene(const std::string& text) { return readScene(SceneDocument::parse(text, "wet.json", ".", {})); }
const SoftPart& wetSoft(const World& world) { return *world.find<SoftPart>(); }
const fluid::Fluid& tankWater(const World& world) { return *liquidsOf(world).fluid(); }

double softMass(const World& world) {
  double mass = 0;
  for (const double m : wetSoft(world).motion().solid().masses()) mass += m;
  return mass;
}
Vec3 softCentre(const World& world) {
  const fem::Motion& motion = wetSoft(world).motion();
  Vec3 centre = Vec3::Zero();
  for (size_t v = 0; v < motion.vertices(); ++v)
    centre += motion.solid().masses()[v] / softMass(world) * motion.positions()[v];
  return centre;
}
Vec3 waterMomentum(const World& world) {
  const fluid::Fluid& water = tankWater(world);
  Vec3 sum = Vec3::Zero();
  for (size_t i = 0; i < water.size(); ++i) sum += water.mass(i) * water.velocity(i);
  return sum;
}
// Particles deeper in a soft body than half a diameter: there it adds 0.81 to the density. A lone particle
// lies where it adds 0.68, a third of a diameter deep.
size_t particlesInside(const World& world) {
  const fluid::Fluid& water = tankWater(world);
  std::vector<Vec4f> place;
  for (const Vec3& p : water.positions()) place.push_back(fluid::withFourth(p.cast<float>(), 0));
  const uint32_t tank = world.scene().fluid->tank ? 1 : 0;
  std::vector<uint32_t> near;
  std::vector<Vec4f> sums;
  fluid::SampleLinks links;
  findLinks(*water.body(tank).points, place, Vec3::Zero(), near, sums, links);
  return size_t(std::count_if(sums.begin(), sums.end(), [](const Vec4f& s) { return s.w() > 0.81f; }));
}
void advanceTo(World& world, uint64_t frame) {
  while (world.frame() < frame) world.advance();
}

// A box of jelly in a pool whose sides are joined.
struct JellyPool {
  double density = 500, height = 0.3, radius = 0.01;
  std::string young = "20 kPa", soft = R"("tets": 60)";
  double poisson = 0.4;
  double edge = 0.12, tall = 0.12, width = 0.24, filled = 0.2;

  std::string text() const {
    return fmt::format(
        R"({{
      "world": {{"frames": 100000, "frameRate": 50, "timeStep": "1/200 s"}},
      "materials": {{"jelly": {{"density": {}, "young": "{}", "poisson": {}, "friction": 0.5}}}},
      "bodies": [
        {{"id": "floor", "shape": {{"plane": {{}}}}, "kind": "static"}},
        {{"id": "cube", "kind": "deformable", "shape": {{"box": {{"size": [{}, {}, {}]}}}}, "material": "jelly",
          "position": [{}, {}, {}], "soft": {{{}}}}}
      ],
      "fluid": {{
        "radius": {}, "longestStep": "2.5 ms", "periodic": [{}, 0, {}],
        "liquids": [{{"id": "water", "smoothing": 0.05,
          "blocks": [{{"lower": [0, 0, 0], "upper": [{}, {}, {}]}}]}}]
      }}
    }})",
        density, young, poisson, edge, tall, edge, 0.5 * width, height, 0.5 * width, soft, radius, width,
        width, width, filled, width);
  }
  double volume() const { return edge * tall * edge; }
  double level(const World& world) const {
    const fluid::Fluid& water = tankWater(world);
    return (double(water.size()) * water.particleVolume() + std::min(1.0, density / 1000) * volume()) /
           (width * width);
  }
};

// Water that flies at a cube of jelly, with nothing else around.
std::string wetSplash(int frames) {
  return fmt::format(R"({{
    "world": {{"frames": {}, "gravity": [0, 0, 0], "timeStep": "1/120 s", "frameRate": 120}},
    "materials": {{"jelly": {{"density": 600, "young": "5 kPa", "poisson": 0.45}}}},
    "bodies": [{{"id": "cube", "kind": "deformable", "shape": {{"box": {{"size": [0.1, 0.1, 0.1]}}}},
      "material": "jelly", "position": [0, 0, 0], "angularVelocity": [0, 1, 2], "soft": {{"tets": 40}}}}],
    "fluid": {{"radius": "1 cm", "liquids": [{{"id": "water", "smoothing": 0.05,
      "blocks": [{{"lower": [-0.24, -0.05, -0.03], "upper": [-0.06, 0.07, 0.05], "velocity": [2, 0.2, 0]}}]}}]}}
  }})",
                     frames);
}

// What each side gets is what the other side loses: jelly by step to rounding, water as far as its single
// numbers go.
TEST(SoftLiquid, KeepsMomentum) {
  World world(wetScene(wetSplash(12)));
  const double h = world.scene().world.simulation.timeStep;
  const Vec3 start = waterMomentum(world) + wetSoft(world).motion().momentum();
  const double scale = waterMomentum(world).norm();
  double most = 0, gained = 0;
  for (int k = 0; k < 12; ++k) {
    const Vec3 before = wetSoft(world).motion().momentum();
    world.advance();
    const Vec3 gain = wetSoft(world).motion().momentum() - before;
    most = std::max(most, (gain - h * wetSoft(world).boundary()->force()).norm());
    gained = std::max(gained, gain.norm());
  }
  EXPECT_GT(gained, 0.02 * scale);  // they met
  EXPECT_LT(most, 1e-10 * scale);
  const Vec3 end = waterMomentum(world) + wetSoft(world).motion().momentum();
  EXPECT_LT((end - start).norm(), 2e-6 * scale);
}

// A body that has left the bounds of the world is kept where it began; water flows through that place.
TEST(SoftLiquid, FlowsThroughWhereABodyThatLeftHadBeen) {
  World world(wetScene(R"({
    "world": {"frames": 40, "gravity": [0, 0, 0], "timeStep": "1/120 s", "frameRate": 120,
      "bounds": {"lower": [-1, -1, -0.3], "upper": [1, 1, 0.3]}},
    "bodies": [{"id": "cube", "kind": "deformable", "shape": {"box": {"size": [0.1, 0.1, 0.1]}},
      "position": [0, 0, 0], "velocity": [0, 0, 60], "soft": {"tets": 40, "young": "50 kPa", "density": 600}}],
    "fluid": {"radius": "1 cm", "liquids": [{"id": "water",
      "blocks": [{"lower": [-0.3, -0.05, -0.03], "upper": [-0.12, 0.05, 0.05], "velocity": [1, 0, 0]}]}]}
  })"));
  const Vec3 start = waterMomentum(world);
  const size_t particles = tankWater(world).size();
  advanceTo(world, 40);
  EXPECT_EQ(tankWater(world).size(), particles);
  EXPECT_LT((waterMomentum(world) - start).norm(), 2e-6 * start.norm());
  double front = -1;
  for (const Vec3& p : tankWater(world).positions()) front = std::max(front, p.x());
  EXPECT_GT(front, 0.1);  // beyond the place of the cube
}

TEST(SoftLiquid, DoesNotDependOnThreads) {
  uint64_t hashes[3];
  for (int k = 0; k < 3; ++k) {
    const ThreadLimit threads(1u << k);
    World world(wetScene(wetSplash(8)));
    advanceTo(world, 8);
    EXPECT_GT(wetSoft(world).boundary()->force().norm(), 0);
    hashes[k] = world.hash();
  }
  EXPECT_EQ(hashes[0], hashes[1]);
  EXPECT_EQ(hashes[0], hashes[2]);
}

TEST(SoftLiquid, GoesOnFromASavedState) {
  World world(wetScene(wetSplash(9)));
  advanceTo(world, 6);
  ASSERT_GT(wetSoft(world).boundary()->force().norm(), 0);
  World other(wetScene(wetSplash(9)));
  other.load(world.save(), "state");
  EXPECT_EQ(world.hash(), other.hash());
  advanceTo(world, 9);
  advanceTo(other, 9);
  EXPECT_EQ(world.hash(), other.hash());
}

// Held cubes under water, of 10 particles a side.
TEST(SoftLiquidFull, IsPushedUpByTheWeightOfTheLiquidThatItDisplaces) {
  JellyPool pool{.density = 1000, .height = 0.096, .radius = 0.006};
  pool.soft = R"("tets": 60, "pins": [{"lower": [-1, -1, -1], "upper": [1, 1, 1]}])";
  World world(wetScene(pool.text()));
  advanceTo(world, 35);
  Vec3 mean = Vec3::Zero();
  for (int k = 0; k < 15; ++k) {
    world.advance();
    mean += wetSoft(world).boundary()->force() / 15;
  }
  const double weight = 9810 * pool.volume();
  RecordProperty("part", std::to_string(mean.y() / weight));
  EXPECT_NEAR(mean.y(), weight, 0.05 * weight);
  EXPECT_NEAR(std::hypot(mean.x(), mean.z()), 0, 0.02 * weight);
  EXPECT_EQ(particlesInside(world), 0u);
}

// Flat boxes, which float upright, against the level of all volumes: 5 % of the height, as balls that are
// rigid.
TEST(SoftLiquidFull, FloatsAsDeepAsItIsHeavy) {
  for (const double density : {300.0, 700.0}) {
    JellyPool pool{.density = density, .height = 0.2, .radius = 0.006, .edge = 0.144, .tall = 0.072};
    World world(wetScene(pool.text()));
    advanceTo(world, 90);
    double mean = 0;
    for (int k = 0; k < 40; ++k) {
      world.advance();
      mean += (pool.level(world) - softCentre(world).y() + 0.5 * pool.tall) / 40;
    }
    RecordProperty("draught" + std::to_string(int(density)), std::to_string(mean / pool.tall));
    EXPECT_NEAR(mean / pool.tall, density / 1000, 0.05) << density;
    EXPECT_EQ(particlesInside(world), 0u);
  }
}

TEST(SoftLiquidFull, SinksWhereItIsHeavier) {
  JellyPool pool{.density = 1300, .height = 0.16};
  World world(wetScene(pool.text()));
  advanceTo(world, 75);
  EXPECT_LT(softCentre(world).y(), 0.5 * pool.tall + 2 * pool.radius);
}

// Densities from a tenth to three times that of the liquid, soft and stiff, nearly incompressible and not:
// after the splash they come to rest.
TEST(SoftLiquidFull, ComesToRestWithAnyDensityAndStiffness) {
  for (const double density : {100.0, 300.0, 1000.0, 3000.0})
    for (const char* young : {"2 kPa", "2 MPa"})
      for (const double poisson : {0.3, 0.48}) {
        if (density == 3000 && young[2] == 'k') continue;  // its own weight squashes it
        const JellyPool pool{.density = density, .height = 0.28, .young = young, .poisson = poisson};
        const double fall = std::sqrt(2 * 9.81 * (pool.height - 0.5 * pool.tall - pool.filled));
        World world(wetScene(pool.text()));
        advanceTo(world, 80);
        const fem::Motion& motion = wetSoft(world).motion();
        const std::string what = fmt::format("{} kg/m3, {}, {}", density, young, poisson);
        EXPECT_LT(std::sqrt(2 * motion.kineticEnergy() / softMass(world)), 0.15) << what;
        EXPECT_LT(liquidsOf(world).report().last.fastest, fall) << what;
        EXPECT_EQ(liquidsOf(world).report().heldBack, 0u) << what;
        EXPECT_EQ(particlesInside(world), 0u) << what;
      }
}

// A wall of jelly across a tank, held at its foot: it bends, and no particle gets past it.
std::string jellyDam() {
  return R"({
    "world": {"frames": 1000, "timeStep": "1/120 s", "frameRate": 60},
    "materials": {"jelly": {"density": 1000, "young": "60 kPa", "poisson": 0.45}},
    "bodies": [{"id": "dam", "kind": "deformable", "shape": {"box": {"size": [0.08, 0.24, 0.16]}},
      "material": "jelly", "position": [0.2, 0.08, 0.06],
      "soft": {"tets": 120, "pins": [{"lower": [-1, -1, -1], "upper": [1, -0.079, 1]}]}}],
    "fluid": {"radius": "1 cm", "tank": {"lower": [0, 0, 0], "upper": [0.4, 0.3, 0.12]},
      "liquids": [{"id": "water", "smoothing": 0.05,
        "blocks": [{"lower": [0, 0, 0], "upper": [0.16, 0.14, 0.12]}]}]}
  })";
}

TEST(SoftLiquid, ADamOfJellyHoldsWater) {
  World world(wetScene(jellyDam()));
  const Vec3 start = softCentre(world);
  advanceTo(world, 45);
  const fluid::Fluid& water = tankWater(world);
  EXPECT_EQ(water.size(), 8u * 7u * 6u);
  double farthest = 0;
  for (const Vec3& p : water.positions()) farthest = std::max(farthest, p.x());
  EXPECT_LT(farthest, 0.21);  // the wet side was at 0.16
  EXPECT_EQ(particlesInside(world), 0u);
  EXPECT_GT(softCentre(world).x(), start.x() + 0.001);  // it gave way
}

// Water on a sheet of jelly that is pulled apart, with a tank below it.
std::string tornSheet() {
  return R"({
    "world": {"frames": 1000, "timeStep": "1/120 s", "frameRate": 60},
    "materials": {"jelly": {"density": 1000, "young": "500 kPa", "poisson": 0.4}},
    "bodies": [{"id": "sheet", "kind": "deformable", "shape": {"box": {"size": [0.4, 0.05, 0.18]}},
      "material": "jelly", "position": [0, 0.2, 0],
      "soft": {"tets": 150, "tear": {"strength": "80 kPa", "surfaceEnergy": "5 J/m2"}, "pins": [
        {"lower": [-1, -1, -1], "upper": [-0.17, 1, 1], "keyFrames": [{"time": 0, "position": [0, 0.2, 0]},
          {"time": "0.2 s", "position": [0, 0.2, 0]}, {"time": "0.7 s", "position": [-0.1, 0.2, 0]}]},
        {"lower": [0.17, -1, -1], "upper": [1, 1, 1], "keyFrames": [{"time": 0, "position": [0, 0.2, 0]},
          {"time": "0.2 s", "position": [0, 0.2, 0]}, {"time": "0.7 s", "position": [0.1, 0.2, 0]}]}]}}],
    "fluid": {"radius": "1 cm", "tank": {"lower": [-0.1, 0, -0.06], "upper": [0.1, 0.5, 0.06]},
      "liquids": [{"id": "water", "smoothing": 0.05,
        "blocks": [{"lower": [-0.1, 0.23, -0.06], "upper": [0.1, 0.31, 0.06]}]}]}
  })";
}

TEST(SoftLiquid, WaterFallsThroughWhatIsTorn) {
  World world(wetScene(tornSheet()));
  const auto below = [&] {
    const std::vector<Vec3>& p = tankWater(world).positions();
    return std::count_if(p.begin(), p.end(), [](const Vec3& x) { return x.y() < 0.12; });
  };
  while (wetSoft(world).report().splits == 0 && world.frame() < 60) world.advance();
  ASSERT_GT(wetSoft(world).report().splits, 0u);
  EXPECT_GE(world.frame(), 12u);
  EXPECT_EQ(below(), 0);
  advanceTo(world, 75);
  EXPECT_GT(below(), ptrdiff_t(tankWater(world).size() / 3));
}

// Particles that would start in a soft body are left out.
TEST(SoftLiquid, LeavesTheRoomOfSoftBodiesFreeWhereBlocksAreFilled) {
  JellyPool pool{.height = 0.1};
  World world(wetScene(pool.text()));
  const auto all = size_t(12 * 10 * 12), cube = size_t(6 * 6 * 6);
  EXPECT_EQ(tankWater(world).size() + liquidsOf(world).report().buried, all);
  EXPECT_NEAR(double(liquidsOf(world).report().buried), double(cube), 1);
}

TEST(SoftLiquid, EstimatesCountItsPointsAndChecksSayWhereItIsThin) {
  for (const double tall : {0.12, 0.01}) {
    JellyPool pool{.height = 0.3, .tall = tall};
    const Scene scene = readyScene(wetScene(pool.text()));
    double estimated = 0;
    for (const CostItem& item : estimateCost(scene).items)
      if (item.what.find("for the liquid") != std::string::npos) estimated += item.count;
    const World world(wetScene(pool.text()));
    const auto points = double(wetSoft(world).boundary()->points());
    EXPECT_NEAR(estimated, points, 0.2 * points) << tall;
    bool thin = false;
    for (const Finding& finding : checkScene(wetScene(pool.text()), {.depth = CheckDepth::Built}).findings)
      thin |= finding.text.find("liquids may leak through it") != std::string::npos;
    EXPECT_EQ(thin, tall < 2 * pool.radius);
  }
}

}  // namespace
}  // namespace sunder::world
