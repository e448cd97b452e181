// CHOLMOD on the same matrices, where Debian's package is there.
#pragma once

#include "sunder/fem/block_matrix.h"

#include "bench/bench.h"

namespace sunder::bench {

// Rows of analysis with factorisation, factorisation alone and substitution, simplicial and supernodal.
void addCholmodRows(Report& report, const Options& options, const fem::BlockMatrix& matrix, size_t tets);

}  // namespace sunder::bench
