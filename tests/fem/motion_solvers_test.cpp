// How steps are solved: Newton's order, solvers beside each other, terms with unknowns of their own.
#include "sunder/fem/motion/motion.h"
#include "sunder/geometry/tet_mesh.h"

#include "motion_cases.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sunder::fem {

namespace {

// A point mass with one block, how far it moves in the step, on a spring without length to a weighted mean of
// vertices.
class SpringToMass final : public StepTerm {
 public:
  SpringToMass(double mass, double stiffness, const Vec3& place, std::vector<uint32_t> vertices,
               std::vector<double> shares)
      : position(place),
        mass_(mass),
        stiffness_(stiffness),
        vertices_(std::move(vertices)),
        shares_(std::move(shares)) {}

  uint32_t ownBlocks() const override { return 1; }
  void begin(const StepStart& start, std::span<Vec3> own) override {
    h_ = start.h;
    row_ = start.firstRow;
    own[0] = h_ * velocity;
  }
  double energy(std::span<const Vec3> x) const override {
    return 0.5 * mass_ / (h_ * h_) * (x[row_] - h_ * velocity).squaredNorm() +
           0.5 * stiffness_ * gap(x).squaredNorm();
  }
  void addGradient(std::span<const Vec3> x, std::span<Vec3> gradient) const override {
    const Vec3 force = stiffness_ * gap(x);
    for (size_t i = 0; i < shares_.size(); ++i) gradient[vertices_[i]] += shares_[i] * force;
    gradient[row_] += mass_ / (h_ * h_) * (x[row_] - h_ * velocity) - force;
  }
  void addCurvature(std::span<const Vec3>, BlockMatrix&, std::span<Mat3> diagonal,
                    OuterTerms& outer) const override {
    diagonal[row_] += mass_ / (h_ * h_) * Mat3::Identity();
    for (int k = 0; k < 3; ++k) {
      std::vector<uint32_t> rows = vertices_;
      std::vector<Vec3> blocks;
      for (const double share : shares_) blocks.push_back(share * Vec3::Unit(k));
      rows.push_back(row_);
      blocks.push_back(-Vec3::Unit(k));
      outer.add(stiffness_, rows, blocks);
    }
  }
  void end(std::span<const Vec3> x, std::span<Vec3>) override {
    velocity += h_ / mass_ * stiffness_ * gap(x);
    position += h_ * velocity;
  }

  Vec3 position, velocity = Vec3::Zero();

 private:
  Vec3 gap(std::span<const Vec3> x) const {
    Vec3 mean = Vec3::Zero();
    for (size_t i = 0; i < shares_.size(); ++i) mean += shares_[i] * x[vertices_[i]];
    return mean - position - x[row_];
  }

  double mass_, stiffness_, h_ = 0;
  uint32_t row_ = 0;
  std::vector<uint32_t> vertices_;
  std::vector<double> shares_;
};

// To the centre of mass: two masses on a spring, whatever the solid is.
SpringToMass springToCentre(const MovingSolid& body, double mass, double stiffness, const Vec3& place) {
  std::vector<uint32_t> vertices;
  std::vector<double> shares;
  double total = 0;
  for (const double m : body.solid.masses()) total += m;
  for (uint32_t i = 0; i < body.motion.vertices(); ++i) {
    vertices.push_back(i);
    shares.push_back(body.solid.masses()[i] / total);
  }
  return {mass, stiffness, place, vertices, shares};
}

// To the middle of a tetrahedron.
SpringToMass springToTet(const MovingSolid& body, size_t tet, double mass, double stiffness,
                         const Vec3& place) {
  const geometry::Tetrahedron& corners = body.mesh.tets[tet];
  return {mass, stiffness, place, {corners.begin(), corners.end()}, {0.25, 0.25, 0.25, 0.25}};
}

// A wall at y = 0 with stiffness, for each vertex below it, in two rounds: the second with what the first has
// left as a force (augmented Lagrangian).
class Floor final : public StepTerm {
 public:
  Floor(const Motion& motion, double stiffness, uint32_t rounds)
      : stiffness_(stiffness), rounds_(rounds), forces_(motion.vertices(), 0) {}

