#include "sunder/geometry/tet_mesh.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/geometry/components.h"
#include "sunder/geometry/mass_properties.h"
#include "sunder/geometry/mesh_report.h"

#include "geometry/test_meshes.h"

#include <gtest/gtest.h>

namespace sunder::geometry {

using namespace test;

TEST(TetMesh, FacesOfAPositiveTetrahedronLookOutward) {
  const TriMesh shape = tetrahedron();
  const Tetrahedron tet{0, 1, 2, 3};
  EXPECT_DOUBLE_EQ(
      signedVolume(shape.positions[0], shape.positions[1], shape.positions[2], shape.positions[3]), 1.0 / 6);
  for (size_t i = 0; i < 4; ++i) {
    const Triangle t = tetFace(tet, i);
    for (uint32_t v : t) EXPECT_NE(v, i);
    const Vec3 &a = shape.positions[t[0]], &b = shape.positions[t[1]], &c = shape.positions[t[2]];
    EXPECT_LT((b - a).cross(c - a).dot(shape.positions[i] - a), 0);
  }
}

TEST(TetMesh, NeighboursMatchBruteForce) {
  TetMesh mesh = tetBlock(3);
  auto sorted = [&](size_t t, size_t i) {
    Triangle f = tetFace(mesh.tets[t], i);
    std::sort(f.begin(), f.end());
    return f;
  };
  const auto neighbours = tetNeighbours(mesh);
  for (size_t t = 0; t < mesh.tets.size(); ++t) {
    for (size_t i = 0; i < 4; ++i) {
      uint32_t expected = kNoIndex;
      for (size_t u = 0; u < mesh.tets.size(); ++u) {
        for (size_t j = 0; u != t && j < 4; ++j) {
          if (sorted(u, j) == sorted(t, i)) expected = u32(u);
        }
      }
      ASSERT_EQ(neighbours[t][i], expected);
    }
  }
}

TEST(TetMesh, BlockFillsTheCube) {
  const TetMesh mesh = tetBlock(4);
  EXPECT_NEAR(totalVolume(mesh), 1, 1e-14);
  const TetReport report = tetReport(mesh);
  EXPECT_TRUE(report.sound());
  EXPECT_EQ(report.tets, 5u * 64);
  EXPECT_EQ(report.boundaryFaces, 2u * 6 * 16);
  EXPECT_EQ(report.components, 1u);
  EXPECT_EQ(report.regions, 1u);
  EXPECT_NEAR(report.maxVolume, 2 * report.minVolume, 1e-12);

  const TetBoundary boundary = boundarySurface(mesh);
  const MeshReport surface = meshReport(boundary.surface);
  EXPECT_TRUE(surface.watertight);
  EXPECT_EQ(surface.genus, 0);
  EXPECT_FALSE(surface.insideOut);
  EXPECT_NEAR(surface.volume, 1, 1e-14);
  EXPECT_NEAR(surface.area, 6, 1e-13);
  EXPECT_EQ(surface.vertices, 5u * 5 * 5 - 3 * 3 * 3);
  for (size_t v = 0; v < boundary.vertexSource.size(); ++v) {
    EXPECT_EQ(boundary.surface.positions[v], mesh.positions[boundary.vertexSource[v]]);
  }
  for (size_t f = 0; f < boundary.faceTet.size(); ++f) {
    Triangle t = boundary.surface.triangles[f];
    for (uint32_t& v : t) v = boundary.vertexSource[v];
    EXPECT_EQ(t, tetFace(mesh.tets[boundary.faceTet[f]], boundary.faceSide[f]));
  }
}

TEST(TetMesh, InvertedOnesAreFoundAndFlipped) {
  TetMesh mesh = tetBlock(2);
  std::swap(mesh.tets[3][0], mesh.tets[3][1]);
  std::swap(mesh.tets[17][2], mesh.tets[17][0]);
  TetReport report = tetReport(mesh);
  EXPECT_EQ(report.inverted, 2u);
  EXPECT_EQ(report.firstInverted, (std::vector<uint32_t>{3, 17}));
  EXPECT_FALSE(report.sound());
  EXPECT_EQ(flipInverted(mesh), 2u);
  EXPECT_EQ(flipInverted(mesh), 0u);
  EXPECT_TRUE(tetReport(mesh).sound());
  EXPECT_NEAR(totalVolume(mesh), 1, 1e-14);
}

TEST(TetMesh, DefectsAreCounted) {
  TetMesh mesh = tetBlock(1);
  const Tetrahedron again{mesh.tets[0][1], mesh.tets[0][2], mesh.tets[0][0], mesh.tets[0][3]};
  mesh.tets.push_back(again);            // a duplicate, so faces crowd
  mesh.tets.push_back({0, 1, 2, 3});     // flat
  mesh.tets.push_back({0, 1, 1, 7});     // repeated vertex
  mesh.positions.emplace_back(9, 9, 9);  // isolated
  const TetReport report = tetReport(mesh);
  EXPECT_EQ(report.duplicateTets, 1u);
  EXPECT_EQ(report.firstDuplicates, (std::vector<uint32_t>{5}));
  EXPECT_EQ(report.degenerate, 2u);
  EXPECT_EQ(report.firstDegenerate, (std::vector<uint32_t>{6, 7}));
  EXPECT_EQ(report.isolatedVertices, 1u);
  EXPECT_GE(report.nonManifoldFaces, 1u);
  EXPECT_FALSE(report.sound());

  // Two positive tetrahedra on the same side of their common face overlap.
  const TetMesh overlap{
      {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.2, 0.2, 2}}, {{0, 1, 2, 3}, {0, 1, 2, 4}}, {}};
  EXPECT_EQ(tetReport(overlap).overlappingFaces, 1u);
  const TetMesh proper{
      {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.2, 0.2, -2}}, {{0, 1, 2, 3}, {0, 2, 1, 4}}, {}};
  EXPECT_TRUE(tetReport(proper).sound());

  TetMesh bad = tetBlock(1);
  bad.tets[2][3] = 8;
  EXPECT_THROW(tetNeighbours(bad), Error);
  bad = tetBlock(1);
  bad.region = {1, 2};
  EXPECT_THROW(signedVolumes(bad), Error);
}

