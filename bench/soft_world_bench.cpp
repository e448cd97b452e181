// Steps of a world with a box in a cage of ten tetrahedra that falls on the floor, its faces divided into a
// thousand triangles to a million: what a step takes must not depend on them (acceptance
// check 18 of the method). All worlds are made first and step in turns, so that what else the machine does
// falls on all of them alike.
#include "sunder/base/parallel.h"
#include "sunder/meshio/mesh_file.h"
#include "sunder/shapes/wall.h"
#include "sunder/soft/cage/auto_cage.h"
#include "sunder/world/parts/soft_part.h"
#include "sunder/world/world.h"

#include "bench/bench.h"
#include "bench/scratch_folder.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <vector>

#include <fmt/format.h>

namespace sunder::bench {

namespace {

constexpr int kFrames = 40, kTurns = 12;

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

SUNDER_BENCH("soft", physicsAgainstTriangles) {
  if (!options.wants("physics/triangles") && !options.wants("physics/slope")) return;
  const ScratchFolder folder;
  const std::filesystem::path cage = folder / "cage.msh";
  meshio::MeshFile file;
  file.volume = soft::makeCageAround(shapes::makeBox({.size = Vec3::Constant(0.17)}), {.tets = 10}).rest;
  meshio::writeMesh(cage, file);
  struct Case {
    size_t triangles = 0;
    std::string start;
    std::unique_ptr<world::World> world;
    double best = std::numeric_limits<double>::infinity();
  };
  std::vector<Case> cases;
  for (const uint32_t cells : {9u, 29u, 91u, 289u}) {
    const size_t triangles = 12 * size_t(cells) * cells;
    if (triangles > options.largest) continue;
    const std::string text = fmt::format(
        R"({{"world": {{"frames": {}}}, "bodies": [{{"id": "floor", "shape": {{"plane": {{}}}}, "kind": "static"}},
          {{"id": "box", "kind": "deformable", "position": [0, 0.16, 0],
            "rotation": {{"degrees": [20, 0, 30]}},
            "shape": {{"make": "box", "with": {{"width": 0.16, "height": 0.16, "depth": 0.16, "nx": {}, "ny": {}, "nz": {}}}}},
            "soft": {{"young": "20 kPa", "cage": "{}", "spheres": 0.02}}}}]}})",
        kFrames, cells, cells, cells, cage.string());
    Case one;
    one.triangles = triangles;
    one.world = std::make_unique<world::World>(
        world::readScene(world::SceneDocument::parse(text, "bench.json", ".", {})));
    one.start = one.world->save();
    cases.push_back(std::move(one));
  }
  const ThreadLimit limit(1);
  for (int turn = 0; turn < kTurns; ++turn)
    for (Case& c : cases) {
      c.world->load(c.start, "start");
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < kFrames; ++i) c.world->advance();
      c.best = std::min(c.best, secondsSince(start));
    }
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const Case& c : cases) {
    report.add({.name = "physics/triangles",
                .size = c.triangles,
                .metric = "time",
                .value = 1e3 * c.best / kFrames,
                .unit = "ms a frame"});
    const auto& spheres = c.world->find<world::SoftPart>()->contacts().spheres();
    report.add({.name = "physics/spheres",
                .size = c.triangles,
                .metric = "count",
                .value = double(spheres.size()),
                .unit = "collision spheres"});
    least = std::min(least, c.best);
    most = std::max(most, c.best);
  }
  if (cases.size() > 1)
    report.add({.name = "physics/slope",
                .size = cases.back().triangles,
                .metric = "count",
                .value = 100 * (most / least - 1),
                .unit = "% from the fastest to the slowest",
                .bar = 5});
}

}  // namespace sunder::bench
