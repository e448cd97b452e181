// How good trees are and how long they stay so: surface area costs beside a linear BVH ("quality/..."), with
// one triangle moved away along its normal ("outlier/..."), and trees that are only refitted while their
// scene deforms beside trees that are rebuilt ("decay/...").
#include "sunder/base/parallel.h"
#include "sunder/spatial/tree/radix_tree.h"

#include "bench/scene_frame.h"
#include "bench/spatial_meshes.h"
#include "bench/variant_rows.h"

#include <string>
#include <vector>

#include <fmt/core.h>

namespace sunder::bench {
namespace {

using namespace spatial;
using namespace published;

void addCosts(Report& report, const std::string& base, const TriangleLeaves& leaves) {
  OiTree morton, selection;
  OiTreeBuilder builder;
  builder.build(morton, leaves, {.arity = 2});
  builder.build(selection, leaves, {.arity = 2, .order = LeafOrder::Selection});
  std::vector<Box3f> boxes(morton.leafCount());
  for (uint32_t leaf = 0; leaf < morton.leafCount(); ++leaf)
    boxes[morton.primitive(leaf)] = morton.box(morton.layout().leafLevel(), leaf);
  RadixTree linear;
  buildRadixTree(linear, boxes);
  const double reference = surfaceAreaCost(linear);
  const auto add = [&](const char* what, double cost) {
    report.add({.name = base + what,
                .size = boxes.size(),
                .metric = "count",
                .value = cost,
                .unit = "cost",
                .peer = "linear BVH",
                .peerValue = reference});
  };
  add("/morton", surfaceAreaCost(morton));
  add("/selection", surfaceAreaCost(selection));
}

Vec3 normalOf(const geometry::TriMesh& mesh, size_t triangle) {
  const geometry::Triangle& t = mesh.triangles[triangle];
  const Vec3 a = mesh.positions[t[0]], b = mesh.positions[t[1]], c = mesh.positions[t[2]];
  return (b - a).cross(c - a).normalized();
}

// The triangle whose normal is nearest to a direction, cut loose and moved along its normal by so many
// diagonals of the mesh's box.
geometry::TriMesh withOutlier(geometry::TriMesh mesh, const Vec3& direction, double diagonals) {
  Box3 bounds;
  for (const Vec3& p : mesh.positions) bounds.grow(p);
  size_t chosen = 0;
  for (size_t t = 0; t < mesh.triangles.size(); ++t)
    if (normalOf(mesh, t).dot(direction) > normalOf(mesh, chosen).dot(direction)) chosen = t;
  const geometry::Triangle old = mesh.triangles[chosen];
  const Vec3 shift = diagonals * bounds.extent().norm() * normalOf(mesh, chosen);
  for (uint32_t k = 0; k < 3; ++k) {
    const Vec3 moved = mesh.positions[old[k]] + shift;
    mesh.triangles[chosen][k] = static_cast<uint32_t>(mesh.positions.size());
    mesh.positions.push_back(moved);
  }
  return mesh;
}

constexpr uint32_t kDecayFrames = 16;

void measureDecay(Report& report, const Options& options, SceneKind kind) {
  const std::string base = std::string("decay/") + name(kind);
  if (!mayWant(options, base)) return;
  SceneFrame kept(kind, {}), fresh(kind, {});
  kept.show(0);
  PairList pairs;
  for (uint32_t i = 0; i < kDecayFrames; ++i) {
    const uint32_t at = kept.sample(i, kDecayFrames);
    const std::string name = base + fmt::format("/{:03}", at);
    const auto measure = [&](SceneFrame& frame, bool rebuild, const std::string& what) {
      frame.move(at);
      const double make = bestSeconds(options, [&] { rebuild ? frame.build() : frame.refit(); });
      frame.findJobs();
      const double search = bestSeconds(options, [&] { overlapPairs(frame.jobs(), pairs); });
      const size_t size = pairs.size();
      addRow(report, name + "/" + what, size, 1, "time", 1e3 * make, "ms");
      addRow(report, name + "/" + what + "-search", size, 1, "time", 1e3 * search, "ms");
      addRow(report, name + "/" + what + "-tests", size, 1, "count", double(pairs.statistics().boxTests),
             "tests");
    };
    measure(kept, false, "refit");
    measure(fresh, true, "rebuild");
  }
}

}  // namespace

SUNDER_BENCH("experiments", quality) {
  struct Case {
    const char* name;
    int n;
  };
  // As many triangles as the source's three models have.
  for (const Case& c :
       {Case{"quality/sphere-871k", 330}, {"quality/sphere-1089k", 369}, {"quality/sphere-2880k", 600}}) {
    if (!mayWant(options, c.name)) continue;
    const geometry::TriMesh mesh = sphere(c.n);
    addCosts(report, c.name, leavesOf(mesh));
  }
  for (const SceneKind kind : kAllScenes) {
    const std::string base = std::string("quality/") + name(kind);
    if (!mayWant(options, base)) continue;
    SceneFrame frame(kind, {});
    frame.show(frame.frameOfMostPairs());
    size_t largest = 0;
    for (size_t b = 0; b < frame.items().size(); ++b)
      if (frame.trees()[b].leafCount() > frame.trees()[largest].leafCount()) largest = b;
    addCosts(report, base, frame.items()[largest].leaves);
  }
}

SUNDER_BENCH("experiments", outlier) {
  if (!mayWant(options, "outlier")) return;
  const geometry::TriMesh mesh = sphere(71);
  for (const double diagonals : {0.0, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0}) {
    // Along an axis the scene's box becomes long, along the diagonal large: the ends of what can happen.
    const geometry::TriMesh axis = withOutlier(mesh, {1, 0, 0}, diagonals);
    const geometry::TriMesh corner = withOutlier(mesh, {1, 1, 1}, diagonals);
    addCosts(report, fmt::format("outlier/axis/{}", diagonals), leavesOf(axis));
    addCosts(report, fmt::format("outlier/corner/{}", diagonals), leavesOf(corner));
  }
}

SUNDER_BENCH("experiments", decay) {
  const ThreadLimit limit(1);
  for (const SceneKind kind : {SceneKind::ClothBall, SceneKind::Flamenco, SceneKind::Bridson})
    measureDecay(report, options, kind);
}

}  // namespace sunder::bench
