// Timings that have a bar to reach ("bar/..."): the bottom-up pass alone beside memcpy, a whole rebuild, box
// tests a second, a cloth of 92 thousand triangles that folds over a ball, and 305 small bodies. A row says
// what the bar is and whether it was met. Bars are for one core of a 2-core x86-64 server of about 2020,
// where nothing else is said.
#include "sunder/base/parallel.h"
#include "sunder/spatial/pairs/overlap_pairs.h"
#include "sunder/spatial/pairs/top_level.h"
#include "sunder/spatial/tree/batch_build.h"

#include "bench/bench.h"
#include "bench/published/traversal.h"
#include "bench/scene_frame.h"
#include "bench/spatial_meshes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace sunder::bench {
namespace {

using namespace spatial;
using namespace published;

// Bytes a second that memcpy moves, read and written ones counted, when it touches `bytes` in all.
double copyRate(const Options& options, size_t bytes) {
  std::vector<char> from(bytes / 2, 1), to(bytes / 2);
  const double seconds = bestSeconds(options, [&] {
    std::memcpy(to.data(), from.data(), from.size());
    keep(to[bytes / 4]);
  });
  return double(2 * from.size()) / seconds;
}

// Leaves along a line: sorted as they are.
std::vector<Box3f> rowOfBoxes(size_t count) {
  std::vector<Box3f> boxes(count);
  for (size_t i = 0; i < count; ++i) {
    const Vec3f at(float(i), float(i % 7), float(i % 5));
    boxes[i] = {at, at + Vec3f::Ones()};
  }
  return boxes;
}

void measureBoxPass(Report& report, const Options& options, int power) {
  const size_t leaves = size_t(1) << power;
  const std::string size = "2^" + std::to_string(power);
  if (leaves > options.largest || !options.wants("bar/boxes/" + size)) return;
  const ThreadLimit limit(1);
  for (const uint32_t arity : {2u, 8u}) {
    OiTree tree;
    OiTreeBuilder builder;
    builder.build(tree, rowOfBoxes(leaves), {.arity = arity});
    const double seconds = bestSeconds(options, [&] { builder.refitInner(tree); });
    const double nodes = tree.layout().nodeCount();
    // Every node but the root is read once, every inner node written once.
    const double bytes = 24 * (nodes - 1 + nodes - double(leaves));
    const std::string name = "bar/boxes/" + size + (arity == 2 ? "" : "-arity8");
    Row rate{.name = name, .size = leaves, .metric = "rate", .value = nodes / seconds, .unit = "nodes/s"};
    if (arity == 2) rate.bar = power < 20 ? 1e9 : 0.5e9;  // with arity 8 there are 4/7 as many nodes
    report.add(rate);
    const double copy = copyRate(options, size_t(bytes));
    report.add({.name = name + "/bandwidth",
                .size = leaves,
                .metric = "rate",
                .value = bytes / seconds,
                .unit = "B/s",
                .peer = "memcpy",
                .peerValue = copy,
                .bar = 0.5 * copy});
  }
}

}  // namespace

// In the second-level cache, in the third, and in neither.
SUNDER_BENCH("spatial", barBoxPass) {
  for (const int power : {12, 16, 18, 22}) measureBoxPass(report, options, power);
}

