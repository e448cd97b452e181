#include "sunder/geometry/far_vertex.h"

#include <gtest/gtest.h>

namespace sunder::geometry {

TEST(FarVertex, FindsTheOneThatIsDamaged) {
  std::vector<Vec3> points;
  for (int i = 0; i < 1000; ++i) points.emplace_back(i % 10, i / 10 % 10, i / 100);
  EXPECT_FALSE(farVertex(points));
  points[437].y() = 1e30;
  const auto found = farVertex(points);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->vertex, 437u);
  EXPECT_DOUBLE_EQ(found->extent, 1e30);
  EXPECT_LT(found->typical, 16);
  EXPECT_NE(found->text().find("vertex 437 makes the mesh 1e+30 m large"), std::string::npos)
      << found->text();
}

TEST(FarVertex, LargeAndSmallMeshesAndLongOnesAreFine) {
  for (const double scale : {1e-9, 1.0, 1e9}) {
    std::vector<Vec3> points;
    for (int i = 0; i < 1000; ++i) points.emplace_back(scale * i, scale * 1e-3 * (i % 7), 0);
    EXPECT_FALSE(farVertex(points)) << scale;
  }
  EXPECT_FALSE(farVertex({}));
}

}  // namespace sunder::geometry
