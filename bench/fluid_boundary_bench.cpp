// Boundaries by maps and by particles (specification 10, check 29 and table H.4; tools/fluid_experiments.py
// draws the series).
// `boundary/cost`: a dam break around a rippled ball of 20,000 triangles, milliseconds a step with two
// density and one divergence iterations, and of its search (neighbours and boundaries).
// `boundary/slide`: a lone particle down a frictionless slope of 30 degrees; height in diameters and force of
// the slope over the particle's weight across it, by milliseconds.
// `boundary/grid`: where 36 particles are after 0.7 s down that slope, in diameters off their places.
// `boundary/flow`: how far a sheet of water has slid down it after 0.5 s, over what gravity gives.
// `boundary/plane`: what the boundary adds along a line half a diameter above a plane.
#include "sunder/base/parallel.h"
#include "sunder/base/profiler.h"
#include "sunder/base/stopwatch.h"
#include "sunder/fluid/boundary/density_map.h"
#include "sunder/fluid/boundary/poisson_disk.h"
#include "sunder/fluid/boundary/sampled_map.h"
#include "sunder/fluid/fill.h"
#include "sunder/fluid/solver/fluid.h"
#include "sunder/sdf/analytic_field.h"
#include "sunder/sdf/mesh_field.h"
#include "sunder/shapes/round.h"
#include "sunder/shapes/wall.h"

#include "bench.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace sunder::bench {
namespace {

using namespace fluid;

constexpr double kRadius = 0.02, kDiameter = 0.04, kSupport = 0.08;
constexpr double kSlope = 30 * kPi / 180, kGravity = 9.81;

struct Method {
  std::string name;
  double spacing;  // of particles, in radii; 0: a map
};
const Method kMethods[] = {{"map", 0}, {"particles-1", 2}, {"particles-2", 1}, {"particles-4", 0.5}};

// y <= 0. Lone particles rest at `height` above it.
BoundaryMapPtr planeOf(const Method& method, double& height) {
  height = 0.3 * kSupport;
  if (method.spacing == 0) {
    height = 0.3185 * kSupport;
    return std::make_shared<const PlaneMap>(Vec3::UnitY(), 0.0,
                                            DensityMapSettings{.support = kSupport, .offset = 0});
  }
  const Vec3 size(3.6, 0.1, 1.2);
  std::vector<Vec3> top;
  for (const Vec3& p : poissonDisk(shapes::makeBox({.size = size}), method.spacing * kRadius))
    if (p.y() > 0.5 * size.y() - 1e-9) top.push_back(Vec3(p.x(), 0, p.z()));
  return std::make_shared<const SampledMap>(top, kSupport);
}

Fluid downhill(const BoundaryMapPtr& map) {
  FluidSettings settings;
  settings.radius = kRadius;
  settings.gravity = kGravity * Vec3(std::sin(kSlope), -std::cos(kSlope), 0);
  Fluid fluid(settings);
  fluid.addPhase({});
  BoundaryBody body;
  body.map = map;
  fluid.addBody(body);
  return fluid;
}

void addPoint(Report& report, const std::string& name, size_t at, double value, const char* unit) {
  report.add({.name = name, .size = at, .metric = "count", .value = value, .unit = unit});
}

SUNDER_BENCH("fluid", fluidSlide) {
  for (const Method& method : kMethods) {
    if (!options.wants("boundary/slide/" + method.name)) continue;
    double height;
    Fluid fluid = downhill(planeOf(method, height));
    const Vec3 start(-1.5, height, 0.01);
    fluid.add({&start, 1}, Vec3::Zero());
    const double weight = fluid.mass(0) * kGravity * std::cos(kSlope);
    for (size_t k = 1; k <= 700; ++k) {
      fluid.step(1e-3);
      if (k % 2 > 0) continue;
      const std::string name = "boundary/slide/" + method.name;
      addPoint(report, name + "/height", k, fluid.positions()[0].y() / kDiameter, "diameters");
      addPoint(report, name + "/force", k, -fluid.impulses()[0].linear.y() / (1e-3 * weight), "weights");
    }
  }
}

SUNDER_BENCH("fluid", fluidGrid) {
  for (const Method& method : kMethods) {
    if (!options.wants("boundary/grid/" + method.name)) continue;
    double height;
    Fluid fluid = downhill(planeOf(method, height));
    std::vector<Vec3> points;
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j)
        points.push_back(Vec3(-1.5 + 1.2 * kSupport * i, height, 1.2 * kSupport * (j - 2.5)));
    fluid.add(points, Vec3::Zero());
    for (int k = 0; k < 700; ++k) fluid.step(1e-3);
    const double way = 0.5 * kGravity * std::sin(kSlope) * (0.49 + 0.7e-3);
    for (size_t i = 0; i < points.size(); ++i) {
      const uint32_t id = fluid.ids()[i];
      const Vec3 off = (fluid.positions()[i] - points[id] - Vec3(way, 0, 0)) / kDiameter;
      addPoint(report, "boundary/grid/" + method.name + "/along", id, off.x(), "diameters");
      addPoint(report, "boundary/grid/" + method.name + "/across", id, off.z(), "diameters");
    }
  }
}

