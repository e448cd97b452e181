#include "sunder/fem/cholesky_kernel.h"

#include "sunder/base/stop.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sunder/fem/cholesky_kernel.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per target
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sunder::fem::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 4>;
constexpr size_t kLanes = hn::MaxLanes(D());
constexpr size_t kParts = 4 / kLanes;

// Four doubles, in as many registers as it takes.
struct Four {
  hn::Vec<D> part[kParts];
};
HWY_INLINE Four load(const double* at) {
  Four f;
  for (size_t p = 0; p < kParts; ++p) f.part[p] = hn::LoadU(D(), at + p * kLanes);
  return f;
}
HWY_INLINE void store(const Four& f, double* at) {
  for (size_t p = 0; p < kParts; ++p) hn::StoreU(f.part[p], D(), at + p * kLanes);
}
HWY_INLINE Four zero() {
  Four f;
  for (size_t p = 0; p < kParts; ++p) f.part[p] = hn::Zero(D());
  return f;
}
// f + a * b and f - a * b, rounded twice.
HWY_INLINE void addProduct(Four& f, const Four& a, hn::Vec<D> b) {
  for (size_t p = 0; p < kParts; ++p) f.part[p] = hn::Add(f.part[p], hn::Mul(a.part[p], b));
}
HWY_INLINE void addProduct(Four& f, const Four& a, const Four& b) {
  for (size_t p = 0; p < kParts; ++p) f.part[p] = hn::Add(f.part[p], hn::Mul(a.part[p], b.part[p]));
}
HWY_INLINE void subtractProduct(Four& f, const Four& a, hn::Vec<D> b) {
  for (size_t p = 0; p < kParts; ++p) f.part[p] = hn::Sub(f.part[p], hn::Mul(a.part[p], b));
}
HWY_INLINE double sum(const Four& f) {
  alignas(32) double v[4];
  store(f, v);
  return (v[0] + v[2]) + (v[1] + v[3]);
}

// kRows times four rows and three columns of c = a b^T (kSubtract: c -= a b^T).
template <size_t kRows, bool kSubtract>
HWY_INLINE void tile(size_t depth, const double* a, size_t leadA, const double* b, size_t leadB, double* c,
                     size_t leadC) {
  Four s[3][kRows];
  for (size_t j = 0; j < 3; ++j)
    for (size_t i = 0; i < kRows; ++i) s[j][i] = kSubtract ? load(c + j * leadC + 4 * i) : zero();
  for (size_t k = 0; k < depth; ++k) {
    Four v[kRows];
    for (size_t i = 0; i < kRows; ++i) v[i] = load(a + k * leadA + 4 * i);
    for (size_t j = 0; j < 3; ++j) {
      const auto w = hn::Set(D(), b[k * leadB + j]);
      for (size_t i = 0; i < kRows; ++i) {
        if constexpr (kSubtract)
          subtractProduct(s[j][i], v[i], w);
        else
          addProduct(s[j][i], v[i], w);
      }
    }
  }
  for (size_t j = 0; j < 3; ++j)
    for (size_t i = 0; i < kRows; ++i) store(s[j][i], c + j * leadC + 4 * i);
}

template <bool kSubtract>
HWY_INLINE void lowerProduct(size_t rows, size_t columns, size_t depth, const double* a, size_t leadA,
                             const double* b, size_t leadB, double* c, size_t leadC) {
  for (size_t j = 0; j < columns; j += 3) {
    checkStop();  // the largest panels take seconds
    size_t i = j;
    for (; i + 4 < rows; i += 8)
      tile<2, kSubtract>(depth, a + i, leadA, b + j, leadB, c + j * leadC + i, leadC);
    if (i < rows) tile<1, kSubtract>(depth, a + i, leadA, b + j, leadB, c + j * leadC + i, leadC);
  }
}

