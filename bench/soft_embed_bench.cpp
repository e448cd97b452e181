// Room soft, surfaces in cages: placing vertices, copies a triangle, and what making costs.
#include "sunder/base/parallel.h"
#include "sunder/base/random.h"
#include "sunder/shapes/round.h"
#include "sunder/soft/cage/auto_cage.h"
#include "sunder/soft/embed/embedded_surface.h"
#include "sunder/soft/embed/skin.h"

#include "bench/bench.h"

#include <string>
#include <vector>

namespace sunder::bench {

namespace {

// 8 n^2 triangles.
geometry::TriMesh rippledBody(size_t triangles) {
  int n = 1;
  while (size_t(8) * size_t(n) * size_t(n) < triangles) ++n;
  return shapes::makeRippledSphere({.n = n});
}

struct Embedded {
  soft::Cage cage;
  soft::EmbeddedSurface surface;
  std::vector<Vec3> positions;  // of the deformed cage
};

Embedded embedded(size_t triangles, uint32_t tets) {
  const geometry::TriMesh body = rippledBody(triangles);
  Embedded result;
  result.cage = soft::makeCageAround(body, {.tets = tets});
  result.surface = soft::embedSurface(body, result.cage, soft::EmbedMode::Clipped);
  result.positions = result.cage.rest.positions;
  RandomStream random(3);
  for (Vec3& p : result.positions) p += 0.05 * random.unitVector();
  return result;
}

}  // namespace

SUNDER_BENCH("soft", skinVertices) {
  if (!options.wants("skin/positions") && !options.wants("skin/normals") &&
      !options.wants("skin/smooth-normals"))
    return;
  for (const size_t triangles : options.sizes(10'000, 1'000'000)) {
    const Embedded body = embedded(triangles, 100);
    const soft::Skin skin(body.surface, body.cage);
    std::vector<Vec3f> out(skin.vertexCount());
    for (const unsigned threads : options.threadCounts()) {
      const ThreadLimit limit(threads);
      const double place = bestSeconds(options, [&] {
        skin.place(body.positions, body.cage.rest.tets, Vec3::Zero(), out);
        keep(out[0]);
      });
      report.add({.name = "skin/positions",
                  .size = out.size(),
                  .threads = threads,
                  .value = double(out.size()) / place,
                  .unit = "vertices/s",
                  .bar = threads == 1 ? std::optional<double>(500e6) : std::nullopt});
      const double normals = bestSeconds(options, [&] {
        skin.normals(body.positions, body.cage.rest.tets, out);
        keep(out[0]);
      });
      report.add({.name = "skin/normals",
                  .size = out.size(),
                  .threads = threads,
                  .value = double(out.size()) / normals,
                  .unit = "vertices/s"});
      const double smooth = bestSeconds(options, [&] {
        skin.smoothNormals(body.positions, body.cage.rest.tets, out);
        keep(out[0]);
      });
      report.add({.name = "skin/smooth-normals",
                  .size = out.size(),
                  .threads = threads,
                  .value = double(out.size()) / smooth,
                  .unit = "vertices/s"});
    }
  }
}

SUNDER_BENCH("soft", copiesOfTriangles) {
  const geometry::TriMesh body = rippledBody(5000);
  for (const uint32_t tets : {10u, 100u, 1000u}) {
    const std::string name = "copies/" + std::to_string(tets);
    if (!options.wants(name)) continue;
    const soft::Cage cage = soft::makeCageAround(body, {.tets = tets});
    const soft::CopyStatistics table = soft::copyStatistics(soft::assignSurface(body, cage));
    report.add({.name = name,
                .size = table.triangles,
                .metric = "count",
                .value = table.perTriangle(),
                .unit = "copies a triangle"});
  }
}

SUNDER_BENCH("soft", embedTriangles) {
  for (const size_t triangles : options.sizes(1'000, 1'000'000)) {
    if (!options.wants("embed/cage") && !options.wants("embed/surface")) continue;
    const geometry::TriMesh body = rippledBody(triangles);
    for (const unsigned threads : options.threadCounts()) {
      const ThreadLimit limit(threads);
      soft::Cage cage;
      const double make = bestSeconds(options, [&] { cage = soft::makeCageAround(body, {.tets = 100}); });
      report.add({.name = "embed/cage",
                  .size = body.triangles.size(),
                  .threads = threads,
                  .metric = "time",
                  .value = make,
                  .unit = "s"});
      const double embed =
          bestSeconds(options, [&] { keep(soft::embedSurface(body, cage, soft::EmbedMode::Clipped).tets); });
      report.add({.name = "embed/surface",
                  .size = body.triangles.size(),
                  .threads = threads,
                  .metric = "time",
                  .value = embed,
                  .unit = "s"});
    }
  }
}

}  // namespace sunder::bench
