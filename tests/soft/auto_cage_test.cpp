#include "sunder/soft/cage/auto_cage.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/random.h"
#include "sunder/meshio/mesh_file.h"
#include "sunder/soft/cage/fit_cage.h"
#include "sunder/soft/cage/lattice.h"
#include "sunder/soft/embed/surface_copies.h"

#include "folders.h"
#include "soft/solids.h"

#include <gtest/gtest.h>

namespace sunder::soft {

namespace {

// Every tetrahedron holds a part of the solid, and the whole surface is held.
CageReport expectFits(const geometry::TriMesh& surface, uint32_t tets, double slack) {
  CageReport report;
  const Cage cage = makeCageAround(surface, {.tets = tets}, &report);
  EXPECT_EQ(report.tets, cage.rest.tets.size());
  EXPECT_NEAR(double(report.tets), double(tets), slack * double(tets)) << tets;
  EXPECT_TRUE(geometry::tetReport(cage.rest).sound());
  const SurfaceCopies copies = assignSurface(surface, cage);
  double sum = 0, whole = 0;
  for (size_t i = 0; i < copies.copies(); ++i) {
    const auto polygon = copies.polygon(i);
    for (size_t c = 2; c < polygon.size(); ++c) {
      const Vec3 &p = polygon[0].inTriangle, &q = polygon[c - 1].inTriangle, &r = polygon[c].inTriangle;
      sum += areaOf(surface, copies.trianglesOf.items[i]) *
             ((q[1] - p[1]) * (r[2] - p[2]) - (q[2] - p[2]) * (r[1] - p[1]));
    }
  }
  for (uint32_t t = 0; t < surface.triangles.size(); ++t) {
    whole += areaOf(surface, t);
    EXPECT_GE(copies.copiesOf[t], 1u);
  }
  EXPECT_NEAR(sum, whole, 1e-12 * whole);
  for (const TetContent content : tetContents(surface, cage, copies)) EXPECT_NE(content, TetContent::Outside);
  return report;
}

double copiesPerTriangle(const geometry::TriMesh& surface, uint32_t tets) {
  CageReport report;
  const Cage cage = makeCageAround(surface, {.tets = tets}, &report);
  const CopyStatistics table = copyStatistics(assignSurface(surface, cage));
  std::string row;
  for (size_t k = 1; k < table.times.size(); ++k) row += " " + std::to_string(table.times[k]);
  std::printf("%u tetrahedra wished, %u made, solid %.2f, %u moved, angle %.1f:%s; %.4f\n", tets, report.tets,
              report.solid, report.moved, report.smallestAngle, row.c_str(), table.perTriangle());
  return table.perTriangle();
}

}  // namespace

TEST(CageLattice, KnowsTheTetrahedronOfAPoint) {
  Lattice lattice;
  lattice.edge = 0.37;
  lattice.offset = Vec3(0.2, 0.7, 0.4);
  lattice.stretch = Vec3(1.2, 0.9, 1 / 1.08);
  lattice.turn = Quat(0.9, 0.1, 0.3, -0.2).normalized().toRotationMatrix();
  Box3 range;
  range.grow(Vec3(-1.0, -1.3, -0.8));
  range.grow(Vec3(1.4, 0.9, 1.1));
  const geometry::TetMesh mesh = lattice.tetsIn(range);
  EXPECT_TRUE(geometry::tetReport(mesh).sound());
  const auto weightsIn = [&](size_t t, const Vec3& p) { return cageWeights(mesh, uint32_t(t), p); };
  std::vector<uint64_t> keys;
  for (size_t t = 0; t < mesh.tets.size(); ++t) {
    Vec3 middle = Vec3::Zero();
    for (const uint32_t v : mesh.tets[t]) middle += 0.25 * mesh.positions[v];
    keys.push_back(lattice.holder(middle).key());
  }
  std::vector<uint64_t> sorted = keys;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(std::unique(sorted.begin(), sorted.end()), sorted.end());
  RandomStream random(4);
  for (int i = 0; i < 300; ++i) {
    const Vec3 p = lattice.toWorld(random.pointIn(range));
    const uint64_t key = lattice.holder(p).key();
    const auto found = std::find(keys.begin(), keys.end(), key);
    ASSERT_NE(found, keys.end());
    EXPECT_GT(weightsIn(size_t(found - keys.begin()), p).minCoeff(), -1e-9);
  }
}

TEST(AutoCage, HasTheWishedCount) {
  const geometry::TriMesh mesh = rabbit(0.025);
  for (const uint32_t tets : {10u, 100u, 300u}) expectFits(mesh, tets, 0.1);
  expectFits(mesh, 1000, 0.25);
}

TEST(AutoCageFull, HasTheWishedCountOfThousands) {
  const geometry::TriMesh mesh = rabbit(0.0159);
  for (const uint32_t tets : {1u, 2u, 5u, 3000u, 10000u}) expectFits(mesh, tets, tets < 10 ? 1.0 : 0.25);
}

TEST(AutoCage, CutsARabbitIntoFewCopies) {
  const geometry::TriMesh mesh = rabbit(0.0159);
  EXPECT_NEAR(double(mesh.triangles.size()), 5000, 250);
  EXPECT_LE(copiesPerTriangle(mesh, 10), 1.15);
  EXPECT_LE(copiesPerTriangle(mesh, 100), 1.52);
}

TEST(AutoCageFull, TableOfCopies) {
  const geometry::TriMesh mesh = rabbit(0.0159);
  const struct {
    uint32_t tets;
    double most;
  } rows[] = {{10, 1.143}, {20, 1.246}, {31, 1.326}, {41, 1.376}, {50, 1.381},
              {60, 1.411}, {72, 1.466}, {82, 1.494}, {91, 1.494}, {100, 1.517}};
  for (const auto& row : rows) EXPECT_LE(copiesPerTriangle(mesh, row.tets), row.most + 0.005) << row.tets;
}

TEST(AutoCage, DoesNotDependOnThreads) {
  const geometry::TriMesh mesh = splitSphere(1, 3);
  std::vector<Vec3> first;
  for (const unsigned threads : {1u, 2u, 4u}) {
    const ThreadLimit limit(threads);
    const Cage cage = makeCageAround(mesh, {.tets = 40});
    if (first.empty()) first = cage.rest.positions;
    EXPECT_EQ(cage.rest.positions, first);
  }
}

TEST(AutoCage, FitsTheSurfaceWithoutFlatTetrahedra) {
  const geometry::TriMesh mesh = rabbit(0.025);
  CageReport loose, fitted;
  makeCageAround(mesh, {.tets = 100, .fit = false}, &loose);
  const Cage cage = makeCageAround(mesh, {.tets = 100}, &fitted);
  EXPECT_EQ(loose.moved, 0u);
  EXPECT_GT(fitted.moved, 10u);
  EXPECT_GT(fitted.solid, loose.solid);
  for (const auto& t : cage.rest.tets)
    EXPECT_GE(meanRatio(cage.rest.positions[t[0]], cage.rest.positions[t[1]], cage.rest.positions[t[2]],
                        cage.rest.positions[t[3]]),
              kLeastQuality);
}

TEST(AutoCage, TakesWhatTheWindingNumberTells) {
  // Crossing itself, in two parts, with a hole, and inside out.
  geometry::TriMesh other = splitSphere(0.5, 3);
  for (Vec3& p : other.positions) p.x() += 0.7;
  expectFits(together(splitSphere(0.6, 3), other), 60, 0.25);
  for (Vec3& p : other.positions) p.x() += 2;
  expectFits(together(splitSphere(0.6, 3), other), 60, 0.25);
  geometry::TriMesh open = splitSphere(1, 3);
  open.triangles.resize(open.triangles.size() - 6);
  CageReport report = expectFits(open, 50, 0.25);
  EXPECT_FALSE(report.closed);
  geometry::TriMesh turned = splitSphere(1, 3);
  for (auto& t : turned.triangles) std::swap(t[0], t[1]);
  report = expectFits(turned, 50, 0.25);
  EXPECT_TRUE(report.closed);
}

TEST(AutoCage, TakesThinAndFlatSolids) {
  expectFits(box({0, 0, 0}, {1, 0.01, 1}), 100, 0.5);
  expectFits(box({0, 0, 0}, {1, 0.01, 0.01}), 50, 0.5);
}

TEST(AutoCage, RefusesWhatHasNoInside) {
  const geometry::TriMesh ball = splitSphere(1, 3);
  EXPECT_THROW(makeCageAround({}, {}), Error);
  EXPECT_THROW(makeCageAround(ball, {.tets = 0}), Error);
  try {
    makeCageAround(ball, {.tets = 1'000'000});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Limit);
    EXPECT_NE(error.message().find("100000 is the most"), std::string::npos);
  }
  geometry::TriMesh sheet;
  sheet.positions = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  sheet.triangles = {{0, 1, 2}, {0, 2, 3}};
  EXPECT_THROW(makeCageAround(sheet, {}), Error);
  geometry::TriMesh half = ball;
  std::erase_if(half.triangles, [&](const geometry::Triangle& t) {
    return half.positions[t[0]].y() + half.positions[t[1]].y() + half.positions[t[2]].y() > 0;
  });
  try {
    makeCageAround(half, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("has no inside"), std::string::npos);
  }
  geometry::TriMesh broken = ball;
  broken.positions[7].x() = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(makeCageAround(broken, {}), Error);
  broken = ball;
  broken.triangles[3][1] = 100000;
  EXPECT_THROW(makeCageAround(broken, {}), Error);
}

TEST(AutoCageFull, OfPublicMeshes) {
  for (const char* name :
       {"spot.obj", "cow.obj", "suzanne.obj", "cheburashka.obj", "fandisk.obj", "stanford-bunny.obj"}) {
    const auto path = sharedData() / "meshes" / name;
    if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
    const geometry::TriMesh mesh = geometry::toTriMesh(meshio::readMesh(path).surface);
    std::printf("%s\n", name);
    for (const uint32_t tets : {10u, 100u, 1000u}) {
      expectFits(mesh, tets, 0.25);
      copiesPerTriangle(mesh, tets);
    }
  }
}

}  // namespace sunder::soft
