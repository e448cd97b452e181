// Every way to find overlapping leaves on every scene of the source, at the frame with most pairs
// ("experiment/SCENE/..."): its own breadth-first search with depth-steps 1 to 4 and entry levels 0 to 5, and
// what it is compared with. One thread, binary trees; our production search has trees of arity 8. All must
// find the same number of pairs. Frontiers are counted in node pairs of 8 bytes.
#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/spatial/tree/radix_tree.h"

#include "bench/lbvh_pairs.h"
#include "bench/published/depth_first.h"
#include "bench/published/front_tracking.h"
#include "bench/published/leaf_versus_tree.h"
#include "bench/published/sweep_and_prune.h"
#include "bench/scene_frame.h"
#include "bench/variant_rows.h"

#include <string>
#include <vector>

namespace sunder::bench {
namespace {

using namespace spatial;
using namespace published;

std::vector<Box3f> leafBoxes(const OiTree& tree) {
  std::vector<Box3f> boxes(tree.leafCount());
  for (uint32_t leaf = 0; leaf < tree.leafCount(); ++leaf)
    boxes[tree.primitive(leaf)] = tree.box(tree.layout().leafLevel(), leaf);
  return boxes;
}

class SceneExperiment {
 public:
  SceneExperiment(Report& report, const Options& options, SceneKind kind)
      : report_(report),
        options_(options),
        base_(std::string("experiment/") + name(kind)),
        scene_(kind, {.arity = 2}) {
    scene_.show(scene_.frameOfMostPairs());
    VariantPairs found;
    traverse(scene_.jobs(), {}, found);
    pairs_ = found.pairs().size();
    size_ = scene_.scene().triangleCount();
  }

  void run() {
    builds();
    breadthFirst();
    baselines();
    frontTracking();  // moves the bodies
  }

 private:
  void builds() {
    size_t nodes = 0;
    for (const OiTree& tree : scene_.trees()) nodes += tree.layout().nodeCount();
    row("/pairs", "count", double(pairs_), "pairs");
    row("/jobs", "count", double(scene_.jobs().size()), "jobs");
    row("/node-bytes", "memory", 24.0 * double(nodes), "B");
    row("/pair-bytes", "memory", double(sizeof(PrimitivePair) * pairs_), "B");
    row("/refit", "time", 1e3 * bestSeconds(options_, [&] { scene_.refit(); }), "ms");
    row("/build", "time", 1e3 * bestSeconds(options_, [&] { scene_.build(); }), "ms");
  }

  void breadthFirst(const std::string& variant, const TraversalSettings& settings,
                    std::span<const TreePair> jobs) {
    VariantPairs found;  // a new one each time: it tells how much memory it holds
    const double seconds = bestSeconds(options_, [&] { traverse(jobs, settings, found); });
    add(variant, seconds, found.statistics, found.pairs().size());
  }

  void breadthFirst() {
    for (const TestTime test : {TestTime::OnPop, TestTime::OnPush})
      for (uint32_t mu = 1; mu <= 4; ++mu)
        breadthFirst((test == TestTime::OnPop ? "pop-mu" : "push-mu") + std::to_string(mu),
                     {.step = mu, .test = test}, scene_.jobs());
    for (uint32_t entry = 1; entry <= 5; ++entry)
      breadthFirst("pop-mu2-entry" + std::to_string(entry),
                   {.step = 2, .entryLevel = entry, .test = TestTime::OnPop}, scene_.jobs());
    // Without a top-level tree, as the source does it.
    std::vector<TreePair> all;
    const std::span<const OiTree> trees = scene_.trees();
    for (size_t a = 0; a < trees.size(); ++a)
      for (size_t b = scene_.scene().bodies[a].self ? a : a + 1; b < trees.size(); ++b)
        all.push_back({&trees[a], &trees[b]});
    breadthFirst("pop-mu2-all-pairs", {.step = 2, .test = TestTime::OnPop}, all);
  }

