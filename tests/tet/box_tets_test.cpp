#include "sunder/tet/box_tets.h"

#include "sunder/base/error.h"
#include "sunder/geometry/tet_mesh.h"

#include <gtest/gtest.h>

namespace sunder::tet {
namespace {

TEST(BoxTets, FillTheBoxExactly) {
  const Box3 box{Vec3(-1, 2, 0.5), Vec3(0.7, 2.3, 1.6)};
  const geometry::TetMesh mesh = boxTets(box, 0.21);
  EXPECT_EQ(mesh.tets.size(), 6u * 8 * 1 * 5);  // 8.1, 1.4 and 5.2 cells, rounded
  const geometry::TetReport report = geometry::tetReport(mesh);
  EXPECT_TRUE(report.sound());
  EXPECT_EQ(report.components, 1u);
  EXPECT_NEAR(report.volume, 1.7 * 0.3 * 1.1, 1e-14);
  EXPECT_EQ(report.boundaryFaces, 4u * (8 * 1 + 1 * 5 + 8 * 5));
  EXPECT_THROW(boxTets(box, 0), Error);
  EXPECT_THROW(boxTets({Vec3::Zero(), Vec3(1, 0, 1)}, 0.1), Error);
  EXPECT_THROW(boxTets(box, 1e-6), Error);
}

}  // namespace
}  // namespace sunder::tet