SUNDER_BENCH("fluid", fluidFlow) {
  for (const Method& method : kMethods) {
    if (!options.wants("boundary/flow/" + method.name)) continue;
    double height;
    Fluid fluid = downhill(planeOf(method, height));
    std::vector<Vec3> points;
    for (int i = 0; i < 10; ++i)
      for (int j = 0; j < 10; ++j)
        for (int k = 0; k < 3; ++k)
          points.push_back(Vec3(-1.4, 0.93 * kSupport, 0) + kDiameter * Vec3(i, k, j - 4.5));
    fluid.add(points, Vec3::Zero());
    fluid.relax();
    const auto middle = [&] {
      double sum = 0;
      for (const Vec3& p : fluid.positions()) sum += p.x() / double(fluid.size());
      return sum;
    };
    const double before = middle();
    for (int k = 0; k < 500; ++k) fluid.step(1e-3);
    const double way = 0.5 * kGravity * std::sin(kSlope) * (0.25 + 0.5e-3);
    addPoint(report, "boundary/flow/" + method.name, fluid.size(), (middle() - before) / way, "of the way");
  }
}

SUNDER_BENCH("fluid", fluidPlane) {
  for (const Method& method : kMethods) {
    if (!options.wants("boundary/plane/" + method.name)) continue;
    double height;
    const BoundaryMapPtr map = planeOf(method, height);
    std::vector<Vec4f> points, samples(400);
    for (int k = 0; k < 400; ++k) points.push_back(Vec4f(float(-0.4 + 0.002 * k), float(kRadius), 0.013f, 0));
    map->samples(points, samples);
    for (size_t k = 0; k < samples.size(); ++k)
      addPoint(report, "boundary/plane/" + method.name, k, double(samples[k].w()), "rest densities");
  }
}

// A block of water beside a rippled ball, in a tank.
Fluid aroundBall(bool particles, size_t& boundaryParticles) {
  FluidSettings settings;
  settings.radius = kRadius;
  settings.density.least = settings.density.most = 2;
  settings.divergence.least = settings.divergence.most = 1;
  Fluid fluid(settings);
  fluid.addPhase({});
  const Box3 tank{Vec3::Zero(), Vec3(3.2, 2, 1.6)};
  geometry::TriMesh ball = shapes::makeRippledSphere({.n = 50});
  for (Vec3& p : ball.positions) p *= 0.45;
  const Vec3 middle(1.6, 0.5, 0.8);
  BoundaryBody walls, obstacle;
  obstacle.position = middle;
  boundaryParticles = 0;
  if (particles) {
    geometry::TriMesh box = shapes::makeBox({.size = tank.extent()});
    for (Vec3& p : box.positions) p += tank.center();
    auto first = std::make_shared<const SampledMap>(poissonDisk(box, kRadius), kSupport);
    auto second = std::make_shared<const SampledMap>(poissonDisk(ball, kRadius), kSupport);
    boundaryParticles = first->size() + second->size();
    walls.map = first;
    obstacle.map = second;
  } else {
    const auto grown = [](Box3 box) {
      box.lower.array() -= 3 * kSupport;
      box.upper.array() += 3 * kSupport;
      return box;
    };
    walls.map = std::make_shared<const DensityMap>(*sdf::makeBoxField(tank), grown(tank),
                                                   DensityMapSettings{.support = kSupport, .outside = true});
    Box3 around;
    for (const Vec3& p : ball.positions) around.grow(p);
    obstacle.map = std::make_shared<const DensityMap>(sdf::MeshField(ball), grown(around),
                                                      DensityMapSettings{.support = kSupport});
  }
  fluid.addBody(walls);
  fluid.addBody(obstacle);
  // The same water for both.
  std::vector<Vec3> points;
  const sdf::MeshField field(ball);
  for (const Vec3& p :
       fillBox({Vec3::Constant(kDiameter), Vec3(3.2, 1.1, 1.6) - Vec3::Constant(kDiameter)}, kDiameter))
    if (field.value(p - middle) > kDiameter) points.push_back(p);
  fluid.add(points, Vec3::Zero());
  fluid.relax();
  return fluid;
}

SUNDER_BENCH("fluid", fluidBoundaryCost) {
  if (!options.wants("boundary/cost")) return;
  for (const unsigned threads : options.threadCounts()) {
    const ThreadLimit limit(threads);
    double step[2], search[2];
    size_t size = 0, boundary = 0;
    for (const bool particles : {false, true}) {
      Fluid fluid = aroundBall(particles, boundary);
      size = fluid.size();
      for (int k = 0; k < 20; ++k) fluid.step(2e-3);
      step[particles] = search[particles] = 1e30;
      for (int k = 0; k < 20; ++k) {
        Profiler profiler;
        const Stopwatch watch;
        {
          const Profiler::Activation active(profiler);
          fluid.step(2e-3);
        }
        const double all = watch.seconds();
        step[particles] = std::min(step[particles], all);
        double found = 0;
        for (const Profiler::Stage& stage : profiler.stages())
          if (stage.name == "neighbours" || stage.name == "maps") found += stage.total;
        search[particles] = std::min(search[particles], found);
      }
    }
    for (const auto& [name, times] : {std::pair{"step", step}, std::pair{"search", search}})
      report.add({.name = std::string("boundary/cost/") + name,
                  .size = size,
                  .threads = threads,
                  .metric = "time",
                  .value = 1e3 * times[0],
                  .unit = "ms",
                  .peer = "boundary particles",
                  .peerValue = 1e3 * times[1]});
    addPoint(report, "boundary/cost/particles", size, double(boundary), "boundary particles");
  }
}

}  // namespace
}  // namespace sunder::bench