  void begin(const StepStart&, std::span<Vec3>) override { std::fill(forces_.begin(), forces_.end(), 0.0); }
  double energy(std::span<const Vec3> x) const override {
    double sum = 0;
    for (size_t i = 0; i < forces_.size(); ++i) sum += 0.5 / stiffness_ * push(x[i], i) * push(x[i], i);
    return sum;
  }
  void addGradient(std::span<const Vec3> x, std::span<Vec3> gradient) const override {
    for (size_t i = 0; i < forces_.size(); ++i) gradient[i].y() -= push(x[i], i);
  }
  void addCurvature(std::span<const Vec3> x, BlockMatrix&, std::span<Mat3> diagonal,
                    OuterTerms&) const override {
    for (size_t i = 0; i < forces_.size(); ++i)
      if (push(x[i], i) > 0) diagonal[i](1, 1) += stiffness_;
  }
  bool update(std::span<const Vec3> x, uint32_t round) override {
    for (size_t i = 0; i < forces_.size(); ++i) forces_[i] = push(x[i], i);
    return round < rounds_;
  }

 private:
  double push(const Vec3& x, size_t i) const { return std::max(0.0, forces_[i] - stiffness_ * x.y()); }

  double stiffness_;
  uint32_t rounds_;
  std::vector<double> forces_;
};

}  // namespace

// Residuals of one step, with ever more iterations allowed: each is about the square of the one before.
TEST(MotionSolvers, NewtonIsQuadratic) {
  for (const ElasticModel model :
       {ElasticModel::Corotated, ElasticModel::SaintVenantKirchhoff, ElasticModel::NeoHookean}) {
    std::vector<double> residuals;
    for (uint32_t most = 1; most <= 12; ++most) {
      MotionSettings settings;
      settings.tolerance = 1e-13;
      settings.mostIterations = most;
      settings.solver = MotionSolver::Cholesky;
      MovingSolid body(blockMesh({6, 2, 2}, {1, 0.4, 0.4}, 0.2, 3), soft(1e5, 0.3, model), settings);
      const std::vector<Pin> pins = body.pins([](const Vec3& x) { return x.x() == 0; });
      Loads loads;
      loads.gravity = Vec3(0, -30, 10);
      loads.pins = pins;
      residuals.push_back(body.motion.step(0.1, {}, loads).residual);
    }
    // Pairs in the range where neither the start nor rounding decides.
    int pairs = 0;
    for (size_t k = 1; k < residuals.size(); ++k)
      if (residuals[k - 1] < 1e-2 && residuals[k - 1] > 1e-7 && residuals[k] > 1e-13) {
        EXPECT_LT(residuals[k], 100 * residuals[k - 1] * residuals[k - 1]) << int(model) << " " << k;
        ++pairs;
      }
    EXPECT_GE(pairs, 1) << int(model);
    EXPECT_LT(residuals.back(), 1e-10) << int(model);
  }
}

