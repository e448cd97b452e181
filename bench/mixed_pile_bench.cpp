// pile/1000mixed: a settled pile of non-convex shapes, steps per second, next to Bullet with triangle meshes
// (Gimpact) and with convex parts (HACD). Everyone starts from the pile that our simulation settled, at rest,
// and nobody sleeps.
#include "sunder/base/parallel.h"
#include "sunder/base/stopwatch.h"

#include "bench.h"
#include "rigid_mixed.h"

#include <algorithm>

#include <fmt/format.h>

namespace sunder::bench {

namespace {

double secondsOf(rigid::Simulation& simulation, int steps) {
  const Stopwatch watch;
  for (int s = 0; s < steps; ++s) simulation.step();
  return watch.seconds() / steps;
}

std::vector<rigid::Pose> posesOf(const rigid::Simulation& simulation) {
  std::vector<rigid::Pose> poses;
  for (uint32_t i = kTrayBodies; i < simulation.bodyCount(); ++i)
    poses.push_back(simulation.pose(rigid::BodyIndex{i}));
  return poses;
}

void addPenetration(Report& report, const std::string& name, size_t size, const std::string& who,
                    const Penetration& p) {
  report.add({.name = name + "/depth-mean/" + who,
              .size = size,
              .metric = "count",
              .value = p.mean * 1e3,
              .unit = "mm"});
  report.add({.name = name + "/depth-max/" + who,
              .size = size,
              .metric = "count",
              .value = p.largest * 1e3,
              .unit = "mm"});
}

}  // namespace

SUNDER_BENCH("rigid", mixedPile) {
  const std::string name = "pile/1000mixed";
  if (!options.wants(name)) return;
  const uint32_t count = uint32_t(std::min<size_t>(1000, options.largest));
  MixedScene scene = makeMixedScene(count);
  rigid::SimulationSettings settings;
  settings.sleep = false;
  {
    rigid::Simulation fall = simulate(scene, settings);
    for (int s = 0; s < 300; ++s) fall.step();
    const std::vector<rigid::Pose> poses = posesOf(fall);
    for (size_t i = 0; i < poses.size(); ++i) scene.bodies[i].pose = poses[i];
  }
  struct Peer {
    std::string name;
    PeerPile pile;
  };
  std::vector<Peer> peers;
#ifdef SUNDER_HAS_BULLET_DYNAMICS
  // A step of triangle meshes takes seconds: two tell enough.
  peers.push_back({"Bullet Gimpact", runBullet(scene, BulletMesh::Gimpact, settings.timeStep, 1, 2)});
  peers.push_back({"Bullet HACD", runBullet(scene, BulletMesh::Hulls, settings.timeStep, 10, 20)});
#else
  report.missingPeer("Bullet");
#endif
  for (const unsigned threads : options.threadCounts()) {
    const ThreadLimit limit(threads);
    rigid::Simulation simulation = simulate(scene, settings);
    secondsOf(simulation, 10);
    double best = 1e300;
    for (int k = 0; k < 3; ++k) best = std::min(best, secondsOf(simulation, 20));
    for (const Peer& peer : peers)
      report.add({.name = name,
                  .size = count,
                  .threads = threads,
                  .metric = "rate",
                  .value = 1 / best,
                  .unit = "steps/s",
                  .peer = peer.name,
                  .peerValue = 1 / peer.pile.secondsPerStep,
                  .bar = threads == 1 ? std::optional(3 / peer.pile.secondsPerStep) : std::nullopt});
    if (peers.empty())
      report.add({.name = name,
                  .size = count,
                  .threads = threads,
                  .metric = "rate",
                  .value = 1 / best,
                  .unit = "steps/s"});
    if (threads != 1) continue;
    report.add({.name = name + "/contacts",
                .size = count,
                .metric = "count",
                .value = double(simulation.report().contacts),
                .unit = "contacts",
                .peer = peers.empty() ? "" : peers[0].name,
                .peerValue = peers.empty() ? std::nullopt : std::optional(double(peers[0].pile.contacts))});
    addPenetration(report, name, count, "ours", measurePenetration(scene, posesOf(simulation)));
    for (const Peer& peer : peers)
      addPenetration(report, name, count, peer.name, measurePenetration(scene, peer.pile.poses));
  }
}

}  // namespace sunder::bench
