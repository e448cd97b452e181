#include "sunder/fem/material.h"

#include "sunder/base/error.h"

#include <cmath>

#include <fmt/format.h>

namespace sunder::fem {

double ElasticMaterial::waveSpeed() const { return std::sqrt((lambda() + 2 * mu()) / density); }
double ElasticMaterial::barSpeed() const { return std::sqrt(young / density); }

void requireValid(const ElasticMaterial& m) {
  const auto positive = [](double value, const char* what) {
    if (!(value > 0) || !std::isfinite(value))
      throw Error(ErrorKind::Usage, fmt::format("{} is {}, but must be positive", what, value));
  };
  positive(m.young, "Young's modulus");
  positive(m.density, "density");
  if (!(m.poisson > -1 && m.poisson < 0.5))
    throw Error(ErrorKind::Usage, fmt::format("Poisson's ratio is {}", m.poisson))
        .hint("it lies above -1 and below 0.5; near 0.5 a solid keeps its volume");
}

ElasticMaterial elasticMaterial(const material::Material& material) {
  return {material.young, material.poisson, material.density};
}

}  // namespace sunder::fem
