#include "sunder/show/overlay.h"

#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/shapes/round.h"

#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

namespace sunder::show {
namespace {

record::MeshEntry ball() {
  const geometry::TriMesh mesh = shapes::makeRippledSphere({12, 0});
  record::MeshEntry entry;
  for (const Vec3& p : mesh.positions) entry.positions.push_back(p.cast<float>());
  entry.triangles = mesh.triangles;
  return entry;
}

struct Numbers {
  std::vector<uint32_t> head;
  std::vector<float> values;
  explicit Numbers(const std::string& bytes) : head(2), values((bytes.size() - 8) / 4) {
    std::memcpy(head.data(), bytes.data(), 8);
    std::memcpy(values.data(), bytes.data() + 8, bytes.size() - 8);
  }
};

TEST(Overlay, BoxesOfEveryLevelHoldTheMesh) {
  const record::MeshEntry mesh = ball();
  Overlay overlay(mesh);
  const uint32_t levels = Numbers(overlay.boxes(0)).head[0];
  ASSERT_GE(levels, 3u);
  for (uint32_t level = 0; level < levels; ++level) {
    const Numbers boxes(overlay.boxes(level));
    ASSERT_EQ(boxes.values.size(), 6u * boxes.head[1]);
    EXPECT_EQ(boxes.head[1] == 1, level == 0);
    for (const Vec3f& p : mesh.positions) {
      bool held = false;
      for (size_t b = 0; b < boxes.head[1] && !held; ++b) {
        const float* box = &boxes.values[6 * b];
        held = p.x() >= box[0] && p.y() >= box[1] && p.z() >= box[2] && p.x() <= box[3] && p.y() <= box[4] &&
               p.z() <= box[5];
      }
      EXPECT_TRUE(held) << "level " << level;
    }
  }
  EXPECT_EQ(overlay.boxes(levels - 1), overlay.boxes(100));  // levels beyond the last are the last
}

TEST(Overlay, SpheresDoubleFromLevelToLevel) {
  Overlay overlay(ball());
  const uint32_t levels = Numbers(overlay.spheres(0)).head[0];
  ASSERT_GE(levels, 8u);
  for (uint32_t level = 0; level + 1 < levels; ++level) {
    const Numbers spheres(overlay.spheres(level));
    EXPECT_EQ(spheres.head[1], 1u << level);
    for (size_t i = 0; i < spheres.head[1]; ++i) {
      const float* s = &spheres.values[4 * i];
      EXPECT_LT(std::hypot(s[0], s[1], s[2]), 1.01f);
      EXPECT_LE(s[3], 2.01f);
    }
  }
}

TEST(Overlay, ASliceThroughTheMiddleIsTheDistanceToTheBall) {
  Overlay overlay(ball());
  for (uint32_t axis = 0; axis < 3; ++axis) {
    const Numbers slice(overlay.slice(axis, 0.5));
    EXPECT_EQ(slice.head[0], Overlay::kSliceCells);
    EXPECT_EQ(slice.head[1], axis);
    ASSERT_EQ(slice.values.size(), 7u + Overlay::kSliceCells * Overlay::kSliceCells);
    const uint32_t u = (axis + 1) % 3, v = (axis + 2) % 3;
    for (uint32_t j = 0; j < Overlay::kSliceCells; j += 7)
      for (uint32_t i = 0; i < Overlay::kSliceCells; i += 5) {
        const auto along = [&](uint32_t d, uint32_t k) {
          const float lower = slice.values[1 + d], upper = slice.values[4 + d];
          return lower + (upper - lower) * (float(k) + 0.5f) / float(Overlay::kSliceCells);
        };
        const float expected = std::hypot(along(u, i), along(v, j), slice.values[0]) - 1;
        // Between vertices the mesh is a little inside of the sphere.
        EXPECT_NEAR(slice.values[7 + j * Overlay::kSliceCells + i], expected, 0.02);
      }
  }
  EXPECT_THROW(overlay.slice(3, 0.5), Error);
}

}  // namespace
}  // namespace sunder::show
