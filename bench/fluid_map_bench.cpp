// Boundary maps of the fluid. `map/eval`: value and gradient at 117,649 points in random order in the band
// along the walls of a tank of 3 x 2 x 1 m, support 0.1 m, one thread; `/values` the value alone, `/filled`
// points anywhere in the tank, most of them out of reach of the walls. `map/build`: the map of a box of 12
// triangles on 30 x 20 x 10 cells from its mesh; `/tank` the same box as a tank, `/rippled` a curved mesh of
// 50,000 triangles. `map/error/...`: worst errors against closed forms (planes along an axis, tilted planes;
// of gradients times the support) and against the integral with the exact field (a ball of three supports);
// the size is the number of cells a support. Peer: SPlisHSPlasH 2.16 with density maps, single precision and
// AVX, figures of the same class of machine.
#include "sunder/base/parallel.h"
#include "sunder/base/random.h"
#include "sunder/fluid/boundary/boundary_quadrature.h"
#include "sunder/fluid/boundary/density_map.h"
#include "sunder/sdf/analytic_field.h"
#include "sunder/sdf/mesh_field.h"
#include "sunder/shapes/round.h"
#include "sunder/shapes/wall.h"

#include "bench.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace sunder::bench {
namespace {

using namespace fluid;

std::vector<Vec4f> randomPoints(const sdf::Field& field, const Box3& box, double low, double high) {
  RandomStream random(5);
  std::vector<Vec4f> points;
  while (points.size() < 117'649) {
    const Vec3 p = random.pointIn(box);
    const double distance = field.value(p);
    if (distance < low || distance > high) continue;
    points.emplace_back(float(p.x()), float(p.y()), float(p.z()), 1.0f);
  }
  return points;
}

void addPerCell(Report& report, const std::string& name, const DensityMap& map) {
  report.add({.name = name,
              .size = map.report().keptCells,
              .metric = "memory",
              .value = double(map.bytes()) / double(map.report().keptCells),
              .unit = "bytes/cell"});
}

struct Errors {
  double value = 0, gradient = 0;
};

// Of the plane, at points up to its reach and down to a depth of 0.9 supports.
Errors planeErrors(const Vec3& normal, double level, double support, double cell) {
  const sdf::FieldPtr plane = sdf::makePlaneField(normal, level);
  const Vec3 half = Vec3::Constant(1.5 * support);
  const DensityMap map(*plane, {-half, half}, {.support = support, .cell = cell});
  const PlaneMap exact(normal, level, {.support = support});
  RandomStream random(6);
  std::vector<Vec4f> points(5000), got(points.size()), should(points.size());
  for (Vec4f& p : points) p.head<3>() = random.pointIn({-half, half}).cast<float>();
  map.samples(points, got);
  exact.samples(points, should);
  Errors worst;
  for (size_t i = 0; i < points.size(); ++i) {
    if (normal.dot(points[i].head<3>().cast<double>()) - level < -0.9 * support) continue;
    const Vec4f miss = got[i] - should[i];
    worst.value = std::max(worst.value, double(std::abs(miss[3])));
    worst.gradient = std::max(worst.gradient, support * double(miss.head<3>().norm()));
  }
  return worst;
}

double ballError(double support, double cell) {
  const sdf::FieldPtr ball = sdf::makeSphereField(Vec3::Zero(), 3 * support);
  const Vec3 half = Vec3::Constant(5 * support);
  const DensityMap map(*ball, {-half, half}, {.support = support, .cell = cell});
  const BallRule rule = makeBallRule({12, 24, 48});
  RandomStream random(7);
  double worst = 0;
  for (int n = 0; n < 1000; ++n) {
    const double distance = random.uniform(2.1, 4.5) * support;
    const Vec3 p = distance * random.unitVector();
    const Vec4f point(float(p.x()), float(p.y()), float(p.z()), 0);
    float value;
    map.values({&point, 1}, {&value, 1});
    worst = std::max(worst, std::abs(double(value) - integrateBoundary(rule, *ball, p, support, 0.5)));
  }
  return worst;
}

}  // namespace