TEST(TetMesh, ComponentsAndParts) {
  TetMesh mesh = tetBlock(1);
  mesh.region.assign(5, 1);
  const TetMesh other = tetBlock(2);
  for (const Vec3& p : other.positions) mesh.positions.push_back(p + Vec3(1, 1, 1));
  for (Tetrahedron t : other.tets) {
    for (uint32_t& v : t) v = v == 0 ? 7 : v + 8;  // one shared vertex
    mesh.tets.push_back(t);
    mesh.region.push_back(2);
  }
  EXPECT_EQ(tetComponents(mesh, Connect::Vertices).count, 1u);
  const Components parts = tetComponents(mesh);
  ASSERT_EQ(parts.count, 2u);
  const auto split = splitComponents(mesh, parts);
  EXPECT_EQ(split[0].mesh.tets, tetBlock(1).tets);
  EXPECT_EQ(split[0].vertexSource.back(), 7u);
  EXPECT_EQ(split[1].mesh.tets.size(), 40u);
  EXPECT_EQ(split[1].mesh.positions.size(), 27u);
  EXPECT_EQ(split[1].mesh.region, std::vector<int32_t>(40, 2));
  EXPECT_NEAR(totalVolume(split[1].mesh), 1, 1e-14);
  EXPECT_EQ(split[1].tetSource[0], 5u);
}

TEST(TetMesh, SameForAnyNumberOfThreads) {
  const TetMesh mesh = tetBlock(12);
  auto measure = [&] { return std::pair(tetNeighbours(mesh), totalVolume(mesh)); };
  EXPECT_EQ(withThreads(1, measure), withThreads(4, measure));
}

}  // namespace sunder::geometry
