// Neighbours of particles. `neighbours/1M` is the case that counts: a million points, uniformly random in a
// cube, 28 neighbours each on average, grid built and all rows written. `neighbours/build`, `/search` and
// `/sorted` are its parts. `spheres/...` compares the methods for 216,000 spheres of radius 0.075 in a cube
// of 9.3 (the prototype of the specification), `spheres/tests-...` their box tests a sphere. `nearest/...`
// finds the 8 nearest of a million points.
#include "sunder/base/parallel.h"
#include "sunder/base/random.h"
#include "sunder/spatial/points/k_nearest.h"
#include "sunder/spatial/points/point_grid.h"
#include "sunder/spatial/points/radix_traversal.h"
#include "sunder/spatial/points/sphere_neighbours.h"

#include "bench.h"

#include <cmath>
#include <string>
#include <vector>

namespace sunder::bench {
namespace {

using namespace spatial;

std::vector<Vec3> randomCloud(size_t n, double edge) {
  RandomStream random(7);
  std::vector<Vec3> points(n);
  for (Vec3& p : points) p = random.pointIn({Vec3::Zero(), Vec3::Constant(edge)});
  return points;
}

void addTime(Report& report, const std::string& name, size_t n, unsigned threads, double seconds) {
  report.add({.name = name,
              .size = n,
              .threads = threads,
              .metric = "time",
              .value = 1e9 * seconds / double(n),
              .unit = "ns/point"});
}

}  // namespace

SUNDER_BENCH("spatial", pointGridNeighbours) {
  for (const size_t n : {size_t(100'000), size_t(1'000'000), size_t(10'000'000)}) {
    if (n > options.largest) continue;
    const std::string size = n == 100'000 ? "100k" : n == 1'000'000 ? "1M" : "10M";
    if (!options.wants("neighbours/" + size) && !options.wants("neighbours/build")) continue;
    const std::vector<Vec3> points = randomCloud(n, 1);
    const double radius = std::cbrt(28.0 / double(n) / (4.0 / 3.0 * kPi));
    for (unsigned threads : options.threadCounts()) {
      const ThreadLimit limit(threads);
      PointGrid grid;
      NeighbourRows rows;
      addTime(report, "neighbours/" + size, n, threads, bestSeconds(options, [&] {
                grid.build(points, radius);
                grid.neighbours(rows);
              }));
      if (n != 1'000'000) continue;
      addTime(report, "neighbours/build", n, threads,
              bestSeconds(options, [&] { grid.build(points, radius); }));
      addTime(report, "neighbours/search", n, threads, bestSeconds(options, [&] { grid.neighbours(rows); }));
      addTime(report, "neighbours/sorted", n, threads,
              bestSeconds(options, [&] { grid.neighbours(rows, {.sorted = true}); }));
    }
  }
}

SUNDER_BENCH("spatial", sphereMethods) {
  if (!options.wants("spheres/")) return;
  const size_t n = 216'000;
  if (n > options.largest) return;
  const std::vector<Vec3> centres = randomCloud(n, 9.3);
  const std::vector<double> radii(n, 0.075);
  const SphereSet spheres{centres, radii};
  for (unsigned threads : options.threadCounts()) {
    const ThreadLimit limit(threads);
    NeighbourRows rows;
    PointGrid grid;
    addTime(report, "spheres/grid", n, threads, bestSeconds(options, [&] {
              grid.build(centres, 0.15);
              grid.neighbours(rows);
            }));
    SphereNeighbours search;
    addTime(report, "spheres/tree-8", n, threads, bestSeconds(options, [&] { search.find(spheres, rows); }));
    std::vector<Box3f> boxes;
    sphereBoxes(spheres, boxes);
    RadixTree tree;
    for (RadixBuild build : {RadixBuild::TopDown, RadixBuild::BottomUp})
      addTime(report, build == RadixBuild::TopDown ? "spheres/radix-build" : "spheres/radix-build-1pass", n,
              threads, bestSeconds(options, [&] { buildRadixTree(tree, boxes, {.build = build}); }));
    for (RadixStart start : {RadixStart::Root, RadixStart::Leaf}) {
      const std::string from = start == RadixStart::Root ? "root" : "leaf";
      RadixCount count;
      for (RadixWalk walk : {RadixWalk::Stack, RadixWalk::SiblingTrail, RadixWalk::LevelTrail}) {
        const char* names[] = {"stack", "sibling-trail", "level-trail"};
        addTime(report, "spheres/radix-" + from + "-" + names[size_t(walk)], n, threads,
                bestSeconds(options, [&] {
                  count = radixNeighbours(tree, spheres, rows, {.walk = walk, .start = start});
                }));
      }
      if (threads != 1) continue;
      report.add({.name = "spheres/tests-" + from,
                  .size = n,
                  .metric = "time",
                  .value = double(count.boxTests) / double(n),
                  .unit = "box tests/sphere"});
    }
  }
}

SUNDER_BENCH("spatial", nearestPoints) {
  const size_t n = 1'000'000;
  if (!options.wants("nearest/") || n > options.largest) return;
  const std::vector<Vec3> points = randomCloud(n, 1);
  for (unsigned threads : options.threadCounts()) {
    const ThreadLimit limit(threads);
    NearestPoints result;
    for (NearestMethod method : {NearestMethod::Grid, NearestMethod::Tree})
      addTime(report, method == NearestMethod::Grid ? "nearest/grid" : "nearest/tree", n, threads,
              bestSeconds(options, [&] {
                kNearest(points, points, 8, result, {.method = method, .skipSame = true});
              }));
  }
}

}  // namespace sunder::bench