HWY_ATTR void Product(size_t rows, size_t columns, size_t depth, const double* a, size_t leadA,
                      const double* b, size_t leadB, double* c, size_t leadC) {
  lowerProduct<false>(rows, columns, depth, a, leadA, b, leadB, c, leadC);
}

// Columns j0 .. j1 - 1 of a panel, whose columns before j0 have been subtracted already.
HWY_INLINE size_t factorColumns(double* panel, size_t lead, size_t rows, size_t j0, size_t j1,
                                const double* smallest) {
  for (size_t j = j0; j < j1; ++j) {
    double* column = panel + j * lead;
    for (size_t i = j; i < rows; i += 8) {
      const bool two = i + 4 < rows;
      Four s = load(column + i), t = two ? load(column + i + 4) : zero();
      for (size_t k = j0; k < j; ++k) {
        const double* left = panel + k * lead;
        const auto w = hn::Set(D(), left[j]);
        subtractProduct(s, load(left + i), w);
        if (two) subtractProduct(t, load(left + i + 4), w);
      }
      store(s, column + i);
      if (two) store(t, column + i + 4);
    }
    const double pivot = column[j];
    if (!(pivot > smallest[j])) return j;
    const double inverse = 1 / std::sqrt(pivot);
    const auto w = hn::Set(D(), inverse);
    for (size_t i = j; i < rows; i += 4) {
      Four s = load(column + i);
      for (size_t p = 0; p < kParts; ++p) s.part[p] = hn::Mul(s.part[p], w);
      store(s, column + i);
    }
    column[j] = inverse;
  }
  return j1;
}

HWY_ATTR size_t FactorPanel(double* panel, size_t lead, size_t rows, size_t columns, const double* smallest) {
  constexpr size_t kWidth = 12;
  for (size_t j0 = 0; j0 < columns; j0 += kWidth) {
    const size_t j1 = std::min(columns, j0 + kWidth);
    const size_t reached = factorColumns(panel, lead, rows, j0, j1, smallest);
    if (reached < j1) return reached;
    if (j1 < columns)
      lowerProduct<true>(rows - j1, columns - j1, j1 - j0, panel + j0 * lead + j1, lead,
                         panel + j0 * lead + j1, lead, panel + j1 * lead + j1, lead);
  }
  return columns;
}

// Turns the panel [L; B] into [L^-1; B L^-1], the last column first. What is above the diagonal becomes zero.
HWY_ATTR void InvertPanel(double* panel, size_t lead, size_t rows, size_t columns, double* factors) {
  for (size_t j = columns; j-- > 0;) {
    checkStop();
    double* column = panel + j * lead;
    for (size_t k = j + 1; k < columns; ++k) {
      factors[k] = column[k];
      column[k] = 0;
    }
    for (size_t k = 0; k < j; ++k) column[k] = 0;
    const double inverse = column[j];
    column[j] = 1;
    const auto scale = hn::Set(D(), inverse);
    for (size_t i = j; i < rows; i += 8) {
      const bool two = i + 4 < rows;
      const size_t last = std::min(columns, i + 8);
      Four s = load(column + i), t = two ? load(column + i + 4) : zero();
      for (size_t k = j + 1; k < last; ++k) {
        const double* right = panel + k * lead + i;
        const auto w = hn::Set(D(), factors[k]);
        subtractProduct(s, load(right), w);
        if (two) subtractProduct(t, load(right + 4), w);
      }
      for (size_t p = 0; p < kParts; ++p) {
        s.part[p] = hn::Mul(s.part[p], scale);
        t.part[p] = hn::Mul(t.part[p], scale);
      }
      store(s, column + i);
      if (two) store(t, column + i + 4);
    }
  }
}

// kRows times four rows of panel * x.
template <size_t kRows>
HWY_INLINE void rowsTimes(const double* panel, size_t lead, size_t columns, const double* x, double* t) {
  Four s[kRows];
  for (size_t r = 0; r < kRows; ++r) s[r] = zero();
  for (size_t k = 0; k < columns; ++k) {
    const auto w = hn::Set(D(), x[k]);
    for (size_t r = 0; r < kRows; ++r) addProduct(s[r], load(panel + k * lead + 4 * r), w);
  }
  for (size_t r = 0; r < kRows; ++r) store(s[r], t + 4 * r);
}

