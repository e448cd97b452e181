// Energies, forces, volume ratios and stresses of batches, compiled for every vector unit; same bits on all.
// Private to the room.
#pragma once

#include "sunder/base/math.h"
#include "sunder/fem/solid/element_batch.h"

#include <cstddef>

namespace sunder::fem::kernels::solid {

// `pressures` of averaged volumes, by place; null: none.
struct SolidView {
  const ElementBatch* batches;
  const FibreBatch* fibres;
  const Vec3* positions;
  const double* pressures;
};

// The sum over batches first to last, without averaged volumes.
double energy(const SolidView& view, size_t first, size_t last);
// Results start at place 0: of each place 12 numbers, the forces on its corners,
void forces(const SolidView& view, size_t first, size_t last, double* out);
// one, its volume ratio (Linear: in the limit of small strain),
void ratios(const SolidView& view, size_t first, size_t last, double* out);
// 12, the derivative of that by its corners times a quarter of the volume,
void ratioGradients(const SolidView& view, size_t first, size_t last, double* out);
// 18, the columns of stress and rotation.
void stresses(const SolidView& view, size_t first, size_t last, double* out);

}  // namespace sunder::fem::kernels::solid
