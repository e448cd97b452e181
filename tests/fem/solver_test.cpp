#include "sunder/fem/solver.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/simd.h"
#include "sunder/fem/block_cholesky.h"
#include "sunder/fem/conjugate_gradients.h"

#include "fem_cases.h"

#include <gtest/gtest.h>

namespace sunder::fem {

namespace {

// M + h^2 K with a ratio of frequencies to the step that an analysis has.
BlockMatrix dynamicMatrix(const ElasticBody& body, double step) {
  BlockMatrix matrix;
  matrix.setPattern(body.pattern());
  assemble(body.elements(), body.material(), 1, step * step, MassKind::Lumped, matrix);
  return matrix;
}

std::vector<Vec3> randomVectors(size_t count, uint64_t seed) {
  RandomStream random(seed);
  std::vector<Vec3> v(count);
  for (Vec3& x : v) x = random.unitVector();
  return v;
}

double difference(std::span<const Vec3> a, std::span<const Vec3> b) {
  double most = 0, scale = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, (a[i] - b[i]).norm());
    scale = std::max(scale, b[i].norm());
  }
  return most / scale;
}

std::vector<Vec3> solveWith(const SolverSettings& settings, const BlockMatrix& matrix,
                            std::span<const Vec3> b) {
  const auto solver = makeSolver(settings);
  solver->factor(matrix);
  std::vector<Vec3> x(b.size());
  solver->solve(b, x);
  return x;
}

}  // namespace

TEST(Solver, AllAgree) {
  for (const uint32_t n : {1u, 2u, 4u, 7u}) {
    const ElasticBody body(blockMesh({n, n + 1, 2 * n}, {0.1, 0.12, 0.2}, 0.2, n), kGlass);
    const BlockMatrix matrix = dynamicMatrix(body, 2e-6);
    const std::vector<Vec3> b = randomVectors(body.vertices(), n);
    const std::vector<Vec3> x = solveWith({"dense"}, matrix, b);
    for (const std::string_view name : solverNames())
      EXPECT_LT(difference(solveWith({std::string(name)}, matrix, b), x), 1e-9) << name << " " << n;
    SolverSettings jacobi{"pcg"};
    jacobi.preconditioner = Preconditioner::BlockJacobi;
    EXPECT_LT(difference(solveWith(jacobi, matrix, b), x), 1e-9) << n;
    std::vector<Vec3> back(x.size());
    matrix.multiply(x, back);
    EXPECT_LT(difference(back, b), 1e-11) << n;
  }
}

// Points without order, and several bodies in one mesh: trees with many roots.
TEST(Solver, BlockHandlesForests) {
  geometry::TetMesh mesh;
  for (uint32_t k = 0; k < 5; ++k) {
    const geometry::TetMesh part = blockMesh({1 + k, 2, 1 + k % 2}, {0.1, 0.1, 0.1}, 0.2, k);
    const auto base = static_cast<uint32_t>(mesh.positions.size());
    mesh.positions.insert(mesh.positions.end(), part.positions.begin(), part.positions.end());
    for (const geometry::Tetrahedron& t : part.tets)
      mesh.tets.push_back({t[0] + base, t[1] + base, t[2] + base, t[3] + base});
    mesh.positions.push_back(Vec3::Zero());  // of no tetrahedron
  }
  const ElasticBody body(mesh, kGlass);
  const BlockMatrix matrix = dynamicMatrix(body, 1e-6);
  const std::vector<Vec3> b = randomVectors(body.vertices(), 3);
  const std::vector<Vec3> x = solveWith({"dense"}, matrix, b);
  EXPECT_LT(difference(solveWith({"block"}, matrix, b), x), 1e-10);
  EXPECT_LT(difference(solveWith({"pcg"}, matrix, b), x), 1e-9);
}

