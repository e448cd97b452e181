#include "sunder/fracture/model/contact_pulse.h"

#include "sunder/base/error.h"

#include <cmath>

#include <gtest/gtest.h>

namespace sunder::fracture {
namespace {

// A glass ball of 5 cm radius at 5 m/s against a rigid flat.
const ContactSide kBall{1.3090, 7e10, 0.22, 0.05};

TEST(ContactPulse, DurationsOfAGlassBall) {
  EXPECT_NEAR(contactDuration({}, kBall, {}, 5), 6.748e-5, 0.001 * 6.748e-5);
  EXPECT_NEAR(contactDuration({.duration = DurationModel::Hertz}, kBall, {}, 5), 1.897e-4, 0.001 * 1.897e-4);
  EXPECT_NEAR(contactDuration({.scale = 3}, kBall, {}, 5), 3 * contactDuration({}, kBall, {}, 5), 1e-18);
  // Slow contacts do not last for ever.
  EXPECT_EQ(contactDuration({}, kBall, {}, 0), contactDuration({}, kBall, {}, 1e-3));
  EXPECT_THROW(contactDuration({}, {0, 7e10, 0.2, 0.05}, {}, 5), Error);
}

TEST(ContactPulse, MeanForcesAddUpToTheImpulse) {
  for (const PulseForm form : {PulseForm::Constant, PulseForm::Sine}) {
    const Pulse pulse{Vec3(1, -2, 0.5), 1.7e-4, form};
    for (const int steps : {1, 7, 20}) {
      // Past the end: the last step is only partly covered.
      const double h = 2e-4 / steps;
      Vec3 sum = Vec3::Zero();
      for (int i = 0; i < steps; ++i) sum += h * pulse.meanForce(i * h, (i + 1) * h);
      EXPECT_LT((sum - pulse.impulse).norm(), 1e-12 * pulse.impulse.norm());
    }
  }
  // The peak of the half wave is pi/2 of the mean.
  const Pulse sine{Vec3(1, 0, 0), 1, PulseForm::Sine};
  EXPECT_NEAR(sine.meanForce(0.4999, 0.5001).x(), kPi / 2, 1e-6);
}

}  // namespace
}  // namespace sunder::fracture
