// The scenes that come along, each from ten places slightly beside its own: none may gain energy, none may
// let a body through the ground, a wall or the bowl.
#include "sunder/base/file.h"
#include "sunder/base/random.h"
#include "sunder/world/world.h"

#include "folders.h"
#include "world/parts_of.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include <gtest/gtest.h>

namespace sunder::world {
namespace {

using rigid::BodyIndex;

const std::filesystem::path kScenes = sourceFolder() / "scenes";

// Those without liquids, which give bodies energy of their own.
std::vector<std::string> sceneNames() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kScenes))
    if (entry.path().extension() == ".json" &&
        readTextFile(entry.path()).find("\"fluid\"") == std::string::npos)
      names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

// Every dynamic body moved by up to 2 % of its bounding radius and turned by up to 2 degrees.
void jitter(Scene& scene, const std::vector<BuiltShape>& shapes, uint64_t seed) {
  RandomStream random(seed, 17);
  for (BodySpec& body : scene.bodies) {
    if (body.kind != rigid::BodyKind::Dynamic) continue;
    const double size = 0.02 * shapes[body.shape].shape->outerRadius();
    body.pose.position += random.pointIn({Vec3::Constant(-size), Vec3::Constant(size)});
    const Vec3 turn = random.pointIn({Vec3::Constant(-1), Vec3::Constant(1)}) * (2 * kPi / 180);
    body.pose.rotation =
        Quat(Eigen::AngleAxisd(turn.norm(), turn.normalized())) * body.pose.rotation.normalized();
  }
}

// The point of a shape that is farthest inside, and how far.
struct Core {
  Vec3 point = Vec3::Zero();
  double radius = 0;
};

Core coreOf(const rigid::Shape& shape) {
  Core core{shape.mass().centre, -shape.field().value(shape.mass().centre)};
  const Box3& box = shape.localBounds();
  constexpr int kCells = 24;
  for (int i = 0; i < kCells * kCells * kCells; ++i) {
    const Vec3 share =
        (Vec3(i % kCells, i / kCells % kCells, i / (kCells * kCells)) + Vec3::Constant(0.5)) / kCells;
    const Vec3 point = box.lower + share.cwiseProduct(box.extent());
    const double depth = -shape.field().value(point);
    if (depth > core.radius) core = {point, depth};
  }
  return core;
}

class Watch {
 public:
  explicit Watch(const World& world) : world_(world) {
    const rigid::Simulation& s = simulationOf(world);
    std::map<const rigid::Shape*, Core> known;
    for (uint32_t i = 0; i < s.bodyCount(); ++i) {
      const BodyIndex body(i);
      if (s.kind(body) == rigid::BodyKind::Static) obstacles_.push_back(body);
      if (s.kind(body) != rigid::BodyKind::Dynamic) continue;
      const rigid::Shape* shape = s.shape(body).get();
      if (!known.contains(shape)) known[shape] = coreOf(*shape);
      moving_.push_back(
          {body, known[shape], s.pose(body).point(known[shape].point), shape->outerRadius(), {}});
      fastest_ = std::max(fastest_, s.velocity(body).norm());
      highest_ = std::max(highest_, std::abs(s.centre(body).y()));
      const double g = s.settings().gravity.norm();
      scale_ += s.mass(body) * (0.5 * s.velocity(body).squaredNorm() +
                                g * (std::abs(s.centre(body).y()) + shape->outerRadius()));
    }
    start_ = s.energy().total();
    scale_ += s.energy().kinetic;  // what spins
  }

  void look() {
    const rigid::Simulation& s = simulationOf(world_);
    gain_ = std::max(gain_, (s.energy().total() - start_) / scale_);
    for (Moving& m : moving_) {
      if (!s.exists(m.body)) continue;
      speed_ = std::max(speed_, s.velocity(m.body).norm());
      const Vec3 now = s.pose(m.body).point(m.core.point);
      // The way since the last frame, in steps no longer than a quarter of the core: a thin wall is not
      // missed that way.
      const double step = std::max(0.25 * m.core.radius, 1e-4);
      const auto count = static_cast<int>(std::ceil((now - m.last).norm() / step)) + 1;
      for (int k = 1; k <= count; ++k) check(m, m.last + (now - m.last) * k / count);
      m.last = now;
    }
  }

