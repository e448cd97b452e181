// The source's traversal variants on its test sheet (section "variant/..."), and whole frames of its scenes
// ("scene/..."). Every variant of the sheet gives four rows: time, box tests, passes and the frontier's peak;
// every scene the mean over sampled frames of each stage with its standard deviation, pairs and memory.
// Scenes on which all variants run are in scene_variants_bench.cpp.
#include "sunder/base/parallel.h"
#include "sunder/spatial/pairs/overlap_pairs.h"

#include "bench/published/depth_first.h"
#include "bench/published/front_tracking.h"
#include "bench/published/leaf_versus_tree.h"
#include "bench/published/sweep_and_prune.h"
#include "bench/published/traversal.h"
#include "bench/published/tree_memory.h"
#include "bench/scene_frame.h"
#include "bench/variant_rows.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

namespace sunder::bench {
namespace {

using namespace spatial;
using namespace published;

struct Sheet {
  geometry::TriMesh mesh = makeTestSheet(214);
  OiTree binary, common, selection, wide;
  double margin = 0.002;

  TriangleLeaves leaves() const { return {mesh.positions, mesh.triangles}; }
  Sheet() {
    OiTreeBuilder builder;
    builder.build(binary, leaves(), {.arity = 2, .commonScale = false, .margin = margin});
    builder.build(common, leaves(), {.arity = 2, .margin = margin});
    builder.build(selection, leaves(), {.arity = 2, .order = LeafOrder::Selection, .margin = margin});
    builder.build(wide, leaves(), {.margin = margin});
  }
};

void breadthFirst(Report& report, const Options& options, const std::string& name, const OiTree& tree,
                  const TraversalSettings& settings) {
  const TreePair job{&tree, &tree};
  for (unsigned threads : options.threadCounts()) {
    const ThreadLimit limit(threads);
    VariantPairs result;
    const double seconds = bestSeconds(options, [&] { traverse({&job, 1}, settings, result); });
    addVariant(report, name, tree.leafCount(), threads, seconds, result.statistics);
  }
}

// Shortest of a few runs of one frame: the deviation is then that of the scene, not of the machine.
constexpr int kRunsOfAFrame = 3;
constexpr uint32_t kSampledFrames = 16;

void measureScene(Report& report, const Options& options, SceneKind kind) {
  const std::string base = std::string("scene/") + name(kind);
  if (!mayWant(options, base)) return;
  SceneFrame scene(kind, {});
  const size_t size = scene.scene().triangleCount();
  for (unsigned threads : options.threadCounts()) {
    const ThreadLimit limit(threads);
    PairList pairs;
    Series build, refit, list, search, frame, count;
    size_t bytes = 0;
    for (uint32_t sample = 0; sample < kSampledFrames; ++sample) {
      const uint32_t at = scene.sample(sample, kSampledFrames);
      if (sample == 0) {
        scene.show(at);
        overlapPairs(scene.jobs(), pairs);
      }
      scene.move(at);
      double best[4] = {1e9, 1e9, 1e9, 1e9};
      for (int run = 0; run < kRunsOfAFrame; ++run) {
        best[0] = std::min(best[0], secondsOf([&] { scene.refit(); }));
        best[1] = std::min(best[1], secondsOf([&] { scene.build(); }));
        best[2] = std::min(best[2], secondsOf([&] { scene.findJobs(); }));
        best[3] = std::min(best[3], secondsOf([&] { overlapPairs(scene.jobs(), pairs); }));
      }
      refit.add(best[0]);
      build.add(best[1]);
      list.add(best[2]);
      search.add(best[3]);
      frame.add(best[1] + best[2] + best[3]);
      count.add(double(pairs.size()));
      bytes = std::max(bytes, pairs.bytes() + scene.workBytes() + scene.treeBytes());
    }
    addSeries(report, base + "/build", size, threads, build);
    addSeries(report, base + "/refit", size, threads, refit);
    addSeries(report, base + "/top-level", size, threads, list);
    addSeries(report, base + "/traversal", size, threads, search);
    addSeries(report, base + "/frame", size, threads, frame);
    addSeries(report, base + "/pairs", size, threads, count, "count", 1, "pairs");
    addRow(report, base + "/bytes", size, threads, "memory", double(bytes), "B");
  }
}

}  // namespace

SUNDER_BENCH("experiments", variantBreadthFirst) {
  struct Case {
    std::string name;
    OiTree Sheet::*tree;
    TraversalSettings settings;
  };
  std::vector<Case> cases;
  for (const TestTime test : {TestTime::OnPop, TestTime::OnPush})
    for (uint32_t mu = 1; mu <= 4; ++mu)
      cases.push_back({(test == TestTime::OnPop ? "pop-mu" : "push-mu") + std::to_string(mu),
                       &Sheet::binary,
                       {.step = mu, .test = test}});
  cases.push_back({"push-mu2-entry5", &Sheet::binary, {.step = 2, .entryLevel = 5}});
  cases.push_back({"push-steps-3-2-1",
                   &Sheet::binary,
                   {.stepTable = {3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 2, 2, 2, 1, 1}}});
  cases.push_back({"push-mu1-limit64k", &Sheet::binary, {.frontierLimit = 1 << 16}});
  cases.push_back({"push-mu1-common-scale", &Sheet::common, {}});
  cases.push_back({"push-mu1-selection", &Sheet::selection, {}});
  cases.push_back({"push-mu1-arity8", &Sheet::wide, {}});
  std::erase_if(cases, [&](const Case& c) { return !mayWant(options, "variant/" + c.name); });
  if (cases.empty()) return;
  const Sheet sheet;
  for (const Case& c : cases) breadthFirst(report, options, "variant/" + c.name, sheet.*c.tree, c.settings);
}

SUNDER_BENCH("experiments", variantOthers) {
  const char* names[] = {"variant/depth-first",    "variant/leaf-versus-tree", "variant/sweep-and-prune",
                         "variant/front-tracking", "variant/production",       "variant/memory"};
  if (std::none_of(std::begin(names), std::end(names), [&](const char* n) { return mayWant(options, n); }))
    return;
  const Sheet sheet;
  const size_t size = sheet.mesh.triangles.size();
  const TreePair job{&sheet.binary, &sheet.binary};
  if (mayWant(options, "variant/depth-first")) {
    GrowingArray<PrimitivePair> found;
    DepthFirstStatistics statistics;
    const double seconds = bestSeconds(options, [&] {
      found.clear();
      statistics = depthFirstPairs(job, [&](uint32_t a, uint32_t b) { found.push({a, b}); });
    });
    addVariant(report, "variant/depth-first", size, 1, seconds, {statistics.boxTests, 1, 0, 0});
    addRow(report, "variant/depth-first/stack", size, 1, "count", statistics.deepestStack, "pairs");
  }
  std::vector<Box3f> boxes(size);
  for (uint32_t leaf = 0; leaf < size; ++leaf)
    boxes[sheet.binary.primitive(leaf)] = sheet.binary.box(sheet.binary.layout().leafLevel(), leaf);
  for (unsigned threads : options.threadCounts()) {
    const ThreadLimit limit(threads);
    VariantPairs result;
    if (mayWant(options, "variant/leaf-versus-tree")) {
      const double seconds = bestSeconds(options, [&] { leafVersusTree({&job, 1}, result); });
      addVariant(report, "variant/leaf-versus-tree", size, threads, seconds, result.statistics);
    }
    if (mayWant(options, "variant/sweep-and-prune")) {
      const double seconds = bestSeconds(options, [&] { sweepAndPrune(boxes, result); });
      addVariant(report, "variant/sweep-and-prune", size, threads, seconds, result.statistics);
    }
    if (mayWant(options, "variant/front-tracking")) {
      FrontTracker tracker;
      const double first = bestSeconds(
          options, [&] { tracker.update(result); },
          [&] {
            tracker.reset({&job, 1});
          });
      addVariant(report, "variant/front-tracking/first", size, threads, first, result.statistics);
      const double next = bestSeconds(options, [&] { tracker.update(result); });
      addVariant(report, "variant/front-tracking/next", size, threads, next, result.statistics);
    }
    if (mayWant(options, "variant/production")) {
      PairList pairs;
      const double seconds = bestSeconds(options, [&] { selfOverlapPairs(sheet.wide, pairs); });
      const TraversalStatistics& s = pairs.statistics();
      addVariant(report, "variant/production", size, threads, seconds,
                 {s.boxTests, 1, s.peakFrontier, s.frontierBytes});
    }
  }
  for (uint32_t arity : {2u, 8u}) {
    const TreeMemory memory = treeMemory(static_cast<uint32_t>(size), arity);
    const std::string base = "variant/memory-arity" + std::to_string(arity);
    addRow(report, base + "/implicit", size, 1, "memory", double(memory.implicitBytes), "B");
    addRow(report, base + "/padded", size, 1, "memory", double(memory.paddedBytes), "B");
  }
}

SUNDER_BENCH("experiments", variantScenes) {
  for (const SceneKind kind : kAllScenes) measureScene(report, options, kind);
}

}  // namespace sunder::bench