  void baselines() {
    GrowingArray<PrimitivePair> list;
    const auto emit = [&](uint32_t a, uint32_t b) { list.push({a, b}); };
    uint64_t tests = 0;
    double seconds = bestSeconds(options_, [&] {
      list.clear();
      tests = 0;
      for (const TreePair& job : scene_.jobs()) tests += depthFirstPairs(job, emit).boxTests;
    });
    add("depth-first", seconds, {.boxTests = tests}, list.size());

    VariantPairs found;
    seconds = bestSeconds(options_, [&] { leafVersusTree(scene_.jobs(), found); });
    add("leaf-versus-tree", seconds, found.statistics, found.pairs().size());

    sweep();

    std::vector<RadixTree> radix(scene_.trees().size());
    std::vector<std::vector<Box3f>> boxes;
    for (const OiTree& tree : scene_.trees()) boxes.push_back(leafBoxes(tree));
    row("/lbvh-build", "time",
        1e3 * bestSeconds(options_,
                          [&] {
                            for (size_t b = 0; b < radix.size(); ++b) buildRadixTree(radix[b], boxes[b]);
                          }),
        "ms");
    const auto radixOf = [&](const OiTree* tree) -> const RadixTree& {
      return radix[size_t(tree - scene_.trees().data())];
    };
    seconds = bestSeconds(options_, [&] {
      list.clear();
      tests = 0;
      for (const TreePair& job : scene_.jobs()) tests += radixPairs(radixOf(job.a), radixOf(job.b), emit);
    });
    add("lbvh", seconds, {.boxTests = tests}, list.size());

    for (const LeafOrder order : {LeafOrder::Morton, LeafOrder::Selection}) {
      const std::string variant = order == LeafOrder::Morton ? "production" : "production-selection";
      SceneFrame wide(scene_.scene().kind, {.order = order});
      wide.show(scene_.frame());
      row("/" + variant + "-build", "time", 1e3 * bestSeconds(options_, [&] { wide.build(); }), "ms");
      PairList pairs;
      seconds = bestSeconds(options_, [&] { overlapPairs(wide.jobs(), pairs); });
      const TraversalStatistics& s = pairs.statistics();
      add(variant, seconds, {s.boxTests, 1, s.peakFrontier, s.frontierBytes}, pairs.size());
    }
  }

  void sweep() {
    std::vector<std::vector<Box3f>> boxes;
    for (const OiTree& tree : scene_.trees()) boxes.push_back(leafBoxes(tree));
    const auto boxesOf = [&](const OiTree* tree) -> const std::vector<Box3f>& {
      return boxes[size_t(tree - scene_.trees().data())];
    };
    VariantPairs found;
    size_t count = 0;
    uint64_t tests = 0;
    const double seconds = bestSeconds(options_, [&] {
      count = 0;
      tests = 0;
      for (const TreePair& job : scene_.jobs()) {
        if (job.a == job.b)
          sweepAndPrune(boxesOf(job.a), found);
        else
          sweepAndPrune(boxesOf(job.a), boxesOf(job.b), found);
        count += found.pairs().size();
        tests += found.statistics.boxTests;
      }
    });
    add("sweep-and-prune", seconds, {.boxTests = tests}, count);
  }

  // From one frame to the next and back. The jobs stay those of the first frame, as a front needs them.
  void frontTracking() {
    const uint32_t here = scene_.frame(), next = here > 0 ? here - 1 : 1;
    FrontTracker tracker;
    VariantPairs found;
    const double first = bestSeconds(
        options_, [&] { tracker.update(found); }, [&] { tracker.reset(scene_.jobs()); });
    add("front-first", first, found.statistics, found.pairs().size());
    const double update = bestSeconds(
        options_, [&] { tracker.update(found); },
        [&] {
          scene_.move(scene_.frame() == here ? next : here);
          scene_.refit();
        });
    VariantPairs check;
    traverse(scene_.jobs(), {}, check);
    addVariant(report_, base_ + "/front-next", size_, 1, update, found.statistics);
    row("/front-next/front", "count", double(tracker.statistics().frontSize), "pairs");
    row("/front-next/front-bytes", "memory", double(tracker.statistics().bytes), "B");
    expect("front-next", found.pairs().size(), check.pairs().size());
  }

  void add(const std::string& variant, double seconds, const VariantStatistics& statistics, size_t pairs) {
    expect(variant, pairs, pairs_);
    addVariant(report_, base_ + "/" + variant, size_, 1, seconds, statistics);
  }
  void row(const std::string& what, const char* metric, double value, const char* unit) {
    addRow(report_, base_ + what, size_, 1, metric, value, unit);
  }
  void expect(const std::string& variant, size_t found, size_t wanted) const {
    if (found != wanted)
      throw Error(ErrorKind::Numerical, base_ + "/" + variant + " finds " + std::to_string(found) +
                                            " pairs, others find " + std::to_string(wanted));
  }

  Report& report_;
  const Options& options_;
  std::string base_;
  SceneFrame scene_;
  size_t pairs_ = 0, size_ = 0;
};

}  // namespace

SUNDER_BENCH("experiments", sceneVariants) {
  const ThreadLimit limit(1);
  for (const SceneKind kind : kAllScenes)
    if (mayWant(options, std::string("experiment/") + name(kind)))
      SceneExperiment(report, options, kind).run();
}

}  // namespace sunder::bench
