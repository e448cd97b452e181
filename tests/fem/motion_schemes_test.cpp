// What the time schemes do to energy, frequencies and damped modes.
#include "sunder/fem/dynamics.h"
#include "sunder/fem/motion/motion.h"

#include "motion_cases.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sunder::fem {

namespace {

// A free bar of length 1 without Poisson's ratio in its first axial mode.
struct Mode {
  static constexpr double kAmplitude = 1e-6, kYoung = 1e6;
  double period = 2 / std::sqrt(kYoung / 1000);
  double frequency = kPi * std::sqrt(kYoung / 1000);
  MovingSolid bar;

  Mode(const MotionSettings& settings, uint32_t boxes)
      : bar(blockMesh({boxes, 2, 2}, {1, 0.05, 0.05}), soft(kYoung, 0, ElasticModel::Linear), settings) {
    std::vector<Vec3> x = bar.mesh.positions;
    for (Vec3& p : x) p.x() += kAmplitude * std::cos(kPi * p.x());
    bar.motion.setState(x, std::vector<Vec3>(x.size(), Vec3::Zero()));
  }
  double displacement() const { return (bar.motion.positions()[0].x()) / kAmplitude; }
  double speed() const { return bar.motion.velocities()[0].x() / (kAmplitude * frequency); }
};

MotionSettings scheme(MotionScheme s) {
  MotionSettings settings = exactly(s);
  settings.tolerance = 1e-9;
  return settings;
}

// Energy over many steps of a free body that was squeezed and spun.
struct History {
  double start = 0, largest = 0, worst = 0;  // worst: growth in a step
  bool finite = true;
};
History run(ElasticModel model, double young, MotionScheme s, double h, int steps, double tolerance,
            double squeeze = 0.2) {
  MotionSettings settings;
  settings.scheme = s;
  settings.tolerance = tolerance;
  MovingSolid body(blockMesh({2, 3, 2}, {1, 1, 1}, 0.2, 9), soft(young, 0.3, model), settings);
  std::vector<Vec3> x = body.mesh.positions;
  for (Vec3& p : x) p = Vec3((1 + squeeze / 2) * p.x(), (1 - squeeze) * p.y(), p.z() + squeeze / 2 * p.x());
  body.motion.setState(x, rigidVelocities(x, Vec3(0.5, 0.5, 0.5), Vec3(1, 2, 3), Vec3(2, -1, 3)));
  History history;
  history.start = body.motion.kineticEnergy() + body.motion.elasticEnergy();
  double before = history.start;
  for (int k = 0; k < steps; ++k) {
    const StepReport report = body.motion.step(h);
    const double energy = report.kinetic + report.elastic;
    history.finite = history.finite && std::isfinite(energy);
    history.worst = std::max(history.worst, (energy - before) / history.start);
    history.largest = std::max(history.largest, energy / history.start);
    EXPECT_NEAR(report.growth, energy - before, 1e-9 * history.start);
    before = energy;
  }
  return history;
}

}  // namespace

// Acceptance check 15: at 1/30 s and up to 1e9 Pa energy never grows without work.
TEST(MotionSchemes, EulerNeverGainsEnergy) {
  for (const ElasticModel model : kModels)
    for (const double young : {1e4, 1e6, 1e9}) {
      const History history = run(model, young, MotionScheme::ImplicitEuler, 1.0 / 30, 150, 1e-3);
      EXPECT_TRUE(history.finite);
      EXPECT_LE(history.worst, 1e-12) << int(model) << " " << young;
    }
}

