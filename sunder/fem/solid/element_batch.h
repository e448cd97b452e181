// Tetrahedra of one model in groups of eight, as the vector kernels of this room read them: number k of all
// eight side by side. Private to the room.
#pragma once

#include "sunder/base/index.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sunder::fem {

enum class ElasticModel : uint8_t {
  Linear,                // Hooke: small strains, does not survive rotation
  Corotated,             // Hooke in the frame of the polar decomposition
  SaintVenantKirchhoff,  // Hooke with Green's strain
  NeoHookean             // stable under inversion (Smith, de Goes and Kim 2018)
};

inline constexpr size_t kBatchTets = 8;

// The corners of a tetrahedron are in ascending order here, so that a block of a later corner's row and an
// earlier one's column is in the lower triangle. Places at the end without a tetrahedron repeat the last one,
// with volume zero.
struct alignas(64) ElementBatch {
  double gradient[9][kBatchTets];  // of corners 1, 2 and 3; that of corner 0 is minus their sum
  double volume[kBatchTets];       // m^3
  double mu[kBatchTets];           // Pa
  double lambda[kBatchTets];       // Pa; without what acts on averaged volumes
  uint32_t corner[4][kBatchTets];
  uint32_t fibres = kNoIndex;  // which FibreBatch belongs to it
  uint32_t count = 0;
  ElasticModel model = ElasticModel::Corotated;
};

struct alignas(64) FibreBatch {
  double direction[3][kBatchTets];  // unit vectors
  double young[kBatchTets];         // Pa
};

// What evaluations keep from one to the next.
struct SolidScratch {
  std::vector<double> records, ratios, nodal, pressures, gradients;
};

}  // namespace sunder::fem
