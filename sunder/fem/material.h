// Isotropic linear elastic material (Hooke) and the constants that follow from Young's modulus, Poisson's
// ratio and density. SI units: pascals, kilograms a cubic metre.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace sunder::fem {

struct ElasticMaterial {
  double young = 1e9;
  double poisson = 0.25;
  double density = 1000;

  double mu() const { return young / (2 * (1 + poisson)); }
  double lambda() const { return young * poisson / ((1 + poisson) * (1 - 2 * poisson)); }
  double waveSpeed() const;  // of pressure waves in a solid that fills space
  double barSpeed() const;   // of a front along a thin bar
  // Linear tetrahedra are too stiff from here on: volumes cannot change and few shapes are left.
  bool locks() const { return poisson >= 0.49; }
};

// Throws Error (Usage) unless young and density are positive and finite and -1 < poisson < 0.5.
void requireValid(const ElasticMaterial& material);

// Elastic constants, tensile strength and the energy of cracks (0: does not break as brittle solids do) under
// the names of the scene's materials, whose densities stay with them. Handbook values; those of the five
// brittle ones are the presets of specification 07.
struct ElasticPreset {
  std::string_view name = {};
  double young = 0, poisson = 0, strength = 0;
  double surfaceEnergy = 0;  // J/m^2 of new surface, both sides together; 0 where the strength is
};
std::span<const ElasticPreset> elasticPresets();
std::optional<ElasticPreset> elasticPreset(std::string_view name);

}  // namespace sunder::fem
