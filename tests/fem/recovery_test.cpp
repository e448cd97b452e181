#include "sunder/fem/recovery.h"

#include "sunder/base/parallel.h"
#include "sunder/tet/refinement.h"

#include "fem_cases.h"

#include <gtest/gtest.h>

namespace sunder::fem {

namespace {

void expectPatchTest(const geometry::TetMesh& mesh, uint64_t seed, const std::string& what) {
  RandomStream random(seed);
  const Mat3 gradient = 1e-3 * randomMatrix(random);
  const ElasticBody body(mesh, kGlass);
  const Stress expected = hooke(kGlass, gradient);
  for (const Recovery kind : {Recovery::Lumped, Recovery::Patch}) {
    StressRecovery recovery;
    recovery.setBody(body, kind);
    recovery.update(affine(mesh, gradient, random.unitVector() * 1e-4),
                    affine(mesh, 2 * gradient, Vec3(0, 1e-4, 0)));
    for (const Stress& s : recovery.elements())
      EXPECT_LT((s - expected).norm(), 1e-12 * expected.norm()) << what;
    for (const Stress& s : recovery.vertices())
      EXPECT_LT((s - expected).norm(), 1e-12 * expected.norm()) << what;
    for (const Stress& s : recovery.vertexRates())
      EXPECT_LT((s - 2 * expected).norm(), 1e-12 * 2 * expected.norm()) << what;
    for (const Principal& p : recovery.principals())
      EXPECT_NEAR(p.rate, 2 * p.value, 1e-11 * expected.norm()) << what;
  }
}

}  // namespace

TEST(Recovery, PatchTestOnRandomMeshes) {
  for (const uint64_t seed : {1, 2, 3, 4})
    expectPatchTest(blockMesh({3, 2, 2}, {0.3, 0.2, 0.2}, 0.25, seed), seed, "random");
}

// Every intermediate state of the refinement, everywhere and in places.
TEST(Recovery, PatchTestOnRefinedMeshes) {
  const geometry::TetMesh mesh = blockMesh({2, 1, 1}, {2, 1, 1});
  for (uint32_t generation = 1; generation <= 5; ++generation) {
    tet::Refinement refinement(mesh);
    refinement.refineAll(generation);
    expectPatchTest(refinement.mesh(), generation, "generation " + std::to_string(generation));
  }
  tet::Refinement local(mesh);
  RandomStream random(9);
  for (int k = 0; k < 40; ++k) {
    const auto t = static_cast<uint32_t>(random.uniform(0, double(local.tets().size())));
    if (local.tets()[t].alive) local.step(t);
    if (k % 10 == 9) expectPatchTest(local.mesh(), uint64_t(k), "local " + std::to_string(k));
  }
}

// Stress that is linear in space and sampled at centroids comes back exactly, on the boundary too.
TEST(Recovery, PatchesReproduceLinearStress) {
  for (const uint64_t seed : {1, 2, 3}) {
    const ElasticBody body(blockMesh({4, 3, 3}, {4, 3, 3}, 0.2, seed), kGlass);
    const auto field = [](const Vec3& x) {
      return Stress(
          (Stress() << 1 + x.x(), 2 * x.y() - x.z(), 3, x.x() - x.y(), x.z(), 5 - 2 * x.x()).finished());
    };
    std::vector<Stress> elements(body.tets()), vertices(body.vertices()), means(body.vertices());
    for (size_t t = 0; t < body.tets(); ++t) {
      Vec3 centre = Vec3::Zero();
      for (const uint32_t v : body.mesh().tets[t]) centre += 0.25 * body.mesh().positions[v];
      elements[t] = field(centre);
    }
    PatchRecovery patches;
    patches.build(body);
    EXPECT_EQ(patches.means(), 0);
    patches.apply(elements, vertices);
    lumpedStresses(body, elements, means);
    double patchError = 0, meanError = 0;
    for (size_t i = 0; i < vertices.size(); ++i) {
      const Stress exact = field(body.mesh().positions[i]);
      patchError = std::max(patchError, (vertices[i] - exact).norm());
      meanError = std::max(meanError, (means[i] - exact).norm());
    }
    EXPECT_LT(patchError, 1e-11);
    EXPECT_GT(meanError, 0.1);  // so the test can tell
  }
}

TEST(Recovery, MeansStandInWherePatchesAreTooSmall) {
  geometry::TetMesh mesh;
  mesh.positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  mesh.tets = {{0, 1, 2, 3}};
  const ElasticBody body(mesh, kGlass);
  PatchRecovery patches;
  patches.build(body);
  EXPECT_EQ(patches.means(), 4);
  const std::vector<Stress> elements(1, Stress::Ones());
  std::vector<Stress> vertices(4);
  patches.apply(elements, vertices);
  for (const Stress& s : vertices) EXPECT_LT((s - Stress::Ones()).norm(), 1e-15);
}

TEST(Recovery, LumpedIsTheMeanByVolume) {
  const ElasticBody body(blockMesh({2, 2, 2}, {1, 1, 1}, 0.25, 3), kGlass);
  RandomStream random(7);
  std::vector<Stress> elements(body.tets()), vertices(body.vertices());
  for (Stress& s : elements)
    for (int k = 0; k < 6; ++k) s[k] = random.uniform(-1, 1);
  lumpedStresses(body, elements, vertices);
  for (uint32_t i = 0; i < body.vertices(); ++i) {
    Stress sum = Stress::Zero();
    double mass = 0;
    for (size_t t = 0; t < body.tets(); ++t)
      for (const uint32_t v : body.mesh().tets[t])
        if (v == i) {
          sum += geometry::signedVolumes(body.mesh())[t] * elements[t];
          mass += geometry::signedVolumes(body.mesh())[t];
        }
    EXPECT_LT((vertices[i] - sum / mass).norm(), 1e-13);
    EXPECT_NEAR(body.masses()[i], kGlass.density * mass / 4, 1e-9);
  }
}

// Of constant strain, and against u^T K u / 2.
TEST(Recovery, EnergyIsHalfOfStressTimesStrain) {
  RandomStream random(2);
  const ElasticBody body(blockMesh({3, 3, 2}, {1, 1, 1}, 0.25, 3), kGlass);
  std::vector<Vec3> u(body.vertices()), f(body.vertices());
  for (Vec3& x : u) x = 1e-5 * random.unitVector();
  BlockMatrix k;
  k.setPattern(body.pattern());
  assemble(body.elements(), kGlass, 0, 1, MassKind::Lumped, k);
  k.multiply(u, f);
  double energy = 0;
  for (size_t i = 0; i < u.size(); ++i) energy += 0.5 * u[i].dot(f[i]);
  std::vector<Stress> stresses(body.tets());
  elementStresses(body, u, stresses);
  EXPECT_NEAR(elasticEnergy(body, stresses), energy, 1e-12 * energy);
}

TEST(Recovery, SameBitsForAnyNumberOfThreads) {
  const geometry::TetMesh mesh = blockMesh({12, 12, 12}, {1, 1, 1}, 0.2, 1);
  const ElasticBody body(mesh, kGlass);
  std::vector<Vec3> u(mesh.positions), v(mesh.positions);
  for (Vec3& x : u) x = 1e-3 * x.cwiseProduct(x);
  for (const Recovery kind : {Recovery::Lumped, Recovery::Patch}) {
    std::vector<double> reference;
    for (const unsigned threads : {1u, 2u, 4u}) {
      const ThreadLimit limit(threads);
      StressRecovery recovery;
      recovery.setBody(body, kind);
      recovery.update(u, v);
      std::vector<double> values;
      for (const Principal& p : recovery.principals()) values.push_back(p.value), values.push_back(p.rate);
      if (reference.empty()) reference = values;
      ASSERT_EQ(values, reference);
    }
  }
}

}  // namespace sunder::fem
