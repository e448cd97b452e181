// Distance fields. `exact/500k`: exact signed distance to the rippled sphere of 500,000 triangles at random
// points, one thread; the peer finds the closest point and decides the side. `hp/build`, `hp/query`,
// `hp/refit`: an hp-adaptive field of the rippled sphere of 50,000 triangles with root mean square
// error 1.5e-3, what a uniform grid of 40^3 cubic cells reaches.
#include "sunder/base/parallel.h"
#include "sunder/base/random.h"
#include "sunder/sdf/field_combine.h"
#include "sunder/sdf/hp/hp_build.h"
#include "sunder/sdf/hp/hp_field.h"
#include "sunder/sdf/mesh_field.h"
#include "sunder/shapes/round.h"

#include "bench.h"

#ifdef SUNDER_HAS_CGAL
#include <CGAL/AABB_face_graph_triangle_primitive.h>
#include <CGAL/AABB_traits.h>
#include <CGAL/AABB_tree.h>
#include <CGAL/Side_of_triangle_mesh.h>
#include <CGAL/Simple_cartesian.h>
#include <CGAL/Surface_mesh.h>
#endif

#include <cmath>
#include <string>
#include <vector>

namespace sunder::bench {
namespace {

using namespace sdf;

std::vector<Vec3> randomPoints(const Box3& box, size_t count) {
  RandomStream random(1);
  std::vector<Vec3> points(count);
  for (Vec3& p : points) p = random.pointIn(box);
  return points;
}

std::shared_ptr<const MeshField> rippled(int n) {
  return std::make_shared<MeshField>(shapes::makeRippledSphere({n, 0.1}));
}

constexpr double kUniformError = 1.5e-3;
constexpr double kUniformSamples = 472'361;

}  // namespace

SUNDER_BENCH("sdf", exactDistance) {
  if (!options.wants("exact/500k") || options.largest < 500'000) return;
  const ThreadLimit one(1);
  const geometry::TriMesh mesh = shapes::makeRippledSphere({250, 0.1});
  const MeshField field(mesh);
  const std::vector<Vec3> points = randomPoints(field.bounds(), 50'000);
  std::vector<double> values(points.size());
  Row row{.name = "exact/500k", .size = points.size(), .metric = "time", .unit = "us"};
  row.value = bestSeconds(options, [&] { valuesOf(field, points, values); }) / double(points.size()) * 1e6;
#ifdef SUNDER_HAS_CGAL
  using Kernel = CGAL::Simple_cartesian<double>;
  using Mesh = CGAL::Surface_mesh<Kernel::Point_3>;
  using Traits = CGAL::AABB_traits<Kernel, CGAL::AABB_face_graph_triangle_primitive<Mesh>>;
  Mesh theirs;
  for (const Vec3& p : mesh.positions) theirs.add_vertex({p.x(), p.y(), p.z()});
  for (const geometry::Triangle& t : mesh.triangles)
    theirs.add_face(Mesh::Vertex_index(t[0]), Mesh::Vertex_index(t[1]), Mesh::Vertex_index(t[2]));
  CGAL::AABB_tree<Traits> tree(faces(theirs).first, faces(theirs).second, theirs);
  tree.accelerate_distance_queries();
  const CGAL::Side_of_triangle_mesh<Mesh, Kernel> side(tree);
  const size_t fewer = 5'000;
  row.peer = "CGAL closest point and side";
  row.peerValue = 1e6 / double(fewer) * bestSeconds(options, [&] {
                    for (size_t i = 0; i < fewer; ++i) {
                      const Kernel::Point_3 p(points[i].x(), points[i].y(), points[i].z());
                      keep(tree.squared_distance(p));
                      keep(side(p));
                    }
                  });
#else
  report.missingPeer("CGAL");
#endif
  report.add(row);
}

SUNDER_BENCH("sdf", hpField) {
  if (!options.wants("hp/build") && !options.wants("hp/query") && !options.wants("hp/refit")) return;
  const std::shared_ptr<const MeshField> mesh = rippled(79);
  const MeshField& source = *mesh;
  HpSettings settings;
  settings.error = kUniformError;
  settings.quadrature = Quadrature::Lean;
  settings.firstDegree = 3;  // at degree 2 the guard takes the slope of the distance for an error
  settings.thinReach = 0;
  HpReport built;
  HpForest forest;
  for (const unsigned threads : options.threadCounts()) {
    const ThreadLimit limit(threads);
    const double seconds = bestSeconds(options, [&] { forest = buildHp(source, settings, built); });
    report.add({.name = "hp/build",
                .size = forest.coefficients.size(),
                .threads = threads,
                .metric = "time",
                .value = seconds,
                .unit = "s",
                .bar = threads > 1 ? std::optional(0.5) : std::nullopt});
    if (!options.wants("hp/refit")) continue;
    // A plane takes the part above x = 0.6 away. By a box the same is done without knowing the cutter: the
    // cut is felt down to the middle of the body, where its plane is nearer than the ripples.
    HpReport again;
    const FieldPtr plane = makePlaneField(Vec3::UnitX(), 0.6);
    const FieldPtr kept = makeIntersection({mesh, plane});
    const Box3& domain = forest.domain;
    const Box3 changed{{-0.3, domain.lower.y(), domain.lower.z()}, domain.upper};
    const double full = bestSeconds(options, [&] { keep(buildHp(*kept, settings, again).leafCount()); });
    Row row{.name = "hp/refit",
            .size = forest.coefficients.size(),
            .threads = threads,
            .metric = "time",
            .unit = "s",
            .peer = "full build",
            .peerValue = full,
            .bar = full / 10};
    row.value = bestSeconds(options,
                            [&] { keep(refitAfterCut(forest, *kept, *plane, settings, again).leafCount()); });
    report.add(row);
    row.name = "hp/refit/box";
    row.bar.reset();
    row.value =
        bestSeconds(options, [&] { keep(refitHp(forest, *kept, changed, settings, again).leafCount()); });
    report.add(row);
  }
  report.add({.name = "hp/build/samples",
              .size = forest.coefficients.size(),
              .metric = "count",
              .value = double(built.samples),
              .unit = "samples",
              .peer = "uniform 40^3 cubic",
              .peerValue = kUniformSamples,
              .bar = kUniformSamples / 10});
  report.add({.name = "hp/build/error",
              .size = forest.coefficients.size(),
              .metric = "count",
              .value = built.measured,
              .unit = "m"});

  const ThreadLimit one(1);
  const HpField field(forest);
  const std::vector<Vec3> points = randomPoints(field.domain(), 1'000'000);
  std::vector<double> values(points.size());
  std::vector<FieldSample> samples(points.size());
  const double perPoint = 1e9 / double(points.size());
  report.add({.name = "hp/query/value",
              .size = points.size(),
              .metric = "time",
              .value = perPoint * bestSeconds(options, [&] { valuesOf(field, points, values); }),
              .unit = "ns",
              .bar = 60});
  report.add({.name = "hp/query/gradient",
              .size = points.size(),
              .metric = "time",
              .value = perPoint * bestSeconds(options, [&] { samplesOf(field, points, samples); }),
              .unit = "ns",
              .bar = 90});
  report.add({.name = "hp/query/single",
              .size = points.size() / 10,
              .metric = "time",
              .value = 10 * perPoint *
                       bestSeconds(options,
                                   [&] {
                                     double sum = 0;
                                     for (size_t i = 0; i < points.size() / 10; ++i)
                                       sum += field.value(points[i]);
                                     keep(sum);
                                   }),
              .unit = "ns"});
}

}  // namespace sunder::bench
