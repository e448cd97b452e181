#include "sunder/sdf/hp/hp_build.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/random.h"
#include "sunder/base/stop.h"
#include "sunder/sdf/field_combine.h"

#include "sdf/sdf_cases.h"

#include <atomic>

#include <gtest/gtest.h>

namespace sunder::sdf {
namespace {

// A polynomial of total degree q with fixed coefficients.
FunctionField polynomial(int q) {
  return {[q](const Vec3& p) {
            double sum = 0;
            for (int a = 0; a <= q; ++a)
              for (int b = 0; a + b <= q; ++b)
                for (int c = 0; a + b + c <= q; ++c)
                  sum += std::sin(1.0 + a + 3 * b + 7 * c) * std::pow(p.x(), a) * std::pow(p.y(), b) *
                         std::pow(p.z(), c);
            return sum;
          },
          testDomain()};
}

double shell(const std::vector<double>& c, int p) {
  double sum = 0;
  for (size_t i = p == 0 ? 0 : coefficientCount(p - 1); i < coefficientCount(p); ++i) sum += c[i] * c[i];
  return sum;
}

TEST(HpFit, ReproducesPolynomials) {
  const Box3 box{{-0.5, -0.25, 0.1}, {0.5, 0.5, 0.9}};
  HpForest forest;
  forest.domain = box;
  forest.base = {1, 1, 1};
  forest.child = {-1};
  RandomStream random(3);
  for (int q = 1; q <= 6; ++q) {
    const FunctionField f = polynomial(q);
    for (const Quadrature rule : {Quadrature::Lean, Quadrature::Standard, Quadrature::Source}) {
      const HpFit fit = fitCell(f, box, q, rule, 0);
      forest.degree = {uint8_t(q)};
      forest.begin = {0, uint32_t(fit.coefficients.size())};
      forest.coefficients = fit.coefficients;
      for (int i = 0; i < 200; ++i) {
        const Vec3 p = random.pointIn(box);
        EXPECT_NEAR(evaluate(forest, p), f.value(p), 1e-12);
      }
    }
    const HpFit above = fitCell(f, box, q + 1, Quadrature::Standard, 0);
    EXPECT_LT(std::sqrt(shell(above.coefficients, q + 1)),
              1e-14 * std::max(1.0, std::sqrt(shell(above.coefficients, 0))) * 50);
  }
}

TEST(HpFit, LowerDegreesAreAPrefix) {
  // The same points: the standard rule of degree 4 has nine, so has the lean rule of degree 8.
  const FunctionField f = torusField();
  const Box3 box{{0.1, 0.1, 0.1}, {0.6, 0.6, 0.6}};
  const HpFit low = fitCell(f, box, 4, Quadrature::Standard, 0),
              high = fitCell(f, box, 8, Quadrature::Lean, 0);
  for (size_t i = 0; i < low.coefficients.size(); ++i)
    EXPECT_NEAR(low.coefficients[i], high.coefficients[i], 1e-14);
}

TEST(HpFit, TheEstimateIsTheLastShell) {
  const FunctionField f = torusField();
  const Box3 box{{0.1, -0.2, 0.1}, {0.6, 0.4, 0.8}};
  const HpFit fit = fitCell(f, box, 5, Quadrature::Standard, 0);
  HpForest full, less;
  full.domain = less.domain = box;
  full.base = less.base = {1, 1, 1};
  full.child = less.child = {-1};
  full.degree = {5};
  less.degree = {4};
  full.coefficients = fit.coefficients;
  less.coefficients.assign(fit.coefficients.begin(), fit.coefficients.begin() + coefficientCount(4));
  full.begin = {0, uint32_t(full.coefficients.size())};
  less.begin = {0, uint32_t(less.coefficients.size())};
  const GaussRule rule = gaussLegendre(12);
  double sum = 0;
  for (size_t i = 0; i < 12; ++i)
    for (size_t j = 0; j < 12; ++j)
      for (size_t k = 0; k < 12; ++k) {
        const Vec3 t(rule.nodes[i], rule.nodes[j], rule.nodes[k]);
        const Vec3 p = box.center() + 0.5 * box.extent().cwiseProduct(t);
        const double difference = evaluate(full, p) - evaluate(less, p);
        sum += rule.weights[i] * rule.weights[j] * rule.weights[k] * difference * difference;
      }
  EXPECT_NEAR(fit.error, sum * box.extent().prod() / 8, 1e-12 * fit.error + 1e-18);
}

TEST(HpBuild, APlaneIsOneLeaf) {
  const Vec3 normal = Vec3(1, 2, 3).normalized();
  const FunctionField plane([&](const Vec3& p) { return p.dot(normal) - 0.1; }, testDomain());
  HpSettings s = tableSettings(1e-20);
  s.base = {1, 1, 1};
  HpReport report;
  const HpForest forest = buildHp(plane, s, report);
  EXPECT_EQ(forest.leafCount(), 1u);
  EXPECT_EQ(forest.coefficients.size(), 10u);
  EXPECT_LT(report.measuredMax, 1e-14);
}

struct TableRow {
  double tau;
  size_t leaves, coefficients;
  double error;
};

void expectRow(const Field& field, const TableRow& row, const HpSettings& settings) {
  HpReport report;
  const HpForest forest = buildHp(field, settings, report);
  EXPECT_NEAR(double(forest.leafCount()), double(row.leaves), 0.02 * double(row.leaves));
  EXPECT_NEAR(double(forest.coefficients.size()), double(row.coefficients), 0.02 * double(row.coefficients));
  const HpError error = measureHp(forest, field, 400'000, 5, 0.05);
  EXPECT_NEAR(squared(error.rms), row.error, 0.1 * row.error);
  EXPECT_EQ(report.end, HpEnd::Target);
}

TEST(HpBuild, TorusTable) {
  const FunctionField torus = torusField();
  for (const TableRow& row : {TableRow{1e-4, 267, 5460, 2.1e-5}, TableRow{1e-5, 806, 17680, 1.26e-6},
                              TableRow{1e-6, 1891, 44804, 1.41e-7}})
    expectRow(torus, row, tableSettings(row.tau));
}

TEST(HpBuildFull, TorusTable) {
  const FunctionField torus = torusField();
  for (const TableRow& row : {TableRow{1e-7, 3368, 84416, 1.46e-8}, TableRow{1e-8, 6602, 183816, 1.29e-9}})
    expectRow(torus, row, tableSettings(row.tau));
}

HpSettings fixedDegree(double tau, int degree) {
  HpSettings s = tableSettings(tau);
  s.firstDegree = s.maxDegree = degree;
  return s;
}

TEST(HpBuild, TorusTableOfOctrees) {
  const FunctionField torus = torusField();
  expectRow(torus, {1e-4, 3284, 32840, 3.5e-6}, fixedDegree(1e-4, 2));
  expectRow(torus, {1e-5, 20035, 200350, 9.3e-8}, fixedDegree(1e-5, 2));
  expectRow(torus, {1e-2, 19195, 76780, 6.9e-5}, fixedDegree(1e-2, 1));
}

// The number of coefficients that a sequence of (coefficients, true error) needs for an error, by
// interpolating logs.
double needed(const std::vector<std::pair<double, double>>& points, double error) {
  for (size_t i = 1; i < points.size(); ++i) {
    const auto [c0, e0] = points[i - 1];
    const auto [c1, e1] = points[i];
    if (e1 > error) continue;
    return std::exp(std::log(c0) +
                    (std::log(c1) - std::log(c0)) * (std::log(e0 / error) / std::log(e0 / e1)));
  }
  ADD_FAILURE() << "the error " << error << " was not reached";
  return 0;
}

std::vector<std::pair<double, double>> convergence(const Field& field, const std::vector<HpSettings>& runs) {
  std::vector<std::pair<double, double>> points;
  for (const HpSettings& s : runs) {
    HpReport report;
    const HpForest forest = buildHp(field, s, report);
    const double error = squared(measureHp(forest, field, 100'000, 9, 0).rms);
    points.emplace_back(double(forest.coefficients.size()), error);
    if (s.maxDegree > s.firstDegree) {
      EXPECT_GT(error, 0.05 * s.error * s.error * kVolume);
      EXPECT_LT(error, 1.5 * s.error * s.error * kVolume);
    }
    if (points.size() > 1) {
      EXPECT_GT(points.back().first, points[points.size() - 2].first);
    }
  }
  return points;
}

TEST(HpBuild, NeedsAThirdOfAnOctreeOnSmoothShapes) {
  const FunctionField torus = torusField();
  const double hp =
      needed(convergence(torus, {tableSettings(1e-5), tableSettings(1e-6), tableSettings(1e-7)}), 1e-7);
  const double h2 =
      needed(convergence(torus, {fixedDegree(1e-4, 2), fixedDegree(1e-5, 2), fixedDegree(4e-6, 2)}), 1e-7);
  EXPECT_LT(hp, h2 / 3);
}

TEST(HpBuild, AsManyAsAnOctreeWhereKinksRule) {
  const FunctionField box = boxField();
  const double hp =
      needed(convergence(box, {tableSettings(1e-4), tableSettings(1e-5), tableSettings(1e-6)}), 2e-6);
  const double h2 =
      needed(convergence(box, {fixedDegree(1e-3, 2), fixedDegree(1e-4, 2), fixedDegree(1e-5, 2)}), 2e-6);
  EXPECT_NEAR(hp / h2, 1, 0.25);
}

// Symmetric about the cell: odd shells vanish, and without the guard the loop stops with a wrong field.
TEST(HpBuild, TheGuardSeesSymmetricKinks) {
  const FunctionField kink([](const Vec3& p) { return std::abs(p.x()) - 0.5; }, testDomain());
  HpSettings s = tableSettings(1e-12);
  s.base = {1, 1, 1};
  HpReport report;
  const HpForest wrong = buildHp(kink, s, report);
  EXPECT_GT(squared(report.measured), 1e-3) << "the unguarded estimate was not fooled";
  EXPECT_EQ(wrong.leafCount(), 1u);
  s.guard = 0.05;
  const HpForest right = buildHp(kink, s, report);
  EXPECT_LT(squared(report.measured), 1e-20);
  EXPECT_EQ(right.leafCount(), 8u);
}

TEST(HpBuild, BooksAreKept) {
  // The estimate of the report is the sum over leaves, recomputed from the coefficients.
  const FunctionField torus = torusField();
  HpSettings s = tableSettings(1e-7);
  HpReport report;
  const HpForest forest = buildHp(torus, s, report);
  double sum = 0;
  for (size_t leaf = 0; leaf < forest.leafCount(); ++leaf) {
    const auto c = forest.of(leaf);
    sum += shell({c.begin(), c.end()}, forest.degree[leaf]);
  }
  EXPECT_NEAR(squared(report.estimate), sum, 1e-10 * sum);
}

TEST(HpBuildFull, BooksAreKeptOverManySteps) {
  const FunctionField box = boxField();
  HpReport report;
  const HpForest forest = buildHp(box, tableSettings(2e-7), report);
  EXPECT_GT(report.refinedH + report.refinedP, 5'000u);
  double sum = 0;
  for (size_t leaf = 0; leaf < forest.leafCount(); ++leaf) {
    const auto c = forest.of(leaf);
    sum += shell({c.begin(), c.end()}, forest.degree[leaf]);
  }
  EXPECT_NEAR(squared(report.estimate), sum, 1e-10 * sum);
}

TEST(HpBuild, NearnessSavesMemory) {
  const FunctionField torus = torusField();
  HpReport plain, near;
  const HpForest all = buildHp(torus, tableSettings(1e-7), plain);
  HpSettings s = tableSettings(1e-7);
  s.nearness = Nearness::Exponential;
  s.theta = 30;
  const HpForest close = buildHp(torus, s, near);
  EXPECT_LT(double(close.coefficients.size()), 0.6 * double(all.coefficients.size()));
  EXPECT_NEAR(double(close.coefficients.size()), 47558, 0.02 * 47558);
  // Enough points that the largest of them is about the largest there is.
  for (const double band : {0.01, 0.05}) {
    const double before = measureHp(all, torus, 1'000'000, 3, band).largestNear;
    EXPECT_LT(measureHp(close, torus, 1'000'000, 3, band).largestNear, 3 * before);
  }
}

TEST(HpBuild, SameBitsForAnyNumberOfThreads) {
  const FunctionField torus = torusField();
  HpForest first;
  for (const unsigned threads : {1u, 2u, 4u}) {
    const ThreadLimit limit(threads);
    HpReport report;
    HpSettings s = tableSettings(1e-5);
    s.stop = HpStop::Measured;
    HpForest forest = buildHp(torus, s, report);
    if (threads == 1)
      first = std::move(forest);
    else {
      EXPECT_EQ(first.child, forest.child);
      EXPECT_EQ(first.degree, forest.degree);
      EXPECT_EQ(first.coefficients, forest.coefficients);
    }
  }
}

TEST(HpBuild, TheMeasuredErrorIsTheTarget) {
  const FunctionField torus = torusField();
  for (const double target : {1e-3, 1e-4}) {
    HpSettings s;
    s.error = target;
    HpReport report;
    const HpForest forest = buildHp(torus, s, report);
    EXPECT_EQ(report.end, HpEnd::Target);
    const double rms = measureHp(forest, torus, 100'000, 11, 0).rms;
    EXPECT_LT(rms, 1.1 * target);
    EXPECT_GT(rms, 0.3 * target);
  }
}

TEST(HpBuild, LimitsEndWithTheBestReached) {
  const FunctionField box = boxField();
  HpSettings s;
  s.error = 1e-9;
  s.mostCoefficients = 20'000;
  HpReport report;
  const HpForest forest = buildHp(box, s, report);
  EXPECT_EQ(report.end, HpEnd::Memory);
  EXPECT_LT(forest.coefficients.size(), 30'000u);
  EXPECT_GT(report.measured, 1e-9);
  s.mostCoefficients = 50'000'000;
  s.maxLevel = 1;
  s.maxDegree = 3;
  buildHp(box, s, report);
  EXPECT_EQ(report.end, HpEnd::Exhausted);
  EXPECT_GT(report.exhausted, 0u);
}

// The sign of a sheet's field jumps beside it: no cell follows that.
TEST(HpBuild, ABudgetEndsWhatCannotBeMetOnAnyNumberOfThreads) {
  const FunctionField step([](const Vec3& p) { return p.x() + 0.3 * p.y() < 0.1 ? -1.0 : 1.0; },
                           {Vec3::Constant(-1), Vec3::Constant(1)});
  HpSettings s;
  s.error = 1e-6;
  s.mostValues = 300'000;
  std::vector<double> first;
  for (const unsigned threads : {1u, 2u, 4u}) {
    const ThreadLimit limit(threads);
    HpReport report;
    const HpForest forest = buildHp(step, s, report);
    EXPECT_EQ(report.end, HpEnd::Budget);
    EXPECT_GT(report.measured, s.error);
    EXPECT_LT(report.samples, 2 * s.mostValues);
    if (threads == 1) first = forest.coefficients;
    EXPECT_EQ(forest.coefficients, first) << threads;
  }
}

TEST(HpBuild, TheTargetIsMetByTheErrorThatIsStated) {
  const FunctionField box = boxField();
  for (const double error : {0.05, 0.02, 0.01, 5e-3, 2e-3}) {
    HpSettings s;
    s.error = error;
    HpReport report;
    buildHp(box, s, report);
    EXPECT_EQ(report.end, HpEnd::Target);
    EXPECT_LE(report.measured, error);
  }
}

TEST(HpBuild, AStopGivesTheFieldSoFarWhereThatIsWanted) {
  const FunctionField box = boxField();
  // The field itself asks to stop once the cells are being refined.
  std::atomic<size_t> asked{0};
  const FunctionField stopping(
      [&](const Vec3& p) {
        if (++asked == 60'000) requestStop();
        return box.value(p);
      },
      box.bounds());
  HpSettings s;
  s.error = 1e-9;
  HpReport report;
  EXPECT_THROW(buildHp(stopping, s, report), Interrupted);
  clearStop();
  asked = 0;
  s.keepOnStop = true;
  const HpForest forest = buildHp(stopping, s, report);
  clearStop();
  EXPECT_EQ(report.end, HpEnd::Stopped);
  EXPECT_GT(forest.leafCount(), 0u);
  EXPECT_NEAR(report.measured, measureHp(forest, box, 20'000, 7, 0).rms, 0.2 * report.measured);
}

TEST(HpBuild, RefusesNonsense) {
  const FunctionField torus = torusField();
  HpReport report;
  HpSettings s;
  s.error = 0;
  EXPECT_THROW(buildHp(torus, s, report), Error);
  s = {};
  s.maxDegree = 31;
  EXPECT_THROW(buildHp(torus, s, report), Error);
  s = {};
  s.domain = {Vec3::Zero(), Vec3(1, 0, 1)};
  EXPECT_THROW(buildHp(torus, s, report), Error);
  s = {};
  s.base = {500, 500, 500};
  EXPECT_THROW(buildHp(torus, s, report), Error) << "a base grid of a gigabyte";
  const FunctionField endless([](const Vec3& p) { return p.y(); },
                              {Vec3::Constant(-std::numeric_limits<double>::infinity()), Vec3::Zero()});
  EXPECT_THROW(buildHp(endless, {}, report), Error);
  const FunctionField broken([](const Vec3& p) { return p.x() > 0.5 ? NAN : 1.0; }, testDomain());
  EXPECT_THROW(buildHp(broken, {}, report), Error);
}

// A body that loses everything above a plane: only the cells that the change touches are fitted again.
TEST(HpRefit, MeetsTheSameErrorAndKeepsTheRest) {
  const FunctionField before = torusField();
  // What is cut away lies above x = 0.55; below, near the old surface, nothing changes.
  const FunctionField after([&](const Vec3& p) { return std::max(before.value(p), p.x() - 0.55); },
                            before.bounds());
  HpSettings s;
  s.domain = testDomain();
  s.error = 3e-4;
  HpReport first, again, fresh;
  const HpForest old = buildHp(before, s, first);
  const Box3 changed{{0.2, -1.1, -1.1}, {1.1, 1.1, 1.1}};
  const HpForest refit = refitHp(old, after, changed, s, again);
  const HpForest full = buildHp(after, s, fresh);
  EXPECT_LT(measureHp(refit, after, 100'000, 3, 0).rms, 1.1 * s.error);
  EXPECT_LT(measureHp(full, after, 100'000, 3, 0).rms, 1.1 * s.error);
  // Cells away from the change keep their bits.
  RandomStream random(4);
  for (int i = 0; i < 1000; ++i) {
    const Vec3 p = random.pointIn({{-1.1, -1.1, -1.1}, {-0.56, 1.1, 1.1}});
    EXPECT_EQ(evaluate(old, p), evaluate(refit, p));
  }
}

TEST(HpRefit, ACutKeepsTheErrorAndTheFarSide) {
  const auto torus = std::make_shared<FunctionField>(torusField());
  HpSettings s;
  s.domain = testDomain();
  s.error = 3e-4;
  HpReport first, again;
  const HpForest old = buildHp(*torus, s, first);
  for (const auto& [normal, offset] : {std::pair{Vec3(1, 0, 0), 0.55}, {Vec3(0.6, 0, 0.8), 0.1}}) {
    const FieldPtr plane = makePlaneField(normal, offset);
    const FieldPtr rest = makeIntersection({torus, plane});
    const HpForest refit = refitAfterCut(old, *rest, *plane, s, again);
    EXPECT_LT(measureHp(refit, *rest, 100'000, 3, 0).rms, 1.1 * s.error);
    EXPECT_LT(again.measured, 1.1 * s.error);
    EXPECT_LT(again.measuredShare, 0.9);
    EXPECT_GT(again.refinedH, 100u);  // the cut brings kinks that were not there
    // Where the plane is far below the old field the bits stay, and they do not follow the threads.
    size_t same = 0;
    for (const HpCell& cell : leafCells(old)) {
      const Box3 box = cellBox(old, cell);
      const Vec3 p = box.center();
      if (plane->value(p) + 1.01 * box.diagonal() + 2 * s.error > evaluate(old, p)) continue;
      ++same;
      EXPECT_EQ(evaluate(old, p), evaluate(refit, p));
    }
    EXPECT_GT(same, 100u);
    const ThreadLimit one(1);
    EXPECT_EQ(refitAfterCut(old, *rest, *plane, s, again).coefficients, refit.coefficients);
  }
}

}  // namespace
}  // namespace sunder::sdf
