#include "sunder/geometry/vector_area.h"

#include "sunder/base/random.h"
#include "sunder/geometry/mesh_view.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace sunder::geometry {
namespace {

Vec3 ofPolygon(const std::vector<Vec3>& p) {
  return twiceVectorArea(p.size(), [&](size_t i) -> const Vec3& { return p[i]; });
}

TEST(VectorArea, OfATriangleIsTwiceItsAreaLongAndPointsOutward) {
  const Vec3 a(1, 1, 5), b(4, 1, 5), c(1, 3, 5);  // legs of 3 and 2, counter-clockwise from above
  EXPECT_EQ(twiceVectorArea(a, b, c), Vec3(0, 0, 6));
  EXPECT_EQ(twiceVectorArea(a, c, b), Vec3(0, 0, -6));
  EXPECT_EQ(triangleArea(a, b, c), 3);
  const std::vector<Vec3> positions{c, a, b};
  EXPECT_EQ(twiceVectorArea(positions, {1, 2, 0}), Vec3(0, 0, 6));
  EXPECT_EQ(triangleArea(positions, {1, 2, 0}), 3);
  EXPECT_EQ(triangleArea(a, a, b), 0);
}

TEST(VectorArea, OfAConcavePolygonCountsWhatIsOutsideTheFanBack) {
  // A square of side 4 with a notch that reaches its middle, from the corner that sees the notch from aside.
  const std::vector<Vec3> notched{{0, 0, 2}, {4, 0, 2}, {2, 2, 2}, {4, 4, 2}, {0, 4, 2}};
  EXPECT_EQ(ofPolygon(notched), Vec3(0, 0, 2 * 12));
  for (size_t turn = 0; turn < notched.size(); ++turn) {
    std::vector<Vec3> turned = notched;
    std::rotate(turned.begin(), turned.begin() + ptrdiff_t(turn), turned.end());
    EXPECT_EQ(ofPolygon(turned), Vec3(0, 0, 24)) << "the same about every corner";
  }
  EXPECT_EQ(ofPolygon({}), Vec3(Vec3::Zero()));
  EXPECT_EQ(ofPolygon({{1, 2, 3}, {4, 5, 6}}), Vec3(Vec3::Zero()));
}

TEST(VectorArea, FarFromTheOriginLosesNothing) {
  const Vec3 far(1e9, -2e9, 3e9);
  EXPECT_EQ(ofPolygon({far, far + Vec3(2, 0, 0), far + Vec3(2, 0, -2), far + Vec3(0, 0, -2)}), Vec3(0, 8, 0));
}

TEST(VectorArea, AllFormsGiveTheSameBits) {
  RandomStream random(3, 5);
  for (int round = 0; round < 1000; ++round) {
    TriMesh mesh;
    for (int i = 0; i < 3; ++i) mesh.positions.push_back(random.unitVector());
    mesh.triangles = {{0, 1, 2}};
    const Vec3 twice = twiceVectorArea(mesh.positions[0], mesh.positions[1], mesh.positions[2]);
    EXPECT_EQ(ofPolygon(mesh.positions), twice);
    EXPECT_EQ(vectorArea(mesh, 0), 0.5 * twice);
    EXPECT_EQ(triangleArea(mesh.positions, mesh.triangles[0]), vectorArea(mesh, 0).norm());
  }
}

}  // namespace
}  // namespace sunder::geometry