TEST(Solver, AnalysisIsKeptForTheSamePattern) {
  const ElasticBody body(blockMesh({3, 3, 3}, {1, 1, 1}, 0.2), kGlass),
      other(blockMesh({2, 2, 5}, {1, 1, 1}), kGlass);
  const BlockMatrix first = dynamicMatrix(body, 1e-5), second = dynamicMatrix(body, 3e-5),
                    third = dynamicMatrix(other, 3e-5);
  for (const char* name : {"block", "ldlt"}) {
    const auto solver = makeSolver({name});
    for (const BlockMatrix* matrix : {&first, &second, &third, &first}) {
      solver->factor(*matrix);
      const std::vector<Vec3> b = randomVectors(matrix->rows(), 8);
      std::vector<Vec3> x(b.size());
      solver->solve(b, x);
      EXPECT_LT(difference(x, solveWith({"dense"}, *matrix, b)), 1e-10) << name;
    }
  }
}

TEST(Solver, SameBitsForAnyThreadsAndVectorUnit) {
  const ElasticBody body(blockMesh({8, 9, 10}, {1, 1, 1}, 0.2), kGlass);
  const std::vector<Vec3> b = randomVectors(body.vertices(), 5);
  for (const char* name : {"block", "pcg"}) {
    std::vector<Vec3> reference;
    const auto check = [&](const std::string& what) {
      const BlockMatrix matrix = dynamicMatrix(body, 1e-5);
      const std::vector<Vec3> x = solveWith({name}, matrix, b);
      if (reference.empty()) reference = x;
      for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(x[i], reference[i]) << name << " " << what;
    };
    for (const unsigned threads : {1u, 2u, 4u}) {
      const ThreadLimit limit(threads);
      check(std::to_string(threads));
    }
    for (const std::string& target : simdTargets()) {
      const SimdTargetOverride override(target);
      check(target);
    }
  }
}

TEST(Solver, RefusesMatricesThatAreNotPositive) {
  const ElasticBody body(blockMesh({2, 2, 2}, {1, 1, 1}, 0.2), kGlass);
  BlockMatrix matrix;
  matrix.setPattern(body.pattern());
  assemble(body.elements(), body.material(), 0, -1, MassKind::Lumped, matrix);
  for (const char* name : {"block", "ldlt", "dense", "pcg"}) {
    const auto solver = makeSolver({name});
    EXPECT_THROW(solver->factor(matrix), Error) << name;
  }
  EXPECT_THROW(makeSolver({"gauss"}), Error);
}

// Eigen's factors cannot be interrupted, so they must be small where a request to stop has to be followed.
TEST(Solver, StoppableSolversRefuseLargeBodies) {
  for (const std::string name : {"ldlt", "dense"}) {
    const size_t most = mostStoppableVertices(name);
    ASSERT_EQ(most % 100, 0);
    const auto layers = static_cast<uint32_t>(most / 100);  // of a hundred vertices
    const ElasticBody fits(blockMesh({9, 9, layers - 1}, {1, 1, 1}), kGlass),
        large(blockMesh({9, 9, layers}, {1, 1, 1}), kGlass);
    ASSERT_EQ(fits.vertices(), most);
    const auto solver = makeSolver({.name = name, .stoppable = true});
    EXPECT_NO_THROW(solver->factor(dynamicMatrix(fits, 1e-5))) << name;
    try {
      solver->factor(dynamicMatrix(large, 1e-5));
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Limit);
      EXPECT_NE(error.hint().find(std::to_string(most) + " vertices would do"), std::string::npos);
    }
  }
  for (const char* name : {"auto", "block", "pcg"}) EXPECT_EQ(mostStoppableVertices(name), 0) << name;
}

TEST(Solver, IncompleteCholeskyNeedsFewerIterations) {
  const ElasticBody body(blockMesh({6, 6, 6}, {1, 1, 1}, 0.2), kGlass);
  const BlockMatrix matrix = dynamicMatrix(body, 1e-4);
  const std::vector<Vec3> b = randomVectors(body.vertices(), 5);
  std::vector<Vec3> x(b.size());
  size_t iterations[2];
  for (const Preconditioner p : {Preconditioner::BlockJacobi, Preconditioner::IncompleteCholesky}) {
    ConjugateGradients solver({.name = "pcg", .preconditioner = p});
    solver.factor(matrix);
    solver.solve(b, x);
    EXPECT_LE(solver.residual(), 1e-12);
    iterations[size_t(p)] = solver.iterations();
  }
  EXPECT_LT(2 * iterations[1], iterations[0]);
}

}  // namespace sunder::fem