SUNDER_BENCH("fluid", boundaryMapQuestions) {
  if (!options.wants("map/eval") && !options.wants("map/eval/values") && !options.wants("map/eval/filled"))
    return;
  const ThreadLimit one(1);
  const Box3 tank{Vec3(-1.5, 0, -0.5), Vec3(1.5, 2, 0.5)};
  const sdf::FieldPtr field = sdf::makeBoxField(tank);
  const double r = 0.1;
  const DensityMap map(*field, {tank.lower - Vec3::Constant(2 * r), tank.upper + Vec3::Constant(2 * r)},
                       {.support = r, .outside = true});
  const auto measure = [&](const std::string& name, const std::vector<Vec4f>& points, bool gradients) {
    std::vector<Vec4f> samples(points.size());
    std::vector<float> values(points.size());
    const double seconds = bestSeconds(options, [&] {
      if (gradients)
        map.samples(points, samples);
      else
        map.values(points, values);
    });
    Row row{.name = name,
            .size = points.size(),
            .metric = "time",
            .value = 1e9 * seconds / double(points.size()),
            .unit = "ns/point"};
    if (name == "map/eval") {
      row.peer = "SPlisHSPlasH";
      row.peerValue = 118;
      row.bar = 60;
    }
    report.add(row);
  };
  const std::vector<Vec4f> band = randomPoints(*field, tank, -1.5 * r, 0);
  const std::vector<Vec4f> filled = randomPoints(*field, tank, -10, 0);
  measure("map/eval", band, true);
  measure("map/eval/values", band, false);
  measure("map/eval/filled", filled, true);
  addPerCell(report, "map/eval/bytes", map);
}

SUNDER_BENCH("fluid", boundaryMapBuild) {
  if (!options.wants("map/build") && !options.wants("map/build/tank") && !options.wants("map/build/rippled"))
    return;
  const double r = 0.2;
  const sdf::MeshField box(shapes::makeBox({.size = Vec3(2.4, 1.4, 0.4)}));
  const sdf::MeshField rippled(shapes::makeRippledSphere({79, 0.1}));
  struct Case {
    std::string name;
    const sdf::Field& field;
    Box3 domain;
    DensityMapSettings settings;
  };
  const Box3 domain{Vec3(-1.5, -1, -0.5), Vec3(1.5, 1, 0.5)};
  const Box3 wide{Vec3::Constant(-1.5), Vec3::Constant(1.5)};
  const Case cases[] = {{"map/build", box, domain, {.support = r}},
                        {"map/build/tank", box, domain, {.support = r, .outside = true}},
                        {"map/build/rippled", rippled, wide, {.support = r}}};
  for (const unsigned threads : options.threadCounts()) {
    const ThreadLimit limit(threads);
    for (const Case& c : cases) {
      if (!options.wants(c.name)) continue;
      DensityMapReport built;
      Row row{.name = c.name, .threads = threads, .metric = "time", .unit = "s"};
      row.value = bestSeconds(options, [&] { built = DensityMap(c.field, c.domain, c.settings).report(); });
      row.size = size_t(built.cells[0]) * built.cells[1] * built.cells[2];
      if (c.name == "map/build") {
        row.peer = "SPlisHSPlasH";
        row.peerValue = 5.9;
        row.bar = 0.5;
      }
      report.add(row);
    }
  }
}

SUNDER_BENCH("fluid", boundaryMapErrors) {
  const std::string all = "map/error";
  bool wanted = options.wants(all);
  for (const char* name : {"/plane", "/plane/gradient", "/tilted", "/tilted/gradient", "/ball"})
    wanted = wanted || options.wants(all + name);
  if (!wanted) return;
  const double r = 0.1;
  for (const size_t perSupport : {size_t(1), size_t(2), size_t(4), size_t(8)}) {
    const double cell = r / double(perSupport);
    const auto add = [&](const char* name, double value) {
      report.add({.name = all + name,
                  .size = perSupport,
                  .metric = "count",
                  .value = value,
                  .unit = "rest densities"});
    };
    RandomStream random(8);
    Errors along, tilted;
    const auto join = [](Errors& worst, const Errors& e) {
      worst = {std::max(worst.value, e.value), std::max(worst.gradient, e.gradient)};
    };
    for (int n = 0; n < 12; ++n) {
      const double level = (n + 0.5) / 12 * cell;
      join(along, planeErrors(Vec3::Unit(n % 3), level, r, cell));
      join(tilted, planeErrors(random.unitVector(), level, r, cell));
    }
    add("/plane", along.value);
    add("/plane/gradient", along.gradient);
    add("/tilted", tilted.value);
    add("/tilted/gradient", tilted.gradient);
    add("/ball", ballError(r, cell));
  }
}

}  // namespace sunder::bench
