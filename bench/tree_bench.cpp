// Trees and pairs on the meshes of the benchmark: build, refit, overlapping pairs, self-collision, the whole
// query with exact triangle tests, and a collision-free step. Peers: Embree (builds, rtcCollide), Bullet
// (three of its trees), FCL (triangle contacts).
#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/shapes/catalogue.h"
#include "sunder/spatial/ccd/mesh_ccd.h"
#include "sunder/spatial/pairs/narrow_phase.h"
#include "sunder/spatial/pairs/overlap_pairs.h"

#include "bench/bench.h"
#include "bench/pair_peers.h"
#include "bench/spatial_meshes.h"

#include <cmath>
#include <memory>
#include <string>

#ifdef SUNDER_HAS_FCL
#include <fcl/fcl.h>
#endif

namespace {

using namespace sunder;
using namespace sunder::spatial;
using namespace sunder::bench;
using geometry::TriMesh;

// Peers see the same boxes, so they must find the same pairs, but for a part `off` of them.
void expectPairs(const std::string& peer, size_t theirs, size_t ours, double off = 0) {
  if (std::abs(double(theirs) - double(ours)) > off * double(ours))
    throw Error(ErrorKind::Numerical,
                peer + " finds " + std::to_string(theirs) + " pairs, we find " + std::to_string(ours));
}

struct PairTrees {
  OiTree a, b;
  PairTrees(const TriMesh& meshA, const TriMesh* meshB, LeafOrder order) {
    OiTreeBuilder builder;
    builder.build(a, leavesOf(meshA), {.order = order});
    if (meshB) builder.build(b, leavesOf(*meshB), {.order = order});
  }
  void search(PairList& list) const { b.empty() ? selfOverlapPairs(a, list) : overlapPairs(a, b, list); }
};

// Like against like: trees by selection beside Embree's default builder, and, under "/morton", both in Morton
// order. Bullet has one thread; its rows repeat our time.
void measurePairs(Report& report, const Options& options, const std::string& name, const TriMesh& a,
                  const TriMesh* b) {
  struct Kind {
    const char* suffix;
    LeafOrder order;
    EmbreeQuality quality;
  };
  for (const Kind& kind : {Kind{"", LeafOrder::Selection, EmbreeQuality::Medium},
                           Kind{"/morton", LeafOrder::Morton, EmbreeQuality::Low}}) {
    const std::string full = name + kind.suffix;
    if (!options.wants(full)) continue;
    const PairTrees trees(a, b, kind.order);
    for (unsigned threads : options.threadCounts()) {
      const ThreadLimit limit(threads);
      PairList list;
      const double ours = bestSeconds(options, [&] { trees.search(list); });
      Row row{.name = full,
              .size = list.size(),
              .threads = threads,
              .metric = "time",
              .value = 1e3 * ours,
              .unit = "ms"};
      if (const auto embree = embreePairs(options, a, b, threads, kind.quality)) {
        row.peer = std::string("Embree rtcCollide ") + bench::name(kind.quality);
        row.peerValue = 1e3 * embree->seconds;
        expectPairs("Embree", embree->pairs, b ? list.size() : 2 * list.size());  // alone: both ways
      }
      report.add(row);
      report.add({.name = full + "/tests",
                  .size = list.size(),
                  .threads = threads,
                  .metric = "rate",
                  .value = static_cast<double>(list.statistics().boxTests) / ours,
                  .unit = "tests/s"});
      report.add({.name = full + "/memory",
                  .size = list.size(),
                  .threads = threads,
                  .metric = "memory",
                  .value = static_cast<double>(list.bytes() + trees.a.bytes() + trees.b.bytes()),
                  .unit = "bytes"});
      if (threads != 1 || kind.order != LeafOrder::Selection) continue;
      for (const BulletTree tree : {BulletTree::GImpact, BulletTree::Dynamic}) {
        const auto bullet = bulletPairs(options, a, b, tree);
        if (!bullet) continue;
        row.name = full + (tree == BulletTree::GImpact ? "/bullet-gimpact" : "/bullet-dbvt");
        row.peer = bench::name(tree);
        row.peerValue = 1e3 * bullet->seconds;
        expectPairs(row.peer, bullet->pairs, list.size(), tree == BulletTree::GImpact ? 1e-5 : 0);
        report.add(row);
      }
    }
  }
}

SUNDER_BENCH("spatial", treeBuild) {
  std::vector<std::pair<std::string, TriMesh>> cases;
  if (options.wants("build/500k") || options.wants("refit/500k")) cases.emplace_back("500k", sphere(250));
  for (int power = 10; power <= 22; power += 3) {
    const std::string size = "2^" + std::to_string(power);
    const int n = static_cast<int>(std::lround(std::sqrt(std::exp2(power) / 8)));
    if (options.wants("build/" + size) && size_t(8) * size_t(n) * size_t(n) <= options.largest)
      cases.emplace_back(size, sphere(n));
  }
  for (const auto& [size, mesh] : cases) {
    for (unsigned threads : options.threadCounts()) {
      const ThreadLimit limit(threads);
      OiTree tree;
      OiTreeBuilder builder;
      const auto count = static_cast<double>(mesh.triangles.size());
      const double build = bestSeconds(options, [&] { builder.build(tree, leavesOf(mesh)); });
      Row row{.name = "build/" + size,
              .size = mesh.triangles.size(),
              .threads = threads,
              .metric = "rate",
              .value = count / build,
              .unit = "triangles/s"};
      if (const auto embree = embreeBuild(options, mesh, threads, EmbreeQuality::Low)) {
        row.peer = "Embree LOW";
        row.peerValue = count / *embree;
      }
      report.add(row);
      if (size != "500k") continue;
      for (const BulletTree kind : {BulletTree::GImpact, BulletTree::Optimized}) {
        if (threads != 1) continue;
        const auto bullet = bulletBuild(options, mesh, kind);
        if (!bullet) continue;
        row.name = kind == BulletTree::GImpact ? "build/500k/bullet-gimpact" : "build/500k/bullet-optimized";
        row.peer = bench::name(kind);
        row.peerValue = count / *bullet;
        report.add(row);
      }
      const double refit = bestSeconds(options, [&] { builder.refit(tree, leavesOf(mesh)); });
      report.add({.name = "refit/500k",
                  .size = mesh.triangles.size(),
                  .threads = threads,
                  .metric = "rate",
                  .value = count / refit,
                  .unit = "triangles/s",
                  .peer = "our build",
                  .peerValue = count / build});
      report.add({.name = "tree/bytes-per-triangle",
                  .size = mesh.triangles.size(),
                  .threads = threads,
                  .metric = "memory",
                  .value = static_cast<double>(tree.bytes()) / count,
                  .unit = "bytes"});
    }
  }
#ifndef SUNDER_HAS_EMBREE
  report.missingPeer("Embree");
#endif
#ifndef SUNDER_HAS_BULLET
  report.missingPeer("Bullet");
#endif
}

SUNDER_BENCH("spatial", pairs) {
  if (options.wants("pairs/714k") || options.wants("pairs/39k")) {
    const TriMesh a = sphere(250), near = sphere(250, {0.02, 0.006, 0.004}),
                  far = sphere(250, {0.5, 0.15, 0.1});
    measurePairs(report, options, "pairs/714k", a, &near);
    measurePairs(report, options, "pairs/39k", a, &far);
  }
  if (options.wants("self/scroll")) {
    shapes::ScrollShape shape;
    shape.n = 500;
    shape.turns = 8;
    shape.gap = 0.02;
    measurePairs(report, options, "self/scroll", rounded(shapes::makeScroll(shape)), nullptr);
  }
}

SUNDER_BENCH("spatial", wholeQuery) {
  if (!options.wants("query/100k")) return;
  const TriMesh a = sphere(112), b = sphere(112, {0.5, 0.15, 0.1});
  for (unsigned threads : options.threadCounts()) {
    const ThreadLimit limit(threads);
    OiTree treeA, treeB;
    OiTreeBuilder builder;
    PairList list;
    size_t contacts = 0;
    const double ours = bestSeconds(options, [&] {
      builder.build(treeA, leavesOf(a));
      builder.build(treeB, leavesOf(b));
      overlapPairs(treeA, treeB, list);
      contacts =
          intersectingPairs({a.positions, a.triangles}, {b.positions, b.triangles}, list.pairs()).size();
    });
    Row row{.name = "query/100k",
            .size = contacts,
            .threads = threads,
            .metric = "time",
            .value = 1e3 * ours,
            .unit = "ms"};
#ifdef SUNDER_HAS_FCL
    const auto model = [](const TriMesh& mesh) {
      auto bvh = std::make_shared<fcl::BVHModel<fcl::AABBd>>();
      bvh->beginModel(static_cast<int>(mesh.triangles.size()), static_cast<int>(mesh.positions.size()));
      std::vector<fcl::Vector3d> points(mesh.positions.begin(), mesh.positions.end());
      std::vector<fcl::Triangle> triangles;
      for (const auto& t : mesh.triangles) triangles.emplace_back(t[0], t[1], t[2]);
      bvh->addSubModel(points, triangles);
      bvh->endModel();
      return std::make_unique<fcl::CollisionObjectd>(bvh);
    };
    const auto fclA = model(a), fclB = model(b);
    fcl::CollisionRequestd request(1'000'000, false);
    const double theirs = bestSeconds(options, [&] {
      fcl::CollisionResultd result;
      fcl::collide(fclA.get(), fclB.get(), request, result);
      keep(result.numContacts());
    });
    row.peer = "FCL without its build";
    row.peerValue = 1e3 * theirs;
#else
    if (threads == 1) report.missingPeer("FCL");
#endif
    report.add(row);
  }
}

SUNDER_BENCH("spatial", collisionFreeStep) {
  if (!options.wants("ccd/step50k")) return;
  // A sphere of 50k triangles and another beside it, both breathing a little: no contact within the step.
  const TriMesh mesh = sphere(79), other = sphere(40, {2.4, 0, 0});
  const auto moved = [](const TriMesh& m, double amount) {
    std::vector<Vec3> end = m.positions;
    for (Vec3& p : end) p += amount * Vec3(std::sin(7 * p.y()), std::sin(9 * p.z()), std::sin(8 * p.x()));
    return end;
  };
  const std::vector<Vec3> meshEnd = moved(mesh, 0.01), otherEnd = moved(other, 0.01);
  for (unsigned threads : options.threadCounts()) {
    const ThreadLimit limit(threads);
    MeshCcd ccd;
    CcdStatistics statistics;
    const double seconds = bestSeconds(options, [&] {
      keep(ccd.self({mesh.positions, meshEnd, mesh.triangles}).time);
      statistics = ccd.statistics();
      keep(
          ccd.between({mesh.positions, meshEnd, mesh.triangles}, {other.positions, otherEnd, other.triangles})
              .time);
    });
    report.add({.name = "ccd/step50k",
                .size = statistics.vertexFacePairs + statistics.edgeEdgePairs,
                .threads = threads,
                .metric = "time",
                .value = 1e3 * seconds,
                .unit = "ms"});
  }
}

}  // namespace
