// Trees and pairs on the meshes of the benchmark: build, refit, overlapping pairs, self-collision, the whole
// query with exact triangle tests, and a collision-free step. Peers: Embree (Morton build, rtcCollide), FCL
// (triangle contacts).
#include "sunder/base/parallel.h"
#include "sunder/geometry/shapes.h"
#include "sunder/spatial/mesh_ccd.h"
#include "sunder/spatial/narrow_phase.h"
#include "sunder/spatial/overlap_pairs.h"

#include "bench/bench.h"

#include <atomic>
#include <cmath>
#include <memory>
#include <string>

#ifdef SUNDER_HAS_EMBREE
#include <embree3/rtcore.h>
#endif
#ifdef SUNDER_HAS_FCL
#include <fcl/fcl.h>
#endif

namespace {

using namespace sunder;
using namespace sunder::spatial;
using namespace sunder::bench;
using geometry::TriMesh;

// Coordinates rounded to float, so that every library sees the same boxes.
TriMesh rounded(TriMesh mesh) {
  for (Vec3& p : mesh.positions) p = p.cast<float>().cast<double>();
  return mesh;
}

TriMesh sphere(int n, const Vec3& centre = Vec3::Zero()) {
  geometry::RippledSphereShape shape;
  shape.n = n;
  TriMesh mesh = geometry::makeRippledSphere(shape);
  for (Vec3& p : mesh.positions) p += centre;
  return rounded(std::move(mesh));
}

TriangleLeaves leavesOf(const TriMesh& mesh) { return {mesh.positions, mesh.triangles}; }

#ifdef SUNDER_HAS_EMBREE

// A mesh as Embree user geometry with one box per triangle, as rtcCollide wants it, or as triangles for
// builds.
class EmbreeScene {
 public:
  EmbreeScene(const TriMesh& mesh, unsigned threads, bool userBoxes, RTCBuildQuality quality) : mesh_(mesh) {
    device_ = rtcNewDevice(("threads=" + std::to_string(threads) + ",user_threads=1").c_str());
    scene_ = rtcNewScene(device_);
    rtcSetSceneBuildQuality(scene_, quality);
    geometry_ = rtcNewGeometry(device_, userBoxes ? RTC_GEOMETRY_TYPE_USER : RTC_GEOMETRY_TYPE_TRIANGLE);
    if (userBoxes) {
      rtcSetGeometryUserPrimitiveCount(geometry_, static_cast<unsigned>(mesh.triangles.size()));
      rtcSetGeometryUserData(geometry_, this);
      rtcSetGeometryBoundsFunction(geometry_, boundsOf, this);
    } else {
      auto* vertices = static_cast<float*>(rtcSetNewGeometryBuffer(
          geometry_, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 12, mesh.positions.size()));
      for (const Vec3& p : mesh.positions)
        for (int k = 0; k < 3; ++k) *vertices++ = static_cast<float>(p[k]);
      auto* indices = static_cast<uint32_t*>(rtcSetNewGeometryBuffer(
          geometry_, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 12, mesh.triangles.size()));
      for (const auto& t : mesh.triangles)
        for (uint32_t v : t) *indices++ = v;
    }
    rtcSetGeometryBuildQuality(geometry_, quality);
    rtcCommitGeometry(geometry_);
    rtcAttachGeometryByID(scene_, geometry_, 0);
    rtcCommitScene(scene_);
  }
  ~EmbreeScene() {
    rtcReleaseGeometry(geometry_);
    rtcReleaseScene(scene_);
    rtcReleaseDevice(device_);
  }
  EmbreeScene(const EmbreeScene&) = delete;
  EmbreeScene& operator=(const EmbreeScene&) = delete;

  void rebuild() {
    rtcUpdateGeometryBuffer(geometry_, RTC_BUFFER_TYPE_VERTEX, 0);
    rtcCommitGeometry(geometry_);
    rtcCommitScene(scene_);
  }
  RTCScene scene() const { return scene_; }

