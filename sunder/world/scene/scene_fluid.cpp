#include "sunder/world/scene/scene_fluid.h"

#include "sunder/base/error.h"
#include "sunder/world/scene/field_tree.h"

#include <cmath>
#include <limits>

#include <fmt/core.h>

namespace sunder::world {

namespace {

// By the names of the schema.
fluid::PressureSolver solverOf(const std::string& name) {
  return name == "implicit"                ? fluid::PressureSolver::Implicit
         : name == "position-based"        ? fluid::PressureSolver::PositionBased
         : name == "predictive-corrective" ? fluid::PressureSolver::PredictiveCorrective
                                           : fluid::PressureSolver::DivergenceFree;
}

constexpr double kMostInALayer = 1e6;  // particles of an emitter

BlockSpec readBlock(const SceneNode& node, const FindBody& body) {
  BlockSpec block;
  block.pointer = node.pointer();
  block.velocity = node.vector("velocity", kSpeed, Vec3::Zero());
  for (const char* key : {"level", "from"})
    if (node.has(key) && !node.has("pour")) node[key].fail("is for liquid that is poured (\"pour\")");
  if (node.has("pour")) {
    for (const char* key : {"lower", "upper", "field"})
      if (node.has(key)) node[key].fail("goes with blocks, not with liquid that is poured into a body");
    block.container = body(node["pour"]);
    if (!block.container) block.pour = node["pour"].text();
    if (node.has("level")) block.level = node["level"].quantity(kLength);
    if (node.has("from")) block.from = node["from"].vector(kLength);
    return block;
  }
  if (node.has("field")) {
    ReadField read = readField(node["field"]);
    block.formula = std::move(read.value);
    block.field = std::move(read.field);
    block.box = block.field->bounds();
  }
  const bool box = node.has("lower") && node.has("upper");
  if (node.has("lower") != node.has("upper") || (!box && !block.field))
    node.fail("where the block is, is not clear",
              "give \"lower\" and \"upper\", or a \"field\", or both, or a body to \"pour\" into");
  if (box) {
    const Box3 given = node.box();
    if (!block.field) {
      block.box = given;
    } else {
      block.box.lower = block.box.lower.cwiseMax(given.lower);
      block.box.upper = block.box.upper.cwiseMin(given.upper);
      if (block.box.empty()) node.fail("the field is not in the box");
    }
  }
  if (!block.box.lower.allFinite() || !block.box.upper.allFinite())
    node["field"].fail("has no end", "give \"lower\" and \"upper\" too");
  return block;
}

EmitterSpec readEmitter(const SceneNode& node, double diameter) {
  EmitterSpec emitter;
  emitter.position = node["position"].vector(kLength);
  emitter.direction = node["direction"].direction();
  if (node.has("radius") == node.has("size")) node.fail("needs a \"radius\", or a \"size\": one of both");
  emitter.across = emitter.direction.unitOrthogonal();
  if (node.has("radius")) {
    emitter.radius = node["radius"].positive(kLength);
  } else {
    if (node["size"].size() != 2) node["size"].fail("must have a width and a height");
    emitter.width = node["size"][size_t(0)].positive(kLength);
    emitter.height = node["size"][size_t(1)].positive(kLength);
    if (node.has("up")) emitter.upright = node["up"].direction();
    const Vec3 up = emitter.upright.value_or(Vec3::UnitY());
    const Vec3 across = up.cross(emitter.direction);
    if (across.norm() > 1e-6)
      emitter.across = across.normalized();
    else if (node.has("up"))
      node["up"].fail("is along the direction of the jet");
  }
  emitter.up = emitter.direction.cross(emitter.across);
  if (!(emitter.area() < kMostInALayer * diameter * diameter))
    node.fail("is too wide for particles of this size", "a smaller nozzle, or larger particles (\"radius\")");
  emitter.speed = node["speed"].positive(kSpeed);
  emitter.from = node.notNegative("from", kTime, 0);
  emitter.until = node.notNegative("until", kTime, std::numeric_limits<double>::infinity());
  if (!(emitter.until > emitter.from)) node["until"].fail("must be after \"from\"");
  return emitter;
}

}  // namespace

LiquidSpec liquidOf(const Scene& scene, std::string id, uint32_t material) {
  LiquidSpec liquid;
  liquid.id = std::move(id);
  liquid.material = material;
  const Material& made = scene.materials[material];
  liquid.phase.density = made.density;
  if (made.viscosity > 0) liquid.phase.viscosity = made.viscosity;
  return liquid;
}

FluidSpec readFluid(const SceneNode& node, const Scene& scene, const FindByName& material,
                    const FindBody& body) {
  FluidSpec spec;
  fluid::FluidSettings& settings = spec.settings;
  settings.radius = node.positive("radius", kLength, 0.01);
  settings.farthest = 0.5;  // several times what steps that fit the speed need
  settings.gravity = scene.world.simulation.gravity;
  settings.courant = node.positive("courant", kPlain, settings.courant);
  settings.density.tolerance = node.positive("densityTolerance", kPlain, settings.density.tolerance);
  settings.divergence.tolerance = node.positive("divergenceTolerance", kPlain, settings.divergence.tolerance);
  settings.solver = solverOf(node.text("solver", "divergence-free"));
  settings.density.most = settings.divergence.most =
      uint32_t(node.whole("iterations", settings.density.most));
  if (node.has("air")) {
    settings.airDensity = node["air"].notNegative("density", kDensity, settings.airDensity);
    settings.wind = node["air"].vector("velocity", kSpeed, settings.wind);
  }
  const std::string warm = node.text("warmStart", "half");
  settings.warmStart = warm == "none"   ? fluid::WarmStart::None
                       : warm == "half" ? fluid::WarmStart::Half
                                        : fluid::WarmStart::Increments;
  spec.longestStep = node.positive("longestStep", kTime, spec.longestStep);
  spec.offset = node.notNegative("offset", kPlain, spec.offset);
  spec.friction = node.notNegative("friction", kPlain, spec.friction);
  spec.noSlip = node.flag("noSlip", false);
  settings.viscousForces = node.text("viscousForces", "central") == "full" ? fluid::ViscousForces::Full
                                                                           : fluid::ViscousForces::Central;
  spec.boundaryParticles = node.text("boundaries", "maps") == "particles";
  settings.periodic.lengths = node.vector("periodic", kLength, Vec3::Zero());
  settings.periodic.from = node.vector("periodicFrom", kLength, Vec3::Zero());
  try {
    fluid::requireLengths(settings.periodic, 4 * settings.radius);
  } catch (const Error& error) {
    node["periodic"].fail(error.message(), error.hint());
  }
  if (node.has("tank")) {
    spec.tank = node["tank"].box();
    if (spec.tank->extent().minCoeff() < 2 * settings.radius)
      node["tank"].fail(fmt::format("is thinner than a particle, which is {:g} m wide", 2 * settings.radius),
                        "take smaller particles (\"radius\")");
  }
  if (node.has("sinks"))
    for (size_t i = 0; i < node["sinks"].size(); ++i) spec.sinks.push_back(node["sinks"][i].box());
  for (size_t i = 0; i < node["liquids"].size(); ++i) {
    const SceneNode part = node["liquids"][i];
    LiquidSpec liquid =
        liquidOf(scene, part["id"].text(),
                 part.has("material") ? material(part["material"]) : scene.materialNamed("water"));
    liquid.pointer = part.pointer();
    liquid.phase.viscosity = part.notNegative("viscosity", kViscosity, liquid.phase.viscosity);
    liquid.phase.smoothing = part.notNegative("smoothing", kPlain, 0);
    liquid.phase.tension = part.notNegative("tension", kPlain, 0);
    liquid.phase.vorticity = part.notNegative("vorticity", kViscosity, 0);
    liquid.phase.drag = part.notNegative("drag", kPlain, 0);
    if (part.has("blocks"))
      for (size_t b = 0; b < part["blocks"].size(); ++b)
        liquid.blocks.push_back(readBlock(part["blocks"][b], body));
    if (part.has("emitters"))
      for (size_t e = 0; e < part["emitters"].size(); ++e)
        liquid.emitters.push_back(readEmitter(part["emitters"][e], 2 * settings.radius));
    spec.liquids.push_back(std::move(liquid));
  }
  settings.referenceDensity = spec.liquids.front().phase.density;
  return spec;
}

}  // namespace sunder::world
