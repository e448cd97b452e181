#include "sunder/fem/dynamics.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/fem/recovery.h"
#include "sunder/tet/refinement.h"

#include "fem_cases.h"

#include <cmath>

#include <Eigen/Cholesky>
#include <gtest/gtest.h>

namespace sunder::fem {

namespace {

std::vector<NodalForce> forcesOn(const geometry::TetMesh& mesh, const Vec3& point, const Vec3& force) {
  std::vector<NodalForce> forces;
  SurfaceForces(mesh).add(point, force, forces);
  return forces;
}

std::vector<NodalForce> endForce(const ElasticBody& body, double force) {
  return spread(body.mesh(), Vec3(force, 0, 0), [](const Vec3& x) { return x.x() == 0; });
}

struct Bar {
  static constexpr double kLength = 1, kSide = 0.05, kForce = 1e4;
  static constexpr uint32_t kBoxes = 40;
  ElasticMaterial material{7e10, 0, 2500};
  ElasticDynamics dynamics;
  StressRecovery recovery;
  double passage = kLength / material.barSpeed();  // of a front along the bar

  explicit Bar(double steps = 400, TimeScheme scheme = TimeScheme::BackwardEuler, double damping = 0) {
    dynamics.setBody(blockMesh({kBoxes, 2, 2}, {kLength, kSide, kSide}), material);
    dynamics.prepare({.step = passage / steps, .scheme = scheme, .beta = damping * passage});
    recovery.setBody(dynamics.body());
  }
  // Mean axial stress at a distance from the struck end.
  double stressAt(uint32_t box) const {
    double sum = 0, count = 0;
    for (size_t v = 0; v < dynamics.body().vertices(); ++v)
      if (std::abs(dynamics.body().mesh().positions[v].x() - box * kLength / kBoxes) < 1e-9)
        sum += recovery.vertices()[v][0], ++count;
    return sum / count;
  }
};

}  // namespace

// The rearranged step against the one of the specification, with dense matrices.
TEST(Dynamics, StepsAreThoseOfTheScheme) {
  const geometry::TetMesh mesh = blockMesh({2, 2, 1}, {0.2, 0.2, 0.1}, 0.2, 1);
  const ElasticBody body(mesh, kGlass);
  const auto n = static_cast<Eigen::Index>(3 * body.vertices());
  const auto dense = [&](double a, double b, MassKind kind) {
    BlockMatrix matrix;
    matrix.setPattern(body.pattern());
    assemble(body.elements(), kGlass, a, b, kind, matrix);
    return full(matrix);
  };
  const Eigen::MatrixXd k = dense(0, 1, MassKind::Lumped);
  const double h = 3e-6, alpha = 500, beta = 1e-6;
  for (const MassKind kind : {MassKind::Lumped, MassKind::Consistent})
    for (const TimeScheme scheme : {TimeScheme::BackwardEuler, TimeScheme::Trapezoidal}) {
      const Eigen::MatrixXd m = dense(1, 0, kind), d = alpha * m + beta * k;
      Eigen::VectorXd u = Eigen::VectorXd::Zero(n), v = u;
      ElasticDynamics dynamics;
      dynamics.setBody(mesh, kGlass);
      dynamics.prepare({.step = h, .scheme = scheme, .alpha = alpha, .beta = beta, .mass = kind});
      for (int step = 0; step < 30; ++step) {
        const Vec3 force(1e4 * std::sin(0.3 * step), 2e4, -5e3 * step);
        const std::vector<NodalForce> forces{{3, force}};
        dynamics.step(forces);
        Eigen::VectorXd f = Eigen::VectorXd::Zero(n);
        f.segment<3>(9) = force;
        if (scheme == TimeScheme::BackwardEuler) {
          v = (m + h * d + h * h * k).llt().solve(m * v + h * (f - k * u)).eval();
          u += h * v;
        } else {
          const Eigen::VectorXd before = v;
          v = (m + h / 2 * d + h * h / 4 * k)
                  .llt()
                  .solve((m - h / 2 * d - h * h / 4 * k) * v + h * (f - k * u))
                  .eval();
          u += h / 2 * (v + before);
        }
      }
      const Eigen::Map<const Eigen::VectorXd> ours(dynamics.displacements()[0].data(), n),
          oursV(dynamics.velocities()[0].data(), n);
      EXPECT_LT((ours - u).norm(), 1e-10 * u.norm()) << int(kind) << int(scheme);
      EXPECT_LT((oursV - v).norm(), 1e-10 * v.norm()) << int(kind) << int(scheme);
      EXPECT_NEAR(dynamics.time(), 30 * h, 1e-15);
    }
}

TEST(Dynamics, MomentumIsTheImpulse) {
  const geometry::TetMesh mesh = blockMesh({4, 3, 3}, {0.1, 0.08, 0.08}, 0.2, 1);
  for (const MassKind kind : {MassKind::Lumped, MassKind::Consistent})
    for (const TimeScheme scheme : {TimeScheme::BackwardEuler, TimeScheme::Trapezoidal})
      for (const char* solver : {"block", "ldlt", "dense", "pcg"}) {
        const Vec3 impulse(0.3, -1.2, 0.5);
        const double duration = 6.7e-5;
        const int steps = 20;
        ElasticDynamics dynamics;
        dynamics.setBody(mesh, kGlass);
        dynamics.prepare({.step = duration / steps,
                          .scheme = scheme,
                          .beta = 0.032 * duration,
                          .mass = kind,
                          .solver = {solver}});
        const auto forces = forcesOn(mesh, Vec3(0.03, 0.05, 0.08), impulse / duration);
        for (int k = 0; k < steps; ++k) dynamics.step(forces);
        EXPECT_LT((dynamics.momentum() - impulse).norm(), 1e-10 * impulse.norm()) << solver;
      }
}

TEST(Dynamics, RigidVelocityAddsNoStress) {
  const geometry::TetMesh mesh = blockMesh({4, 3, 3}, {0.1, 0.08, 0.08}, 0.2, 1);
  const Vec3 centre(0.05, 0.04, 0.04);
  for (const TimeScheme scheme : {TimeScheme::BackwardEuler, TimeScheme::Trapezoidal})
    for (const double alpha : {0.0, 1000.0}) {
      const auto history = [&](bool moving) {
        ElasticDynamics dynamics;
        dynamics.setBody(mesh, kGlass);
        dynamics.prepare({.step = 3e-6, .scheme = scheme, .alpha = alpha, .beta = 2e-6});
        std::vector<Vec3> u(mesh.positions.size(), Vec3::Zero()), v = u;
        if (moving)
          for (size_t i = 0; i < v.size(); ++i)
            v[i] = Vec3(10, -3, 5) + Vec3(20, 30, -10).cross(mesh.positions[i] - centre);
        dynamics.setState(u, v);
        StressRecovery recovery;
        recovery.setBody(dynamics.body());
        const auto forces = forcesOn(mesh, Vec3(0.03, 0.05, 0.08), Vec3(0, 0, -2e4));
        std::vector<Stress> all;
        for (int k = 0; k < 40; ++k) {
          dynamics.step(forces);
          recovery.update(dynamics.displacements());
          all.insert(all.end(), recovery.vertices().begin(), recovery.vertices().end());
        }
        return all;
      };
      const std::vector<Stress> still = history(false), moving = history(true);
      double difference = 0, most = 0;
      for (size_t i = 0; i < still.size(); ++i) {
        difference = std::max(difference, (still[i] - moving[i]).norm());
        most = std::max(most, still[i].norm());
      }
      EXPECT_LT(difference, 1e-9 * most);
    }
}

// The front passes with the speed of a bar, and leaves F/S behind it. Without damping the elements ring
// behind the front, vertex against vertex, so only the mean along the bar is F/S; with a little damping all
// of it is.
TEST(Dynamics, FrontAndPlateauOfABar) {
  struct Case {
    TimeScheme scheme;
    double damping, ripple;
  };
  for (const Case& c :
       {Case{TimeScheme::BackwardEuler, 0, 0.25}, Case{TimeScheme::Trapezoidal, 0, 0.35},
        Case{TimeScheme::BackwardEuler, 0.004, 0.05}, Case{TimeScheme::Trapezoidal, 0.004, 0.05}}) {
    Bar bar(400, c.scheme, c.damping);
    const auto forces = endForce(bar.dynamics.body(), Bar::kForce);
    const double plateau = Bar::kForce / (Bar::kSide * Bar::kSide);
    double passed[2] = {0, 0};
    const uint32_t boxes[2] = {10, 30};
    for (int k = 0; k < 360; ++k) {
      bar.dynamics.step(forces);
      bar.recovery.update(bar.dynamics.displacements(), bar.dynamics.velocities());
      for (int g = 0; g < 2; ++g)
        if (passed[g] == 0 && -bar.stressAt(boxes[g]) > plateau / 2) passed[g] = bar.dynamics.time();
    }
    const double speed = 0.5 * Bar::kLength / (passed[1] - passed[0]);
    EXPECT_NEAR(speed / bar.material.barSpeed(), 1, 0.05);
    double mean = 0, ripple = 0;
    for (uint32_t box = 5; box <= 24; ++box) {
      mean -= bar.stressAt(box) / plateau / 20;
      ripple = std::max(ripple, std::abs(-bar.stressAt(box) / plateau - 1));
    }
    EXPECT_NEAR(mean, 1, 0.01);
    EXPECT_LT(ripple, c.ripple) << int(c.scheme) << " " << c.damping;
    EXPECT_LT(std::abs(bar.stressAt(40)), 0.05 * plateau);  // the front is not there yet
  }
}

// A pulse of length cT comes back from the free end as tension, which first shows cT/2 before the end.
TEST(Dynamics, SpallShowsHalfAPulseBeforeTheEnd) {
  for (const double share : {0.3, 0.5}) {
    Bar bar(400);
    const auto forces = endForce(bar.dynamics.body(), Bar::kForce);
    const double plateau = Bar::kForce / (Bar::kSide * Bar::kSide), duration = share * bar.passage;
    double found = -1, angle = 180;
    while (found < 0 && bar.dynamics.time() < 2 * bar.passage) {
      const bool pushed = bar.dynamics.time() + bar.dynamics.settings().step <= duration * (1 + 1e-9);
      bar.dynamics.step(pushed ? std::span<const NodalForce>(forces) : std::span<const NodalForce>());
      bar.recovery.update(bar.dynamics.displacements(), bar.dynamics.velocities());
      if (bar.dynamics.time() < bar.passage) continue;
      const uint32_t strongest = bar.recovery.strongest();
      const Principal& principal = bar.recovery.principals()[strongest];
      if (principal.value > 0.5 * plateau) {
        found = bar.dynamics.body().mesh().positions[strongest].x();
        angle = std::acos(std::min(1.0, std::abs(principal.direction.x()))) * 180 / kPi;
      }
    }
    // An element and the width of the front, which has grown to about two elements on its way.
    EXPECT_NEAR(found, Bar::kLength * (1 - share / 2), 3 * Bar::kLength / Bar::kBoxes) << share;
    EXPECT_LT(angle, 5);
  }
}

// The damping of a single mode is that of the formula: the first axial mode of a free bar.
TEST(Dynamics, RayleighDampingOfAMode) {
  for (const double beta : {0.0, 4e-6}) {
    Bar bar(4000, TimeScheme::Trapezoidal);
    bar.dynamics.prepare({.step = bar.passage / 4000, .scheme = TimeScheme::Trapezoidal, .beta = beta});
    std::vector<Vec3> u, v(bar.dynamics.body().vertices(), Vec3::Zero());
    for (const Vec3& x : bar.dynamics.body().mesh().positions)
      u.push_back({1e-6 * std::cos(kPi * x.x()), 0, 0});
    bar.dynamics.setState(u, v);
    for (int k = 0; k < 8000; ++k) bar.dynamics.step({});  // one period
    const double w = kPi * bar.material.barSpeed() / Bar::kLength;
    const double expected = std::exp(-dampingRatio(0, beta, w) * w * 2 * bar.passage);
    EXPECT_NEAR(bar.dynamics.displacements()[0].x() / 1e-6, expected, 0.01);
  }
}

// Backward Euler loses (1 + w^2 h^2)^(-1/2) of a mode a step: 39 % are left after a period of 20 steps.
TEST(Dynamics, BackwardEulerDampsAsKnown) {
  Bar bar;
  bar.dynamics.prepare({.step = 2 * bar.passage / 20});
  std::vector<Vec3> u, v(bar.dynamics.body().vertices(), Vec3::Zero());
  for (const Vec3& x : bar.dynamics.body().mesh().positions)
    u.push_back({1e-6 * std::cos(kPi * x.x()), 0, 0});
  bar.dynamics.setState(u, v);
  const double w = kPi * bar.material.barSpeed() / Bar::kLength, h = bar.dynamics.settings().step;
  for (int k = 0; k < 20; ++k) bar.dynamics.step({});
  const double position = bar.dynamics.displacements()[0].x(), speed = bar.dynamics.velocities()[0].x() / w;
  EXPECT_NEAR(std::hypot(position, speed) / 1e-6, std::pow(1 + w * w * h * h, -10), 0.005);
  EXPECT_NEAR(std::pow(1 + w * w * h * h, -10), 0.39, 0.005);
}

// An object that served other bodies gives the bits of a new one.
TEST(Dynamics, ReusedObjectsGiveTheSameBits) {
  ElasticDynamics reused;
  for (const uint64_t seed : {1, 2, 3, 1}) {
    const geometry::TetMesh mesh = blockMesh({uint32_t(seed), 2, 3}, {0.1, 0.1, 0.1}, 0.2, seed);
    ElasticDynamics fresh;
    const auto forces = forcesOn(mesh, Vec3(0.03, 0.05, 0.1), Vec3(0, 0, -2e4));
    for (ElasticDynamics* dynamics : {&reused, &fresh}) {
      dynamics->setBody(mesh, kGlass);
      for (const double step : {2e-6, 3e-6}) {
        dynamics->prepare({.step = step});
        for (int k = 0; k < 10; ++k) dynamics->step(forces);
      }
    }
    for (size_t i = 0; i < mesh.positions.size(); ++i)
      ASSERT_EQ(reused.displacements()[i], fresh.displacements()[i]);
  }
}

TEST(Dynamics, SameBitsForAnyNumberOfThreads) {
  const geometry::TetMesh mesh = blockMesh({10, 10, 10}, {0.1, 0.1, 0.1}, 0.2, 1);
  std::vector<Vec3> reference;
  for (const unsigned threads : {1u, 2u, 4u}) {
    const ThreadLimit limit(threads);
    ElasticDynamics dynamics;
    dynamics.setBody(mesh, kGlass);
    dynamics.prepare({.step = 2e-6, .beta = 1e-6});
    const auto forces = forcesOn(mesh, Vec3(0.03, 0.05, 0.1), Vec3(0, 0, -2e4));
    for (int k = 0; k < 5; ++k) dynamics.step(forces);
    if (reference.empty()) reference.assign(dynamics.displacements().begin(), dynamics.displacements().end());
    for (size_t i = 0; i < reference.size(); ++i) ASSERT_EQ(dynamics.displacements()[i], reference[i]);
  }
}

TEST(Dynamics, RefusesBadInput) {
  const geometry::TetMesh mesh = blockMesh({1, 1, 1}, {1, 1, 1});
  ElasticDynamics dynamics;
  dynamics.setBody(mesh, kGlass);
  EXPECT_THROW(dynamics.step({}), Error);
  EXPECT_THROW(dynamics.prepare({.step = 0}), Error);
  EXPECT_THROW(dynamics.prepare({.step = std::nan("")}), Error);
  EXPECT_THROW(dynamics.prepare({.step = 1, .alpha = -1}), Error);
  EXPECT_THROW(dynamics.prepare({.step = 1, .beta = -1}), Error);
  dynamics.prepare({.step = 1e-5});
  const std::vector<NodalForce> wrong{{50, Vec3::UnitX()}};
  EXPECT_THROW(dynamics.step(wrong), Error);
  EXPECT_THROW(dynamics.setState({}, {}), Error);
  EXPECT_THROW(dynamics.setBody(mesh, {1e9, 0.5, 1000}), Error);
}

}  // namespace sunder::fem