// With unknowns of terms, inside and outside the pattern, and with averaged volumes.
TEST(MotionSolvers, AllAgree) {
  for (const double poisson : {0.3, 0.49}) {
    std::vector<std::vector<Vec3>> ends;
    for (const MotionSolver solver : {MotionSolver::Auto, MotionSolver::Cholesky, MotionSolver::BlockJacobi,
                                      MotionSolver::IncompleteCholesky}) {
      MotionSettings settings = exactly();
      settings.solver = solver;
      MovingSolid body(blockMesh({5, 5, 5}, {1, 1, 1}, 0.2, 3), soft(1e6, poisson), settings);
      const std::vector<Pin> pins = body.pins([](const Vec3& x) { return x.x() == 0; });
      Loads loads;
      loads.gravity = Vec3(0, -100, 0);
      loads.pins = pins;
      SpringToMass spring = springToCentre(body, 50, 1e5, Vec3(1, 1, 1));
      SpringToMass other = springToTet(body, 700, 5, 1e6, Vec3(2, 1, 1));
      StepTerm* const terms[]{&spring, &other};
      for (int k = 0; k < 5; ++k) {
        const StepReport report = body.motion.step(1.0 / 60, terms, loads);
        EXPECT_TRUE(report.converged) << name(solver) << " " << report.residual;
        EXPECT_LE(report.iterations, 8u) << name(solver);
      }
      ends.emplace_back(body.motion.positions().begin(), body.motion.positions().end());
      for (size_t i = 0; i < ends[0].size(); ++i)
        ASSERT_LT((ends.back()[i] - ends[0][i]).norm(), 1e-8) << name(solver);
    }
  }
}

// A jelly that falls on a floor: volumes hardly change, and steps take few iterations.
TEST(MotionSolvers, NearlyIncompressibleSolidsConverge) {
  for (const ElasticModel model : {ElasticModel::Corotated, ElasticModel::NeoHookean}) {
    MovingSolid body(blockMesh({4, 4, 4}, {1, 1, 1}, 0.2, 3), soft(2e4, 0.49, model));
    Floor floor(body.motion, 1e5, 1);
    StepTerm* const terms[]{&floor};
    Loads loads;
    loads.gravity = Vec3(0, -9.81, 0);
    std::vector<Vec3> v(body.motion.vertices(), Vec3(0, -3, 0));
    body.motion.setState(body.mesh.positions, v);
    double iterations = 0;
    for (int k = 0; k < 60; ++k) {
      const StepReport report = body.motion.step(1.0 / 60, terms, loads);
      EXPECT_TRUE(report.converged) << int(model) << " " << k << " " << report.residual;
      iterations += report.iterations;
    }
    EXPECT_LT(iterations / 60, 6);
    double volume = 0;
    for (const geometry::Tetrahedron& tet : body.mesh.tets) {
      const auto x = body.motion.positions();
      volume += geometry::signedVolume(x[tet[0]], x[tet[1]], x[tet[2]], x[tet[3]]);
    }
    EXPECT_NEAR(volume, 1, 0.03);
  }
}

// Implicit Euler of two masses on a spring: the distance follows s1 = (s0 + h s0') / (1 + h^2 k / m), with m
// the reduced mass; momentum is that of the start.
TEST(MotionSolvers, MassOnASpringIsTheClosedForm) {
  for (const double young : {1e4, 1e8}) {
    MovingSolid body(blockMesh({2, 2, 2}, {1, 1, 1}, 0.2, 3), soft(young), exactly());
    const double mass = 300, stiffness = 4e4, h = 1.0 / 60;
    SpringToMass spring = springToCentre(body, mass, stiffness, Vec3(1.5, 0.5, 0.5));
    spring.velocity = Vec3(0, 2, 1);
    StepTerm* const terms[]{&spring};
    const auto centre = [&] {
      double total = 0;
      Vec3 sum = Vec3::Zero();
      for (size_t i = 0; i < body.motion.vertices(); ++i) {
        total += body.solid.masses()[i];
        sum += body.solid.masses()[i] * body.motion.positions()[i];
      }
      return std::pair(total, Vec3(sum / total));
    };
    const auto [total, start] = centre();
    const double reduced = mass * total / (mass + total);
    Vec3 s = start - spring.position, rate = -spring.velocity;
    const Vec3 momentum = mass * spring.velocity;
    for (int k = 0; k < 100; ++k) {
      const Vec3 next = (s + h * rate) / (1 + h * h * stiffness / reduced);
      rate = (next - s) / h;
      s = next;
      ASSERT_TRUE(body.motion.step(h, terms).converged);
      ASSERT_LT((centre().second - spring.position - s).norm(), 1e-7) << k;
      ASSERT_LT((body.motion.momentum() + mass * spring.velocity - momentum).norm(), 1e-10 * momentum.norm());
    }
  }
}

