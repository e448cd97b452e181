#include "bench/published/voxel_field.h"

#include "sunder/base/error.h"

#include "sdf/voxel_cases.h"

namespace sunder::published {
using namespace sdf;
namespace {

using namespace cases;

TEST(VoxelField, HasTheTransformsValuesAtCentresAndIsLinearBetween) {
  const VoxelGrid grid = padded(ballGrid(20, 0), 2);
  const DistanceVolume volume = distanceTransform(grid);
  const VoxelField field(volume);
  RandomStream random(1);
  for (int trial = 0; trial < 500; ++trial) {
    const uint32_t i = random.below(23), j = random.below(23), k = random.below(23);
    EXPECT_EQ(field.value(volume.frame.centre(i, j, k)), double(volume.phi[volume.frame.number(i, j, k)]));
    const Vec3 t = random.pointIn({Vec3::Zero(), Vec3::Ones()});
    double expected = 0;
    for (uint32_t c = 0; c < 8; ++c) {
      const uint32_t x = c & 1, y = c >> 1 & 1, z = c >> 2;
      expected += (x ? t.x() : 1 - t.x()) * (y ? t.y() : 1 - t.y()) * (z ? t.z() : 1 - t.z()) *
                  double(volume.phi[volume.frame.number(i + x, j + y, k + z)]);
    }
    EXPECT_NEAR(field.value(volume.frame.centre(i, j, k) + t), expected, 1e-12);
  }
}

TEST(VoxelField, GradientsAreThoseOfTheValues) {
  const VoxelGrid grid = gridWhere({Vec3(1, 2, 3), 0.3, {20, 24, 22}},
                                   [](const Vec3& p) { return (p - Vec3(4, 5, 6)).norm() < 2; });
  const VoxelField field(distanceTransform(grid));
  RandomStream random(2);
  for (int trial = 0; trial < 2000; ++trial) {
    const VoxelFrame& f = field.frame();
    // Away from planes through centres, where the gradient jumps.
    const Vec3 p = f.centre(random.below(19), random.below(23), random.below(21)) +
                   f.edge * random.pointIn({Vec3::Constant(0.01), Vec3::Constant(0.99)});
    const FieldSample s = field.sample(p);
    EXPECT_EQ(s.value, field.value(p));
    for (int d = 0; d < 3; ++d) {
      Vec3 h = Vec3::Zero();
      h[d] = 1e-4;
      EXPECT_NEAR(s.gradient[d], (field.value(p + h) - field.value(p - h)) / 2e-4, 1e-6);
    }
  }
}

TEST(VoxelField, OutsideTheDistanceToTheDomainIsAdded) {
  const VoxelField field(ballGrid(16, 0));
  const Box3 box = field.domain();
  RandomStream random(3);
  for (int trial = 0; trial < 500; ++trial) {
    const Vec3 p = random.pointIn({box.lower - Vec3::Constant(30), box.upper + Vec3::Constant(30)});
    const Vec3 inside = p.cwiseMax(box.lower).cwiseMin(box.upper);
    const FieldSample s = field.sample(p);
    EXPECT_NEAR(s.value, field.value(inside) + (p - inside).norm(), 1e-9);
    EXPECT_EQ(s.value, field.value(p));
    if (p != inside) {
      EXPECT_TRUE(s.gradient.isApprox((p - inside).normalized(), 1e-12));
    }
  }
  EXPECT_TRUE(field.bounds().lower.isApprox(Vec3::Zero(), 1e-12));
  EXPECT_TRUE(field.bounds().upper.isApprox(Vec3::Constant(16), 1e-12));
}

TEST(VoxelField, NearTheBallWithinAVoxel) {
  const VoxelField field(ballGrid(32, 0));
  RandomStream random(4);
  for (int trial = 0; trial < 5000; ++trial) {
    const Vec3 p = random.pointIn({Vec3::Zero(), Vec3::Constant(32)});
    EXPECT_NEAR(field.value(p), (p - Vec3::Constant(16)).norm() - 16, 1.0);
  }
}

TEST(VoxelField, RefusesAVolumeWithoutASurface) {
  EXPECT_THROW(VoxelField(VoxelGrid(unitFrame(4, 4, 4))), Error);
  EXPECT_NO_THROW(VoxelField(boxGrid(4, 0)));  // full, but padded on the way
}

}  // namespace
}  // namespace sunder::published
