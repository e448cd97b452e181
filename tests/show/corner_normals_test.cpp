#include "sunder/show/corner_normals.h"

#include <cmath>

#include <gtest/gtest.h>

namespace sunder::show {
namespace {

// A cone of so many triangles around its tip, twice as wide as high where `height` is 1.
geometry::TriMesh cone(uint32_t sides, double height) {
  geometry::TriMesh mesh;
  mesh.positions.emplace_back(0, height, 0);
  for (uint32_t k = 0; k < sides; ++k) {
    const double angle = 2 * kPi * k / sides;
    mesh.positions.emplace_back(std::cos(angle), 0, std::sin(angle));
    mesh.triangles.push_back({0, 1 + (k + 1) % sides, 1 + k});
  }
  return mesh;
}

// Around a blunt tip all faces count, around a sharp one those on the same side.
TEST(CornerNormals, TipsOfManyFacesLookLikeTipsOfFew) {
  for (const double height : {0.1, 1.0, 3.0}) {
    const std::vector<Vec3f> few = cornerNormals(cone(360, height)), many = cornerNormals(cone(3600, height));
    for (size_t k = 0; k < 360; ++k) {
      const float cosine = few[k * 3].dot(many[k * 30]);
      EXPECT_GT(cosine, std::cos(0.1f)) << height << ", " << k;
      EXPECT_NEAR(many[k * 30].norm(), 1, 1e-6);
    }
    EXPECT_GT(many[0].y(), 0.0f);
  }
  const std::vector<Vec3f> flat = cornerNormals(cone(3600, 1), 0);
  EXPECT_NEAR(flat[0].y(), std::sqrt(0.5), 1e-3);
}

// To compare each face with each would take 10^11 angles here.
TEST(CornerNormals, ManyFacesInOnePlaceTakeNoLongerThanApart) {
  const uint32_t count = 300'000;
  const std::vector<Vec3f> tip = cornerNormals(cone(count, 0.1));
  EXPECT_NEAR(tip[0].y(), 1, 1e-5);
  geometry::TriMesh same;
  same.positions = {Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0)};
  same.triangles.assign(count, {0, 1, 2});
  for (const Vec3f& normal : cornerNormals(same)) ASSERT_EQ(normal, Vec3f(0, 0, 1));
}

}  // namespace
}  // namespace sunder::show
