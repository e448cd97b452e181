// The inner loop of hp_field.h: one polynomial at many points. Private to the room.
#pragma once

#include <cstddef>

namespace sunder::sdf::kernels {

inline constexpr size_t kPointGroup = 8;  // points that are evaluated at a time: arrays are padded to it

// Coefficients in nested order: for each a, for each b <= p - a, all c <= p - a - b. `local` are the points'
// coordinates in the cell, one array per axis, `count` rounded up to a group readable and finite. Gradients
// are with respect to those coordinates.
void polynomialValues(const double* coefficients, int degree, const double* const local[3], size_t count,
                      double* values);
void polynomialSamples(const double* coefficients, int degree, const double* const local[3], size_t count,
                       double* values, double* const gradients[3]);

}  // namespace sunder::sdf::kernels
