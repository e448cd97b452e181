#include "sunder/fem/solid/solid.h"

#include "solid_cases.h"

#include <Eigen/Eigenvalues>
#include <gtest/gtest.h>

namespace sunder::fem {

namespace {

double smallestEigenvalue(const Eigen::MatrixXd& m) {
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(m, Eigen::EigenvaluesOnly).eigenvalues()[0];
}

}  // namespace

TEST(SolidTangent, ExactIsTheDerivativeOfTheForces) {
  const geometry::TetMesh mesh = blockMesh({2, 2, 2}, {1, 1, 1}, 0.2, 3);
  const std::vector<Vec3> x = deformed(mesh, stretchedAndTurned(), 0.05, 1);
  for (const SolidMaterial& material : allMaterials()) {
    const Solid solid = solidOf(mesh, material);
    const TangentOf k(solid, x, Tangent::Exact, 2);
    for (const uint64_t seed : {1, 2}) {
      const std::vector<Vec3> d = directions(x.size(), seed);
      constexpr double h = 1e-3;
      const auto f = [&](double s) { return forcesOf(solid, moved(x, d, s * h)); };
      const std::vector<Vec3> a = f(1), b = f(-1), c = f(2), e = f(-2), kd = k.times(d);
      std::vector<Vec3> error(x.size());
      for (size_t i = 0; i < x.size(); ++i)
        error[i] = kd[i] + 2 * (8 * (a[i] - b[i]) - (c[i] - e[i])) / (12 * h);
      EXPECT_LT(norm(error), 1e-8 * norm(kd)) << nameOf(material);
    }
  }
}

// Forces with the rotations held are linear, so their difference is the derivative.
TEST(SolidTangent, FrozenIsTheDerivativeWithRotationsHeld) {
  const geometry::TetMesh mesh = blockMesh({2, 2, 2}, {1, 1, 1}, 0.2, 3);
  const std::vector<Vec3> x = deformed(mesh, stretchedAndTurned(), 0.05, 1);
  for (const double poisson : {-0.2, 0.0, 0.3, 0.4}) {
    const SolidMaterial material = rubber(ElasticModel::Corotated, poisson);
    const Solid solid = solidOf(mesh, material);
    std::vector<Mat3> stress(mesh.tets.size()), q(mesh.tets.size());
    solid.stresses(x, stress, q);
    const auto held = [&](const std::vector<Vec3>& at) {
      std::vector<Vec3> forces(at.size(), Vec3::Zero());
      for (size_t t = 0; t < mesh.tets.size(); ++t) {
        const Element& e = solid.elements()[t];
        Mat3 f = Mat3::Zero();
        for (size_t k = 0; k < 4; ++k) f += at[mesh.tets[t][k]] * e.gradient[k].transpose();
        const Mat3 sigma = tensor(hooke(material.elastic, q[t].transpose() * f - Mat3::Identity()));
        for (size_t k = 0; k < 4; ++k) forces[mesh.tets[t][k]] -= e.volume * q[t] * sigma * e.gradient[k];
      }
      return forces;
    };
    EXPECT_LT(norm(moved(held(x), forcesOf(solid, x), -1)), 1e-12 * norm(held(x)));
    const TangentOf k(solid, x, Tangent::Frozen);
    const std::vector<Vec3> d = directions(x.size(), 4), kd = k.times(d);
    const std::vector<Vec3> change = moved(held(moved(x, d, 1)), held(x), -1);
    EXPECT_LT(norm(moved(kd, change, 1)), 1e-8 * norm(kd));
  }
}

// Of a tetrahedron whose gradients are the axes, nine rows of the tangent are the second derivative by F: the
// eigenvalues that were negative are zero, the others as they were.
TEST(SolidTangent, PositiveIsTheNearestPositiveOne) {
  geometry::TetMesh mesh;
  mesh.positions = {Vec3::Zero(), Vec3::UnitX(), Vec3::UnitY(), Vec3::UnitZ()};
  mesh.tets = {{0, 1, 2, 3}};
  RandomStream random(2);
  size_t changed = 0, kept = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const double size = trial % 3 == 0 ? 0.05 : trial % 3 == 1 ? 0.5 : 1.5;
    const Mat3 f = Mat3(Eigen::AngleAxisd(random.uniform(0, 3), random.unitVector())) *
                   (Mat3::Identity() + size * randomMatrix(random));
    const std::vector<Vec3> x = deformed(mesh, f, 0, 1);
    for (const ElasticModel model : kModels) {
      const Solid solid = solidOf(mesh, rubber(model));
      const Eigen::MatrixXd exact = TangentOf(solid, x, Tangent::Exact).dense().bottomRightCorner(9, 9);
      const Eigen::MatrixXd positive = TangentOf(solid, x, Tangent::Positive).dense().bottomRightCorner(9, 9);
      const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(exact);
      const Eigen::VectorXd values = eigen.eigenvalues().cwiseMax(0);
      const Eigen::MatrixXd expected =
          eigen.eigenvectors() * values.asDiagonal() * eigen.eigenvectors().transpose();
      ASSERT_LT((positive - expected).norm(), 1e-9 * exact.norm()) << int(model) << "\n" << f;
      ++(eigen.eigenvalues()[0] < -1e-9 * exact.norm() ? changed : kept);
    }
  }
  EXPECT_GT(changed, 300u);
  EXPECT_GT(kept, 300u);
}

