#include "sunder/sdf/hp/legendre.h"

#include "sunder/base/random.h"
#include "sunder/sdf/hp/hp_build.h"

#include "sdf/sdf_cases.h"

#include <gtest/gtest.h>

namespace sunder::sdf {
namespace {

TEST(Legendre, RecurrenceIsTheClosedForm) {
  RandomStream random(1);
  for (int point = 0; point < 100; ++point) {
    const double t = random.uniform(-1, 1);
    double values[13];
    legendre(t, 12, values);
    for (int n = 0; n <= 12; ++n) {
      double sum = 0, binomial = 1;
      for (int k = 0; k <= n; ++k) {
        sum += binomial * binomial * std::pow(t - 1, n - k) * std::pow(t + 1, k);
        binomial = binomial * (n - k) / (k + 1);
      }
      EXPECT_NEAR(values[n], std::ldexp(sum, -n), 1e-12);
    }
  }
  double ends[2][31];
  legendre(1, 30, ends[0]);
  legendre(-1, 30, ends[1]);
  for (int n = 0; n <= 30; ++n) {
    EXPECT_DOUBLE_EQ(ends[0][n], 1);
    EXPECT_DOUBLE_EQ(ends[1][n], n % 2 ? -1 : 1);
  }
}

TEST(Legendre, DerivativesAreDifferences) {
  double values[9], slopes[9], up[9], down[9];
  for (const double t : {-0.9, -0.3, 0.0, 0.4, 0.95}) {
    legendre(t, 8, values, slopes);
    legendre(t + 1e-6, 8, up);
    legendre(t - 1e-6, 8, down);
    for (int n = 0; n <= 8; ++n) EXPECT_NEAR(slopes[n], (up[n] - down[n]) / 2e-6, 1e-7);
  }
}

TEST(Legendre, GaussRulesAreExact) {
  for (const int n : {1, 2, 5, 13, 61, 120}) {
    const GaussRule rule = gaussLegendre(n);
    for (int power = 0; power < std::min(2 * n, 40); ++power) {
      double sum = 0;
      for (size_t i = 0; i < rule.nodes.size(); ++i) sum += rule.weights[i] * std::pow(rule.nodes[i], power);
      EXPECT_NEAR(sum, power % 2 ? 0 : 2.0 / (power + 1), 1e-13) << n << " " << power;
    }
  }
}

TEST(Legendre, IndicesAreOrderedByShell) {
  const auto indices = multiIndices();
  ASSERT_EQ(indices.size(), 5456u);
  int last = 0;
  for (size_t i = 0; i < indices.size(); ++i) {
    const int shell = indices[i][0] + indices[i][1] + indices[i][2];
    EXPECT_GE(shell, last);
    last = shell;
    EXPECT_LT(i, coefficientCount(shell));
    EXPECT_GE(i, shell == 0 ? 0 : coefficientCount(shell - 1));
  }
  EXPECT_EQ(coefficientCount(3), 20u);
  EXPECT_EQ(coefficientCount(10), 286u);
}

// Halves: the known corner, rows of squared norm one half, and a change of basis that reproduces functions.
TEST(Legendre, HalvingIsExact) {
  const auto t = halvingMatrix();
  constexpr size_t n = kLargestDegree + 1;
  EXPECT_NEAR(t[0], 0.7071068, 1e-7);
  EXPECT_NEAR(t[n], -0.6123724, 1e-7);
  EXPECT_NEAR(t[n + 1], 0.3535534, 1e-7);
  for (size_t i = 0; i < n; ++i) {
    double norm = 0;
    for (size_t j = 0; j < n; ++j) norm += t[i * n + j] * t[i * n + j];
    EXPECT_NEAR(norm, 0.5, 1e-13);
  }
  double outer[n], inner[n];
  for (const double x : {0.05, 0.2, 0.37, 0.49}) {  // of [0, 1]
    legendre(2 * x - 1, kLargestDegree, outer);
    legendre(4 * x - 1, kLargestDegree, inner);
    for (size_t i = 0; i < n; ++i) {
      double sum = 0;
      for (size_t j = 0; j <= i; ++j) sum += t[i * n + j] * std::sqrt(2.0 * (2.0 * double(j) + 1)) * inner[j];
      EXPECT_NEAR(sum, std::sqrt(2.0 * double(i) + 1) * outer[i], 1e-12);
    }
  }
}

// The Gram matrix of the basis on a box, by fitting each basis function.
TEST(Legendre, TheBasisIsOrthonormal) {
  const Box3 box{{-0.3, 0.2, 1.1}, {0.9, 0.7, 3.4}};
  const int p = 8;
  const auto indices = multiIndices().first(coefficientCount(p));
  for (size_t i = 0; i < indices.size(); ++i) {
    const FunctionField f(
        [&](const Vec3& x) {
          double product = 1, values[p + 1];
          for (int d = 0; d < 3; ++d) {
            const double size = box.extent()[d];
            legendre(2 * (x[d] - box.lower[d]) / size - 1, p, values);
            product *= std::sqrt((2 * indices[i][size_t(d)] + 1) / size) * values[indices[i][size_t(d)]];
          }
          return product;
        },
        box);
    const HpFit fit = fitCell(f, box, p, Quadrature::Standard, 0);
    for (size_t j = 0; j < indices.size(); ++j)
      ASSERT_NEAR(fit.coefficients[j], i == j, 1e-12) << i << " " << j;
  }
}

}  // namespace
}  // namespace sunder::sdf