HWY_ATTR void Substitute(const CholeskyAnalysis& analysis, const double* panels, double* x, double* buffer) {
  for (const Supernode& s : analysis.supernodes) {
    const double* panel = panels + s.panel;
    const size_t columns = 3 * s.width, lead = s.lead, rows = columns + 3 * s.rowCount;
    double* own = x + 3 * size_t(s.first);
    size_t i = 0;
    for (; i + 12 < rows; i += 16) rowsTimes<4>(panel + i, lead, std::min(columns, i + 16), own, buffer + i);
    for (; i < rows; i += 4) rowsTimes<1>(panel + i, lead, std::min(columns, i + 4), own, buffer + i);
    for (size_t k = 0; k < columns; ++k) own[k] = buffer[k];
    const uint32_t* row = analysis.rows.data() + s.rowStart;
    const double* sums = buffer + columns;
    for (size_t r = 0; r < s.rowCount; ++r, sums += 3) {
      double* to = x + 3 * size_t(row[r]);
      to[0] -= sums[0];
      to[1] -= sums[1];
      to[2] -= sums[2];
    }
  }
  for (size_t n = analysis.supernodes.size(); n-- > 0;) {
    const Supernode& s = analysis.supernodes[n];
    const double* panel = panels + s.panel;
    const size_t columns = 3 * s.width, lead = s.lead, rows = columns + 3 * s.rowCount;
    double* own = x + 3 * size_t(s.first);
    for (size_t k = 0; k < columns; ++k) buffer[k] = own[k];
    const uint32_t* row = analysis.rows.data() + s.rowStart;
    double* to = buffer + columns;
    for (size_t r = 0; r < s.rowCount; ++r, to += 3) {
      const double* from = x + 3 * size_t(row[r]);
      to[0] = -from[0];
      to[1] = -from[1];
      to[2] = -from[2];
    }
    for (size_t i = rows; i < rows + 3; ++i) buffer[i] = 0;
    for (size_t j = 0; j < columns; j += 3) {
      const double* column = panel + j * lead;
      Four a = zero(), b = zero(), c = zero();
      for (size_t i = j; i < rows; i += 4) {
        const Four t = load(buffer + i);
        addProduct(a, load(column + i), t);
        addProduct(b, load(column + lead + i), t);
        addProduct(c, load(column + 2 * lead + i), t);
      }
      own[j] = sum(a);
      own[j + 1] = sum(b);
      own[j + 2] = sum(c);
    }
  }
}

}  // namespace sunder::fem::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sunder::fem::kernels {

HWY_EXPORT(Product);
HWY_EXPORT(FactorPanel);
HWY_EXPORT(InvertPanel);
HWY_EXPORT(Substitute);

void product(size_t rows, size_t columns, size_t depth, const double* a, size_t leadA, const double* b,
             size_t leadB, double* c, size_t leadC) {
  HWY_DYNAMIC_DISPATCH(Product)(rows, columns, depth, a, leadA, b, leadB, c, leadC);
}

size_t factorPanel(double* panel, size_t lead, size_t rows, size_t columns, const double* smallest) {
  return HWY_DYNAMIC_DISPATCH(FactorPanel)(panel, lead, rows, columns, smallest);
}

void invertPanel(double* panel, size_t lead, size_t rows, size_t columns, double* factors) {
  HWY_DYNAMIC_DISPATCH(InvertPanel)(panel, lead, rows, columns, factors);
}

void substitute(const CholeskyAnalysis& analysis, const double* panels, double* x, double* buffer) {
  HWY_DYNAMIC_DISPATCH(Substitute)(analysis, panels, x, buffer);
}

}  // namespace sunder::fem::kernels
#endif
