// Liquids as JSON.
#include "sunder/world/scene/value_text.h"

#include <cmath>

namespace sunder::world {

namespace {

const char* nameOf(fluid::PressureSolver solver) {
  switch (solver) {
    case fluid::PressureSolver::Implicit:
      return "implicit";
    case fluid::PressureSolver::PositionBased:
      return "position-based";
    case fluid::PressureSolver::PredictiveCorrective:
      return "predictive-corrective";
    default:
      return "divergence-free";
  }
}

const char* nameOf(fluid::WarmStart start) {
  switch (start) {
    case fluid::WarmStart::None:
      return "none";
    case fluid::WarmStart::Half:
      return "half";
    default:
      return "increments";
  }
}

Json emitterJson(const EmitterSpec& emitter) {
  Json json = {{"position", vectorJson(emitter.position)},
               {"direction", vectorJson(emitter.direction)},
               {"speed", emitter.speed},
               {"from", emitter.from}};
  if (std::isfinite(emitter.until)) json["until"] = emitter.until;
  if (emitter.radius > 0) {
    json["radius"] = emitter.radius;
    return json;
  }
  json["size"] = {emitter.width, emitter.height};
  if (emitter.upright) json["up"] = vectorJson(*emitter.upright);
  return json;
}

}  // namespace

Json fluidJson(const FluidSpec& fluid) {
  const fluid::FluidSettings& settings = fluid.settings;
  Json json = {{"radius", settings.radius},
               {"longestStep", fluid.longestStep},
               {"courant", settings.courant},
               {"offset", fluid.offset},
               {"friction", fluid.friction},
               {"noSlip", fluid.noSlip},
               {"viscousForces", settings.viscousForces == fluid::ViscousForces::Full ? "full" : "central"},
               {"boundaries", fluid.boundaryParticles ? "particles" : "maps"},
               {"periodic", vectorJson(settings.periodic.lengths)},
               {"periodicFrom", vectorJson(settings.periodic.from)},
               {"densityTolerance", settings.density.tolerance},
               {"divergenceTolerance", settings.divergence.tolerance},
               {"solver", nameOf(settings.solver)},
               {"iterations", settings.density.most},
               {"air", {{"density", settings.airDensity}, {"velocity", vectorJson(settings.wind)}}},
               {"warmStart", nameOf(settings.warmStart)},
               {"liquids", Json::array()}};
  if (fluid.tank) json["tank"] = boxJson(*fluid.tank);
  for (const Box3& sink : fluid.sinks) json["sinks"].push_back(boxJson(sink));
  return json;
}

Json liquidJson(const LiquidSpec& liquid) {
  const fluid::FluidPhase& phase = liquid.phase;
  Json json = {{"id", liquid.id},          {"viscosity", phase.viscosity}, {"smoothing", phase.smoothing},
               {"tension", phase.tension}, {"vorticity", phase.vorticity}, {"drag", phase.drag}};
  for (const EmitterSpec& emitter : liquid.emitters) json["emitters"].push_back(emitterJson(emitter));
  return json;
}

Json blockJson(const BlockSpec& block) {
  Json json = {{"velocity", vectorJson(block.velocity)}};
  if (block.container || !block.pour.empty()) {
    if (!block.pour.empty()) json["pour"] = block.pour;
    if (block.level) json["level"] = *block.level;
    if (block.from) json["from"] = vectorJson(*block.from);
    return json;
  }
  if (block.formula) json["field"] = fieldJson(*block.formula);
  if (!block.box.empty()) {
    json["lower"] = vectorJson(block.box.lower);
    json["upper"] = vectorJson(block.box.upper);
  }
  return json;
}

}  // namespace sunder::world