SUNDER_BENCH("spatial", barSheet) {
  if (!options.wants("bar/rebuild") && !options.wants("bar/tests") && !options.wants("bar/sheet")) return;
  const ThreadLimit limit(1);
  const geometry::TriMesh mesh = makeTestSheet(214);
  OiTreeBuilder builder;
  OiTree binary, wide;
  for (const uint32_t arity : {2u, 8u}) {
    OiTree& tree = arity == 2 ? binary : wide;
    const TreeSettings settings{.arity = arity, .margin = 0.002};
    const double seconds = bestSeconds(options, [&] { builder.build(tree, leavesOf(mesh), settings); });
    report.add({.name = arity == 2 ? "bar/rebuild-92k/arity2" : "bar/rebuild-92k",
                .size = mesh.triangles.size(),
                .metric = "time",
                .value = 1e3 * seconds,
                .unit = "ms",
                .bar = 2.0});
  }
  const auto addRate = [&](const std::string& name, uint64_t tests, double seconds, double bar) {
    report.add({.name = name,
                .size = mesh.triangles.size(),
                .metric = "rate",
                .value = double(tests) / seconds,
                .unit = "tests/s",
                .bar = bar});
  };
  const auto addTime = [&](const std::string& name, double seconds, double bar) {
    report.add({.name = name,
                .size = mesh.triangles.size(),
                .metric = "time",
                .value = 1e3 * seconds,
                .unit = "ms",
                .bar = bar});
  };
  const TreePair job{&binary, &binary};
  for (uint32_t mu = 1; mu <= 3; ++mu) {
    VariantPairs found;
    const double seconds = bestSeconds(options, [&] { traverse({&job, 1}, {.step = mu}, found); });
    addRate("bar/tests-scalar-mu" + std::to_string(mu), found.statistics.boxTests, seconds, 80e6);
    if (mu == 1) addTime("bar/sheet/traversal-scalar-mu1", seconds, 60);
  }
  PairList pairs;
  const double seconds = bestSeconds(options, [&] { selfOverlapPairs(wide, pairs); });
  addRate("bar/tests-tiles", pairs.statistics().boxTests, seconds, 250e6);
  addTime("bar/sheet/traversal-tiles", seconds, 20);
}

SUNDER_BENCH("spatial", barClothBall) {
  if (!options.wants("bar/cloth-ball")) return;
  SceneFrame frame(SceneKind::ClothBall, {.arity = 2});
  frame.show(frame.frameOfMostPairs());
  const auto add = [&](const std::string& what, unsigned threads, double seconds, double bar) {
    report.add({.name = "bar/cloth-ball/" + what,
                .size = frame.scene().triangleCount(),
                .threads = threads,
                .metric = "time",
                .value = 1e3 * seconds,
                .unit = "ms",
                .bar = bar});
  };
  {
    const ThreadLimit limit(1);
    add("build-arity2", 1, bestSeconds(options, [&] { frame.build(); }), 2);
    VariantPairs found;
    add("traversal-scalar-mu1", 1, bestSeconds(options, [&] { traverse(frame.jobs(), {}, found); }), 60);
  }
  SceneFrame wide(SceneKind::ClothBall, {});
  wide.show(frame.frame());
  for (unsigned threads : options.threadCounts()) {
    const ThreadLimit limit(threads);
    PairList pairs;
    if (threads == 1) add("build", 1, bestSeconds(options, [&] { wide.build(); }), 2);
    add("traversal-tiles", threads, bestSeconds(options, [&] { overlapPairs(wide.jobs(), pairs); }), 20);
    // The source holds 85 MB for its 3.1 million pairs.
    report.add({.name = "bar/cloth-ball/bytes",
                .size = pairs.size(),
                .threads = threads,
                .metric = "memory",
                .value = double(wide.treeBytes() + wide.workBytes() + pairs.bytes()),
                .unit = "B",
                .bar = 85e6 * double(pairs.size()) / 3.1e6});
  }
}

SUNDER_BENCH("spatial", barNBody) {
  if (!options.wants("bar/n-body")) return;
  SceneFrame frame(SceneKind::NBody, {});
  const uint32_t crowded = frame.frameOfMostPairs();
  frame.show(crowded);
  const size_t size = frame.scene().triangleCount();
  for (unsigned threads : options.threadCounts()) {
    const ThreadLimit limit(threads);
    Row row{.name = "bar/n-body/build",
            .size = size,
            .threads = threads,
            .metric = "time",
            .value = 1e3 * bestSeconds(options, [&] { frame.build(); }),
            .unit = "ms"};
    if (threads > 1) row.bar = 3.4;
    report.add(row);
  }
  report.add({.name = "bar/n-body/root-tests",
              .size = frame.scene().bodies.size(),
              .metric = "count",
              .value = double(frame.jobs().size()),
              .unit = "tests",
              .bar = 0.05 * 46360});
  report.add({.name = "bar/n-body/top-level-tests",
              .size = frame.scene().bodies.size(),
              .metric = "count",
              .value = double(frame.top().statistics().boxTests),
              .unit = "tests"});
}

}  // namespace sunder::bench
