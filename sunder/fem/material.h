// Isotropic linear elastic material (Hooke) and the constants that follow from Young's modulus, Poisson's
// ratio and density. SI units: pascals, kilograms a cubic metre.
#pragma once

#include "sunder/material/material.h"

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

// The elastic values of a material. Its Young's modulus must be known for the result to be valid.
ElasticMaterial elasticMaterial(const material::Material& material);

}  // namespace sunder::fem
