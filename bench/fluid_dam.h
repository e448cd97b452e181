// The dam break of the fluid's benchmarks: a cube of particles of 2 cm radius, `side` along each edge, in a
// tank three times as long and twice as high, by a density map.
#pragma once

#include "sunder/fluid/solver/fluid.h"

namespace sunder::bench {

fluid::Fluid dam(uint32_t side, fluid::FluidSettings settings);

}  // namespace sunder::bench
