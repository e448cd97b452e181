#include "sunder/fem/solid/solid.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/simd.h"

#include "solid_cases.h"

#include <cmath>
#include <functional>
#include <limits>

#include <Eigen/LU>
#include <Eigen/SVD>
#include <gtest/gtest.h>

namespace sunder::fem {

namespace {

double largest(const std::vector<Vec3>& v) {
  double most = 0;
  for (const Vec3& a : v) most = std::max(most, a.norm());
  return most;
}

// A tetrahedron whose gradients are the axes, with this gradient of its deformation.
geometry::TetMesh unitTet() {
  geometry::TetMesh mesh;
  mesh.positions = {Vec3::Zero(), Vec3::UnitX(), Vec3::UnitY(), Vec3::UnitZ()};
  mesh.tets = {{0, 1, 2, 3}};
  return mesh;
}

std::vector<Mat3> hardCases() {
  RandomStream random(7);
  const Vec3 a = random.unitVector(), b = random.unitVector();
  std::vector<Mat3> all{Mat3::Identity(),
                        Mat3::Zero(),
                        -Mat3::Identity(),
                        Mat3(Vec3(1, 1, 0).asDiagonal()),
                        Mat3(Vec3(1, 0, 0).asDiagonal()),
                        Mat3(Vec3(1, 1, -1).asDiagonal()),
                        Mat3(Vec3(2, -3, 1).asDiagonal()),
                        Mat3(a * b.transpose()),
                        Mat3(1e-9 * a * b.transpose() + 1e-17 * randomMatrix(random)),
                        Mat3(a * b.transpose() + 1e-12 * randomMatrix(random)),
                        Mat3(1e6 * randomMatrix(random)),
                        Mat3(1e-200 * Mat3::Identity())};
  for (int k = 0; k < 200; ++k) all.push_back(2 * randomMatrix(random));
  return all;
}

}  // namespace

TEST(Solid, ForcesAreTheDerivativeOfTheEnergy) {
  const geometry::TetMesh mesh = blockMesh({2, 2, 2}, {1, 1, 1}, 0.2, 3);
  const std::vector<Vec3> x = deformed(mesh, stretchedAndTurned(), 0.05, 1);
  for (const SolidMaterial& material : allMaterials()) {
    const Solid solid = solidOf(mesh, material);
    const std::vector<Vec3> f = forcesOf(solid, x);
    for (const uint64_t seed : {1, 2, 3}) {
      const std::vector<Vec3> d = directions(x.size(), seed);
      const auto e = [&](double h) { return solid.energy(moved(x, d, h)); };
      constexpr double h = 1e-3;
      const double rate = (8 * (e(h) - e(-h)) - (e(2 * h) - e(-2 * h))) / (12 * h);
      EXPECT_NEAR(rate, -dot(f, d), 1e-8 * norm(f) * norm(d)) << nameOf(material);
    }
  }
}

TEST(Solid, NothingAtRest) {
  const geometry::TetMesh mesh = blockMesh({2, 2, 2}, {1, 1, 1}, 0.2, 3);
  for (const SolidMaterial& material : allMaterials()) {
    const Solid solid = solidOf(mesh, material);
    EXPECT_NEAR(solid.energy(mesh.positions), 0, 1e-20 * material.elastic.young);
    EXPECT_LT(largest(forcesOf(solid, mesh.positions)), 1e-13 * material.elastic.young) << nameOf(material);
  }
}

TEST(Solid, RigidMotionsGiveNoForces) {
  const geometry::TetMesh mesh = blockMesh({2, 2, 2}, {1, 1, 1}, 0.2, 3);
  const Mat3 turn = Eigen::AngleAxisd(2.3, Vec3(1, 1, 3).normalized()).toRotationMatrix();
  std::vector<Vec3> x;
  for (const Vec3& p : mesh.positions) x.push_back(turn * p + Vec3(0.3, -0.7, 0.1));
  for (const SolidMaterial& material : allMaterials()) {
    if (material.model == ElasticModel::Linear) continue;
    const double f = largest(forcesOf(solidOf(mesh, material), x));
    EXPECT_LT(f, 1e-10 * material.elastic.young) << nameOf(material);
  }
}

TEST(Solid, ForcesHaveNoSumAndNoMoment) {
  const geometry::TetMesh mesh = blockMesh({2, 2, 2}, {1, 1, 1}, 0.2, 3);
  const std::vector<Vec3> x = deformed(mesh, stretchedAndTurned(), 0.1, 1);
  for (const SolidMaterial& material : allMaterials()) {
    const std::vector<Vec3> f = forcesOf(solidOf(mesh, material), x);
    Vec3 sum = Vec3::Zero(), moment = Vec3::Zero();
    double size = 0;
    for (size_t i = 0; i < f.size(); ++i) {
      sum += f[i];
      moment += (x[i] - x[0]).cross(f[i]);
      size += f[i].norm();
    }
    EXPECT_LT(sum.norm(), 1e-10 * size);
    if (material.model != ElasticModel::Linear || material.fibreYoung > 0) {
      if (material.model == ElasticModel::Linear) continue;
      EXPECT_LT(moment.norm(), 1e-10 * size) << nameOf(material);
    }
  }
}

// A linear displacement gives one stress, and no forces on inner vertices, whatever the mesh.
TEST(Solid, PatchTest) {
  const geometry::TetMesh mesh = blockMesh({3, 3, 3}, {1, 1, 1}, 0.25, 3);
  const Mat3 f = stretchedAndTurned();
  const std::vector<Vec3> x = deformed(mesh, f, 0, 1);
  std::vector<Mat3> stress(mesh.tets.size()), rotations(mesh.tets.size());
  for (const SolidMaterial& material : allMaterials()) {
    const Solid solid = solidOf(mesh, material);
    solid.stresses(x, stress, rotations);
    for (const Mat3& s : stress) ASSERT_LT((s - stress[0]).norm(), 1e-12 * stress[0].norm());
    const std::vector<Vec3> forces = forcesOf(solid, x);
    for (size_t i = 0; i < x.size(); ++i) {
      const Vec3& p = mesh.positions[i];
      if (p.minCoeff() < 1e-9 || p.maxCoeff() > 1 - 1e-9) continue;
      ASSERT_LT(forces[i].norm(), 1e-12 * largest(forces)) << nameOf(material);
    }
  }
}

// Small strains, turned: the stress is Hooke's for every model, with all of lambda.
TEST(Solid, StressesAreThoseOfHookeAtSmallStrain) {
  const geometry::TetMesh mesh = blockMesh({2, 2, 2}, {1, 1, 1}, 0.2, 3);
  const Mat3 gradient = 1e-7 * (Mat3() << 1, 2, 0, -1, 0.5, 1, 0, 3, 2).finished();
  const Mat3 turn = Eigen::AngleAxisd(0.8, Vec3(1, 1, 3).normalized()).toRotationMatrix();
  std::vector<Mat3> stress(mesh.tets.size()), rotations(mesh.tets.size());
  for (const SolidMaterial& material : allMaterials()) {
    if (material.fibreYoung > 0) continue;
    const bool linear = material.model == ElasticModel::Linear;
    const Mat3 r = linear ? Mat3::Identity() : turn;
    solidOf(mesh, material)
        .stresses(deformed(mesh, r * (Mat3::Identity() + gradient), 0, 1), stress, rotations);
    const Mat3 expected = r * tensor(hooke(material.elastic, gradient)) * r.transpose();
    EXPECT_LT((stress[5] - expected).norm(), 3e-6 * expected.norm()) << nameOf(material);
  }
}

TEST(Solid, RotationsSurviveEverything) {
  const geometry::TetMesh mesh = unitTet();
  const Solid solid = solidOf(mesh, rubber(ElasticModel::Corotated));
  for (const Mat3& f : hardCases()) {
    Mat3 stress, r;
    solid.stresses(deformed(mesh, f, 0, 1), {&stress, 1}, {&r, 1});
    EXPECT_NEAR(r.determinant(), 1, 1e-14);
    EXPECT_LT((r.transpose() * r - Mat3::Identity()).norm(), 2e-14);
    const Mat3 s = r.transpose() * f;
    EXPECT_LT((s - s.transpose()).norm(), 1e-14 * std::max(f.norm(), 1e-200)) << f;
    // Of all rotations the nearest.
    const Eigen::JacobiSVD<Mat3> svd(f, Eigen::ComputeFullU | Eigen::ComputeFullV);
    const Vec3 w = svd.singularValues();
    const double sign = svd.matrixU().determinant() * svd.matrixV().determinant() < 0 ? -1 : 1;
    EXPECT_NEAR(s.trace(), w[0] + w[1] + sign * w[2], 1e-13 * f.norm());
  }
}

TEST(Solid, FiniteWhateverTheTetrahedron) {
  const geometry::TetMesh mesh = unitTet();
  for (const SolidMaterial& material : allMaterials()) {
    const Solid solid = solidOf(mesh, material);
    for (const Mat3& f : hardCases()) {
      const std::vector<Vec3> x = deformed(mesh, f, 0, 1);
      EXPECT_TRUE(std::isfinite(solid.energy(x)));
      EXPECT_GE(solid.energy(x), -1e-9 * material.elastic.young);
      EXPECT_TRUE(std::isfinite(norm(forcesOf(solid, x))));
      Mat3 stress, rotation;
      solid.stresses(x, {&stress, 1}, {&rotation, 1});
      EXPECT_TRUE(stress.allFinite());
      for (const Tangent kind : {Tangent::Exact, Tangent::Positive, Tangent::Frozen})
        EXPECT_TRUE(TangentOf(solid, x, kind).dense().allFinite()) << nameOf(material) << "\n" << f;
    }
  }
}

// Neo-Hookean and corotated tetrahedra push back when they are inverted, and show pressure.
TEST(Solid, InvertedTetrahedraPushBack) {
  const geometry::TetMesh mesh = unitTet();
  for (const ElasticModel model : {ElasticModel::Corotated, ElasticModel::NeoHookean}) {
    const Solid solid = solidOf(mesh, rubber(model));
    const std::vector<Vec3> x = deformed(mesh, Vec3(1, 1, -0.3).asDiagonal(), 0, 1);
    EXPECT_GT(forcesOf(solid, x)[3].z(), 0);
    Mat3 stress, rotation;
    solid.stresses(x, {&stress, 1}, {&rotation, 1});
    EXPECT_LT(stress(2, 2), 0);
  }
}

TEST(Solid, FibresPullAlongThemselvesOnly) {
  const geometry::TetMesh mesh = blockMesh({2, 2, 2}, {1, 1, 1}, 0.2, 3);
  SolidMaterial plain = rubber(ElasticModel::NeoHookean), fibred = plain;
  fibred.fibre = Vec3(0, 3, 0);
  fibred.fibreYoung = 4e5;
  const auto more = [&](const Vec3& stretch) {
    const std::vector<Vec3> x = deformed(mesh, stretch.asDiagonal(), 0, 1);
    return solidOf(mesh, fibred).energy(x) - solidOf(mesh, plain).energy(x);
  };
  EXPECT_NEAR(more({1, 1.1, 1}), 0.5 * 4e5 * 0.01, 1e-8);
  EXPECT_NEAR(more({1.1, 1, 0.8}), 0, 1e-8);
}

TEST(Solid, MaterialsAreThoseOfTheirTetrahedra) {
  const geometry::TetMesh mesh = blockMesh({3, 2, 2}, {1, 1, 1}, 0.2, 3);
  const std::vector<Vec3> x = deformed(mesh, stretchedAndTurned(), 0.05, 1);
  std::vector<SolidMaterial> materials = allMaterials();
  for (size_t m = 0; m < materials.size(); ++m) materials[m].elastic.density = 100.0 * double(m + 1);
  std::vector<uint16_t> materialOf(mesh.tets.size());
  for (size_t t = 0; t < mesh.tets.size(); ++t)
    materialOf[t] = static_cast<uint16_t>((7 * t) % materials.size());
  std::vector<double> fractions(mesh.tets.size());
  RandomStream random(9);
  for (double& f : fractions) f = random.uniform(0.2, 1);
  Solid all;
  all.set(mesh, materials, materialOf, fractions);
  double energy = 0;
  std::vector<Vec3> forces(x.size(), Vec3::Zero());
  std::vector<double> masses(x.size(), 0);
  for (size_t m = 0; m < materials.size(); ++m) {
    geometry::TetMesh part;
    part.positions = mesh.positions;
    std::vector<double> own;
    for (size_t t = 0; t < mesh.tets.size(); ++t)
      if (materialOf[t] == m) part.tets.push_back(mesh.tets[t]), own.push_back(fractions[t]);
    Solid one;
    one.set(part, {&materials[m], 1}, {}, own);
    energy += one.energy(x);
    one.addForces(x, forces);
    for (size_t v = 0; v < x.size(); ++v) masses[v] += one.masses()[v];
  }
  EXPECT_NEAR(all.energy(x), energy, 1e-12 * energy);
  EXPECT_LT(norm(moved(forcesOf(all, x), forces, -1)), 1e-12 * norm(forces));
  for (size_t v = 0; v < x.size(); ++v) EXPECT_NEAR(all.masses()[v], masses[v], 1e-12 * masses[v]);
}

// A tear: one vertex becomes two. The same bits as of a solid that was built so.
TEST(Solid, NewCornersAreAsBuiltAnew) {
  geometry::TetMesh mesh = blockMesh({3, 3, 3}, {1, 1, 1}, 0.2, 3);
  const std::vector<SolidMaterial> materials = allMaterials();
  std::vector<uint16_t> materialOf(mesh.tets.size());
  for (size_t t = 0; t < mesh.tets.size(); ++t) materialOf[t] = static_cast<uint16_t>(t % materials.size());
  Solid torn, anew;
  torn.set(mesh, materials, materialOf);
  const uint32_t inner = 1 + 4 * (1 + 4 * 1), copy = static_cast<uint32_t>(mesh.positions.size());
  mesh.positions.push_back(mesh.positions[inner]);
  size_t star = 0;
  for (geometry::Tetrahedron& tet : mesh.tets)
    for (uint32_t& v : tet)
      if (v == inner && star++ % 2) v = copy;
  ASSERT_GT(star, 4u);
  torn.setCorners(mesh.tets, mesh.positions.size());
  anew.set(mesh, materials, materialOf);
  const std::vector<Vec3> x = deformed(mesh, stretchedAndTurned(), 0.05, 1);
  EXPECT_EQ(torn.vertices(), x.size());
  EXPECT_EQ(torn.energy(x), anew.energy(x));
  const std::vector<Vec3> f = forcesOf(torn, x), g = forcesOf(anew, x);
  for (size_t v = 0; v < x.size(); ++v) ASSERT_EQ(f[v], g[v]);
  for (size_t v = 0; v < x.size(); ++v) ASSERT_EQ(torn.masses()[v], anew.masses()[v]);
  const TangentOf k(torn, x, Tangent::Positive), l(anew, x, Tangent::Positive);
  ASSERT_EQ(k.matrix.blocks().size(), l.matrix.blocks().size());
  for (size_t s = 0; s < k.matrix.blocks().size(); ++s) ASSERT_EQ(k.matrix.block(s), l.matrix.block(s));
  ASSERT_EQ(k.outer.blocks.size(), l.outer.blocks.size());
  for (size_t b = 0; b < k.outer.blocks.size(); ++b) ASSERT_EQ(k.outer.blocks[b], l.outer.blocks[b]);
}

TEST(Solid, SameBitsForAnyThreadsAndVectors) {
  const geometry::TetMesh mesh = blockMesh({12, 12, 12}, {1, 1, 1}, 0.2, 1);
  const std::vector<Vec3> x = deformed(mesh, stretchedAndTurned(), 0.04, 1);  // some are inverted
  for (const bool mixed : {true, false}) {
    std::vector<SolidMaterial> materials = allMaterials();
    if (!mixed) materials.assign(1, rubber(ElasticModel::Corotated, 0.49));
    std::vector<uint16_t> materialOf(mesh.tets.size());
    for (size_t t = 0; t < mesh.tets.size(); ++t)
      materialOf[t] = static_cast<uint16_t>((t / 3) % materials.size());
    Solid solid;
    solid.set(mesh, materials, materialOf);
    std::vector<double> reference;
    const auto compare = [&](const std::string& what) {
      std::vector<double> bits{solid.energy(x)};
      for (const Vec3& f : forcesOf(solid, x)) bits.insert(bits.end(), f.data(), f.data() + 3);
      for (const Tangent kind : {Tangent::Exact, Tangent::Positive, Tangent::Frozen}) {
        const TangentOf k(solid, x, kind);
        for (const Mat3& b : k.matrix.blocks()) bits.insert(bits.end(), b.data(), b.data() + 9);
        for (const Vec3& b : k.outer.blocks) bits.insert(bits.end(), b.data(), b.data() + 3);
      }
      std::vector<Mat3> stress(mesh.tets.size()), rotations(mesh.tets.size());
      solid.stresses(x, stress, rotations);
      for (const Mat3& s : stress) bits.insert(bits.end(), s.data(), s.data() + 9);
      for (const Mat3& r : rotations) bits.insert(bits.end(), r.data(), r.data() + 9);
      if (reference.empty()) reference = bits;
      ASSERT_EQ(bits, reference) << what;
    };
    for (const unsigned threads : {1u, 2u, 4u}) {
      const ThreadLimit limit(threads);
      compare(std::to_string(threads) + " threads");
    }
    for (const std::string& target : simdTargets()) {
      const SimdTargetOverride use(target);
      compare(target);
    }
  }
}

TEST(Solid, RefusesBadInputWithAdvice) {
  const geometry::TetMesh mesh = blockMesh({1, 1, 1}, {1, 1, 1});
  const auto messageOf = [](const std::function<void()>& work) {
    try {
      work();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto refusal = [&](const SolidMaterial& m) { return messageOf([&] { solidOf(mesh, m); }); };
  SolidMaterial bad = rubber(ElasticModel::NeoHookean);
  bad.elastic.poisson = 0.5;
  EXPECT_NE(refusal(bad).find("Poisson's ratio is 0.5"), std::string::npos);
  EXPECT_NE(refusal(bad).find("0.49"), std::string::npos);
  bad = rubber(ElasticModel::NeoHookean);
  bad.elastic.density = 0;
  EXPECT_NE(refusal(bad).find("density is 0"), std::string::npos);
  bad = rubber(ElasticModel::NeoHookean, 0.3, 1e5);
  bad.fibre = Vec3::Zero();
  EXPECT_NE(refusal(bad).find("no direction"), std::string::npos);
  bad.fibreYoung = -1;
  EXPECT_NE(refusal(bad).find("must not be negative"), std::string::npos);
  const SolidMaterial good = rubber(ElasticModel::NeoHookean);
  Solid solid;
  EXPECT_THROW(solid.set(mesh, {}), Error);
  EXPECT_THROW(solid.set(geometry::TetMesh{}, {&good, 1}), Error);
  const std::vector<uint16_t> short1(2, 0), wrong(mesh.tets.size(), 1);
  EXPECT_THROW(solid.set(mesh, {&good, 1}, short1), Error);
  EXPECT_NE(messageOf([&] {
              solid.set(mesh, {&good, 1}, wrong);
            }).find("tetrahedron 0 has material 1"),
            std::string::npos);
  solid.set(mesh, {&good, 1});
  EXPECT_THROW(solid.setCorners({}, 8), Error);
  EXPECT_THROW(solid.setCorners(mesh.tets, 7), Error);
  std::vector<geometry::Tetrahedron> tets = mesh.tets;
  tets[2][1] = 8;
  EXPECT_THROW(solid.setCorners(tets, 8), Error);
  tets[2][1] = tets[2][0];
  EXPECT_THROW(solid.setCorners(tets, 8), Error);
  EXPECT_EQ(solid.vertices(), 8u);
}

}  // namespace sunder::fem
