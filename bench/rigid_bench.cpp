#include "sunder/base/parallel.h"
#include "sunder/base/random.h"
#include "sunder/base/stopwatch.h"
#include "sunder/rigid/solver/simulation.h"

#include "bench/bench.h"
#include "bench/rigid_pile.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>

namespace sunder::bench {

using namespace rigid;

PileScene makePile(size_t count) {
  PileScene scene;
  const auto side = static_cast<size_t>(std::max(3.0, std::round(std::cbrt(double(count) / 1.6))));
  const double gap = 1.57, room = gap * double(side) / 2;
  const double tall = gap * double(count) / double(side * side);
  scene.walls.push_back({Vec3(room + 1, 0.5, room + 1), {Vec3(0, -0.5, 0), Quat::Identity()}});
  for (const double sign : {-1.0, 1.0}) {
    scene.walls.push_back(
        {Vec3(0.5, tall, room + 1), {Vec3(sign * (room + 0.5), tall, 0), Quat::Identity()}});
    scene.walls.push_back({Vec3(room, tall, 0.5), {Vec3(0, tall, sign * (room + 0.5)), Quat::Identity()}});
  }
  for (size_t i = 0; i < count; ++i) {
    RandomStream random(17, i);
    const size_t x = i % side, z = i / side % side, y = i / (side * side);
    PileScene::Body box;
    box.half = Vec3{random.uniform(0.3, 0.45), random.uniform(0.3, 0.45), random.uniform(0.3, 0.45)};
    box.pose.position =
        Vec3(gap * (double(x) + 0.5) - room, 0.8 + gap * double(y), gap * (double(z) + 0.5) - room);
    const Vec3 axis{random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)};
    box.pose.rotation = Quat(Eigen::AngleAxisd(random.uniform(0, kPi), axis.normalized()));
    scene.boxes.push_back(box);
  }
  return scene;
}

namespace {

class OurPile : public PileEngine {
 public:
  explicit OurPile(const PileScene& scene) : world_(settings()) {
    BodySettings body;
    body.kind = BodyKind::Static;
    body.surface.friction = scene.friction;
    for (const PileScene::Body& wall : scene.walls) {
      body.shape = makeBox(wall.half);
      body.pose = wall.pose;
      world_.addBody(body);
    }
    first_ = world_.bodyCount();
    body.kind = BodyKind::Dynamic;
    for (const PileScene::Body& box : scene.boxes) {
      body.shape = makeBox(box.half);
      body.pose = box.pose;
      world_.addBody(body);
    }
  }
  void step() override { world_.step(); }
  std::vector<Pose> poses() const override {
    std::vector<Pose> poses;
    for (uint32_t i = first_; i < world_.bodyCount(); ++i) poses.push_back(world_.pose(BodyIndex(i)));
    return poses;
  }
  size_t contacts() const override { return world_.report().contacts; }
  const Simulation& world() const { return world_; }

