// The inner loops of density_map.h in vector form. Private to the room.
//
// A question takes the 32 nodes of its cell as four vectors of eight, in the order of serendipity.h. The
// formulas of all nodes of a group then differ in signs only; the faces' functions are three lanes of four.
// What depends on the point alone is computed for many points at a time; then each point runs over its cell.
// The eight lanes are added in a fixed order, also where a target's vectors have only four.
#pragma once

#include <cstddef>
#include <cstdint>

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

}  // namespace sunder::fluid::kernels
