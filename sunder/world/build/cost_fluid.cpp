// What liquids take: particles with their neighbours, and the boundary maps of tank and bodies.
#include "sunder/base/text.h"
#include "sunder/fluid/boundary/density_map.h"
#include "sunder/soft/spheres/volume_points.h"
#include "sunder/world/build/cost_fluid_parts.h"
#include "sunder/world/build/soft_library.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include <fmt/core.h>

namespace sunder::world {

namespace {

constexpr size_t kMostBlocks = 2000;    // whose overlaps are looked at
constexpr double kBytesOfFilling = 60;  // for each place that is tried, particle or not
constexpr double kSecondsAParticle = 5e-6;
// Of one step, a particle: few iterations of the pressure solvers, and many.
constexpr double kParticleSecondsLow = 8e-7, kParticleSecondsHigh = 6e-6;
constexpr double kParticleFrameBytes = 28;  // a particle: position, velocity, density
constexpr double kSampleBytes = 400;        // a boundary particle, with the darts it was chosen from
constexpr double kMapBandKept = 3;          // supports: cells on both sides of a surface
constexpr double kMapBandBuilt = 6;         // supports: lattice points whose distance is asked
constexpr double kBytesAPointBuilt = 14;    // of that lattice
constexpr double kSecondsAFlatPoint = 3.2e-7, kSecondsACurvedPoint = 6e-7;
constexpr double kBytesAMappedTriangle = 1900, kSecondsAMappedTriangle = 1e-5;
// Of a point of soft bodies: where shapes are kept, and of each body; of a link to a particle, of which those
// within a support of the surface have so many.
constexpr double kBytesASoftPoint = 44, kBytesAMovingPoint = 340, kBytesALink = 20, kLinks = 40;
constexpr double kSecondsASoftPoint = 5e-6;  // to find it in the solid
// Of one step, a link: few iterations of the pressure solvers, and many.
constexpr double kLinkSecondsLow = 4e-8, kLinkSecondsHigh = 6e-7;
constexpr int kPartOfField = 24;  // samples along each side of a block that is a field
constexpr double kFarBeyond = 8;  // times the other sides: a block so long is a slip of the pen

// A surface and its map.
struct MapSize {
  Vec3 extent;          // of the grid, without the margin
  double area, margin;  // supports around it
  double thickness;     // of its walls
  bool curved;          // its nodes need a quadrature
  double triangles;     // that are made ready for the map alone: of surfaces of fields
  // Walls that are thin for particles have their map made again, farther away.
  bool thin(double radius) const { return thickness < 8 * radius; }
  double passing(double radius) const {
    return kBytesAPointBuilt * points(radius) + (thin(radius) ? kept(radius) : 0) +
           kBytesAMappedTriangle * triangles;
  }
  double cells(double radius) const {
    return particlesInBox(extent + Vec3::Constant(2 * margin * 4 * radius), 2 * radius);
  }
  double kept(double radius) const {
    const double all = cells(radius), near = area * kMapBandKept * 4 * radius / std::pow(2 * radius, 3);
    return 4 * all + sizeof(fluid::MapCell) * std::min(all, near) + 16 * std::max(0.0, all - near) * 0.3;
  }
  // Lattice points of the band, in bricks. The lattice reaches a support beyond the cells.
  double points(double radius) const {
    const double step = 2 * radius / 3, brick = 16 * step;
    const Vec3 sides = extent + Vec3::Constant(2 * (margin + 1) * 4 * radius);
    return std::min(1.1 * sides.prod() / std::pow(step, 3),
                    area * (kMapBandBuilt * 4 * radius + brick) / std::pow(step, 3));
  }
  double seconds(double radius) const {
    return (thin(radius) ? 2 : 1) * (curved || thin(radius) ? kSecondsACurvedPoint : kSecondsAFlatPoint) *
               points(radius) +
           kSecondsAMappedTriangle * triangles;
  }
};

constexpr const char* kTank = "the tank";
constexpr uint64_t kMostCells = fluid::DensityMap::kMostCells;

double boxArea(const Vec3& s) { return 2 * (s.x() * s.y() + s.y() * s.z() + s.z() * s.x()); }

// Where a side ends that begins at `from` and is at most `length` long, which is below 0 for one that goes
// down.
std::string shortened(double from, double length) {
  const double end = from + length;
  const std::string text = length > 0 ? twoDigitsDown(end) : twoDigitsUp(end);
  const double written = std::stod(text) - from;
  // Two digits are too few where the side is short against its place.
  return written / length > 0.5 ? text : lengthText(from + 0.98 * length);
}

void addMap(const Scene& scene, const std::string& what, const MapSize& size, double radius, Cost& cost) {
  CostItem item;
  item.count = size.cells(radius);
  item.what = fmt::format("the boundary map of {} with {} cells", what, countWords(item.count));
  if (item.count > double(kMostCells)) item.impossible = fmt::format("{} are possible", kMostCells);
  item.kept = size.kept(radius);
  item.passing = size.passing(radius);
  item.buildSeconds = size.seconds(radius);
  const auto bytes = [](const MapSize& map, double r) {
    if (map.cells(r) > double(kMostCells)) return std::numeric_limits<double>::infinity();
    return map.kept(r) + map.passing(r);
  };
  int axis = 0;
  const double longest = size.extent.maxCoeff(&axis),
               other = std::max(size.extent[(axis + 1) % 3], size.extent[(axis + 2) % 3]);
  if (what == kTank && longest > kFarBeyond * other) {
    const fluid::PeriodicSides& sides = scene.fluid->settings.periodic;
    const Box3& tank = *scene.fluid->tank;
    const bool repeats = sides.lengths[axis] > 0;
    // The corner that is farther away.
    const bool upper = std::abs(tank.upper[axis]) >= std::abs(tank.lower[axis]);
    const double from = repeats ? 0 : upper ? tank.lower[axis] : tank.upper[axis];
    const double way = repeats || upper ? longest : -longest;
    item.levers.push_back(
        {repeats ? fmt::format("/fluid/periodic/{}", axis)
                 : fmt::format("/fluid/tank/{}/{}", upper ? "upper" : "lower", axis),
         [=](double s) { return s == 1 ? lengthText(from + way) : shortened(from, way / s); },
         [=](double s) {
           MapSize shorter = size;
           shorter.extent[axis] = longest / s;
           shorter.area = boxArea(shorter.extent);
           return bytes(shorter, radius);
         }});
  }
  item.levers.push_back(radiusLever(radius, [=](double r) { return bytes(size, r); }));
  cost.items.push_back(std::move(item));
}

void addSamples(const std::string& what, double area, double radius, Cost& cost) {
  CostItem item;
  item.count = area / (radius * radius);
  item.what = fmt::format("{} boundary particles on {}", countWords(item.count), what);
  item.kept = kSampleBytes * item.count;
  item.buildSeconds = 1e-5 * item.count;
  item.levers.push_back(radiusLever(radius, [area](double r) { return kSampleBytes * area / (r * r); }));
  cost.items.push_back(std::move(item));
}

// Soft bodies as points that push liquids away.
void addSoftPoints(const Scene& scene, std::span<const ShapeSize> sizes, double fluidSteps, Cost& cost) {
  const double radius = scene.fluid->settings.radius;
  std::map<std::tuple<uint32_t, uint32_t, std::string, double>, std::pair<const SoftBodySpec*, double>> kinds;
  for (const SoftBodySpec& body : scene.softBodies) {
    auto& [first, bodies] =
        kinds[{body.shape, body.soft.cage.empty() ? body.soft.tets : 0, body.soft.cage, body.soft.spheres}];
    if (!first) first = &body;
    bodies += body.standsFor;
  }
  for (const auto& [key, kind] : kinds) {
    const auto& [first, bodies] = kind;
    const ShapeSize& size = sizes[first->shape];
    const auto points = [volume = size.volume, area = size.area](double r) {
      return volume / std::pow(soft::volumeSpacing(volume, area, kLiquidPointSpacing * r), 3);
    };
    const auto links = [area = size.area](double r) { return kLinks * area / (2 * r * r); };
    const auto bytes = [=, bodies = bodies](double r) {
      return (kBytesASoftPoint + bodies * kBytesAMovingPoint) * points(r) +
             2 * kBytesALink * bodies * links(r);
    };
    CostItem item;
    item.count = bodies * points(radius);
    item.what = bodies > 1
                    ? fmt::format("{} points of {} bodies such as {} for the liquid", countWords(item.count),
                                  countWords(bodies), first->id)
                    : fmt::format("{} points of body {} for the liquid", countWords(item.count), first->id);
    item.kept = (kBytesASoftPoint + bodies * kBytesAMovingPoint) * points(radius);
    item.passing = 2 * kBytesALink * bodies * links(radius);
    item.buildSeconds = kSecondsASoftPoint * points(radius);
    item.levers.push_back(radiusLever(radius, bytes));
    cost.items.push_back(std::move(item));
    cost.stepSecondsLow += kLinkSecondsLow * fluidSteps * bodies * links(radius) * 0.1;
    cost.stepSecondsHigh += kLinkSecondsHigh * fluidSteps * bodies * links(radius);
  }
}

// The part of a block's box that is inside of its field.
double partInside(const BlockSpec& block) {
  const std::vector<double> values = latticeValues(*block.field, block.box, kPartOfField);
  return double(std::count_if(values.begin(), values.end(), [](double v) { return v < 0; })) /
         double(values.size());
}

// A corner of the block that is to blame: it lies beyond the tank, or one side is much longer than the
// others.
std::vector<CostLever> cornerLever(const BlockSpec& block, const std::optional<Box3>& tank, double spacing,
                                   double bytesAParticle) {
  const Vec3 extent = block.box.extent();
  int axis = 0;
  extent.maxCoeff(&axis);
  const double longest = extent[axis], other = std::max(extent[(axis + 1) % 3], extent[(axis + 2) % 3]);
  const double above = tank ? block.box.upper[axis] - tank->upper[axis] : 0,
               below = tank ? tank->lower[axis] - block.box.lower[axis] : 0;
  if (!(std::max(above, below) > 0.5 * longest) && !(longest > kFarBeyond * other)) return {};
  const bool upper =
      tank ? above >= below : std::abs(block.box.upper[axis]) >= std::abs(block.box.lower[axis]);
  const double fixed = upper ? block.box.lower[axis] : block.box.upper[axis];
  // Where the tank ends is the first choice.
  const double most = tank && std::max(above, below) > 0
                          ? std::abs((upper ? tank->upper[axis] : tank->lower[axis]) - fixed)
                          : longest;
  const auto length = [=](double s) { return s == 1 ? longest : std::min(most, longest / s); };
  const auto value = [=](double s) {
    const double way = upper ? length(s) : -length(s);
    return s == 1 || length(s) == most ? lengthText(fixed + way) : shortened(fixed, way);
  };
  return {{fmt::format("{}/{}/{}", block.pointer, upper ? "upper" : "lower", axis), value, [=](double s) {
             Vec3 size = extent;
             size[axis] = length(s);
             return bytesAParticle * particlesInBox(size, spacing);
           }}};
}

// How many times the room of a block is filled, on average, with all blocks of all liquids.
double fillings(const Scene& scene, const BlockSpec& block) {
  size_t count = 0;
  for (const LiquidSpec& liquid : scene.fluid->liquids) count += liquid.blocks.size();
  if (block.container || count > kMostBlocks) return 1;
  double sum = 0;
  for (const LiquidSpec& liquid : scene.fluid->liquids)
    for (const BlockSpec& other : liquid.blocks) {
      if (other.container) continue;
      const Vec3 common =
          other.box.upper.cwiseMin(block.box.upper) - other.box.lower.cwiseMax(block.box.lower);
      if (common.minCoeff() > 0) sum += common.prod() / block.box.extent().prod();
    }
  return std::max(1.0, sum);
}

void addBlock(const Scene& scene, std::span<const ShapeSize> sizes, const LiquidSpec& liquid,
              const BlockSpec& block, Cost& cost) {
  const double radius = scene.fluid->settings.radius, spacing = 2 * radius;
  Box3 box = block.box;
  double part = 1;
  if (block.container) {
    const BodySpec& body = scene.bodies[*block.container];
    box = startBox(body, sizes[body.shape]);
    if (block.level) box.upper.y() = std::min(box.upper.y(), *block.level);
    if (box.empty() || !box.extent().allFinite()) return;  // filling it will say so
    part = kPartOfContainer;
  } else if (block.field) {
    part = partInside(block);
  }
  const Vec3 extent = box.extent();
  const double times = fillings(scene, block), bytesAParticle = kBytesAParticle + times * kBytesOfNeighbours;
  const double bytes = kBytesOfFilling + part * bytesAParticle;
  CostItem item;
  item.count = part * particlesInBox(extent, spacing);
  item.what = fmt::format("{} particles of {}", countWords(item.count), liquid.id);
  if (times > 1.5) item.what += fmt::format(" in a block that {:.0f} blocks fill", times);
  item.kept = bytesAParticle * item.count;
  item.passing = kBytesOfFilling * particlesInBox(extent, spacing);
  item.buildSeconds = kSecondsAParticle * item.count;
  if (!block.field && !block.container) item.levers = cornerLever(block, scene.fluid->tank, spacing, bytes);
  item.levers.push_back(radiusLever(radius, [=](double r) { return bytes * particlesInBox(extent, 2 * r); }));
  cost.particles += uint64_t(std::min(item.count, 1e18));
  cost.items.push_back(std::move(item));
}

}  // namespace

double particlesAlong(double length, double spacing) {
  return std::max(1.0, std::floor(length / spacing + 1e-6));
}

double particlesInBox(const Vec3& extent, double spacing) {
  return particlesAlong(extent.x(), spacing) * particlesAlong(extent.y(), spacing) *
         particlesAlong(extent.z(), spacing);
}

std::string lengthText(double value) { return fmt::format("{:.6g}", value); }

CostLever radiusLever(double radius, std::function<double(double)> bytesAtRadius) {
  return {"/fluid/radius",
          [radius](double s) { return s == 1 ? lengthText(radius) : twoDigitsUp(radius * s); },
          [radius, bytes = std::move(bytesAtRadius)](double s) { return bytes(radius * s); }};
}

void addFluidCost(const Scene& scene, std::span<const ShapeSize> sizes, Cost& cost) {
  if (!scene.fluid) return;
  const FluidSpec& fluid = *scene.fluid;
  const double radius = fluid.settings.radius;
  if (fluid.tank) {
    Vec3 extent = fluid.tank->extent();
    // The map of a tank covers a liquid that repeats itself as far as it does.
    for (int k = 0; k < 3; ++k)
      if (fluid.settings.periodic.lengths[k] > 0) extent[k] = fluid.settings.periodic.lengths[k];
    if (fluid.boundaryParticles)
      addSamples(kTank, boxArea(extent), radius, cost);
    else
      addMap(scene, kTank, {extent, boxArea(extent), 4, Box3::kInfinity, false, 0}, radius, cost);
  }
  std::vector<bool> seen(sizes.size(), false);
  for (const BodySpec& body : scene.bodies) {
    const ShapeSize& size = sizes[body.shape];
    if (seen[body.shape] || size.bounds.empty()) continue;
    seen[body.shape] = true;
    if (fluid.boundaryParticles) {
      addSamples("body " + body.id, size.area, radius, cost);
      continue;
    }
    const double thickness = size.area > 0 ? 2 * size.volume / size.area : Box3::kInfinity;
    addMap(scene, "body " + body.id,
           {size.bounds.extent(), size.area, 1.5, thickness, size.kind != ShapeSize::Kind::Box,
            size.kind == ShapeSize::Kind::Field ? size.triangles : 0},
           radius, cost);
  }
  for (const LiquidSpec& liquid : fluid.liquids) {
    for (const BlockSpec& block : liquid.blocks) addBlock(scene, sizes, liquid, block, cost);
    for (size_t e = 0; e < liquid.emitters.size(); ++e) addEmitter(scene, sizes, liquid, e, cost);
  }
  const double frames = double(scene.world.frames), steps = frames * scene.world.stepsPerFrame;
  const double seconds = scene.world.frameTime(scene.world.frames);
  const double start = double(cost.particles), later = cost.particlesLater;
  const double fluidSteps = std::max(steps, seconds / fluid.longestStep);
  // Water that falls by a metre goes some 4 m/s.
  const double fast = std::max(fluidSteps, seconds * 4 / (fluid.settings.courant * 2 * radius));
  addSoftPoints(scene, sizes, fast, cost);
  cost.stepSecondsLow += kParticleSecondsLow * fluidSteps * (start + 0.2 * later);
  cost.stepSecondsHigh += kParticleSecondsHigh * fast * (start + later);
  cost.recordingBytes += kParticleFrameBytes * (start + 0.5 * later) * frames;
}

}  // namespace sunder::world
