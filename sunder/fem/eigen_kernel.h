// Jacobi rotations on batches, compiled for every vector unit; same bits on all. Private to the room.
#pragma once

#include "sunder/fem/principal.h"

#include <cstddef>

namespace sunder::fem::kernels {

void jacobi(const Stress* matrices, size_t count, SymmetricEigen* results);

}  // namespace sunder::fem::kernels