 private:
  static SimulationSettings settings() {
    SimulationSettings settings;
    settings.sleep = false;
    return settings;
  }
  Simulation world_;
  uint32_t first_ = 0;
};

// Overlaps of a pose of the pile, found by the same test for everyone.
struct Penetration {
  double mean = 0, deepest = 0;  // over overlapping pairs, of their deepest point
};
Penetration penetration(const PileScene& scene, const std::vector<Pose>& poses) {
  SimulationSettings settings;
  settings.slop = 0;
  Simulation world(settings);
  BodySettings body;
  body.kind = BodyKind::Static;
  for (const PileScene::Body& wall : scene.walls) {
    body.shape = makeBox(wall.half);
    body.pose = wall.pose;
    world.addBody(body);
  }
  body.kind = BodyKind::Dynamic;
  for (size_t i = 0; i < poses.size(); ++i) {
    body.shape = makeBox(scene.boxes[i].half);
    body.pose = poses[i];
    world.addBody(body);
  }
  Penetration result;
  const std::vector<Simulation::Overlap> overlaps = world.overlaps();
  for (const Simulation::Overlap& overlap : overlaps) {
    result.mean += overlap.depth / double(overlaps.size());
    result.deepest = std::max(result.deepest, overlap.depth);
  }
  return result;
}

// Steps a second once the heaps lie: the fastest of several runs of some steps. Two engines take turns, so
// that a machine that is busy for a while slows both; the second may be missing.
std::array<double, 2> stepsPerSecond(PileEngine& first, PileEngine* second, double seconds) {
  constexpr int kSteps = 10;
  std::array<double, 2> best{};
  double spent = 0;
  for (int run = 0; run < 5 || spent < seconds; ++run) {
    for (const size_t k : {0, 1}) {
      PileEngine* engine = k == 0 ? &first : second;
      if (!engine) continue;
      const Stopwatch watch;
      for (int i = 0; i < kSteps; ++i) engine->step();
      const double taken = watch.seconds();
      best[k] = std::max(best[k], kSteps / taken);
      spent += taken;
    }
  }
  return best;
}

constexpr int kSettle = 240;  // steps until the heap lies

void addPile(Report& report, const Options& options, const std::string& name, size_t boxes, bool withPeer) {
  if (!options.wants(name)) return;
  const PileScene scene = makePile(boxes);
  double alone = 0;
  std::unique_ptr<PileEngine> peer;
  double peerRate = 0;
  Penetration theirs;
  if (withPeer) {
    peer.reset(makeBulletPile(scene));
    if (!peer) {
      report.missingPeer("Bullet dynamics");
    } else {
      for (int i = 0; i < kSettle; ++i) peer->step();
      theirs = penetration(scene, peer->poses());
    }
  }
  for (const unsigned threads : options.threadCounts()) {
    const ThreadLimit limit(threads);
    OurPile ours(scene);
    for (int i = 0; i < kSettle; ++i) ours.step();
    const Penetration own = penetration(scene, ours.poses());
    const auto [rate, peerNow] = stepsPerSecond(ours, peer.get(), options.seconds);
    if (peer) peerRate = peerNow;
    Row row{
        .name = name, .size = boxes, .threads = threads, .metric = "rate", .value = rate, .unit = "steps/s"};
    if (peer) {
      row.peer = "Bullet 3, one thread";
      row.peerValue = peerRate;
      if (threads == 1) row.bar = 2.5 * peerRate;
    }
    if (threads == 1) alone = rate;
    report.add(row);
    if (threads != 1) {
      if (withPeer && alone > 0) {
        report.add({.name = name + "/threads",
                    .size = boxes,
                    .threads = threads,
                    .metric = "rate",
                    .value = rate / alone,
                    .unit = "x of one thread",
                    .bar = 1.6});
      }
      continue;
    }
    report.add({.name = name + "/contact-rate",
                .size = boxes,
                .metric = "rate",
                .value = rate * double(ours.contacts()),
                .unit = "contacts/s"});
    if (!withPeer) continue;
    const auto compare = [&](const char* what, double value, double other, const char* unit, bool barred) {
      Row line{.name = name + "/" + what, .size = boxes, .metric = "count", .value = value, .unit = unit};
      if (peer) {
        line.peer = "Bullet 3, one thread";
        line.peerValue = other;
        if (barred) line.bar = other;
      }
      report.add(line);
    };
    compare("contacts", double(ours.contacts()), peer ? double(peer->contacts()) : 0, "contacts", false);
    compare("mean-penetration", 1000 * own.mean, 1000 * theirs.mean, "mm", true);
    compare("max-penetration", 1000 * own.deepest, 1000 * theirs.deepest, "mm", true);
  }
}

}  // namespace

SUNDER_BENCH("rigid", boxPile) { addPile(report, options, "pile/4000boxes", 4000, true); }

SUNDER_BENCH("rigid", pileGrowth) {
  for (size_t boxes = 250; boxes <= std::min<size_t>(16000, options.largest); boxes *= 2)
    addPile(report, options, "pile/growth", boxes, false);
}

}  // namespace sunder::bench
