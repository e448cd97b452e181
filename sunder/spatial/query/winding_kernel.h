// The inner loops of winding_number.h in vector form. Private to the room.
#pragma once

#include "sunder/spatial/query/winding_number.h"

#include <cstddef>
#include <cstdint>

namespace sunder::spatial::kernels {

// Solid angle of triangles [0, count), over 4 pi.
double windingExact(const PlainTriangle* triangles, size_t count, D3 point);

struct WindingView {
  QueryView mesh;
  const DipoleBlock* blocks;
  const uint32_t* firstBlock;
};
double windingFast(const WindingView& view, D3 point, double beta);

}  // namespace sunder::spatial::kernels
