// Mesh bookkeeping on a torus of 10^4 to 10^7 triangles, in triangles per second: adjacency, report, mass
// properties, welding, half-edges. The vertex numbers are those of a regular grid, as in scanned and exported
// meshes; "shuffled" has them in random order, the worst case for memory.
#include "sunder/base/parallel.h"
#include "sunder/geometry/adjacency.h"
#include "sunder/geometry/duplicates.h"
#include "sunder/geometry/mass_properties.h"
#include "sunder/geometry/mesh_clean.h"
#include "sunder/geometry/mesh_report.h"
#include "sunder/geometry/normals.h"

#include "bench.h"

#include <cmath>
#include <numeric>
#include <utility>

namespace {

using namespace sunder;
using namespace sunder::bench;
using namespace sunder::geometry;

TriMesh makeTorus(size_t triangles) {
  const uint32_t n = static_cast<uint32_t>(std::sqrt(static_cast<double>(triangles) / 2));
  TriMesh mesh;
  mesh.positions.resize(size_t(n) * n);
  mesh.triangles.resize(size_t(n) * n * 2);
  parallelFor(mesh.positions.size(), [&](size_t k) {
    const double u = 2 * kPi * static_cast<double>(k / n) / n, v = 2 * kPi * static_cast<double>(k % n) / n;
    const double r = 2 + std::cos(v);
    mesh.positions[k] = Vec3(r * std::cos(u), std::sin(v), -r * std::sin(u));
    const uint32_t i = static_cast<uint32_t>(k / n), j = static_cast<uint32_t>(k % n);
    const uint32_t i1 = (i + 1) % n, j1 = (j + 1) % n;
    mesh.triangles[2 * k] = {i * n + j, i1 * n + j, i1 * n + j1};
    mesh.triangles[2 * k + 1] = {i * n + j, i1 * n + j1, i * n + j1};
  });
  return mesh;
}

// Vertices and triangles in a random order that is the same in every run.
TriMesh shuffled(const TriMesh& mesh) {
  uint64_t state = 1;
  auto random = [&](size_t below) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<size_t>((state >> 33) % below);
  };
  std::vector<uint32_t> place(mesh.positions.size());
  std::iota(place.begin(), place.end(), 0u);
  for (size_t i = place.size(); i > 1; --i) std::swap(place[i - 1], place[random(i)]);
  TriMesh result = mesh;
  for (size_t v = 0; v < place.size(); ++v) result.positions[place[v]] = mesh.positions[v];
  for (Triangle& t : result.triangles) {
    for (uint32_t& v : t) v = place[v];
  }
  for (size_t i = result.triangles.size(); i > 1; --i)
    std::swap(result.triangles[i - 1], result.triangles[random(i)]);
  return result;
}

void addRate(Report& report, const char* name, size_t triangles, double seconds) {
  report.add({.name = name,
              .size = triangles,
              .threads = threadCount(),
              .metric = "rate",
              .value = static_cast<double>(triangles) / seconds,
              .unit = "triangles/s",
              .peer = {},
              .peerValue = {}});
}

}  // namespace

SUNDER_BENCH("geometry", meshBookkeeping) {
  for (size_t size : options.sizes(10'000, 10'000'000)) {
    const TriMesh mesh = makeTorus(size), mixed = shuffled(mesh);
    const size_t n = mesh.triangles.size();
    addRate(report, "mesh/adjacency", n, bestSeconds(options, [&] { keep(edgeAdjacency(mesh).size()); }));
    addRate(report, "mesh/adjacency shuffled", n,
            bestSeconds(options, [&] { keep(edgeAdjacency(mixed).size()); }));
    addRate(report, "mesh/report", n, bestSeconds(options, [&] { keep(meshReport(mesh).watertight); }));
    addRate(report, "mesh/report shuffled", n,
            bestSeconds(options, [&] { keep(meshReport(mixed).watertight); }));
    addRate(report, "mesh/mass properties", n,
            bestSeconds(options, [&] { keep(massProperties(mesh).volume); }));
    addRate(report, "mesh/vertex normals", n,
            bestSeconds(options, [&] { keep(vertexNormals(mesh).size()); }));
    addRate(report, "mesh/weld exact", n,
            bestSeconds(options, [&] { keep(coincidentVertices(mesh.positions).size()); }));
    addRate(report, "mesh/weld within", n,
            bestSeconds(options, [&] { keep(closeVertices(mesh.positions, 1e-6).size()); }));
    const PolygonSoup soup = toSoup(mesh);
    addRate(report, "mesh/clean", n, bestSeconds(options, [&] { keep(cleanMesh(soup).mesh.faceCount()); }));
  }
}
