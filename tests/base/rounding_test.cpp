// The compiler must not take a trip through float for nothing: GCC 12 does, in loops over several doubles in
// a row, unless it is told not to (cmake/SunderOptions.cmake).
#include "sunder/base/math.h"

#include <vector>

#include <gtest/gtest.h>

namespace sunder {

[[gnu::noinline]] void roundToFloat(std::vector<Vec3>& points) {
  for (Vec3& p : points) p = p.cast<float>().cast<double>();
}

TEST(Rounding, ThroughFloatRounds) {
  std::vector<Vec3> points(9, Vec3(0.1, 0.2, 0.3));
  roundToFloat(points);
  for (const Vec3& p : points) {
    EXPECT_EQ(p.x(), static_cast<double>(0.1f));
    EXPECT_EQ(p.y(), static_cast<double>(0.2f));
    EXPECT_EQ(p.z(), static_cast<double>(0.3f));
  }
}

}  // namespace sunder
