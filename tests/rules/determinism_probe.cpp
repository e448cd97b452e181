// Prints hashes of what the parallel algorithms return on one fixed input, for the number of threads given:
// the same lines for any number, or the rule "same bits, any number of threads" is broken.
#include "sunder/base/hash.h"
#include "sunder/base/parallel.h"
#include "sunder/base/prefix_sum.h"
#include "sunder/base/radix_sort.h"
#include "sunder/base/random.h"
#include "sunder/geometry/mass_properties.h"
#include "sunder/geometry/mesh_clean.h"
#include "sunder/geometry/shapes.h"
#include "sunder/sdf/sphere_tree.h"
#include "sunder/sdf/voxel_merge.h"
#include "sunder/sdf/voxelize.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <span>
#include <vector>

using namespace sunder;

namespace {

template <class T>
void print(const char* name, std::span<const T> values) {
  std::printf("%s %016llx\n", name, static_cast<unsigned long long>(hash64(std::as_bytes(values))));
}

}  // namespace

int main(int argc, char** argv) {
  const ThreadLimit limit(argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 0);
  const size_t count = 1'000'000;

  // Terms of very different size, so that the order of addition shows.
  const double sum = parallelReduce(
      count, 0.0,
      [](size_t begin, size_t end) {
        double s = 0;
        for (size_t i = begin; i < end; ++i) {
          const auto x = static_cast<double>(i);
          s += std::sin(x) * std::exp2(static_cast<double>(i % 60));
        }
        return s;
      },
      [](double a, double b) { return a + b; }, 1000);
  print<double>("reduce", {&sum, 1});

  RandomStream random(7, 1);
  std::vector<uint32_t> keys(count), payload(count);
  for (uint32_t& key : keys) key = random.nextU32() & 0xffff;  // many equal keys: stability shows
  std::iota(payload.begin(), payload.end(), 0u);
  RadixScratch scratch;
  radixSortPairs(keys, payload, scratch);
  print<uint32_t>("sort", payload);
  exclusiveScan(std::span<uint32_t>(payload.data(), 2000));
  print<uint32_t>("scan", payload);

  const geometry::TriMesh ball = geometry::makeShape("icosphere", {{"frequency", "60"}});
  const auto mass = geometry::massProperties(ball);
  print<double>("mass", {mass.inertia.data(), 9});
  const auto clean = geometry::cleanMesh(geometry::toSoup(ball), {.weldDistance = 0.02});
  print<uint32_t>("weld", clean.report.vertexMap);

  const sdf::VoxelGrid voxels =
      sdf::voxelize(ball, sdf::frameAround(geometry::bounds(ball.positions), 60, 2));
  print<uint64_t>("voxels", voxels.words());
  const sdf::DistanceVolume distances = sdf::distanceTransform(voxels);
  print<uint32_t>("sites", distances.site);
  print<float>("distances", distances.phi);
  std::vector<Vec3> merged;
  for (const sdf::VoxelParticle& particle : sdf::mergeVoxels(voxels, distances).particles) {
    merged.push_back(particle.centre);
    merged.push_back(particle.gradient);
  }
  print<double>("merged", {merged.data()->data(), 3 * merged.size()});
  const sdf::SphereTree spheres = sdf::buildSphereTree(ball.positions);
  print<uint32_t>("sphere-order", spheres.order);
  print<float>("sphere-radii", spheres.radius);
  return 0;
}