 private:
  static void boundsOf(const RTCBoundsFunctionArguments* args) {
    const auto& mesh = static_cast<const EmbreeScene*>(args->geometryUserPtr)->mesh_;
    Box3 box;
    for (uint32_t v : mesh.triangles[args->primID]) box.grow(mesh.positions[v]);
    RTCBounds& out = *args->bounds_o;
    out.lower_x = static_cast<float>(box.lower.x());
    out.lower_y = static_cast<float>(box.lower.y());
    out.lower_z = static_cast<float>(box.lower.z());
    out.upper_x = static_cast<float>(box.upper.x());
    out.upper_y = static_cast<float>(box.upper.y());
    out.upper_z = static_cast<float>(box.upper.z());
  }

  const TriMesh& mesh_;
  RTCDevice device_;
  RTCScene scene_;
  RTCGeometry geometry_;
};

// rtcCollide on one device; pairs are counted and stored, as ours are.
struct EmbreePairs {
  std::vector<PrimitivePair> pairs = std::vector<PrimitivePair>(16'000'000);
  std::atomic<size_t> count{0};
  static void add(void* self, RTCCollision* collisions, unsigned number) {
    auto* list = static_cast<EmbreePairs*>(self);
    const size_t at = list->count.fetch_add(number);
    for (unsigned i = 0; i < number; ++i)
      list->pairs[at + i] = {collisions[i].primID0, collisions[i].primID1};
  }
};

#endif

void measurePairs(Report& report, const Options& options, const std::string& name, const TriMesh& a,
                  const TriMesh* b) {
  if (!options.wants(name)) return;
  OiTree treeA, treeB;
  OiTreeBuilder builder;
  builder.build(treeA, leavesOf(a), {.order = LeafOrder::Selection});
  if (b) builder.build(treeB, leavesOf(*b), {.order = LeafOrder::Selection});
  for (unsigned threads : options.threadCounts()) {
    const ThreadLimit limit(threads);
    PairList list;
    const double ours =
        bestSeconds(options, [&] { b ? overlapPairs(treeA, treeB, list) : selfOverlapPairs(treeA, list); });
    Row row{.name = name,
            .size = list.size(),
            .threads = threads,
            .metric = "time",
            .value = 1e3 * ours,
            .unit = "ms"};
#ifdef SUNDER_HAS_EMBREE
    const EmbreeScene sceneA(a, threads, true, RTC_BUILD_QUALITY_MEDIUM);
    const auto sceneB =
        b ? std::make_unique<EmbreeScene>(*b, threads, true, RTC_BUILD_QUALITY_MEDIUM) : nullptr;
    EmbreePairs theirs;
    const double embree = bestSeconds(options, [&] {
      theirs.count = 0;
      rtcCollide(sceneA.scene(), b ? sceneB->scene() : sceneA.scene(), EmbreePairs::add, &theirs);
    });
    row.peer = "Embree rtcCollide";
    row.peerValue = 1e3 * embree;
#endif
    report.add(row);
    report.add({.name = name + "/tests",
                .size = list.size(),
                .threads = threads,
                .metric = "rate",
                .value = static_cast<double>(list.statistics().boxTests) / ours,
                .unit = "tests/s"});
    report.add({.name = name + "/memory",
                .size = list.size(),
                .threads = threads,
                .metric = "memory",
                .value = static_cast<double>(list.bytes() + treeA.bytes() + treeB.bytes()),
                .unit = "bytes"});
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
#ifdef SUNDER_HAS_EMBREE
      EmbreeScene theirs(mesh, threads, false, RTC_BUILD_QUALITY_LOW);
      row.peer = "Embree LOW";
      row.peerValue = count / bestSeconds(options, [&] { theirs.rebuild(); });
#endif
      report.add(row);
      if (size != "500k") continue;
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
}

SUNDER_BENCH("spatial", pairs) {
  if (options.wants("pairs/714k") || options.wants("pairs/39k")) {
    const TriMesh a = sphere(250), near = sphere(250, {0.02, 0.006, 0.004}),
                  far = sphere(250, {0.5, 0.15, 0.1});
    measurePairs(report, options, "pairs/714k", a, &near);
    measurePairs(report, options, "pairs/39k", a, &far);
  }
  if (options.wants("self/scroll")) {
    geometry::ScrollShape shape;
    shape.n = 500;
    shape.turns = 8;
    shape.gap = 0.02;
    measurePairs(report, options, "self/scroll", rounded(geometry::makeScroll(shape)), nullptr);
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
