#include "sunder/fluid/state/fluid_model.h"

#include "sunder/base/error.h"

#include <cmath>

#include <fmt/core.h>

namespace sunder::fluid {

void requirePositive(double value, const char* what) {
  if (!(value > 0) || !std::isfinite(value))
    throw Error(ErrorKind::Usage, fmt::format("fluid: {} is {}, but must be positive", what, value));
}

FluidModel makeFluidModel(const FluidSettings& settings) {
  requirePositive(settings.radius, "the radius of particles");
  requirePositive(settings.referenceDensity, "the reference density");
  requirePositive(settings.courant, "the Courant number");
  requirePositive(settings.density.tolerance, "the tolerance of the density");
  requirePositive(settings.divergence.tolerance, "the tolerance of the divergence");
  if (!settings.gravity.allFinite()) throw Error(ErrorKind::Usage, "fluid: gravity is not finite");
  if (!(settings.airDensity >= 0) || !std::isfinite(settings.airDensity) || !settings.wind.allFinite())
    throw Error(ErrorKind::Usage,
                "fluid: density and velocity of the air must be finite, density not negative");
  FluidModel model;
  model.settings = settings;
  const double diameter = model.diameter = 2 * settings.radius;
  model.support = settings.support > 0 ? settings.support : 2 * diameter;
  if (model.support < 1.5 * diameter || model.support > 4 * diameter)
    throw Error(ErrorKind::Usage, fmt::format("fluid: a support of {:.3g} m for particles {:.3g} m wide",
                                              model.support, diameter))
        .hint("between one and a half and four diameters; two are usual");
  requireLengths(settings.periodic, model.support);
  model.volume = diameter * diameter * diameter;
  return model;
}

uint32_t addPhase(FluidModel& model, const FluidPhase& phase) {
  requirePositive(phase.density, "a density");
  if (!(phase.viscosity >= 0) || !std::isfinite(phase.viscosity) || !(phase.smoothing >= 0) ||
      phase.smoothing > 1 || !(phase.tension >= 0) || !std::isfinite(phase.tension) ||
      !(phase.vorticity >= 0) || !std::isfinite(phase.vorticity) || !(phase.drag >= 0) ||
      !std::isfinite(phase.drag))
    throw Error(
        ErrorKind::Usage,
        "fluid: viscosity, tension, vorticity and drag must not be negative, smoothing between 0 and 1");
  if (model.phases.size() >= 255) throw Error(ErrorKind::Limit, "more than 255 fluids");
  model.phases.push_back(phase);
  return uint32_t(model.phases.size() - 1);
}

}  // namespace sunder::fluid
