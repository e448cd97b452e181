#include "sunder/sdf/hp/hp_continuity.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/random.h"
#include "sunder/sdf/hp/hp_build.h"

#include "sdf/sdf_cases.h"

#include <Eigen/Dense>
#include <gtest/gtest.h>

namespace sunder::sdf {
namespace {

HpForest torusForest(double tau) {
  HpReport report;
  return buildHp(torusField(), tableSettings(tau), report);
}

// Two base cells, the second split, its first child split again and the first of those once more: faces
// between levels that differ by three. Degrees 1 to 4, random coefficients.
HpForest uneven() {
  HpForest forest;
  forest.domain = testDomain();
  forest.base = {2, 1, 1};
  forest.child = {-1, 2};
  for (const int32_t first : {2, 10, 18}) {
    forest.child.resize(forest.child.size() + 8, -1);
    forest.child[size_t(first)] = first + 8;
  }
  forest.child[18] = -1;
  RandomStream random(17);
  forest.begin = {0};
  for (int32_t& c : forest.child) {
    if (c >= 0) continue;
    c = -1 - static_cast<int32_t>(forest.degree.size());
    forest.degree.push_back(static_cast<uint8_t>(1 + random.below(4)));
    for (size_t i = 0; i < coefficientCount(forest.degree.back()); ++i)
      forest.coefficients.push_back(random.uniform(-1, 1));
    forest.begin.push_back(static_cast<uint32_t>(forest.coefficients.size()));
  }
  return forest;
}

double jumpSquared(const HpForest& forest, const HpFace& face, const std::vector<HpCell>& cells) {
  // Straight from the definition: Gauss points on the fine face, both polynomials there.
  const GaussRule rule = gaussLegendre(10);
  const Box3 box = cellBox(forest, cells[face.fine]);
  const int first = (face.axis + 1) % 3, second = (face.axis + 2) % 3;
  const auto at = [&](uint32_t leaf, const Vec3& p) {
    const Box3 cell = cellBox(forest, cells[leaf]);
    double basis[3][kLargestDegree + 1];
    for (int d = 0; d < 3; ++d) {
      const double size = cell.extent()[d];
      legendre(2 * (p[d] - cell.lower[d]) / size - 1, forest.degree[leaf], basis[d]);
      for (int n = 0; n <= forest.degree[leaf]; ++n) basis[d][n] *= std::sqrt((2 * n + 1) / size);
    }
    double sum = 0;
    const auto c = forest.of(leaf);
    for (size_t i = 0; i < c.size(); ++i)
      sum += c[i] * basis[0][multiIndices()[i][0]] * basis[1][multiIndices()[i][1]] *
             basis[2][multiIndices()[i][2]];
    return sum;
  };
  double sum = 0;
  for (size_t i = 0; i < 10; ++i)
    for (size_t j = 0; j < 10; ++j) {
      Vec3 p;
      p[face.axis] = face.coarseBelow ? box.lower[face.axis] : box.upper[face.axis];
      p[first] = box.center()[first] + 0.5 * box.extent()[first] * rule.nodes[i];
      p[second] = box.center()[second] + 0.5 * box.extent()[second] * rule.nodes[j];
      const double jump = at(face.coarse, p) - at(face.fine, p);
      sum += rule.weights[i] * rule.weights[j] * jump * jump;
    }
  return sum * box.extent()[first] * box.extent()[second] / 4;
}

TEST(HpContinuity, EnergyIsTheIntegralOfTheJumps) {
  const HpForest forest = uneven();
  JumpMatrix matrix(forest);
  const std::vector<HpCell> cells = leafCells(forest);
  double sum = 0;
  uint8_t most = 0;
  for (const HpFace& face : matrix.faces()) {
    sum += 0.5 * jumpSquared(forest, face, cells);
    most = std::max(most, face.steps);
  }
  EXPECT_EQ(most, 3);
  EXPECT_NEAR(matrix.energy(forest.coefficients), sum, 1e-12 * sum);
}

TEST(HpContinuity, TheProductIsThatOfTheMatrix) {
  const HpForest forest = uneven();
  JumpMatrix matrix(forest);
  const auto n = static_cast<Eigen::Index>(forest.coefficients.size());
  ASSERT_LT(n, 3000);
  // Columns by unit vectors; then symmetry, the quadratic form, and the diagonal and its blocks.
  Eigen::MatrixXd m(n, n);
  std::vector<double> unit(forest.coefficients.size(), 0.0), column(unit.size());
  for (Eigen::Index i = 0; i < n; ++i) {
    unit[size_t(i)] = 1;
    matrix.multiply(unit, column);
    m.col(i) = Eigen::Map<Eigen::VectorXd>(column.data(), n);
    unit[size_t(i)] = 0;
  }
  const double scale = m.cwiseAbs().maxCoeff();
  EXPECT_LT((m - m.transpose()).cwiseAbs().maxCoeff(), 1e-12 * scale);
  const Eigen::VectorXd c = Eigen::Map<const Eigen::VectorXd>(forest.coefficients.data(), n);
  const double energy = matrix.energy(forest.coefficients);
  EXPECT_NEAR(0.5 * c.dot(m * c), energy, 1e-12 * energy);
  EXPECT_GT(m.selfadjointView<Eigen::Lower>().eigenvalues().minCoeff(), -1e-10 * scale);
  std::vector<double> diagonal(unit.size());
  matrix.diagonal(diagonal);
  EXPECT_LT((m.diagonal() - Eigen::Map<Eigen::VectorXd>(diagonal.data(), n)).cwiseAbs().maxCoeff(),
            1e-12 * scale);
  for (size_t leaf = 0; leaf < forest.leafCount(); ++leaf) {
    const auto size = static_cast<Eigen::Index>(forest.of(leaf).size());
    const std::vector<double> block = matrix.block(leaf);
    const Eigen::Map<const Eigen::MatrixXd> b(block.data(), size, size);
    EXPECT_LT((m.block(forest.begin[leaf], forest.begin[leaf], size, size) - b).cwiseAbs().maxCoeff(),
              1e-12 * scale);
  }
}

TEST(HpContinuity, ContinuousFunctionsAreInTheKernel) {
  HpForest forest = uneven();
  const std::vector<HpCell> cells = leafCells(forest);
  for (const auto& f :
       {FunctionField([](const Vec3&) { return 2.5; }, testDomain()),
        FunctionField([](const Vec3& p) { return 1 + p.x() - 2 * p.y() + 0.5 * p.z(); }, testDomain())}) {
    for (size_t leaf = 0; leaf < cells.size(); ++leaf) {
      const HpFit fit =
          fitCell(f, cellBox(forest, cells[leaf]), forest.degree[leaf], Quadrature::Standard, 0);
      std::copy(fit.coefficients.begin(), fit.coefficients.end(), forest.of(leaf).begin());
    }
    JumpMatrix matrix(forest);
    std::vector<double> product(forest.coefficients.size());
    matrix.multiply(forest.coefficients, product);
    for (const double v : product) EXPECT_NEAR(v, 0, 1e-12);
  }
}

TEST(HpContinuity, ReproducesTheTable) {
  const HpForest forest = torusForest(1e-5);
  struct Row {
    double beta, ratio, change, error;
  };
  double energy = 1, change = 0;
  for (const Row& row :
       {Row{30, 0.34, 4.5e-7, 1.7e-6}, Row{8, 0.16, 1.4e-6, 2.6e-6}, Row{3, 0.084, 2.6e-6, 3.9e-6}}) {
    HpForest smooth = forest;
    const ContinuityReport report = makeContinuous(smooth, {.beta = row.beta});
    EXPECT_TRUE(report.converged);
    EXPECT_NEAR(report.energyAfter / report.energyBefore, row.ratio, 0.05 * row.ratio);
    EXPECT_NEAR(report.change, row.change, 0.05 * row.change);
    EXPECT_NEAR(squared(measureHp(smooth, torusField(), 200'000, 8, 0).rms), row.error, 0.1 * row.error);
    EXPECT_LT(report.energyAfter / report.energyBefore, energy);
    EXPECT_GT(report.change, change);
    energy = report.energyAfter / report.energyBefore;
    change = report.change;
  }
  HpForest same = forest;
  EXPECT_LT(makeContinuous(same, {.beta = 1e6}).change, 1e-13);
}

TEST(HpContinuity, ConvergesInFewSteps) {
  HpForest a = torusForest(1e-5), b = a;
  const ContinuityReport diagonal = makeContinuous(a, {.preconditioner = Preconditioner::Diagonal});
  const ContinuityReport blocks = makeContinuous(b, {.preconditioner = Preconditioner::Blocks});
  EXPECT_TRUE(diagonal.converged && blocks.converged);
  EXPECT_LE(diagonal.iterations, 130u);
  EXPECT_LE(blocks.iterations, diagonal.iterations);
}

TEST(HpContinuity, SameBitsForAnyNumberOfThreads) {
  const HpForest forest = torusForest(1e-4);
  std::vector<double> first;
  for (const unsigned threads : {1u, 2u, 4u}) {
    const ThreadLimit limit(threads);
    HpForest smooth = forest;
    makeContinuous(smooth, {});
    if (threads == 1)
      first = smooth.coefficients;
    else
      EXPECT_EQ(first, smooth.coefficients);
  }
}

TEST(HpContinuity, RefusesNonsense) {
  HpForest forest = torusForest(1e-4);
  EXPECT_THROW(makeContinuous(forest, {.beta = 0}), Error);
  EXPECT_THROW(makeContinuous(forest, {.beta = -1}), Error);
}

}  // namespace
}  // namespace sunder::sdf
