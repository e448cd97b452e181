// Tangents of batches and their sums, compiled for every vector unit; same bits on all. Private to the room.
#pragma once

#include "sunder/fem/solid/gather_tables.h"
#include "sunder/fem/solid/response_kernel.h"

#include <cstddef>

namespace sunder::fem::kernels::solid {

struct TangentKind {
  bool positive;  // negative curvature becomes zero
  bool frozen;    // Corotated: with the rotation held, without what averaged volumes press
};

// Ten blocks a place, of corners (0, 0), (1, 0), (1, 1), (2, 0) ... (3, 3), nine numbers each by columns.
// Results start at the first batch's first place.
inline constexpr size_t kBlockRecord = 90;
void blocks(const SolidView& view, size_t first, size_t last, TangentKind kind, double scale, double* out);
// Linear, and Corotated with its rotation held, as four gradients turned by the rotation, four numbers a
// gradient; the fourth of the first is scale * volume * mu, of the second the same with lambda.
inline constexpr size_t kTurnedRecord = 16;
void turnedGradients(const SolidView& view, size_t first, size_t last, double scale, double* out);

// Adds the sums of entries first to last to `values`, the blocks of the matrix: of blocks, of turned
// gradients, and of turned gradients of tetrahedra with the same lambda / mu. `records` starts at the chunk's
// first place.
void addBlocks(const GatherTables& tables, size_t first, size_t last, const double* records, double* values);
void addTurned(const GatherTables& tables, size_t first, size_t last, const double* records, double* values);
void addTurnedOfOneRatio(const GatherTables& tables, size_t first, size_t last, const double* records,
                         double ratio, double* values);

}  // namespace sunder::fem::kernels::solid
