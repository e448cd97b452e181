// The inner loops of density_map.h in vector form. Private to the room.
//
// A question takes the 32 values of its cell as four vectors of eight, in the order of serendipity.h. The
// formulas of all nodes of a group then differ in signs only. What depends on the point alone is computed
// for many points at a time; then each point runs over its cell. The eight lanes are added in a fixed order,
// also where a target's vectors have only four.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sunder::fluid::kernels {

// What a cell's code says: a number of a kept cell from 0 on, nothing there, or the deep cell kDeep - code.
inline constexpr int32_t kNothing = -1, kDeep = -2;

struct MapView {
  float lower[3] = {};
  float perCell = 0;  // 1 / edge
  float cell = 0;
  int32_t cells[3] = {};
  const int32_t* codes = nullptr;
  const float* nodes = nullptr;
  const float* deep = nullptr;
};

// Points and samples are rows of four floats.
void mapSamples(const MapView& map, const float* points, size_t count, float* out);
void mapValues(const MapView& map, const float* points, size_t count, float* out);

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
