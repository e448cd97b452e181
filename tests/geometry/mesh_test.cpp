#include "sunder/geometry/mesh.h"

#include <gtest/gtest.h>

namespace sunder::geometry {

TEST(Mesh, SoupOfTrianglesKeepsFaces) {
  TriMesh mesh{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}}};
  const PolygonSoup soup = toSoup(mesh);
  ASSERT_EQ(soup.faceCount(), 4u);
  EXPECT_EQ(soup.face(2)[1], 2u);
}

TEST(Mesh, BoundsOfNothingAreEmpty) {
  EXPECT_TRUE(bounds({}).empty());
  const std::vector<Vec3> points{{1, 2, 3}, {-1, 5, 0}};
  EXPECT_EQ(bounds(points).lower, Vec3(-1, 2, 0));
  EXPECT_EQ(bounds(points).upper, Vec3(1, 5, 3));
}

}  // namespace sunder::geometry
