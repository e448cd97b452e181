// Voxels at 32^3 and 96^3, two empty layers around them, of a rippled sphere of 49,928 triangles and of a box
// of 12: filling (`voxel/fill96`, `voxel/box96`), the distance transform alone (`voxel/32`, `voxel/96`),
// merging (`voxel/merge96`), and from the mesh to distances everywhere (`voxel/sdf96`).
//
// OpenVDB's meshToVolume makes a sparse level set with distances to the triangles: beside `fill96` with the
// narrowest band that still tells inside from outside, beside `sdf96` with the whole inside filled and as
// many voxels outside as our padding has.
#include "sunder/base/parallel.h"
#include "sunder/sdf/voxel/voxel_merge.h"
#include "sunder/sdf/voxel/voxelize.h"
#include "sunder/shapes/catalogue.h"

#include "bench.h"

#ifdef SUNDER_HAS_OPENVDB
#include <openvdb/openvdb.h>
#include <openvdb/tools/MeshToVolume.h>
#endif

#include <oneapi/tbb/global_control.h>

namespace sunder::bench {
namespace {

#ifdef SUNDER_HAS_OPENVDB
double levelSetSeconds(const Options& options, const geometry::TriMesh& mesh, double edge, float outside,
                       float inside, unsigned threads) {
  openvdb::initialize();
  std::vector<openvdb::Vec3s> points;
  std::vector<openvdb::Vec3I> triangles;
  for (const Vec3& p : mesh.positions) points.emplace_back(float(p.x()), float(p.y()), float(p.z()));
  for (const geometry::Triangle& t : mesh.triangles) triangles.emplace_back(t[0], t[1], t[2]);
  const auto transform = openvdb::math::Transform::createLinearTransform(edge);
  const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, threads);
  for (openvdb::Vec3s& p : points) p = openvdb::Vec3s(transform->worldToIndex(p));
  return bestSeconds(options, [&] {
    const openvdb::tools::QuadAndTriangleDataAdapter<openvdb::Vec3s, openvdb::Vec3I> adapter(points,
                                                                                             triangles);
    keep(openvdb::tools::meshToVolume<openvdb::FloatGrid>(adapter, *transform, outside, inside));
  });
}
#endif

SUNDER_BENCH("sdf", voxelBench) {
  const geometry::TriMesh sphere = shapes::makeRippledSphere({.n = 79});
  const geometry::TriMesh box = shapes::makeBox({});
#ifndef SUNDER_HAS_OPENVDB
  report.missingPeer("OpenVDB");
#endif
  for (const unsigned threads : options.threadCounts()) {
    const ThreadLimit limit(threads);
    const auto time = [&](const char* name, size_t size, double seconds) {
      report.add({.name = name,
                  .size = size,
                  .threads = threads,
                  .metric = "time",
                  .value = 1e3 * seconds,
                  .unit = "ms"});
    };
    const auto timeBeside = [&](const char* name, size_t size, double seconds, double edge, float outside,
                                float inside) {
      Row row{.name = name,
              .size = size,
              .threads = threads,
              .metric = "time",
              .value = 1e3 * seconds,
              .unit = "ms"};
#ifdef SUNDER_HAS_OPENVDB
      row.peer = "OpenVDB meshToVolume";
      row.peerValue = 1e3 * levelSetSeconds(options, sphere, edge, outside, inside, threads);
#else
      (void)edge, (void)outside, (void)inside;
#endif
      report.add(row);
    };

    const sdf::VoxelFrame frame = sdf::frameAround(geometry::bounds(sphere.positions), 96, 2);
    if (options.wants("voxel/fill96")) {
      const double ours = bestSeconds(options, [&] { keep(sdf::voxelize(sphere, frame)); });
      timeBeside("voxel/fill96", sphere.triangles.size(), ours, frame.edge, 1.0f, 1.0f);
    }
    if (options.wants("voxel/box96")) {
      const sdf::VoxelFrame boxFrame = sdf::frameAround(geometry::bounds(box.positions), 96, 2);
      time("voxel/box96", box.triangles.size(),
           bestSeconds(options, [&] { keep(sdf::voxelize(box, boxFrame)); }));
    }
    if (options.wants("voxel/sdf96")) {
      const double ours =
          bestSeconds(options, [&] { keep(sdf::distanceTransform(sdf::voxelize(sphere, frame))); });
      timeBeside("voxel/sdf96", frame.voxelCount(), ours, frame.edge, 2.0f, 96.0f);
    }
    for (const uint32_t n : {32u, 96u}) {
      const std::string name = n == 32 ? "voxel/32" : "voxel/96",
                        merge = n == 32 ? "voxel/merge32" : "voxel/merge96";
      const sdf::VoxelGrid grid =
          sdf::voxelize(sphere, sdf::frameAround(geometry::bounds(sphere.positions), n, 2));
      if (options.wants(name))
        time(name.c_str(), grid.voxelCount(),
             bestSeconds(options, [&] { keep(sdf::distanceTransform(grid)); }));
      if (options.wants(merge)) {
        const sdf::DistanceVolume volume = sdf::distanceTransform(grid);
        time(merge.c_str(), grid.count(),
             bestSeconds(options, [&] { keep(sdf::mergeVoxels(grid, volume)); }));
      }
    }
  }
}

}  // namespace
}  // namespace sunder::bench
