#include "sunder/base/radix_sort.h"
#include "sunder/base/random.h"
#include "sunder/cut/cut.h"
#include "sunder/geometry/mesh_clean.h"
#include "sunder/meshio/mesh_formats.h"
#include "sunder/sdf/hp/hp_build.h"
#include "sunder/sdf/hp/hp_field.h"
#include "sunder/sdf/mesh_field.h"
#include "sunder/sdf/voxel/distance_transform.h"
#include "sunder/sdf/voxel/voxelize.h"
#include "sunder/shapes/round.h"
#include "sunder/spatial/ccd/ccd.h"
#include "sunder/spatial/pairs/overlap_pairs.h"
#include "sunder/spatial/query/mesh_queries.h"
#include "sunder/spatial/query/ray_queries.h"
#include "sunder/spatial/query/winding_number.h"
#include "sunder/spatial/tree/oi_tree.h"

#include "workloads.h"

#include <memory>
#include <string>

namespace sunder::counts {

namespace {

// 8 n^2 triangles.
geometry::TriMesh rippled(int n, const Vec3& centre = Vec3::Zero()) {
  return shapes::makeRippledSphere({.n = n, .centre = centre});
}

std::vector<Vec3> randomPoints(const Box3& box, size_t count) {
  RandomStream random(1);
  std::vector<Vec3> points(count);
  for (Vec3& p : points) p = random.pointIn(box);
  return points;
}

std::function<void()> sortKeys() {
  RandomStream random(2);
  std::vector<uint64_t> keys(900'000);
  for (uint64_t& key : keys) key = random.nextU64();
  return [keys]() mutable {
    std::vector<uint32_t> payload(keys.size());
    RadixScratch scratch;
    radixSortPairs(std::span(keys), std::span(payload), scratch);
    use(keys[0]);
  };
}

std::function<void()> cleanMesh() {
  const geometry::TriMesh mesh = rippled(40);
  geometry::PolygonSoup soup;  // every triangle with corners of its own
  for (const geometry::Triangle& t : mesh.triangles) {
    const auto first = static_cast<uint32_t>(soup.positions.size());
    for (const uint32_t v : t) soup.positions.push_back(mesh.positions[v]);
    soup.addFace(std::array{first, first + 1, first + 2});
  }
  return [soup] { use(geometry::cleanMesh(soup, {.weldDistance = 1e-9}).mesh.positions.size()); };
}

std::function<void()> readObj() {
  const geometry::TriMesh mesh = rippled(90);
  std::string text;
  for (const Vec3& p : mesh.positions)
    text += "v " + std::to_string(p.x()) + " " + std::to_string(p.y()) + " " + std::to_string(p.z()) + "\n";
  for (const geometry::Triangle& t : mesh.triangles)
    text += "f " + std::to_string(t[0] + 1) + " " + std::to_string(t[1] + 1) + " " +
            std::to_string(t[2] + 1) + "\n";
  return [text] { use(meshio::readObj(std::as_bytes(std::span(text)), "a.obj").surface.faceCount()); };
}

spatial::OiTree treeOf(const geometry::TriMesh& mesh) {
  spatial::OiTree tree;
  spatial::OiTreeBuilder().build(tree, spatial::TriangleLeaves{mesh.positions, mesh.triangles});
  return tree;
}

std::function<void()> buildTree() {
  return [mesh = rippled(80)] {
    for (int i = 0; i < 8; ++i) use(treeOf(mesh).leafCount());
  };
}

std::function<void()> findPairs() {
  const auto a = std::make_shared<spatial::OiTree>(treeOf(rippled(80)));
  const auto b = std::make_shared<spatial::OiTree>(treeOf(rippled(80, Vec3(0.51, 0.13, 0.07))));
  return [a, b] {
    spatial::PairList pairs;
    spatial::overlapPairs(*a, *b, pairs);
    use(pairs.size());
    spatial::selfOverlapPairs(*a, pairs);
    use(pairs.size());
  };
}

std::function<void()> closestPoints() {
  const auto query = std::make_shared<spatial::MeshQuery>(rippled(60));
  const std::vector<Vec3> points = randomPoints({Vec3::Constant(-1.2), Vec3::Constant(1.2)}, 20'000);
  return [query, points] {
    std::vector<spatial::ClosestPoint> found(points.size());
    query->closest(points, found);
    use(found[0].triangle);
  };
}

std::function<void()> traceRays() {
  const auto query = std::make_shared<spatial::MeshQuery>(rippled(60));
  std::vector<spatial::Ray> rays;
  RandomStream random(3);
  for (const Vec3& p : randomPoints({Vec3::Constant(-1.2), Vec3::Constant(1.2)}, 20'000))
    rays.push_back({p, random.unitVector()});
  return [query, rays] {
    std::vector<spatial::RayHit> hits(rays.size());
    spatial::firstHits(*query, rays, hits);
    use(hits[0].triangle);
  };
}

// Vertices that move past triangles; a part of them meet.
std::function<void()> continuousTests() {
  RandomStream random(4);
  std::vector<Vec3> start, end;
  std::vector<spatial::CcdPair> pairs;
  const Box3 unit{Vec3::Constant(-0.5), Vec3::Constant(0.5)};
  for (uint32_t i = 0; i < 20'000; ++i) {
    const Vec3 motion = random.pointIn(unit);
    for (uint32_t k = 0; k < 4; ++k) {
      start.push_back(random.pointIn(unit));
      const Vec3 bend = random.pointIn(unit);
      end.push_back(start.back() + (k == 0 ? motion : Vec3(-motion)) + 0.2 * bend);
    }
    pairs.push_back({4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3});
  }
  return [start, end, pairs] {
    std::vector<spatial::CcdHit> hits(pairs.size());
    spatial::vertexFaceBatch(start, end, pairs, hits, {});
    use(hits[0].hit);
    spatial::edgeEdgeBatch(start, end, pairs, hits, {});
    use(hits[0].hit);
  };
}

std::function<void()> exactDistance() {
  const auto field = std::make_shared<sdf::MeshField>(rippled(60));
  const std::vector<Vec3> points = randomPoints(field->bounds(), 10'000);
  return [field, points] {
    std::vector<double> values(points.size());
    sdf::valuesOf(*field, points, values);
    use(values[0] < 0);
  };
}

sdf::HpForest hpForest(double error) {
  sdf::HpSettings settings;
  settings.error = error;
  settings.quadrature = sdf::Quadrature::Lean;
  settings.firstDegree = 3;
  settings.thinReach = 0;
  sdf::HpReport report;
  return sdf::buildHp(sdf::MeshField(rippled(20)), settings, report);
}

std::function<void()> buildHpField() {
  return [] { use(hpForest(3e-2).leafCount()); };
}

std::function<void()> askHpField() {
  const auto field = std::make_shared<sdf::HpField>(hpForest(3e-2));
  const std::vector<Vec3> points = randomPoints(field->domain(), 200'000);
  return [field, points] {
    std::vector<sdf::FieldSample> samples(points.size());
    sdf::samplesOf(*field, points, samples);
    use(samples[0].value < 0);
  };
}

std::function<void()> voxels() {
  return [mesh = rippled(60)] {
    const sdf::VoxelFrame frame = sdf::frameAround(geometry::bounds(mesh.positions), 64, 2);
    const auto distances = sdf::distanceTransform(sdf::voxelize(mesh, frame));
    use(reinterpret_cast<size_t>(&distances));
  };
}

std::function<void()> cutMeshes() {
  return [a = rippled(50), b = rippled(50, Vec3(0.51, 0.13, 0.07))] {
    use(cut::cut(a, b, {.op = cut::Op::Difference, .triangles = true}).volume.size());
    use(cut::cut(a, b, {}).volume.size());
  };
}

}  // namespace

std::vector<Workload> meshWorkloads() {
  return {
      {"base/sort", sortKeys},        {"geometry/clean", cleanMesh},    {"meshio/obj", readObj},
      {"spatial/tree", buildTree},    {"spatial/pairs", findPairs},     {"spatial/closest", closestPoints},
      {"spatial/rays", traceRays},    {"spatial/ccd", continuousTests}, {"sdf/exact", exactDistance},
      {"sdf/hp-build", buildHpField}, {"sdf/hp-query", askHpField},     {"sdf/voxels", voxels},
      {"cut/spheres", cutMeshes}};
}

}  // namespace sunder::counts
