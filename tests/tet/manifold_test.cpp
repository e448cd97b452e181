#include "sunder/tet/manifold.h"

#include "sunder/geometry/mesh_report.h"
#include "sunder/geometry/tet_mesh.h"

#include "tet/tet_cases.h"

#include <gtest/gtest.h>

namespace sunder::tet {
namespace {

using geometry::TetMesh;

geometry::MeshReport boundaryReport(const TetMesh& mesh) {
  return geometry::meshReport(geometry::MeshView(geometry::boundarySurface(mesh).surface));
}

// The cubes of a grid for which `keep` says so, each of six tetrahedra.
template <class Keep>
TetMesh someCubes(uint32_t n, Keep&& keep) {
  TetMesh mesh = cubes(n, true);
  std::erase_if(mesh.tets, [&](const geometry::Tetrahedron& t) {
    Vec3 centre = Vec3::Zero();
    for (const uint32_t v : t) centre += 0.25 * mesh.positions[v];
    return !keep(int(centre.x()), int(centre.y()), int(centre.z()));
  });
  std::vector<uint32_t> number(mesh.positions.size(), kNoIndex);
  std::vector<Vec3> used;
  for (auto& t : mesh.tets)
    for (uint32_t& v : t) {
      if (number[v] == kNoIndex) {
        number[v] = uint32_t(used.size());
        used.push_back(mesh.positions[v]);
      }
      v = number[v];
    }
  mesh.positions = used;
  return mesh;
}

void expectMended(TetMesh mesh, size_t doubled) {
  const TetMesh before = mesh;
  const ManifoldReport report = makeManifold(mesh);
  const geometry::MeshReport after = boundaryReport(mesh);
  EXPECT_TRUE(after.watertight);
  EXPECT_TRUE(after.manifold());
  EXPECT_EQ(report.doubled, mesh.positions.size() - before.positions.size());
  if (doubled != kNoIndex) {
    EXPECT_EQ(report.doubled, doubled);
  }
  ASSERT_EQ(mesh.tets.size(), before.tets.size());
  for (size_t t = 0; t < mesh.tets.size(); ++t)
    for (size_t i = 0; i < 4; ++i)
      EXPECT_EQ(mesh.positions[mesh.tets[t][i]], before.positions[before.tets[t][i]]);
  EXPECT_EQ(makeManifold(mesh).doubled, 0u);
}

TEST(Manifold, GoodMeshesStay) {
  for (TetMesh mesh : {cubes(3, true), cubes(3, false), bccCells(3)}) {
    ASSERT_TRUE(boundaryReport(mesh).manifold());
    EXPECT_EQ(makeManifold(mesh).doubled, 0u);
  }
}

TEST(Manifold, CubesThatShareACorner) {
  const TetMesh mesh = someCubes(2, [](int x, int y, int z) { return x == y && y == z; });
  EXPECT_EQ(boundaryReport(mesh).nonManifoldVertices, 1u);
  expectMended(mesh, 1);
}

TEST(Manifold, CubesThatShareAnEdge) {
  const TetMesh mesh = someCubes(2, [](int x, int y, int z) { return x == y && z == 0; });
  EXPECT_EQ(boundaryReport(mesh).nonManifoldEdges, 1u);
  expectMended(mesh, 2);
}

// Two caves that touch in a point, and two that touch along an edge, inside a block: the solid around is one
// piece and gets a slit.
TEST(Manifold, CavesThatTouch) {
  const TetMesh point = someCubes(
      4, [](int x, int y, int z) { return !(x == 1 && y == 1 && z == 1) && !(x == 2 && y == 2 && z == 2); });
  EXPECT_EQ(boundaryReport(point).nonManifoldVertices, 1u);
  expectMended(point, kNoIndex);
  const TetMesh edge = someCubes(
      4, [](int x, int y, int z) { return !(x == 1 && y == 1 && z == 1) && !(x == 2 && y == 2 && z == 1); });
  EXPECT_EQ(boundaryReport(edge).nonManifoldEdges, 1u);
  expectMended(edge, kNoIndex);
}

// Random halves of a block, full of all of these.
TEST(Manifold, RandomCubes) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    RandomStream random(seed, 3);
    std::vector<uint8_t> keep(125);
    for (uint8_t& k : keep) k = random.uniform() < 0.2 + 0.02 * double(seed);
    const TetMesh mesh =
        someCubes(5, [&](int x, int y, int z) { return keep[size_t(x + 5 * (y + 5 * z))] != 0; });
    if (!mesh.tets.empty()) expectMended(mesh, kNoIndex);
  }
}

}  // namespace
}  // namespace sunder::tet
