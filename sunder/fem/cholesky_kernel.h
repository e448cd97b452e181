// The dense inner loops of BlockCholesky, compiled for every vector unit; same bits on all. Private to the
// room. Arrays are readable and writable up to three numbers past the rows given.
#pragma once

#include "sunder/fem/block_cholesky.h"

namespace sunder::fem::kernels {

// Lower part of c = a b^T for column-major a (rows x depth) and b (columns x depth), where row i belongs to
// column i; `columns` is a multiple of three and at most `rows`. Rows above the diagonal are left or spoilt.
void product(size_t rows, size_t columns, size_t depth, const double* a, size_t leadA, const double* b,
             size_t leadB, double* c, size_t leadC);

// Factors a panel of `rows` rows and `columns` columns in place; the diagonal holds inverses afterwards.
// Pivots must exceed smallest[i]. Returns the first column that failed, or `columns`.
size_t factorPanel(double* panel, size_t lead, size_t rows, size_t columns, const double* smallest);

// Turns a factored panel [L; B] into [L^-1; B L^-1], so that substitutions are products; `factors` has room
// for `columns` numbers.
void invertPanel(double* panel, size_t lead, size_t rows, size_t columns, double* factors);

// x = A^-1 x in the order of elimination, with inverted panels; `buffer` has room for the tallest panel and
// four more.
void substitute(const CholeskyAnalysis& analysis, const double* panels, double* x, double* buffer);

}  // namespace sunder::fem::kernels
