// The front of a collapsing column of water against the experiment.
#include "sunder/fluid/fill.h"

#include "fluid/fluid_setting.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sunder::fluid {
namespace {

// Martin and Moyce 1952, table 2: a column twice as high as wide, a = 2.25 inches. Time in sqrt(a / 2g),
// front in a.
constexpr std::array<std::pair<double, double>, 15> kExperiment{{{0.41, 1.11},
                                                                 {0.84, 1.22},
                                                                 {1.19, 1.44},
                                                                 {1.43, 1.67},
                                                                 {1.63, 1.89},
                                                                 {1.83, 2.11},
                                                                 {1.98, 2.33},
                                                                 {2.20, 2.56},
                                                                 {2.32, 2.78},
                                                                 {2.51, 3.00},
                                                                 {2.65, 3.22},
                                                                 {2.83, 3.44},
                                                                 {2.97, 3.67},
                                                                 {3.11, 3.89},
                                                                 {3.33, 4.11}}};

// Specification 10, check 10. A slice of the tank: the sides in z are joined. The simulated front is ahead by
// the same time all the way, whatever the resolution: the experiment's dam takes time to vanish, ours does
// not. So one delay is left open, and the front has to follow with it.
TEST(DamFrontFull, FollowsTheExperimentOfMartinAndMoyce) {
  constexpr int kAcross = 24;
  const double a = kAcross * kDiameter, depth = 5 * kSupport, unit = std::sqrt(a / (2 * kGravity));
  FluidSettings settings = settingsOf();
  settings.periodic.lengths = Vec3(0, 0, depth);
  Fluid fluid(settings);
  fluid.addPhase({1000, 1e-6, 0, 0});
  const double margin = 10;  // walls in z are out of reach
  fluid.addBody(
      fixed(settingTank({Vec3(0, 0, -margin * kSupport), Vec3(6 * a, 3 * a, depth + margin * kSupport)})));
  fluid.add(fillBox({Vec3::Zero(), Vec3(a, 2 * a, depth)}, kDiameter), Vec3::Zero());
  fluid.relax();
  std::vector<std::pair<double, double>> fronts;  // in the units of the experiment
  for (double time = 0; fronts.empty() || fronts.back().first < 3.4;) {
    double front = 0;
    for (const Vec3& p : fluid.positions()) front = std::max(front, p.x() + kRadius);
    fronts.emplace_back(time / unit, front / a);
    const double dt = std::min(fluid.stepLimit(), 2e-3);
    fluid.step(dt);
    time += dt;
  }
  const auto frontAt = [&](double time) {
    size_t k = 1;
    while (k + 1 < fronts.size() && fronts[k].first < time) ++k;
    const auto& [t0, z0] = fronts[k - 1];
    const auto& [t1, z1] = fronts[k];
    return z0 + (time - t0) / (t1 - t0) * (z1 - z0);
  };
  const auto worstWith = [&](double late) {
    double worst = 0;
    for (const auto& [t, z] : kExperiment)
      if (t > 1 && t < 3) worst = std::max(worst, std::abs(frontAt(t - late) / z - 1));
    return worst;
  };
  double late = 0;
  for (double s = 0; s < 0.5; s += 0.01)
    if (worstWith(s) < worstWith(late)) late = s;
  std::printf("front ahead by up to %.1f %%; by %.1f %% if the experiment began %.2f later\n",
              100 * worstWith(0), 100 * worstWith(late), late);
  EXPECT_LT(worstWith(late), 0.05);
  EXPECT_LT(late, 0.35);
  EXPECT_LT(worstWith(0), 0.22);
}

}  // namespace
}  // namespace sunder::fluid
