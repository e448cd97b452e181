// Queries on the rippled sphere of 500,000 triangles, one thread: mean time per query. Points are uniform in
// the bounding box grown by a fifth, rays start there in random directions. `closest/500k` is the batch call,
// `closest/500k-single` one call for each point in random order; the peer has no batch and is called for each
// point with its distance accelerator built.
#include "sunder/base/parallel.h"
#include "sunder/base/random.h"
#include "sunder/shapes/round.h"
#include "sunder/spatial/query/ray_queries.h"
#include "sunder/spatial/query/winding_number.h"

#include "bench.h"

#ifdef SUNDER_HAS_CGAL
#include <CGAL/AABB_traits.h>
#include <CGAL/AABB_tree.h>
#include <CGAL/AABB_triangle_primitive.h>
#include <CGAL/Simple_cartesian.h>
#endif

#include <optional>
#include <string>
#include <vector>

namespace sunder::bench {
namespace {

constexpr size_t kTriangles = 500'000;

struct Case {
  geometry::TriMesh mesh = shapes::makeRippledSphere({250, 0.1});
  std::vector<Vec3> points;
  std::vector<spatial::Ray> rays;

  explicit Case(size_t count) {
    const Box3 box = geometry::bounds(mesh.positions);
    const Box3 wide{box.center() - 0.6 * box.extent(), box.center() + 0.6 * box.extent()};
    RandomStream random(1);
    for (size_t i = 0; i < count; ++i) {
      points.push_back(random.pointIn(wide));
      rays.push_back({points.back(), random.unitVector()});
    }
  }
};

void add(Report& report, const std::string& name, double seconds, size_t count,
         std::optional<double> peerSeconds = {}, size_t peerCount = 1) {
  Row row;
  row.name = name;
  row.size = kTriangles;
  row.metric = "time";
  row.value = seconds / double(count) * 1e6;
  row.unit = "us";
  if (peerSeconds) {
    row.peer = "CGAL AABB_tree";
    row.peerValue = *peerSeconds / double(peerCount) * 1e6;
  }
  report.add(row);
}

#ifdef SUNDER_HAS_CGAL
using Kernel = CGAL::Simple_cartesian<double>;
using Triangles = std::vector<Kernel::Triangle_3>;
using Primitive = CGAL::AABB_triangle_primitive<Kernel, Triangles::const_iterator>;
using PeerTree = CGAL::AABB_tree<CGAL::AABB_traits<Kernel, Primitive>>;

Kernel::Point_3 peerPoint(const Vec3& p) { return {p.x(), p.y(), p.z()}; }

Triangles peerTriangles(const geometry::TriMesh& mesh) {
  Triangles triangles;
  for (const geometry::Triangle& t : mesh.triangles)
    triangles.emplace_back(peerPoint(mesh.positions[t[0]]), peerPoint(mesh.positions[t[1]]),
                           peerPoint(mesh.positions[t[2]]));
  return triangles;
}
#endif

}  // namespace

SUNDER_BENCH("spatial", closestPoints) {
  if (kTriangles > options.largest || !options.wants("closest/500k")) return;
  const ThreadLimit one(1);
  const Case c(100'000);
  const spatial::MeshQuery query(c.mesh);
  std::vector<spatial::ClosestPoint> results(c.points.size());
  const double batch = bestSeconds(options, [&] { query.closest(c.points, results); });
  const double single = bestSeconds(options, [&] {
    for (size_t i = 0; i < c.points.size(); ++i) results[i] = query.closest(c.points[i]);
  });
  keep(results[0]);
  std::optional<double> theirs;
  const size_t theirCount = 10'000;
#ifdef SUNDER_HAS_CGAL
  const Triangles triangles = peerTriangles(c.mesh);
  PeerTree tree(triangles.begin(), triangles.end());
  tree.accelerate_distance_queries();
  theirs = bestSeconds(options, [&] {
    double sum = 0;
    for (size_t i = 0; i < theirCount; ++i) sum += tree.closest_point(peerPoint(c.points[i])).x();
    keep(sum);
  });
#else
  report.missingPeer("CGAL");
#endif
  add(report, "closest/500k", batch, c.points.size(), theirs, theirCount);
  add(report, "closest/500k-single", single, c.points.size(), theirs, theirCount);
  const double nearest = bestSeconds(options, [&] { keep(query.nearest(c.points, 8).items.size()); });
  add(report, "nearest8/500k", nearest, c.points.size());
  const double within = bestSeconds(options, [&] { keep(query.within(c.points, 0.05).items.size()); });
  add(report, "within0.05/500k", within, c.points.size());
  const double build = bestSeconds(options, [&] { keep(spatial::MeshQuery(c.mesh).bytes()); });
  add(report, "query-build/500k", build, kTriangles);
}

SUNDER_BENCH("spatial", rayHits) {
  if (kTriangles > options.largest || !options.wants("ray-first/500k")) return;
  const ThreadLimit one(1);
  const Case c(50'000);
  const spatial::MeshQuery query(c.mesh);
  std::vector<spatial::RayHit> hits(c.rays.size());
  const double ours = bestSeconds(options, [&] { spatial::firstHits(query, c.rays, hits); });
  const double any = bestSeconds(options, [&] {
    size_t found = 0;
    for (const spatial::Ray& ray : c.rays) found += spatial::anyHit(query, ray);
    keep(found);
  });
  std::optional<double> theirs, theirAny;
  const size_t theirCount = 5'000;
#ifdef SUNDER_HAS_CGAL
  const Triangles triangles = peerTriangles(c.mesh);
  PeerTree tree(triangles.begin(), triangles.end());
  tree.build();
  const auto peerRay = [&](size_t i) {
    return Kernel::Ray_3(peerPoint(c.rays[i].origin), peerPoint(c.rays[i].origin + c.rays[i].direction));
  };
  theirs = bestSeconds(options, [&] {
    size_t found = 0;
    for (size_t i = 0; i < theirCount; ++i) found += tree.first_intersected_primitive(peerRay(i)).has_value();
    keep(found);
  });
  theirAny = bestSeconds(options, [&] {
    size_t found = 0;
    for (size_t i = 0; i < theirCount; ++i) found += tree.do_intersect(peerRay(i));
    keep(found);
  });
#else
  report.missingPeer("CGAL");
#endif
  add(report, "ray-first/500k", ours, c.rays.size(), theirs, theirCount);
  add(report, "ray-any/500k", any, c.rays.size(), theirAny, theirCount);
}

SUNDER_BENCH("spatial", windingNumbers) {
  if (kTriangles > options.largest || !options.wants("winding/500k")) return;
  const ThreadLimit one(1);
  const Case c(20'000);
  const spatial::MeshQuery query(c.mesh);
  const spatial::WindingNumber winding(query);
  std::vector<double> results(c.points.size());
  const double fast = bestSeconds(options, [&] { winding.fast(c.points, results); });
  keep(results[0]);
  add(report, "winding/500k", fast, c.points.size());
  const double exact = bestSeconds(options, [&] {
    double sum = 0;
    for (size_t i = 0; i < 10; ++i) sum += winding.exact(c.points[i]);
    keep(sum);
  });
  add(report, "winding-exact/500k", exact, 10);
}

}  // namespace sunder::bench
