#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/random.h"
#include "sunder/sdf/field_combine.h"
#include "sunder/sdf/hp/hp_build.h"
#include "sunder/sdf/near_mesh_field.h"
#include "sunder/shapes/round.h"

#include <cmath>

#include <gtest/gtest.h>

namespace sunder::sdf {
namespace {

Box3 grown(const Box3& box, double by) {
  return {box.lower - Vec3::Constant(by), box.upper + Vec3::Constant(by)};
}

std::vector<Vec3> randomPoints(const Box3& box, size_t count, uint64_t seed) {
  RandomStream random(seed);
  std::vector<Vec3> points(count);
  for (Vec3& p : points) p = random.pointIn(box);
  return points;
}

struct Difference {
  double rms = 0, largest = 0;
  size_t wrongSigns = 0, tooShort = 0;
};

Difference compare(const Field& near, const Field& exact, std::span<const Vec3> points) {
  std::vector<double> a(points.size()), b(points.size());
  near.values(points, a);
  exact.values(points, b);
  Difference d;
  for (size_t i = 0; i < points.size(); ++i) {
    const double error = a[i] - b[i];
    d.rms += error * error;
    d.largest = std::max(d.largest, std::abs(error));
    d.wrongSigns += (a[i] < 0) != (b[i] < 0) && std::abs(b[i]) > 1e-12;
    d.tooShort += std::abs(a[i]) < std::abs(b[i]) * (1 - 1e-12) - 1e-15;
  }
  d.rms = std::sqrt(d.rms / double(points.size()));
  return d;
}

TEST(NearMeshField, DistancesAreNeverTooShortAndSignsAreRight) {
  const MeshField mesh(shapes::makeRippledSphere({24, 0.1}));
  const Box3 domain = grown(mesh.bounds(), 0.1);
  const std::vector<Vec3> points = randomPoints(domain, 20'000, 3);
  double before = 1e9;
  for (const double n : {8.0, 16.0, 32.0}) {
    const NearMeshField near(mesh, domain, domain.extent().maxCoeff() / n);
    const Difference d = compare(near, mesh, points);
    EXPECT_EQ(d.wrongSigns, 0u) << n;
    EXPECT_EQ(d.tooShort, 0u) << n;
    EXPECT_LT(d.largest, domain.extent().norm() / n) << n;  // the diagonal of a cell
    EXPECT_LT(d.rms, before / 2) << n;
    before = d.rms;
  }
  EXPECT_LT(before, 1e-3);
}

// Around the surface all triangles in question are looked at.
TEST(NearMeshField, IsExactNearTheSurface) {
  const geometry::TriMesh shape = shapes::makeRippledSphere({24, 0.1});
  const MeshField mesh(shape);
  const Box3 domain = grown(mesh.bounds(), 0.1);
  const NearMeshField near(mesh, domain, domain.extent().maxCoeff() / 24);
  RandomStream random(7);
  std::vector<Vec3> points;
  for (int i = 0; i < 5000; ++i)
    points.push_back(shape.positions[random.below(uint32_t(shape.positions.size()))] +
                     0.02 * random.unitVector());
  EXPECT_LT(compare(near, mesh, points).largest, 1e-7);
}

TEST(NearMeshField, AnswersDependOnThePointAlone) {
  const MeshField mesh(shapes::makeRippledSphere({16, 0.1}));
  const Box3 domain = grown(mesh.bounds(), 0.1);
  const std::vector<Vec3> points = randomPoints(domain, 3000, 5);
  std::vector<double> together(points.size()), threads(points.size());
  const NearMeshField one(mesh, domain, 0.1), two(mesh, domain, 0.1), three(mesh, domain, 0.1);
  one.values(points, together);
  valuesOf(three, points, threads);
  for (size_t i = points.size(); i-- > 0;) EXPECT_EQ(two.value(points[i]), together[i]);
  EXPECT_EQ(together, threads);
  EXPECT_EQ(one.searches(), two.searches());
  EXPECT_EQ(one.searches(), three.searches());
}

TEST(NearMeshField, CellsThatAreNotAskedCostNothing) {
  const MeshField mesh(shapes::makeRippledSphere({16, 0.1}));
  const NearMeshField near(mesh, grown(mesh.bounds(), 0.1), 0.1);
  EXPECT_EQ(near.searches(), 0u);
  near.value(mesh.bounds().center());
  EXPECT_EQ(near.searches(), 8u);
}

TEST(NearMeshField, RefusesNonsense) {
  const MeshField mesh(shapes::makeRippledSphere({8, 0.1}));
  EXPECT_THROW(NearMeshField(mesh, mesh.bounds(), 0), Error);
  EXPECT_THROW(NearMeshField(mesh, {}, 0.1), Error);
  EXPECT_THROW(NearMeshField(mesh, mesh.bounds(), 1e-4), Error);
}

// Inside and outside of an open mesh meet where there is no surface.
TEST(NearMeshField, OpenMeshesHaveNoDistanceSamples) {
  geometry::TriMesh shape = shapes::makeRippledSphere({8, 0.1});
  EXPECT_TRUE(MeshField(shape).near(grown(geometry::bounds(shape.positions), 0.1), 0.1));
  shape.triangles.pop_back();
  EXPECT_FALSE(MeshField(shape).near(grown(geometry::bounds(shape.positions), 0.1), 0.1));
}

TEST(NearField, CombinationsUseTheDistanceSamplesOfTheirParts) {
  const auto mesh = std::make_shared<MeshField>(shapes::makeRippledSphere({16, 0.1}));
  const FieldPtr plane = makePlaneField(Vec3(1, 2, 3), 0.2);
  const Box3 domain = grown(mesh->bounds(), 0.1);
  const std::vector<Vec3> points = randomPoints(domain, 2000, 9);
  for (const FieldPtr& whole :
       {makeIntersection({mesh, plane}), makeUnion({plane, mesh}), makeDifference(mesh, plane)}) {
    const auto near = whole->near(domain, 0.1);
    ASSERT_TRUE(near);
    const Difference d = compare(*near, *whole, points);
    EXPECT_LT(d.rms, 0.01);
    EXPECT_EQ(d.wrongSigns, 0u);
    EXPECT_GT(near->searches(), 100u);
  }
  EXPECT_FALSE(makeUnion({plane, plane})->near(domain, 0.1));
}

// The same target from cached distance samples and from the source itself: the error is met either way, with
// a fraction of the searches.
TEST(HpBuild, DistanceSamplesMeetTheErrorWithFewerSearches) {
  const MeshField mesh(shapes::makeRippledSphere({24, 0.1}));
  HpSettings s;
  s.error = 4e-3;
  s.quadrature = Quadrature::Lean;
  s.thinReach = 0;
  HpReport quick, exact;
  const HpForest a = buildHp(mesh, s, quick);
  s.sampling = HpSampling::Exact;
  const HpForest b = buildHp(mesh, s, exact);
  EXPECT_GT(quick.distanceSampleSpacing, 0);
  EXPECT_EQ(exact.distanceSampleSpacing, 0);
  EXPECT_EQ(exact.nearSamples, 0u);
  EXPECT_LE(quick.distanceSampleError, 0.5 * s.error);
  for (const HpForest* forest : {&a, &b})
    EXPECT_LT(measureHp(*forest, mesh, 50'000, 17, 0).rms, 1.1 * s.error);
  EXPECT_LT(double(a.coefficients.size()), 1.15 * double(b.coefficients.size()));
  EXPECT_LT(double(quick.samples), 0.5 * double(exact.samples));
}

TEST(HpBuild, DistanceSamplesGiveTheSameBitsForAnyNumberOfThreads) {
  const MeshField mesh(shapes::makeRippledSphere({16, 0.1}));
  HpSettings s;
  s.error = 8e-3;
  s.quadrature = Quadrature::Lean;
  HpForest first;
  HpReport firstReport;
  for (const unsigned threads : {1u, 2u, 4u}) {
    const ThreadLimit limit(threads);
    HpReport report;
    HpForest forest = buildHp(mesh, s, report);
    EXPECT_GT(report.distanceSampleSpacing, 0);
    if (threads == 1) {
      first = std::move(forest);
      firstReport = report;
      continue;
    }
    EXPECT_EQ(first.child, forest.child);
    EXPECT_EQ(first.coefficients, forest.coefficients);
    EXPECT_EQ(firstReport.samples, report.samples);
  }
}

// The smaller the target, the closer the cached distance samples.
TEST(HpBuild, DistanceSamplesLeaveTheTargetRoom) {
  const MeshField mesh(shapes::makeRippledSphere({24, 0.1}));
  HpSettings s;
  s.maxLevel = 0;
  s.maxDegree = 2;
  s.thinReach = 0;
  double before = 1e9;
  for (const double error : {2e-2, 4e-3, 1e-3, 1e-4}) {
    s.error = error;
    HpReport report;
    buildHp(mesh, s, report);
    EXPECT_LE(report.distanceSampleError, 0.5 * error);
    EXPECT_LE(report.distanceSampleSpacing, before);
    before = report.distanceSampleSpacing;
  }
  EXPECT_LT(before, 0.06);
}

// A planar cut: leaves that the cut leaves alone keep their bits though they lie in the changed box, what is
// smooth now has fewer cells than before, and the error is that of a build from nothing.
TEST(HpRefit, FollowsTheOldTreeAndMeetsTheErrorOfAFullBuild) {
  const auto mesh = std::make_shared<MeshField>(shapes::makeRippledSphere({24, 0.1}));
  const FieldPtr cut = makeIntersection({mesh, makePlaneField(Vec3::UnitX(), 0.6)});
  HpSettings s;
  s.error = 5e-3;
  s.quadrature = Quadrature::Lean;
  s.thinReach = 0;
  HpReport before, again, fresh;
  const HpForest old = buildHp(*mesh, s, before);
  const Box3& domain = old.domain;
  const Box3 changed{{-0.3, domain.lower.y(), domain.lower.z()}, domain.upper};
  const HpForest refit = refitHp(old, *cut, changed, s, again);
  s.domain = domain;
  const HpForest full = buildHp(*cut, s, fresh);
  EXPECT_EQ(again.end, HpEnd::Target);
  EXPECT_LT(measureHp(refit, *cut, 50'000, 3, 0).rms, 1.1 * s.error);
  EXPECT_LT(measureHp(full, *cut, 50'000, 3, 0).rms, 1.1 * s.error);
  EXPECT_LT(refit.leafCount(), old.leafCount());
  EXPECT_LT(2 * again.nearSamples, fresh.nearSamples);
  // Who names the cutter has less to do.
  HpReport quick;
  const HpForest byCutter = refitAfterCut(old, *cut, *makePlaneField(Vec3::UnitX(), 0.6), s, quick);
  EXPECT_EQ(quick.end, HpEnd::Target);
  EXPECT_LT(measureHp(byCutter, *cut, 50'000, 3, 0).rms, 1.1 * s.error);
  EXPECT_LT(10 * (quick.samples + quick.nearSamples), fresh.samples + fresh.nearSamples);
  size_t same = 0;
  const std::vector<Vec3> points = randomPoints({{-0.2, -1, -1}, {0.4, 1, 1}}, 2000, 4);
  for (const Vec3& p : points) same += evaluate(old, p) == evaluate(refit, p);
  EXPECT_GT(same, points.size() / 5);
  for (const Vec3& p : randomPoints({domain.lower, {-0.95, 1, 1}}, 1000, 5))
    EXPECT_EQ(evaluate(old, p), evaluate(refit, p));
}

}  // namespace
}  // namespace sunder::sdf
