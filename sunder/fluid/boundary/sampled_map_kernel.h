// The inner loop of sampled_map.h in vector form: a run of boundary particles, eight at a time. Private to
// the room. Lanes are added in a fixed order, also where a target's vectors have only four.
#pragma once

#include "sunder/base/math.h"

#include <cstddef>
#include <cstdint>

namespace sunder::fluid::kernels {

// Particles in arrays that reach eight floats beyond what is asked for.
struct ParticleRuns {
  const float *x = nullptr, *y = nullptr, *z = nullptr, *volume = nullptr;
  float support = 0;
};
struct ParticleRun {
  uint32_t begin = 0, end = 0;
};

// Sum of V grad W and of V W over the runs.
Vec4f sumRuns(const ParticleRuns& particles, const Vec4f& point, const ParticleRun* runs, size_t count);

}  // namespace sunder::fluid::kernels
