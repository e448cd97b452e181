#include "sunder/geometry/normals.h"

#include "sunder/geometry/components.h"

#include "geometry/test_meshes.h"

#include <gtest/gtest.h>

namespace sunder::geometry {

using namespace test;

TEST(Normals, FacesOfABoxPointAlongTheAxes) {
  const auto n = faceNormals(box());
  EXPECT_EQ(n[0], Vec3(0, 0, -1));
  EXPECT_EQ(n[3], Vec3(0, 1, 0));
  EXPECT_EQ(n[5], Vec3(1, 0, 0));
}

TEST(Normals, VertexNormalsDoNotDependOnTheTriangulation) {
  // At a cube's corner the diagonal, however many triangles meet there.
  TriMesh triangles;
  triangles.positions = box().positions;
  for (size_t f = 0; f < 6; ++f) {
    const PolygonSoup cube = box();
    const auto v = cube.face(f);
    triangles.triangles.push_back({v[0], v[1], v[2]});
    triangles.triangles.push_back({v[0], v[2], v[3]});
  }
  const auto quads = vertexNormals(box()), split = vertexNormals(triangles);
  for (size_t v = 0; v < 8; ++v) {
    const Vec3 diagonal = (box().positions[v] - Vec3::Constant(0.5)).normalized();
    EXPECT_LE((quads[v] - diagonal).norm(), 1e-15);
    EXPECT_LE((split[v] - diagonal).norm(), 1e-15);
  }
}

TEST(Normals, OnASphereTheyPointOutward) {
  const PolygonSoup ball = sphere(40);
  const auto n = vertexNormals(ball);
  for (size_t v = 0; v < n.size(); ++v) {
    EXPECT_NEAR(n[v].norm(), 1, 1e-14);
    EXPECT_GT(n[v].dot(ball.positions[v]), 0.9999);
  }
}

TEST(Normals, ConcaveCornersHaveTheirFullAngle) {
  // An L of six corners: five right angles and one of 270 degrees; angles sum to (n - 2) pi.
  const PolygonSoup ell =
      soupOf({{0, 0, 0}, {2, 0, 0}, {2, 1, 0}, {1, 1, 0}, {1, 2, 0}, {0, 2, 0}}, {{0, 1, 2, 3, 4, 5}});
  const Vec3 n = faceNormals(ell)[0];
  EXPECT_EQ(n, Vec3(0, 0, 1));
  double sum = 0;
  for (uint32_t c = 0; c < 6; ++c) sum += cornerAngle(ell, 0, c, n);
  EXPECT_NEAR(sum, 4 * kPi, 1e-14);
  EXPECT_NEAR(cornerAngle(ell, 0, 3, n), 1.5 * kPi, 1e-15);
  EXPECT_DOUBLE_EQ(surfaceArea(ell), 3);
}

TEST(Normals, EdgeNormalsHalveTheAngle) {
  const PolygonSoup cube = box();
  const EdgeAdjacency edges = edgeAdjacency(cube);
  const auto n = edgeNormals(cube, edges, faceNormals(cube));
  for (size_t e = 0; e < edges.size(); ++e) {
    const Vec3 middle = 0.5 * (cube.positions[edges.edges[e][0]] + cube.positions[edges.edges[e][1]]);
    EXPECT_LE((n[e] - (middle - Vec3::Constant(0.5)).normalized()).norm(), 1e-15);
  }
}

TEST(Normals, PseudoNormalsTellInsideFromOutside) {
  // A thin spike, where plain averages fail: for points whose nearest feature is the tip or an edge the sign
  // must hold.
  const TriMesh spike{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {8, 8, 0.1}},
                      {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}}};
  const auto n = vertexNormals(spike);
  EXPECT_GT(n[3].dot(Vec3(9, 9, 0.1) - spike.positions[3]), 0);
  EXPECT_LT(n[3].dot(Vec3(0.25, 0.25, 0.02) - spike.positions[3]), 0);
}

TEST(Normals, DegenerateFacesContributeNothing) {
  PolygonSoup soup = grid(1);
  soup.addFace(std::array{0u, 1u, 1u});
  soup.positions.emplace_back(7, 7, 7);
  const auto faces = faceNormals(soup);
  EXPECT_EQ(faces[1], Vec3(0, 0, 0));
  const auto n = vertexNormals(soup);
  EXPECT_LE((n[0] - Vec3(0, 0, 1)).norm(), 1e-15);
  EXPECT_EQ(n[4], Vec3(0, 0, 0));
}

TEST(Components, ByEdgesAndByVertices) {
  EXPECT_EQ(faceComponents(cubesSharing(1)).count, 2u);
  EXPECT_EQ(faceComponents(cubesSharing(1), Connect::Vertices).count, 1u);
  EXPECT_EQ(faceComponents(cubesSharing(2)).count, 1u);
  EXPECT_EQ(faceComponents(PolygonSoup{}).count, 0u);
  const Components three = faceComponents(both(both(box(), torus(5, 4)), toSoup(tetrahedron())));
  ASSERT_EQ(three.count, 3u);
  EXPECT_EQ(three.label[0], 0u);
  EXPECT_EQ(three.label[6], 1u);
  EXPECT_EQ(three.label.back(), 2u);
}

TEST(Components, PartsKeepOrderAndAttributes) {
  PolygonSoup soup = both(box(), torus(5, 4));
  // Interleave the faces so that parts are not contiguous.
  PolygonSoup mixed;
  mixed.positions = soup.positions;
  mixed.groupNames = {"box", "torus"};
  for (size_t i = 0; i < soup.faceCount(); ++i) {
    const size_t f = i * 7 % soup.faceCount();
    mixed.addFace(soup.face(f));
    mixed.faceGroup.push_back(f < 6 ? 0 : 1);
    for (uint32_t v : soup.face(f)) {
      mixed.cornerUvs.emplace_back(v, f);
      mixed.cornerNormals.emplace_back(v, f, 1);
    }
  }
  for (size_t v = 0; v < mixed.positions.size(); ++v) mixed.vertexColours.emplace_back(float(v), 0, 0, 1);
  const auto parts = splitComponents(mixed, faceComponents(mixed));
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].mesh.faceCount(), 6u);
  EXPECT_EQ(parts[1].mesh.positions.size(), 20u);
  for (const SoupPart& part : parts) {
    EXPECT_TRUE(std::is_sorted(part.faceSource.begin(), part.faceSource.end()));
    EXPECT_TRUE(std::is_sorted(part.vertexSource.begin(), part.vertexSource.end()));
    for (size_t f = 0; f < part.mesh.faceCount(); ++f) {
      const uint32_t old = part.faceSource[f];
      EXPECT_EQ(part.mesh.faceGroup[f], mixed.faceGroup[old]);
      for (size_t i = 0; i < part.mesh.face(f).size(); ++i) {
        const uint32_t v = part.mesh.face(f)[i], source = part.vertexSource[v];
        EXPECT_EQ(source, mixed.face(old)[i]);
        EXPECT_EQ(part.mesh.positions[v], mixed.positions[source]);
        EXPECT_EQ(part.mesh.vertexColours[v].x(), float(source));
        EXPECT_EQ(part.mesh.cornerUvs[part.mesh.faceOffsets[f] + i].x(), source);
        EXPECT_EQ(part.mesh.cornerNormals[part.mesh.faceOffsets[f] + i].x(), source);
      }
    }
  }
}

}  // namespace sunder::geometry
