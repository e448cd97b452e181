#include "sunder/fem/elements.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/fem/block_matrix.h"

#include "fem_cases.h"

#include <cmath>
#include <functional>
#include <limits>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <gtest/gtest.h>

namespace sunder::fem {

namespace {

std::string messageOf(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

Eigen::MatrixXd assembled(const ElasticBody& body, double a, double b, MassKind mass = MassKind::Lumped) {
  BlockMatrix matrix;
  matrix.setPattern(body.pattern());
  assemble(body.elements(), body.material(), a, b, mass, matrix);
  return full(matrix);
}

}  // namespace

TEST(Material, ConstantsAndWaveSpeeds) {
  const double mu = kGlass.mu(), lambda = kGlass.lambda();
  EXPECT_NEAR(mu * (3 * lambda + 2 * mu) / (lambda + mu), kGlass.young, 1e-4);
  EXPECT_NEAR(lambda / (2 * (lambda + mu)), kGlass.poisson, 1e-15);
  EXPECT_NEAR(kGlass.barSpeed(), 5291.5, 0.1);
  EXPECT_GT(kGlass.waveSpeed(), kGlass.barSpeed());
  EXPECT_FALSE(kGlass.locks());
  EXPECT_TRUE((ElasticMaterial{1e6, 0.495, 1000}.locks()));
  const ElasticMaterial concrete = elasticMaterial(*material::preset("concrete"));
  EXPECT_EQ(concrete.young, 3e10);
  EXPECT_EQ(concrete.poisson, 0.2);
  EXPECT_EQ(concrete.density, 2400);
}

TEST(Material, RefusesWhatDoesNotExist) {
  const double nan = std::nan("");
  for (const ElasticMaterial& bad :
       {ElasticMaterial{0, 0.2, 1}, ElasticMaterial{-1, 0.2, 1}, ElasticMaterial{1, 0.5, 1},
        ElasticMaterial{1, -1, 1}, ElasticMaterial{1, 0.2, 0}, ElasticMaterial{nan, 0.2, 1},
        ElasticMaterial{1, nan, 1}, ElasticMaterial{1, 0.2, std::numeric_limits<double>::infinity()}})
    EXPECT_THROW(requireValid(bad), Error);
  EXPECT_NO_THROW(requireValid({1, -0.99, 1}));
}

// The closed form against B^T C B with Voigt's matrices.
TEST(Elements, StiffnessIsThatOfVoigtMatrices) {
  RandomStream random(1);
  for (int trial = 0; trial < 50; ++trial) {
    geometry::TetMesh mesh;
    for (int k = 0; k < 4; ++k) mesh.positions.push_back(random.pointIn({Vec3::Zero(), Vec3::Ones()}));
    mesh.tets = {{0, 1, 2, 3}};
    geometry::flipInverted(mesh);
    if (geometry::totalVolume(mesh) < 1e-3) continue;
    std::vector<Element> elements;
    makeElements(mesh, {}, elements);
    EXPECT_NEAR(elements[0].volume, geometry::totalVolume(mesh), 1e-15);
    const double l = kGlass.lambda(), m = kGlass.mu();
    Eigen::Matrix<double, 6, 6> c = Eigen::Matrix<double, 6, 6>::Zero();
    c.topLeftCorner<3, 3>().setConstant(l);
    c.diagonal() << l + 2 * m, l + 2 * m, l + 2 * m, m, m, m;
    Eigen::Matrix<double, 6, 12> b = Eigen::Matrix<double, 6, 12>::Zero();
    for (int a = 0; a < 4; ++a) {
      // Gradients by solving, not by the crossed products of the source.
      Mat4 points;
      for (int k = 0; k < 4; ++k) points.row(k) << 1, mesh.positions[mesh.tets[0][size_t(k)]].transpose();
      const Vec3 g = points.inverse().col(a).tail<3>();
      b.block<6, 3>(0, 3 * a) << g.x(), 0, 0, 0, g.y(), 0, 0, 0, g.z(), g.y(), g.x(), 0, 0, g.z(), g.y(),
          g.z(), 0, g.x();
    }
    const Eigen::Matrix<double, 12, 12> k = elements[0].volume * b.transpose() * c * b;
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j)
        EXPECT_LT((stiffnessBlock(elements[0], kGlass, i, j) - k.block<3, 3>(3 * i, 3 * j)).norm(),
                  1e-11 * k.norm());
  }
}

TEST(Elements, AssemblyIsTheSumOfBlocks) {
  const geometry::TetMesh mesh = blockMesh({2, 3, 2}, {1, 1.5, 1}, 0.2, 4);
  RandomStream random(3);
  std::vector<double> fractions(mesh.tets.size());
  for (double& f : fractions) f = random.uniform(0.1, 1);
  const ElasticBody body(mesh, kGlass, fractions);
  for (const MassKind mass : {MassKind::Lumped, MassKind::Consistent}) {
    const double a = 3, b = 2e-9;
    Eigen::MatrixXd sum =
        Eigen::MatrixXd::Zero(Eigen::Index(3 * body.vertices()), Eigen::Index(3 * body.vertices()));
    for (size_t t = 0; t < mesh.tets.size(); ++t)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
          const Eigen::Index r = 3 * mesh.tets[t][size_t(i)], c = 3 * mesh.tets[t][size_t(j)];
          const double m = kGlass.density * body.elements()[t].volume *
                           (mass == MassKind::Lumped ? (i == j ? 0.25 : 0) : (i == j ? 0.1 : 0.05));
          sum.block<3, 3>(r, c) +=
              b * stiffnessBlock(body.elements()[t], kGlass, i, j) + a * m * Mat3::Identity();
        }
    EXPECT_LT((assembled(body, a, b, mass) - sum).norm(), 1e-13 * sum.norm());
  }
  // Mass of a body: density times what is there of it.
  double mass = 0, there = 0;
  for (const double m : body.masses()) mass += m;
  const std::vector<double> volumes = geometry::signedVolumes(mesh);
  for (size_t t = 0; t < volumes.size(); ++t) there += fractions[t] * volumes[t];
  EXPECT_NEAR(mass, kGlass.density * there, 1e-10 * mass);
}