// Steps of any length: from a thousandth of the others to a second.
TEST(MotionSchemes, EulerIsStableForAnyStep) {
  for (const double h : {1.0 / 30'000, 1.0 / 1000, 1.0}) {
    const History history = run(ElasticModel::Corotated, 1e9, MotionScheme::ImplicitEuler, h, 40, 1e-3);
    EXPECT_TRUE(history.finite);
    EXPECT_LE(history.worst, 1e-12) << h;
  }
}

// The midpoint rule keeps the energy of linear solids, and states what others gain.
TEST(MotionSchemes, MidpointKeepsTheEnergyOfLinearSolids) {
  MovingSolid body(blockMesh({2, 3, 2}, {1, 1, 1}, 0.2, 9), soft(1e6, 0.3, ElasticModel::Linear),
                   exactly(MotionScheme::ImplicitMidpoint));
  std::vector<Vec3> x = body.mesh.positions;
  for (Vec3& p : x) p.y() *= 0.9;
  body.motion.setState(x, std::vector<Vec3>(x.size(), Vec3::Zero()));
  const double start = body.motion.elasticEnergy();
  for (int k = 0; k < 200; ++k) {
    const StepReport report = body.motion.step(1.0 / 60);
    ASSERT_NEAR(report.kinetic + report.elastic, start, 1e-6 * start) << k;
  }
}

TEST(MotionSchemes, MidpointGrowsLittle) {
  for (const ElasticModel model :
       {ElasticModel::Corotated, ElasticModel::SaintVenantKirchhoff, ElasticModel::NeoHookean}) {
    const History history = run(model, 1e5, MotionScheme::ImplicitMidpoint, 1.0 / 240, 500, 1e-8, 0.05);
    EXPECT_TRUE(history.finite);
    EXPECT_LT(history.largest, 1.05) << int(model);
    RecordProperty("largest_" + std::to_string(int(model)), std::to_string(history.largest));
  }
}

// Against a run of the midpoint rule with steps of a 32nd.
TEST(MotionSchemes, OrdersAreOneAndTwo) {
  const auto run = [](MotionScheme s, int steps) {
    MovingSolid body(blockMesh({3, 1, 1}, {1, 0.4, 0.4}), soft(1e5), scheme(s));
    std::vector<Vec3> x = body.mesh.positions, v;
    for (Vec3& p : x) p.x() *= 1.05;
    for (const Vec3& p : x) v.push_back(Vec3(0, 2 * p.x(), p.y()));
    body.motion.setState(x, v);
    for (int k = 0; k < steps; ++k) EXPECT_TRUE(body.motion.step(0.05 / steps).converged);
    return std::vector<Vec3>(body.motion.positions().begin(), body.motion.positions().end());
  };
  const std::vector<Vec3> exact = run(MotionScheme::ImplicitMidpoint, 1280);
  for (const auto& [s, ratio] :
       {std::pair(MotionScheme::ImplicitEuler, 2.0), std::pair(MotionScheme::ImplicitMidpoint, 4.0)}) {
    std::vector<double> errors;
    for (const int steps : {20, 40, 80}) {
      const std::vector<Vec3> x = run(s, steps);
      double squares = 0;
      for (size_t i = 0; i < x.size(); ++i) squares += (x[i] - exact[i]).squaredNorm();
      errors.push_back(std::sqrt(squares));
    }
    EXPECT_NEAR(errors[1] / errors[2], ratio, 0.25 * ratio) << int(s);
    EXPECT_NEAR(errors[0] / errors[1], ratio, 0.35 * ratio) << int(s);
  }
}

// The midpoint rule turns a mode of frequency w by 2 atan(w h / 2) a step and leaves its amplitude.
TEST(MotionSchemes, MidpointFrequencyIsThatOfTheRule) {
  for (const int steps : {10, 20}) {
    Mode mode(scheme(MotionScheme::ImplicitMidpoint), 40);
    const double h = mode.period / steps;
    for (int k = 0; k < steps; ++k) mode.bar.motion.step(h);
    const double angle = steps * 2 * std::atan(mode.frequency * h / 2);
    EXPECT_NEAR(mode.displacement(), std::cos(angle), 0.01);
    EXPECT_NEAR(mode.speed(), -std::sin(angle), 0.01);
  }
}

// (1 + w^2 h^2)^(-1/2) a step.
TEST(MotionSchemes, EulerDampsAsKnown) {
  Mode mode(scheme(MotionScheme::ImplicitEuler), 40);
  const double h = mode.period / 20, w = mode.frequency;
  for (int k = 0; k < 20; ++k) mode.bar.motion.step(h);
  EXPECT_NEAR(std::hypot(mode.displacement(), mode.speed()), std::pow(1 + w * w * h * h, -10), 0.01);
}

// exp(-zeta w t) with zeta = a / (2 w) + b w / 2.
TEST(MotionSchemes, RayleighDampingOfAMode) {
  for (const auto& [mass, stiffness] : {std::pair(0.0, 0.0), std::pair(5.0, 0.0), std::pair(0.0, 5e-4)}) {
    MotionSettings settings = scheme(MotionScheme::ImplicitMidpoint);
    settings.massDamping = mass;
    settings.stiffnessDamping = stiffness;
    Mode mode(settings, 24);
    const int steps = 200;
    for (int k = 0; k < steps; ++k) mode.bar.motion.step(mode.period / steps);
    const double w = mode.frequency, zeta = dampingRatio(mass, stiffness, w);
    const double damped = w * std::sqrt(1 - zeta * zeta), t = mode.period;
    const double expected =
        std::exp(-zeta * w * t) * (std::cos(damped * t) + zeta * w / damped * std::sin(damped * t));
    EXPECT_NEAR(mode.displacement(), expected, 0.01) << mass << " " << stiffness;
  }
}

// A turning body is not slowed by the damping of its stiffness.
TEST(MotionSchemes, StiffnessDampingLeavesRotation) {
  MotionSettings settings = exactly(MotionScheme::ImplicitMidpoint);
  settings.stiffnessDamping = 0.01;
  MovingSolid body(blockMesh({2, 2, 2}, {1, 1, 1}), soft(1e6), settings);
  const Vec3 centre(0.5, 0.5, 0.5);
  body.motion.setState(body.mesh.positions,
                       rigidVelocities(body.mesh.positions, centre, Vec3::Zero(), Vec3(0, 0, 2)));
  const double before = body.motion.angularMomentum(centre).z();
  for (int k = 0; k < 60; ++k) body.motion.step(1.0 / 60);
  EXPECT_NEAR(body.motion.angularMomentum(centre).z() / before, 1, 0.01);
}

}  // namespace sunder::fem
