// What liquids take: particles with their neighbours, and the boundary maps of tank and bodies.
#include "sunder/base/text.h"
#include "sunder/fluid/density_map.h"
#include "sunder/world/cost_parts.h"
#include "sunder/world/field_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace sunder::world {

namespace {

// State, grid and recording; neighbours with their gradients, which grow where blocks overlap.
constexpr double kBytesAParticle = 500, kBytesOfNeighbours = 900;
constexpr size_t kMostBlocks = 2000;    // whose overlaps are looked at
constexpr double kBytesOfFilling = 60;  // for each place that is tried, particle or not
constexpr double kSecondsAParticle = 1.5e-5;
// Of one step, a particle: few iterations of the pressure solvers, and many.
constexpr double kParticleSecondsLow = 8e-7, kParticleSecondsHigh = 6e-6;
constexpr double kParticleFrameBytes = 28;  // a particle: position, velocity, density
constexpr double kSampleBytes = 400;        // a boundary particle, with the darts it was chosen from
constexpr double kMapBandKept = 3;          // supports: cells on both sides of a surface
constexpr double kMapBandBuilt = 6;         // supports: lattice points whose distance is asked
constexpr double kBytesAPointBuilt = 14;    // of that lattice
constexpr double kSecondsAPointBuilt = 1.8e-7;
constexpr double kPartOfContainer = 0.55;  // of the box of a vessel up to the level: what liquid fills
constexpr int kPartOfField = 24;           // samples along each side of a block that is a field
constexpr double kFarBeyond = 8;           // times the other sides: a block so long is a slip of the pen

double along(double length, double spacing) { return std::max(1.0, std::floor(length / spacing + 1e-6)); }

double inBox(const Vec3& extent, double spacing) {
  return along(extent.x(), spacing) * along(extent.y(), spacing) * along(extent.z(), spacing);
}

// A surface and its map.
struct MapSize {
  Vec3 extent;          // of the grid, without the margin
  double area, margin;  // supports around it
  double cells(double radius) const {
    return inBox(extent + Vec3::Constant(2 * margin * 4 * radius), 2 * radius);
  }
  double kept(double radius) const {
    const double all = cells(radius), near = area * kMapBandKept * 4 * radius / std::pow(2 * radius, 3);
    return 4 * all + sizeof(fluid::MapCell) * std::min(all, near) + 16 * std::max(0.0, all - near) * 0.3;
  }
  // Lattice points of the band, in bricks.
  double points(double radius) const {
    const double step = 2 * radius / 3, brick = 16 * step;
    const double all = 27 * cells(radius);
    return std::min(1.3 * all, area * (kMapBandBuilt * 4 * radius + brick) / std::pow(step, 3));
  }
};

constexpr const char* kTank = "the tank";
constexpr uint64_t kMostCells = fluid::DensityMap::kMostCells;

double boxArea(const Vec3& s) { return 2 * (s.x() * s.y() + s.y() * s.z() + s.z() * s.x()); }

std::string lengthText(double value) { return fmt::format("{:.6g}", value); }

// Where a side ends that begins at `from` and is at most `length` long, which is below 0 for one that goes
// down.
std::string shortened(double from, double length) {
  const double end = from + length;
  const std::string text = length > 0 ? twoDigitsDown(end) : twoDigitsUp(end);
  const double written = std::stod(text) - from;
  // Two digits are too few where the side is short against its place.
  return written / length > 0.5 ? text : lengthText(from + 0.98 * length);
}

CostLever radiusLever(double radius, std::function<double(double)> bytesAtRadius) {
  return {"/fluid/radius",
          [radius](double s) { return s == 1 ? lengthText(radius) : twoDigitsUp(radius * s); },
          [radius, bytes = std::move(bytesAtRadius)](double s) { return bytes(radius * s); }};
}

void addMap(const Scene& scene, const std::string& what, const MapSize& size, double radius, bool twice,
            Cost& cost) {
  CostItem item;
  item.count = size.cells(radius);
  item.what = fmt::format("the boundary map of {} with {} cells", what, countWords(item.count));
  if (item.count > double(kMostCells)) item.impossible = fmt::format("{} are possible", kMostCells);
  item.kept = size.kept(radius);
  item.passing = kBytesAPointBuilt * size.points(radius);
  item.buildSeconds = (twice ? 2 : 1) * kSecondsAPointBuilt * size.points(radius);
  const auto bytes = [](const MapSize& map, double r) {
    if (map.cells(r) > double(kMostCells)) return std::numeric_limits<double>::infinity();
    return map.kept(r) + kBytesAPointBuilt * map.points(r);
  };
  int axis = 0;
  const double longest = size.extent.maxCoeff(&axis),
               other = std::max(size.extent[(axis + 1) % 3], size.extent[(axis + 2) % 3]);
  if (what == kTank && longest > kFarBeyond * other) {
    const double from = scene.fluid->tank->lower[axis];
    item.levers.push_back(
        {fmt::format("/fluid/tank/upper/{}", axis),
         [=](double s) { return s == 1 ? lengthText(from + longest) : shortened(from, longest / s); },
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

// The part of a block's box that is inside of its field.
double partInside(const Scene& scene, const BlockSpec& block) {
  const nlohmann::json json = nlohmann::json::parse(block.field);
  const sdf::FieldPtr field = makeField(SceneNode(scene.document, json, block.pointer + "/field"));
  const std::vector<double> values = latticeValues(*field, block.box, kPartOfField);
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
             return bytesAParticle * inBox(size, spacing);
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
  } else if (!block.field.empty()) {
    part = partInside(scene, block);
  }
  const Vec3 extent = box.extent();
  const double times = fillings(scene, block), bytesAParticle = kBytesAParticle + times * kBytesOfNeighbours;
  const double bytes = kBytesOfFilling + part * bytesAParticle;
  CostItem item;
  item.count = part * inBox(extent, spacing);
  item.what = fmt::format("{} particles of {}", countWords(item.count), liquid.id);
  if (times > 1.5) item.what += fmt::format(" in a block that {:.0f} blocks fill", times);
  item.kept = bytesAParticle * item.count;
  item.passing = kBytesOfFilling * inBox(extent, spacing);
  item.buildSeconds = kSecondsAParticle * item.count;
  if (block.field.empty() && !block.container)
    item.levers = cornerLever(block, scene.fluid->tank, spacing, bytes);
  item.levers.push_back(radiusLever(radius, [=](double r) { return bytes * inBox(extent, 2 * r); }));
  cost.particles += uint64_t(std::min(item.count, 1e18));
  cost.items.push_back(std::move(item));
}

// Particles that an emitter lets in while the run lasts, less those that have left through the bounds of the
// world by then: they are as many as fit on their way out, twice.
double emitted(const Scene& scene, const EmitterSpec& emitter, double radius) {
  const double end = scene.world.frameTime(scene.world.frames), spacing = 2 * radius;
  const double seconds = std::max(0.0, std::min(emitter.until, end) - emitter.from);
  // Whole layers, one a diameter.
  const double layer = emitter.radius > 0 ? std::max(1.0, kPi * std::pow(emitter.radius / spacing, 2))
                                          : along(emitter.width, spacing) * along(emitter.height, spacing);
  double all = layer * std::ceil(seconds * emitter.speed / spacing);
  Box3 room;
  if (scene.fluid->tank) room.grow(*scene.fluid->tank);
  if (scene.world.bounds && room.empty()) room = *scene.world.bounds;
  if (!room.empty()) all = std::min(all, inBox(room.extent(), spacing));
  return all;
}

void addEmitter(const Scene& scene, const LiquidSpec& liquid, size_t index, Cost& cost) {
  const EmitterSpec& emitter = liquid.emitters[index];
  const double radius = scene.fluid->settings.radius;
  const std::string pointer = fmt::format("{}/emitters/{}", liquid.pointer, index);
  CostItem item;
  item.count = emitted(scene, emitter, radius);
  item.what = fmt::format("{} particles of {} from its emitter", countWords(item.count), liquid.id);
  item.kept = (kBytesAParticle + kBytesOfNeighbours) * item.count;
  const auto with = [&scene](EmitterSpec changed, double r) {
    return (kBytesAParticle + kBytesOfNeighbours) * emitted(scene, changed, r);
  };
  item.levers.push_back(radiusLever(radius, [=](double r) { return with(emitter, r); }));
  item.levers.push_back(
      {pointer + "/speed",
       [v = emitter.speed](double s) { return s == 1 ? lengthText(v) : twoDigitsDown(v / s); },
       [=](double s) {
         EmitterSpec changed = emitter;
         changed.speed /= s;
         return with(changed, radius);
       }});
  if (emitter.radius > 0)
    item.levers.push_back(
        {pointer + "/radius",
         [v = emitter.radius](double s) { return s == 1 ? lengthText(v) : twoDigitsDown(v / s); },
         [=](double s) {
           EmitterSpec changed = emitter;
           changed.radius /= s;
           return with(changed, radius);
         }});
  cost.particlesLater += item.count;
  cost.items.push_back(std::move(item));
}

}  // namespace

void addFluidCost(const Scene& scene, std::span<const ShapeSize> sizes, Cost& cost) {
  if (!scene.fluid) return;
  const FluidSpec& fluid = *scene.fluid;
  const double radius = fluid.settings.radius;
  if (fluid.tank) {
    const Vec3 extent = fluid.tank->extent();
    if (fluid.boundaryParticles)
      addSamples(kTank, boxArea(extent), radius, cost);
    else
      addMap(scene, kTank, {extent, boxArea(extent), 4}, radius, false, cost);
  }
  std::vector<bool> seen(sizes.size(), false);
  for (const BodySpec& body : scene.bodies) {
    const ShapeSize& size = sizes[body.shape];
    if (body.liquid || seen[body.shape] || size.bounds.empty()) continue;
    seen[body.shape] = true;
    if (fluid.boundaryParticles) {
      addSamples("body " + body.id, size.area, radius, cost);
      continue;
    }
    // Walls that are thin for particles have their map made again, farther away.
    const bool thin = size.area > 0 && 2 * size.volume / size.area < 8 * radius;
    addMap(scene, "body " + body.id, {size.bounds.extent(), size.area, 1.5}, radius, thin, cost);
  }
  for (const LiquidSpec& liquid : fluid.liquids) {
    for (const BlockSpec& block : liquid.blocks) addBlock(scene, sizes, liquid, block, cost);
    for (size_t e = 0; e < liquid.emitters.size(); ++e) addEmitter(scene, liquid, e, cost);
  }
  const double frames = double(scene.world.frames), steps = frames * scene.world.stepsPerFrame;
  const double seconds = scene.world.frameTime(scene.world.frames);
  const double start = double(cost.particles), later = cost.particlesLater;
  const double fluidSteps = std::max(steps, seconds / fluid.longestStep);
  // Water that falls by a metre goes some 4 m/s.
  const double fast = std::max(fluidSteps, seconds * 4 / (fluid.settings.courant * 2 * radius));
  cost.stepSecondsLow += kParticleSecondsLow * fluidSteps * (start + 0.2 * later);
  cost.stepSecondsHigh += kParticleSecondsHigh * fast * (start + later);
  cost.recordingBytes += kParticleFrameBytes * (start + 0.5 * later) * frames;
}

}  // namespace sunder::world