// Six rigid modes and no more; with mass, positive definite.
TEST(Elements, SixZeroEigenvalues) {
  for (const uint64_t seed : {1, 2, 3}) {
    const ElasticBody body(blockMesh({2, 2, 3}, {1, 1, 1}, 0.25, seed), kGlass);
    const Eigen::MatrixXd k = assembled(body, 0, 1);
    const Eigen::VectorXd values = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(k).eigenvalues();
    const double largest = values.maxCoeff();
    for (int i = 0; i < 6; ++i) EXPECT_LT(std::abs(values[i]), 1e-12 * largest);
    EXPECT_GT(values[6], 1e-8 * largest);
    const double h = 1e-5, alpha = 10, beta = 1e-6;
    const Eigen::MatrixXd a = assembled(body, 1 + h * alpha, h * beta + h * h);
    EXPECT_GT(Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(a).eigenvalues().minCoeff(), 0);
    EXPECT_EQ(Eigen::LLT<Eigen::MatrixXd>(a).info(), Eigen::Success);
  }
}

TEST(Elements, ProductIsThatOfTheFullMatrix) {
  const ElasticBody body(blockMesh({3, 2, 2}, {1, 1, 1}, 0.25, 2), kGlass);
  BlockMatrix matrix;
  matrix.setPattern(body.pattern());
  assemble(body.elements(), kGlass, 1, 1, MassKind::Lumped, matrix);
  RandomStream random(1);
  std::vector<Vec3> x(body.vertices()), y(body.vertices());
  for (Vec3& v : x) v = random.unitVector();
  matrix.multiply(x, y);
  const Eigen::Map<Eigen::VectorXd> flatX(x[0].data(), Eigen::Index(3 * x.size())),
      flatY(y[0].data(), Eigen::Index(3 * y.size()));
  const Eigen::VectorXd expected = full(matrix) * flatX;
  EXPECT_LT((flatY - expected).norm(), 1e-13 * expected.norm());
}

