#include "sunder/rigid/shape/motion.h"

#include <gtest/gtest.h>

namespace sunder::rigid {
namespace {

TEST(Motion, TurnsAboutItsCentre) {
  Motion motion;
  motion.start.position = Vec3(1, 2, 3);
  motion.centre = Vec3(0.5, 0, 0);
  motion.displacement = Vec3(0, 4, 0);
  motion.turn = Vec3(0, 0, kPi);
  const Pose end = motion.at(1);
  EXPECT_NEAR((end.point(motion.centre) - Vec3(1.5, 6, 3)).norm(), 0, 1e-14);
  EXPECT_NEAR((end.point(Vec3::Zero()) - Vec3(2, 6, 3)).norm(), 0, 1e-14);
  EXPECT_NEAR((motion.at(0.5).point(Vec3::Zero()) - Vec3(1.5, 3.5, 3)).norm(), 0, 1e-14);
}

TEST(Motion, SmallTurnsAgreeWithLargeOnes) {
  for (const double angle : {1e-300, 1e-9, 1e-5, 1.9e-4, 2.1e-4, 0.1, 3.0, 7.0}) {
    const Vec3 axis = Vec3(1, -2, 0.5).normalized();
    const Quat a = turnBy(axis * angle), b = Quat(Eigen::AngleAxisd(angle, axis));
    EXPECT_NEAR(std::abs(a.dot(b)), 1, 1e-15) << angle;
    EXPECT_NEAR((a.vec() - b.vec()).norm(), 0, 1e-15) << angle;
  }
}

TEST(Motion, PosesInvertAndCompose) {
  const Pose a{Vec3(1, 2, 3), turnBy(Vec3(0.3, 1, -2))}, b{Vec3(-4, 0, 1), turnBy(Vec3(1, 1, 1))};
  const Vec3 p(0.1, 0.2, 0.3);
  EXPECT_NEAR(((a * b).point(p) - a.point(b.point(p))).norm(), 0, 1e-14);
  EXPECT_NEAR((inverse(a).point(a.point(p)) - p).norm(), 0, 1e-14);
  EXPECT_NEAR((a.localPoint(a.point(p)) - p).norm(), 0, 1e-14);
}

}  // namespace
}  // namespace sunder::rigid