  // Greatest gain of energy, as a part of what the scene holds at the start.
  double gain() const { return gain_; }
  double speed() const { return speed_; }
  // Twice the speed that a fall from the highest place would give, beyond the fastest body at the start. A
  // light body may leave a heavy one at twice its speed.
  double speedLimit() const {
    return 2 * (fastest_ + std::sqrt(2 * simulationOf(world_).settings().gravity.norm() * (highest_ + 1)) +
                simulationOf(world_).settings().pushSpeed);
  }
  // Who passed through what: the core came out of an obstacle on another side than it went in.
  const std::string& passed() const { return passed_; }
  // How deep the core of a body was in an obstacle, as a part of the body's radius. Contacts are springs:
  // what is fast, thin or pushed from behind sinks in for some frames. At 1 all of it would be inside.
  double sunk() const { return sunk_; }
  // Whether somebody is below the ground now.
  bool below() const {
    const rigid::Simulation& s = simulationOf(world_);
    for (const Moving& m : moving_)
      for (const BodyIndex obstacle : obstacles_)
        if (s.exists(m.body) && isPlane(obstacle) && s.pose(obstacle).localPoint(m.last).y() < 0) return true;
    return false;
  }

 private:
  struct Moving {
    BodyIndex body;
    Core core;
    Vec3 last;
    double size;  // radius about the centre
    std::map<uint32_t, Vec3>
        entries;  // obstacles that the core is inside of, and which way was out when it came
  };

  bool isPlane(BodyIndex body) const {
    return simulationOf(world_).shape(body)->kind() == rigid::ShapeKind::Plane;
  }

  void check(Moving& m, const Vec3& point) {
    const rigid::Simulation& s = simulationOf(world_);
    for (const BodyIndex obstacle : obstacles_) {
      const rigid::Shape& shape = *s.shape(obstacle);
      const Vec3 local = s.pose(obstacle).localPoint(point);
      const auto entry = m.entries.find(obstacle.value);
      if (!shape.localBounds().contains(local) && entry == m.entries.end()) continue;
      const sdf::FieldSample at = shape.field().sample(local);
      sunk_ = std::max(sunk_, -at.value / m.size);
      if (at.value < 0 && entry == m.entries.end()) m.entries[obstacle.value] = at.gradient.normalized();
      if (at.value < 0 || entry == m.entries.end()) continue;
      if (entry->second.dot(at.gradient.normalized()) < -0.5)
        passed_ = s.name(m.body) + " through " + s.name(obstacle);
      m.entries.erase(entry);
    }
  }

  const World& world_;
  std::vector<BodyIndex> obstacles_;
  std::vector<Moving> moving_;
  double start_ = 0, scale_ = 0, fastest_ = 0, highest_ = 0;
  double gain_ = 0, speed_ = 0, sunk_ = 0;
  std::string passed_;
};

// The watch has teeth: without continuous collision the bullet is beyond the wall after one step.
TEST(WorldScenes, ABulletThroughTheWallIsNoticed) {
  for (const bool continuous : {true, false}) {
    Scene scene = readScene(kScenes / "bullet.json");
    scene.world.simulation.continuous = continuous;
    World world(std::move(scene));
    Watch watch(world);
    for (int i = 0; i < 10; ++i) {
      world.advance();
      watch.look();
    }
    EXPECT_EQ(watch.passed(), continuous ? "" : "bullet through wall");
  }
}

class WorldScenesFull : public testing::TestWithParam<std::string> {};

TEST_P(WorldScenesFull, NeitherExplodeNorTunnelFromTenPlaces) {
  const std::filesystem::path file = kScenes / (GetParam() + ".json");
  const double seconds = GetParam() == "pile" ? 2 : 3;
  const std::vector<BuiltShape> shapes = buildShapes(readScene(file));
  double worst = 0;
  for (uint64_t place = 0; place < 10; ++place) {
    SCOPED_TRACE("place " + std::to_string(place));
    Scene scene = readScene(file);
    jitter(scene, shapes, place);
    const auto frames = std::min<uint64_t>(
        scene.world.frames, static_cast<uint64_t>(std::lround(seconds * scene.world.frameRate)));
    World world(std::move(scene));
    Watch watch(world);
    for (uint64_t i = 0; i < frames; ++i) {
      world.advance();
      watch.look();
    }
    EXPECT_LT(watch.gain(), 0.02);
    EXPECT_LT(watch.speed(), watch.speedLimit());
    EXPECT_EQ(watch.passed(), "");
    EXPECT_LT(watch.sunk(), 1);
    EXPECT_FALSE(watch.below());
    worst = std::max(worst, watch.sunk());
  }
  RecordProperty("deepest_part_of_radius", std::to_string(worst));
}

INSTANTIATE_TEST_SUITE_P(All, WorldScenesFull, testing::ValuesIn(sceneNames()), [](const auto& scene) {
  std::string name = scene.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace sunder::world