TEST(SolidTangent, PositiveAndFrozenHaveNoNegativeEigenvalues) {
  const geometry::TetMesh mesh = blockMesh({2, 2, 2}, {1, 1, 1}, 0.2, 3);
  for (const double noise : {0.0, 0.05, 0.4}) {
    const std::vector<Vec3> x = deformed(mesh, 0.8 * stretchedAndTurned(), noise, 1);
    for (const SolidMaterial& material : allMaterials()) {
      const Solid solid = solidOf(mesh, material);
      for (const Tangent kind : {Tangent::Positive, Tangent::Frozen}) {
        const TangentOf k(solid, x, kind);
        const Eigen::MatrixXd dense = k.dense();
        EXPECT_LT((dense - dense.transpose()).norm(), 1e-14 * dense.norm());
        EXPECT_GT(smallestEigenvalue(full(k.matrix)), -1e-12 * dense.norm()) << nameOf(material);
        for (const double w : k.outer.weights) EXPECT_GE(w, 0);
      }
    }
  }
}

// At rest all models are Hooke's, whatever part of lambda acts on averaged volumes.
TEST(SolidTangent, AllModelsAreHookeAtRest) {
  const geometry::TetMesh mesh = blockMesh({2, 2, 2}, {1, 1, 1}, 0.2, 3);
  for (const double poisson : {-0.2, 0.3, 0.4}) {
    const SolidMaterial first = rubber(ElasticModel::Linear, poisson);
    BlockMatrix expected;
    const Solid linear = solidOf(mesh, first);
    expected.setPattern(linear.pattern());
    assemble(linear.elements(), first.elastic, 0, 1, MassKind::Lumped, expected);
    const Eigen::MatrixXd k = full(expected);
    for (const ElasticModel model : kModels)
      for (const Tangent kind : {Tangent::Exact, Tangent::Positive, Tangent::Frozen}) {
        const Solid solid = solidOf(mesh, rubber(model, poisson));
        EXPECT_LT((TangentOf(solid, mesh.positions, kind).dense() - k).norm(), 1e-12 * k.norm());
      }
  }
  const Eigen::MatrixXd averaged =
      TangentOf(solidOf(mesh, rubber(ElasticModel::Linear, 0.49)), mesh.positions, Tangent::Exact).dense();
  for (const ElasticModel model : kModels) {
    const Solid solid = solidOf(mesh, rubber(model, 0.49));
    EXPECT_LT((TangentOf(solid, mesh.positions, Tangent::Exact).dense() - averaged).norm(),
              1e-12 * averaged.norm());
  }
}

}  // namespace sunder::fem
