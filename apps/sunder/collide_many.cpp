#include "collide_many.h"

#include "sunder/base/file.h"
#include "sunder/base/memory_limit.h"
#include "sunder/base/work.h"
#include "sunder/spatial/pairs/narrow_phase.h"
#include "sunder/spatial/pairs/top_level.h"
#include "sunder/spatial/tree/batch_build.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace sunder::cli {

using namespace spatial;

geometry::TriMesh readTriangles(const std::string& path, const Settings& settings) {
  const ProfileScope scope("read");
  return geometry::toTriMesh(readSurface(path, settings));
}

void refusePairs(const Error& error, const std::string& file, uint64_t most, uint64_t count) {
  if (error.kind() != ErrorKind::Limit) throw error;
  std::string message = error.message();
  if (count > 0)
    message = fmt::format("{}{} pairs of boxes overlap, which take {}; {} are allowed",
                          count > kPairsCounted ? "more than " : "", std::min(count, kPairsCounted),
                          bytesWords(kBytesAPair * double(count)), most);
  throw Error(error.kind(), message)
      .inFile(file)
      .hint(
          "are there faces in one place? 'sunder clean' removes doubles; --budget (or --max-pairs) raises "
          "the limit");
}

namespace {

// Two meshes whose boxes overlap, or one with itself.
struct MeshPair {
  uint32_t a = 0, b = 0;
  size_t boxPairs = 0;
  std::vector<PrimitivePair> triangles;  // that meet
};

class ManyMeshes {
 public:
  ManyMeshes(const CollideOptions& options, const Settings& settings) : options_(options) {
    Work work("reading meshes", options.meshes.size(), "meshes");
    for (const std::string& path : options.meshes) {
      meshes_.push_back(readTriangles(path, settings));
      work.step();
    }
    trees_.resize(meshes_.size());
  }

  void build() {
    const ProfileScope scope("build");
    const Work work("building trees");
    std::vector<BatchItem> items;
    for (size_t i = 0; i < meshes_.size(); ++i)
      items.push_back({&trees_[i], {meshes_[i].positions, meshes_[i].triangles}});
    BatchBuilder().build(items, {.margin = 0.5 * options_.tolerance});
  }

  void traverse() {
    const ProfileScope scope("traverse");
    const Work work("looking for pairs");
    std::vector<TopLevelBody> bodies;
    for (const OiTree& tree : trees_) bodies.push_back({.tree = &tree, .self = options_.self});
    top_.update(bodies);
    try {
      overlapPairs(top_.jobs(), boxes_, options_.maxPairs);
    } catch (const Error& e) {
      const bool counted = e.kind() == ErrorKind::Limit;
      refusePairs(e, options_.a(), options_.maxPairs,
                  counted ? countOverlapPairs(top_.jobs(), kPairsCounted) : 0);
    }
  }

  void testTriangles() {
    const ProfileScope scope("triangles");
    Work work("testing triangles", top_.jobs().size(), "pairs of meshes");
    const auto neighbours = options_.neighbours == "exact" ? Neighbours::Exact : Neighbours::Skip;
    for (size_t job = 0; job < top_.jobs().size(); ++job) {
      const PrimitivePair bodies = top_.bodies()[job];
      MeshPair pair{.a = bodies.a, .b = bodies.b, .boxPairs = boxes_.pairs(job).size(), .triangles = {}};
      pair.triangles = bodies.a == bodies.b
                           ? selfIntersectingPairs(set(bodies.a), boxes_.pairs(job), neighbours)
                           : intersectingPairs(set(bodies.a), set(bodies.b), boxes_.pairs(job));
      pairs_.push_back(std::move(pair));
      work.step();
    }
  }

  void write() const {
    std::string text = "mesh_a,mesh_b,a,b\n";
    for (size_t job = 0; job < pairs_.size(); ++job) {
      const MeshPair& pair = pairs_[job];
      const auto rows =
          options_.tolerance > 0 ? boxes_.pairs(job) : std::span<const PrimitivePair>(pair.triangles);
      for (const PrimitivePair& p : rows)
        fmt::format_to(std::back_inserter(text), "{},{},{},{}\n", pair.a, pair.b, p.a, p.b);
    }
    writeFile(options_.output, text);
  }

  size_t meetingTriangles() const {
    return std::accumulate(pairs_.begin(), pairs_.end(), size_t(0),
                           [](size_t sum, const MeshPair& pair) { return sum + pair.triangles.size(); });
  }

  Json json(Profiler& profiler) const {
    size_t triangles = 0, treeBytes = 0;
    for (size_t i = 0; i < meshes_.size(); ++i) {
      triangles += meshes_[i].triangles.size();
      treeBytes += trees_[i].bytes();
    }
    Json pairs = Json::array();
    for (const MeshPair& pair : pairs_)
      pairs.push_back({{"a", pair.a},
                       {"b", pair.b},
                       {"box_pairs", pair.boxPairs},
                       {"triangle_pairs", pair.triangles.size()}});
    return {{"meshes", options_.meshes},
            {"self", options_.self},
            {"triangles", triangles},
            {"tolerance", options_.tolerance},
            {"mesh_pairs", std::move(pairs)},
            {"box_pairs", boxes_.size()},
            {"triangle_pairs", meetingTriangles()},
            {"box_tests", boxes_.statistics().boxTests},
            {"tree_bytes", treeBytes},
            {"pair_bytes", boxes_.bytes()},
            {"seconds", stagesJson(profiler)}};
  }

  void tell(const Settings& settings) const {
    for (const MeshPair& pair : pairs_)
      if (!pair.triangles.empty() || (options_.tolerance > 0 && pair.boxPairs > 0))
        say(settings,
            fmt::format("{}{}: {} pairs of boxes, {} pairs of triangles that meet", options_.meshes[pair.a],
                        pair.a == pair.b ? " with itself" : " and " + options_.meshes[pair.b], pair.boxPairs,
                        pair.triangles.size()));
    say(settings, fmt::format("{} meshes: {} pairs of boxes, {} pairs of triangles that meet", meshes_.size(),
                              boxes_.size(), meetingTriangles()));
  }

 private:
  TriangleSet set(uint32_t mesh) const { return {meshes_[mesh].positions, meshes_[mesh].triangles}; }

  const CollideOptions& options_;
  std::vector<geometry::TriMesh> meshes_;
  std::vector<OiTree> trees_;
  TopLevel top_;
  PairList boxes_;
  std::vector<MeshPair> pairs_;
};

}  // namespace

int collideMany(const CollideOptions& options, const Settings& settings, Profiler& profiler) {
  ManyMeshes meshes(options, settings);
  meshes.build();
  meshes.traverse();
  meshes.testTriangles();
  if (!options.output.empty()) meshes.write();
  if (settings.json) printJson(meshes.json(profiler));
  meshes.tell(settings);
  return 0;
}

}  // namespace sunder::cli