TEST(Elements, SameBitsForAnyNumberOfThreads) {
  const geometry::TetMesh mesh = blockMesh({16, 16, 16}, {1, 1, 1}, 0.2, 1);
  std::vector<Mat3> reference;
  for (const unsigned threads : {1u, 2u, 4u}) {
    const ThreadLimit limit(threads);
    const ElasticBody body(mesh, kGlass);
    BlockMatrix matrix;
    matrix.setPattern(body.pattern());
    assemble(body.elements(), kGlass, 1, 1e-10, MassKind::Lumped, matrix);
    if (reference.empty()) reference.assign(matrix.blocks().begin(), matrix.blocks().end());
    for (size_t s = 0; s < reference.size(); ++s) ASSERT_EQ(matrix.block(s), reference[s]);
  }
}

// Slots against a search over all pairs.
TEST(Pattern, HasThePairsOfTetrahedra) {
  const geometry::TetMesh mesh = blockMesh({2, 2, 2}, {1, 1, 1}, 0.2, 1);
  const SparsePattern pattern(mesh);
  size_t slots = 0;
  for (uint32_t i = 0; i < mesh.positions.size(); ++i)
    for (uint32_t j = 0; j <= i; ++j) {
      std::vector<uint32_t> expected;
      for (uint32_t t = 0; t < mesh.tets.size(); ++t) {
        const auto& tet = mesh.tets[t];
        if (std::count(tet.begin(), tet.end(), i) && std::count(tet.begin(), tet.end(), j))
          expected.push_back(t);
      }
      const uint32_t slot = pattern.slot(i, j);
      ASSERT_EQ(slot != kNoIndex, !expected.empty());
      if (slot == kNoIndex) continue;
      ++slots;
      std::vector<uint32_t> found;
      for (const SparsePattern::Source& source : pattern.sources(slot)) {
        EXPECT_EQ(mesh.tets[source.tet()][source.row()], i);
        EXPECT_EQ(mesh.tets[source.tet()][source.column()], j);
        found.push_back(source.tet());
      }
      EXPECT_EQ(found, expected);
    }
  EXPECT_EQ(slots, pattern.slots());
  EXPECT_NE(SparsePattern(mesh).stamp(), pattern.stamp());
}

TEST(Elements, RefusesBadInputWithItsNumber) {
  geometry::TetMesh mesh = blockMesh({2, 2, 2}, {1, 1, 1});
  std::vector<Element> elements;
  geometry::TetMesh bad = mesh;
  std::swap(bad.tets[7][0], bad.tets[7][1]);
  EXPECT_NE(messageOf([&] { makeElements(bad, {}, elements); }).find("tetrahedron 7 is inverted"),
            std::string::npos);
  bad = mesh;
  bad.tets[5][0] = bad.tets[5][1];
  EXPECT_NE(messageOf([&] { makeElements(bad, {}, elements); }).find("tetrahedron 5 is flat"),
            std::string::npos);
  bad = mesh;
  bad.tets[3][2] = 1000;
  EXPECT_NE(messageOf([&] { makeElements(bad, {}, elements); }).find("refers to vertex 1000"),
            std::string::npos);
  bad = mesh;
  bad.positions[13].x() = std::nan("");
  EXPECT_THROW(makeElements(bad, {}, elements), Error);
  EXPECT_THROW(makeElements(mesh, std::vector<double>(3, 1.0), elements), Error);
  std::vector<double> fractions(mesh.tets.size(), 1);
  fractions[4] = 0;
  EXPECT_NE(messageOf([&] { makeElements(mesh, fractions, elements); }).find("tetrahedron 4 is 0"),
            std::string::npos);
  EXPECT_THROW(ElasticBody(geometry::TetMesh{}, kGlass), Error);
}

}  // namespace sunder::fem