// At the tolerance of scenes, where the mass pulls at one tetrahedron: what the solid gains the mass loses.
TEST(MotionSolvers, TermsAndSolidsTradeMomentumExactly) {
  for (const MotionSolver solver :
       {MotionSolver::Cholesky, MotionSolver::BlockJacobi, MotionSolver::IncompleteCholesky}) {
    MotionSettings settings;
    settings.solver = solver;
    MovingSolid body(blockMesh({3, 3, 3}, {1, 1, 1}, 0.2, 3), soft(1e5), settings);
    SpringToMass spring = springToTet(body, 5, 300, 1e5, Vec3(-0.5, 0.3, 0.2));
    spring.velocity = Vec3(-3, 2, 1);
    StepTerm* const terms[]{&spring};
    const Vec3 momentum = 300 * spring.velocity;
    for (int k = 0; k < 60; ++k) {
      const StepReport report = body.motion.step(1.0 / 60, terms);
      ASSERT_TRUE(report.converged) << name(solver) << " " << k << " " << report.residual;
      if (solver == MotionSolver::Cholesky) {
        EXPECT_EQ(report.solverIterations, 0u);  // by the Schur complement
      }
      ASSERT_LT((body.motion.momentum() + 300 * spring.velocity - momentum).norm(), 1e-10 * momentum.norm());
    }
    EXPECT_GT(body.motion.momentum().norm(), 0.1 * momentum.norm());
  }
}

// A block on a compliant floor sinks by its weight over the stiffness; further rounds take that away.
TEST(MotionSolvers, RoundsOfATermAreMade) {
  for (const uint32_t rounds : {1u, 4u}) {
    MovingSolid body(blockMesh({2, 2, 2}, {1, 1, 1}), soft(1e6), exactly());
    Floor floor(body.motion, 1e4, rounds);
    StepTerm* const terms[]{&floor};
    Loads loads;
    loads.gravity = Vec3(0, -9.81, 0);
    StepReport report;
    for (int k = 0; k < 100; ++k) {
      report = body.motion.step(1.0 / 30, terms, loads);
      EXPECT_TRUE(report.converged);
      EXPECT_EQ(report.rounds, rounds);
    }
    const double sunk = -body.mean([](const Vec3& x) { return x.y() == 0; }).y();
    const double first = 9810 / (9 * 1e4);
    if (rounds == 1)
      EXPECT_NEAR(sunk, first, 0.1 * first);
    else
      EXPECT_LT(sunk, 0.5 * first);
  }
}

// Where rounds run out the report says so.
TEST(MotionSolvers, SaysWhereLimitsWereMet) {
  MotionSettings settings = exactly();
  settings.mostRounds = 2;
  MovingSolid body(blockMesh({2, 2, 2}, {1, 1, 1}), soft(1e6), settings);
  Floor floor(body.motion, 1e4, 5);
  StepTerm* const terms[]{&floor};
  const StepReport report = body.motion.step(1.0 / 30, terms);
  EXPECT_EQ(report.rounds, 2u);
  EXPECT_FALSE(report.converged);

  settings = exactly();
  settings.mostIterations = 1;
  MovingSolid bent(blockMesh({2, 2, 2}, {1, 1, 1}), soft(1e4), settings);
  std::vector<Vec3> x = bent.mesh.positions;
  for (Vec3& p : x) p = Vec3(p.y(), -0.5 * p.x(), p.z());
  bent.motion.setState(x, std::vector<Vec3>(x.size(), Vec3::Zero()));
  const StepReport spent = bent.motion.step(1.0 / 30);
  EXPECT_FALSE(spent.converged);
  EXPECT_EQ(spent.iterations, 1u);
  EXPECT_GT(spent.residual, settings.tolerance);
}

}  // namespace sunder::fem
