#include "sunder/fem/solid/solid.h"

#include "solid_cases.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <gtest/gtest.h>

namespace sunder::fem {

namespace {

double smallestEigenvalue(const Eigen::MatrixXd& m) {
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(m, Eigen::EigenvaluesOnly).eigenvalues()[0];
}

// The dense tangent at rest of one material: with averaged volumes, or as plain linear tetrahedra have it.
Eigen::MatrixXd averagedTangent(const geometry::TetMesh& mesh, double poisson) {
  const Solid solid = solidOf(mesh, rubber(ElasticModel::Corotated, poisson));
  return TangentOf(solid, mesh.positions, Tangent::Exact).dense();
}
Eigen::MatrixXd plainTangent(const geometry::TetMesh& mesh, double poisson) {
  const SolidMaterial material = rubber(ElasticModel::Linear, poisson);
  const ElasticBody body(mesh, material.elastic);
  BlockMatrix matrix;
  matrix.setPattern(body.pattern());
  assemble(body.elements(), material.elastic, 0, 1, MassKind::Lumped, matrix);
  return full(matrix);
}

// Displacements where `given` ones are held and `forces` act on the others.
template <class Free>
Eigen::VectorXd solved(const geometry::TetMesh& mesh, const Eigen::MatrixXd& k, Eigen::VectorXd given,
                       const Eigen::VectorXd& forces, const Free& isFree) {
  std::vector<Eigen::Index> kept;
  for (size_t v = 0; v < mesh.positions.size(); ++v)
    for (Eigen::Index c = 0; c < 3; ++c)
      if (isFree(mesh.positions[v])) kept.push_back(3 * static_cast<Eigen::Index>(v) + c);
  const Eigen::VectorXd all = forces - k * given, right = all(kept);
  const Eigen::VectorXd found = Eigen::LLT<Eigen::MatrixXd>(k(kept, kept)).solve(right);
  for (size_t i = 0; i < kept.size(); ++i) given[kept[i]] += found[static_cast<Eigen::Index>(i)];
  return given;
}

// How much of the deflection of Timoshenko's beam (Cowper 1966) a coarse cantilever has.
double deflection(const geometry::TetMesh& mesh, const Eigen::MatrixXd& k, double poisson) {
  constexpr double kLength = 4;
  const auto loads = spread(mesh, Vec3(0, -1, 0), [](const Vec3& p) { return p.x() > kLength - 1e-9; });
  Eigen::VectorXd forces = Eigen::VectorXd::Zero(k.rows());
  for (const NodalForce& f : loads) forces.segment<3>(3 * Eigen::Index(f.vertex)) += f.force;
  const Eigen::VectorXd u =
      solved(mesh, k, Eigen::VectorXd::Zero(k.rows()), forces, [](const Vec3& p) { return p.x() > 1e-9; });
  const ElasticMaterial m = rubber(ElasticModel::Linear, poisson).elastic;
  const double shear = 10 * (1 + poisson) / (12 + 11 * poisson);
  return forces.dot(u) / (kLength * kLength * kLength / (3 * m.young / 12) + kLength / (shear * m.mu()));
}

// Stiffness of a pad whose faces stick to plates that press it, against one whose faces slide.
double padStiffness(const geometry::TetMesh& mesh, const Eigen::MatrixXd& k) {
  Eigen::VectorXd u = Eigen::VectorXd::Zero(k.rows());
  for (size_t v = 0; v < mesh.positions.size(); ++v)
    if (mesh.positions[v].z() > 1 - 1e-9) u[3 * static_cast<Eigen::Index>(v) + 2] = -1;
  u = solved(mesh, k, u, Eigen::VectorXd::Zero(k.rows()),
             [](const Vec3& p) { return p.z() > 1e-9 && p.z() < 1 - 1e-9; });
  return u.dot(k * u) / (4 * 1e5);  // young * area / height
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

// The tangent of a mesh of many materials is the sum of those of their tetrahedra: of all models, and of
// those that are sums of turned gradients when frozen, with one ratio of lambda to mu and with several.
TEST(SolidTangent, IsTheSumOfItsMaterials) {
  const geometry::TetMesh mesh = blockMesh({3, 2, 2}, {1, 1, 1}, 0.2, 3);
  const std::vector<Vec3> x = deformed(mesh, stretchedAndTurned(), 0.05, 1);
  SolidMaterial stiff = rubber(ElasticModel::Corotated, 0.3);
  stiff.elastic.young = 7e5;
  const std::vector<SolidMaterial> sets[] = {
      allMaterials(),
      {rubber(ElasticModel::Corotated), rubber(ElasticModel::Linear), stiff},
      {rubber(ElasticModel::Corotated), rubber(ElasticModel::Linear, 0.1),
       rubber(ElasticModel::Corotated, 0.4)}};
  for (const std::vector<SolidMaterial>& materials : sets) {
    std::vector<uint16_t> materialOf(mesh.tets.size());
    for (size_t t = 0; t < mesh.tets.size(); ++t)
      materialOf[t] = static_cast<uint16_t>((7 * t) % materials.size());
    Solid all;
    all.set(mesh, materials, materialOf);
    for (const Tangent kind : {Tangent::Exact, Tangent::Positive, Tangent::Frozen}) {
      const Eigen::MatrixXd found = TangentOf(all, x, kind, 3).dense();
      Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(found.rows(), found.cols());
      for (size_t m = 0; m < materials.size(); ++m) {
        geometry::TetMesh part;
        part.positions = mesh.positions;
        for (size_t t = 0; t < mesh.tets.size(); ++t)
          if (materialOf[t] == m) part.tets.push_back(mesh.tets[t]);
        if (part.tets.empty()) continue;
        sum += 3 * TangentOf(solidOf(part, materials[m]), x, kind).dense();
      }
      EXPECT_LT((found - sum).norm(), 1e-13 * sum.norm());
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

// Nearly incompressible bodies on irregular meshes. A bent one hardly changes from Poisson's ratio 0.49 to
// 0.4999, nor does a pressed one; of plain tetrahedra the pressed one is several times too stiff.
TEST(SolidTangent, NoLockingNearOneHalf) {
  const geometry::TetMesh beam = blockMesh({12, 3, 3}, {4, 1, 1}, 0.2, 3);
  const double bent = deflection(beam, averagedTangent(beam, 0.49), 0.49);
  const double more = deflection(beam, averagedTangent(beam, 0.4999), 0.4999);
  const double plainBent = deflection(beam, plainTangent(beam, 0.4999), 0.4999);
  EXPECT_GT(more, 0.95 * bent);
  EXPECT_LT(bent, 1);
  EXPECT_LT(plainBent, 0.9 * more);

  const geometry::TetMesh pad = blockMesh({8, 8, 4}, {2, 2, 1}, 0.2, 3);
  const double pressed = padStiffness(pad, averagedTangent(pad, 0.49));
  const double harder = padStiffness(pad, averagedTangent(pad, 0.4999));
  const double plain = padStiffness(pad, plainTangent(pad, 0.4999));
  EXPECT_LT(harder, 1.2 * pressed);
  EXPECT_GT(plain, 5 * harder);
}

// At 0.49 the error of a bent beam falls with the edge as it does at 0.3.
TEST(SolidTangentFull, ConvergesNearOneHalf) {
  double before[2] = {};
  for (const uint32_t layers : {3u, 6u}) {
    const geometry::TetMesh mesh = blockMesh({4 * layers, layers, layers}, {4, 1, 1}, 0.2, 3);
    const double usual = 1 - deflection(mesh, averagedTangent(mesh, 0.3), 0.3);
    const double near = 1 - deflection(mesh, averagedTangent(mesh, 0.49), 0.49);
    EXPECT_LT(near, 2 * usual);
    if (before[0] > 0) {
      EXPECT_LT(usual, 0.5 * before[0]);
      EXPECT_LT(near, 0.5 * before[1]);
    }
    before[0] = usual, before[1] = near;
  }
}

}  // namespace sunder::fem
