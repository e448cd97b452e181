#include "sunder/fem/material.h"

#include "sunder/base/error.h"

#include <array>
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

std::span<const ElasticPreset> elasticPresets() {
  static constexpr std::array<ElasticPreset, 15> kPresets{{
      {"glass", 7.0e10, 0.22, 4.0e7, 8},
      {"concrete", 3.0e10, 0.20, 3.0e6, 100},
      {"porcelain", 6.0e10, 0.20, 3.0e7, 20},
      {"plaster", 4.5e9, 0.22, 2.0e6, 10},
      {"limestone", 4.0e10, 0.25, 5.0e6, 50},
      {"granite", 5.0e10, 0.25, 1.0e7, 100},
      {"brick", 1.5e10, 0.20, 2.5e6, 40},
      {"oak", 1.1e10, 0.35, 0},
      {"pine", 9.0e9, 0.35, 0},
      {"steel", 2.0e11, 0.30, 0},
      {"aluminium", 7.0e10, 0.33, 0},
      {"lead", 1.6e10, 0.44, 0},
      {"rubber", 5.0e6, 0.48, 0},
      {"plastic", 2.5e9, 0.36, 0},
      {"ice", 9.0e9, 0.33, 1.0e6, 2},
  }};
  return kPresets;
}

std::optional<ElasticPreset> elasticPreset(std::string_view name) {
  for (const ElasticPreset& preset : elasticPresets())
    if (preset.name == name) return preset;
  return std::nullopt;
}

}  // namespace sunder::fem
