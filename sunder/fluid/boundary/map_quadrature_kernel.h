// The inner loop of building maps (density_map_build.h): the quadrature of many nodes at a time. Private to
// the room. Each node has its own lane, so the bits do not depend on how many a target has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sunder::fluid::kernels {

// The rule of boundary_quadrature.h on a lattice whose points the nodes are: each point of the rule has a
// fixed place between eight lattice points. Rows of `kRow` neighbouring lattice points are integrated at a
// time, each in its own lane.
inline constexpr size_t kRow = 16;

struct LatticeRule {
  std::vector<int32_t> start;          // by point: from the node to the lowest of the eight
  std::vector<float> corners;          // by point, eight: weight in the interpolation
  std::vector<float> weights;          // by point
  size_t ring = 1;                     // points that are added up before they are added to the rest
  int32_t rowStep = 0, layerStep = 0;  // of the lattice, 1 along the row
  float top = 1;                       // the profile is top - Phi, from zero up
};

// `phi` at the first node of the row, in units of the support.
void integrateRow(const LatticeRule& rule, const float* phi, float* out);

}  // namespace sunder::fluid::kernels
