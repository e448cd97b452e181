// What a point costs in the fields that answer from formulas and grids, one thread, random points in the
// field's box grown by a tenth; and how long sphere trees take to build.
#include "sunder/base/parallel.h"
#include "sunder/base/random.h"
#include "sunder/sdf/field_combine.h"
#include "sunder/sdf/sphere_tree.h"

#include "bench.h"
#include "bench/published/grid_field.h"
#include "bench/published/voxel_field.h"

#include <cmath>

namespace sunder::bench {
namespace {

void measure(Report& report, const Options& options, const std::string& name, const sdf::Field& field) {
  if (!options.wants("field/" + name)) return;
  const ThreadLimit one(1);
  const Box3 box = field.bounds();
  const Vec3 margin = 0.1 * box.extent();
  RandomStream random(1);
  std::vector<Vec3> points(50'000);
  for (Vec3& p : points) p = random.pointIn({box.lower - margin, box.upper + margin});
  std::vector<double> values(points.size());
  const double seconds = bestSeconds(options, [&] { field.values(points, values); });
  report.add({.name = "field/" + name,
              .size = points.size(),
              .metric = "time",
              .value = 1e9 * seconds / double(points.size()),
              .unit = "ns/point"});
}

SUNDER_BENCH("sdf", fieldsBench) {
  const sdf::FieldPtr ball = sdf::makeSphereField(Vec3::Zero(), 1);
  const sdf::FieldPtr box = sdf::makeBoxField({Vec3(-1, -0.8, -0.6), Vec3(1, 0.8, 0.6)});
  const sdf::FieldPtr torus = sdf::makeTorusField(Vec3::Zero(), Vec3(1, 1, 1), 1, 0.3);
  measure(report, options, "sphere", *ball);
  measure(report, options, "box", *box);
  measure(report, options, "cylinder", *sdf::makeCylinderField(Vec3::Zero(), Vec3(1, 1, 1), 0.5));
  measure(report, options, "torus", *torus);
  measure(report, options, "union", *sdf::makeUnion({ball, box, torus}));
  measure(report, options, "noise", *sdf::makeDisplaced(ball, {.octaves = 1}));
  const Box3 around{Vec3::Constant(-1.5), Vec3::Constant(1.5)};
  const published::FieldGrid grid = published::sampleGrid(*torus, around, 0.03);
  measure(report, options, "trilinear", published::GridField(grid));
  measure(report, options, "tricubic", published::GridField(grid, published::Interpolation::Tricubic));
  sdf::VoxelGrid voxels({Vec3::Constant(-1.5), 0.03, {100, 100, 100}});
  for (uint32_t k = 0; k < 100; ++k)
    for (uint32_t j = 0; j < 100; ++j)
      for (uint32_t i = 0; i < 100; ++i)
        voxels.set(i, j, k, torus->value(voxels.frame().centre(i, j, k)) < 0);
  measure(report, options, "voxel", published::VoxelField(voxels));
}

SUNDER_BENCH("sdf", sphereTreeBench) {
  for (const size_t n : {size_t(5'089), size_t(50'000)}) {
    const std::string name = "sphere-tree/" + std::to_string(n / 1000) + "k";
    if (!options.wants(name) || n > options.largest) continue;
    RandomStream random(4);
    std::vector<Vec3> points;  // a ball, 70 % of the points on its surface
    for (size_t i = 0; i < n; ++i) {
      const double radius = i < n * 7 / 10 ? 1 : std::cbrt(random.uniform());
      points.push_back(radius * random.unitVector());
    }
    for (const unsigned threads : options.threadCounts()) {
      const ThreadLimit limit(threads);
      report.add({.name = name,
                  .size = n,
                  .threads = threads,
                  .metric = "time",
                  .value = 1e3 * bestSeconds(options, [&] { keep(sdf::buildSphereTree(points)); }),
                  .unit = "ms"});
    }
  }
}

}  // namespace
}  // namespace sunder::bench
