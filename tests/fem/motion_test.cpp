#include "sunder/fem/motion/motion.h"

#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/random.h"

#include "motion_cases.h"

#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace sunder::fem {

namespace {

const Vec3 kGravity(0, -9.81, 0);

// Squeezed along y and turning.
void excite(MovingSolid& body, const Vec3& velocity, const Vec3& turn, double squeeze = 0.1) {
  std::vector<Vec3> x = body.mesh.positions;
  for (Vec3& p : x) p.y() *= 1 - squeeze;
  body.motion.setState(x, rigidVelocities(x, Vec3(0.5, 0.5, 0.5), velocity, turn));
}

}  // namespace

TEST(Motion, FreeFallIsTheSchemesParabola) {
  for (const MotionScheme scheme : {MotionScheme::ImplicitEuler, MotionScheme::ImplicitMidpoint}) {
    MotionSettings settings;
    settings.scheme = scheme;
    MovingSolid body(blockMesh({3, 3, 3}, {1, 1, 1}, 0.2, 1), soft(1e5), settings);
    const Vec3 velocity(1, 5, -2);
    body.motion.setState(body.mesh.positions, std::vector<Vec3>(body.motion.vertices(), velocity));
    const double h = 1.0 / 60;
    const int steps = 60;
    Loads loads;
    loads.gravity = kGravity;
    for (int k = 0; k < steps; ++k) EXPECT_TRUE(body.motion.step(h, {}, loads).converged);
    const double t = steps * h, late = scheme == MotionScheme::ImplicitEuler ? t * (t + h) / 2 : t * t / 2;
    for (size_t i = 0; i < body.motion.vertices(); ++i) {
      const Vec3 exact = body.mesh.positions[i] + t * velocity + late * kGravity;
      EXPECT_LT((body.motion.positions()[i] - exact).norm(), 1e-10);
      EXPECT_LT((body.motion.velocities()[i] - velocity - t * kGravity).norm(), 1e-10);
    }
  }
}

// At the tolerance of scenes, with every solver and model.
TEST(Motion, MomentumOfFreeBodiesIsKept) {
  for (const MotionScheme scheme : {MotionScheme::ImplicitEuler, MotionScheme::ImplicitMidpoint})
    for (const ElasticModel model : kModels)
      for (const MotionSolver solver :
           {MotionSolver::Cholesky, MotionSolver::BlockJacobi, MotionSolver::IncompleteCholesky}) {
        MotionSettings settings;
        settings.scheme = scheme;
        settings.solver = solver;
        settings.stiffnessDamping = 1e-3;
        MovingSolid body(blockMesh({2, 3, 2}, {1, 1, 1}, 0.2, 3), soft(1e5, 0.3, model), settings);
        excite(body, Vec3(3, 1, -2), Vec3(1, -2, 3));
        const Vec3 before = body.motion.momentum();
        for (int k = 0; k < 20; ++k) body.motion.step(1.0 / 60);
        EXPECT_LT((body.motion.momentum() - before).norm(), 1e-10 * before.norm());
      }
}

// Implicit midpoint keeps it for forces without moment: rotations turned into the search's tolerance only.
TEST(Motion, MidpointKeepsAngularMomentum) {
  MovingSolid body(blockMesh({2, 3, 2}, {1, 1, 1}, 0.2, 3), soft(1e5),
                   exactly(MotionScheme::ImplicitMidpoint));
  excite(body, Vec3(3, 1, -2), Vec3(1, -2, 3));
  const Vec3 before = body.motion.angularMomentum();
  for (int k = 0; k < 60; ++k) ASSERT_TRUE(body.motion.step(1.0 / 120).converged);
  EXPECT_LT((body.motion.angularMomentum() - before).norm(), 1e-8 * before.norm());
}

// A spinning body under implicit Euler loses angular momentum with the step, never gains.
TEST(Motion, EulerLosesAngularMomentumWithTheStep) {
  std::vector<double> lost;
  for (const int steps : {30, 60, 120}) {
    MovingSolid body(blockMesh({2, 2, 2}, {1, 1, 1}), soft(1e6), exactly());
    const Vec3 centre(0.5, 0.5, 0.5);
    body.motion.setState(body.mesh.positions,
                         rigidVelocities(body.mesh.positions, centre, Vec3::Zero(), Vec3(0, 0, 2)));
    const double before = body.motion.angularMomentum(centre).z();
    for (int k = 0; k < steps; ++k) body.motion.step(1.0 / steps);
    lost.push_back(1 - body.motion.angularMomentum(centre).z() / before);
    EXPECT_GT(lost.back(), 0);
  }
  EXPECT_NEAR(lost[0] / lost[1], 2, 0.3);
  EXPECT_NEAR(lost[1] / lost[2], 2, 0.3);
}

TEST(Motion, PinsAreMetExactly) {
  for (const MotionSolver solver :
       {MotionSolver::Cholesky, MotionSolver::BlockJacobi, MotionSolver::IncompleteCholesky}) {
    MotionSettings settings;
    settings.solver = solver;
    MovingSolid body(blockMesh({4, 2, 2}, {2, 1, 1}, 0.2, 5), soft(1e5), settings);
    std::vector<Pin> pins = body.pins([](const Vec3& x) { return x.x() == 0; });
    const std::vector<Pin> moving = body.pins([](const Vec3& x) { return x.x() == 2; });
    const size_t still = pins.size();
    pins.insert(pins.end(), moving.begin(), moving.end());
    Loads loads;
    loads.gravity = kGravity;
    for (int k = 1; k <= 20; ++k) {
      for (size_t p = still; p < pins.size(); ++p)
        pins[p].target = moving[p - still].target + Vec3(0.02 * k, 0.01 * k, 0);
      loads.pins = pins;
      EXPECT_TRUE(body.motion.step(1.0 / 60, {}, loads).converged);
      for (const Pin& pin : pins) EXPECT_EQ(body.motion.positions()[pin.vertex], pin.target);
    }
    EXPECT_NEAR(body.motion.velocities()[pins.back().vertex].x(), 0.02 * 60, 1e-10);
    EXPECT_EQ(body.motion.velocities()[pins.front().vertex], Vec3::Zero());
  }
}

// What holds a resting body is its weight.
TEST(Motion, ReactionsAreTheWeight) {
  MovingSolid body(blockMesh({3, 3, 3}, {1, 1, 1}, 0.2, 5), soft(1e6), exactly());
  const std::vector<Pin> pins = body.pins([](const Vec3& x) { return x.y() == 1; });
  Loads loads;
  loads.gravity = kGravity;
  loads.pins = pins;
  ASSERT_TRUE(body.motion.step(kStaticStep, {}, loads).converged);
  Vec3 sum = Vec3::Zero();
  for (const Vec3& r : body.motion.reactions()) sum += r;
  EXPECT_NEAR(sum.y(), 9810, 1e-5);
  EXPECT_NEAR(sum.x(), 0, 1e-5);
}

// Single directions can be held: a body on frictionless walls slides along them.
TEST(Motion, RollersHoldOneDirection) {
  MovingSolid body(blockMesh({2, 2, 2}, {1, 1, 1}), soft(1e6), exactly());
  const std::vector<Pin> pins = body.pins([](const Vec3& x) { return x.y() == 0; }, {false, true, false});
  Loads loads;
  loads.gravity = Vec3(2, -9.81, 0);
  loads.pins = pins;
  for (int k = 0; k < 30; ++k) EXPECT_TRUE(body.motion.step(1.0 / 30, {}, loads).converged);
  EXPECT_NEAR(body.motion.momentum().x(), 2000, 1e-4);
  for (const Pin& pin : pins) EXPECT_EQ(body.motion.positions()[pin.vertex].y(), 0);
}

TEST(Motion, ResumesBitForBit) {
  for (const MotionScheme scheme : {MotionScheme::ImplicitEuler, MotionScheme::ImplicitMidpoint}) {
    MotionSettings settings;
    settings.scheme = scheme;
    const geometry::TetMesh mesh = blockMesh({3, 3, 3}, {1, 1, 1}, 0.2, 7);
    MovingSolid whole(mesh, soft(1e5), settings), resumed(mesh, soft(1e5), settings);
    excite(whole, Vec3(1, 0, 0), Vec3(1, 2, 3));
    Loads loads;
    loads.gravity = kGravity;
    for (int k = 0; k < 5; ++k) whole.motion.step(1.0 / 60, {}, loads);
    std::string bytes;
    ByteWriter out(bytes);
    whole.motion.save(out);
    ByteReader in(std::as_bytes(std::span(bytes.data(), bytes.size())), "state");
    resumed.motion.load(in);
    EXPECT_TRUE(in.atEnd());
    EXPECT_EQ(resumed.motion.hash(), whole.motion.hash());
    for (int k = 0; k < 5; ++k) {
      whole.motion.step(1.0 / 60, {}, loads);
      resumed.motion.step(1.0 / 60, {}, loads);
      ASSERT_EQ(resumed.motion.hash(), whole.motion.hash());
    }
    EXPECT_EQ(resumed.motion.steps(), 10u);
  }
}

TEST(Motion, SameBitsForAnyNumberOfThreads) {
  for (const MotionSolver solver :
       {MotionSolver::Cholesky, MotionSolver::BlockJacobi, MotionSolver::IncompleteCholesky}) {
    uint64_t reference = 0;
    for (const unsigned threads : {1u, 2u, 4u}) {
      const ThreadLimit limit(threads);
      MotionSettings settings;
      settings.solver = solver;
      settings.stiffnessDamping = 1e-3;
      MovingSolid body(blockMesh({9, 9, 9}, {1, 1, 1}, 0.2, 1), soft(1e5, 0.3, ElasticModel::NeoHookean),
                       settings);
      excite(body, Vec3(1, 0, 0), Vec3(1, 2, 3));
      for (int k = 0; k < 2; ++k) body.motion.step(1.0 / 60);
      if (reference == 0) reference = body.motion.hash();
      EXPECT_EQ(body.motion.hash(), reference) << threads;
    }
  }
}

// A bar is torn in two on its way: momentum and energy stay as they are, and each part goes on by itself.
TEST(Motion, TearsKeepMomentumAndGoOn) {
  MovingSolid body(blockMesh({4, 1, 1}, {4, 1, 1}), soft(1e5));
  excite(body, Vec3(1, 2, 3), Vec3(0, 1, 2));
  for (int k = 0; k < 5; ++k) body.motion.step(1.0 / 60);
  const Vec3 momentum = body.motion.momentum();
  const double kinetic = body.motion.kineticEnergy(), elastic = body.motion.elasticEnergy();
  EXPECT_EQ(body.motion.partCount(), 1u);

  std::vector<geometry::Tetrahedron> tets(body.solid.tets().begin(), body.solid.tets().end());
  std::vector<uint32_t> sources;
  const size_t before = body.motion.vertices();
  std::vector<uint32_t> copyOf(before, kNoIndex);
  for (size_t t = 0; t < tets.size(); ++t) {
    double right = 0;
    for (const uint32_t v : tets[t]) right = std::max(right, body.mesh.positions[v].x());
    if (right <= 2) continue;
    for (uint32_t& v : tets[t]) {
      if (body.mesh.positions[v].x() != 2) continue;
      if (copyOf[v] == kNoIndex) {
        copyOf[v] = static_cast<uint32_t>(before + sources.size());
        sources.push_back(v);
      }
      v = copyOf[v];
    }
  }
  ASSERT_EQ(sources.size(), 4u);
  const std::vector<Vec3> x(body.motion.positions().begin(), body.motion.positions().end());
  body.motion.setCorners(tets, sources);
  EXPECT_EQ(body.motion.vertices(), before + 4);
  EXPECT_EQ(body.motion.partCount(), 2u);
  EXPECT_EQ(body.motion.positions()[before], x[sources[0]]);
  EXPECT_LT((body.motion.momentum() - momentum).norm(), 1e-12 * momentum.norm());
  EXPECT_NEAR(body.motion.kineticEnergy(), kinetic, 1e-12 * kinetic);
  EXPECT_NEAR(body.motion.elasticEnergy(), elastic, 1e-12 * elastic);

  std::string bytes;
  ByteWriter out(bytes);
  body.motion.save(out);
  MovingSolid resumed(body.mesh, soft(1e5));
  ByteReader in(std::as_bytes(std::span(bytes.data(), bytes.size())), "state");
  resumed.motion.load(in);
  for (int k = 0; k < 10; ++k) {
    EXPECT_TRUE(body.motion.step(1.0 / 60).converged);
    resumed.motion.step(1.0 / 60);
    ASSERT_EQ(resumed.motion.hash(), body.motion.hash());
  }
  EXPECT_LT((body.motion.momentum() - momentum).norm(), 1e-10 * momentum.norm());
  // A vertex of the cut and its copy have gone apart.
  EXPECT_GT((body.motion.positions()[before] - body.motion.positions()[sources[0]]).norm(), 1e-4);
}

// Bodies thrown inside out or squeezed flat come to an end without numbers that are not finite.
TEST(Motion, EndsAndStaysFiniteWhateverTheStart) {
  RandomStream random(4);
  for (const ElasticModel model : kModels)
    for (const double young : {1e3, 1e9}) {
      MovingSolid body(blockMesh({2, 2, 2}, {1, 1, 1}), soft(young, 0.45, model));
      std::vector<Vec3> x = body.mesh.positions;
      for (Vec3& p : x) p += random.pointIn({Vec3::Constant(-1), Vec3::Constant(1)});
      body.motion.setState(x, std::vector<Vec3>(x.size(), Vec3::Zero()));
      for (int k = 0; k < 10; ++k) {
        const StepReport report = body.motion.step(1.0 / 30);
        EXPECT_LE(report.iterations, body.motion.settings().mostIterations);
      }
      for (const Vec3& p : body.motion.positions()) EXPECT_TRUE(p.allFinite());
      std::vector<Vec3> flat = body.mesh.positions;
      for (Vec3& p : flat) p.z() = 0;
      body.motion.setState(flat, std::vector<Vec3>(x.size(), Vec3::Zero()));
      for (int k = 0; k < 10; ++k) body.motion.step(1.0 / 30);
      for (const Vec3& p : body.motion.positions()) EXPECT_TRUE(p.allFinite());
    }
}

TEST(Motion, TractionsAddUp) {
  const geometry::TetMesh mesh = blockMesh({2, 2, 2}, {1, 2, 3}, 0.2);
  std::vector<uint8_t> on;
  for (const Vec3& x : mesh.positions) on.push_back(x.y() == 2);
  std::vector<NodalForce> forces;
  EXPECT_NEAR(addTraction(mesh, on, Vec3(0, 10, 0), forces), 3, 1e-12);
  Vec3 sum = Vec3::Zero(), moment = Vec3::Zero();
  for (const NodalForce& f : forces) {
    sum += f.force;
    moment += mesh.positions[f.vertex].cross(f.force);
  }
  EXPECT_LT((sum - Vec3(0, 30, 0)).norm(), 1e-12);
  EXPECT_LT((moment - Vec3(0.5, 2, 1.5).cross(sum)).norm(), 1e-11);
  EXPECT_THROW(addTraction(mesh, std::vector<uint8_t>(3), Vec3::UnitX(), forces), Error);
  EXPECT_THROW(addTraction(geometry::TriMesh{{Vec3::Zero()}, {{0, 1, 2}}}, Vec3::UnitX(), forces), Error);
}

// Two loose cubes; damping by vertex is what each would have by itself with these settings.
TEST(Motion, PartsHaveADampingEach) {
  geometry::TetMesh two = blockMesh({2, 2, 2}, {1, 1, 1});
  const geometry::TetMesh one = two;
  const auto n = static_cast<uint32_t>(one.positions.size());
  for (const Vec3& p : one.positions) two.positions.push_back(p + Vec3(5, 0, 0));
  for (const geometry::Tetrahedron& t : one.tets)
    two.tets.push_back({t[0] + n, t[1] + n, t[2] + n, t[3] + n});
  MovingSolid both(two, soft(1e5, 0.45), exactly());
  std::vector<double> byMass(2 * n, 0), byStiffness(2 * n, 0);
  std::fill(byMass.begin() + n, byMass.end(), 3);
  std::fill(byStiffness.begin() + n, byStiffness.end(), 0.02);
  Loads loads;
  loads.massDamping = byMass;
  loads.stiffnessDamping = byStiffness;
  std::vector<Vec3> velocities;
  for (const Vec3& p : one.positions) velocities.push_back(Vec3(p.y(), p.x() * p.z(), 1));
  std::vector<Vec3> twice = velocities;
  twice.insert(twice.end(), velocities.begin(), velocities.end());
  both.motion.setState(two.positions, twice);
  for (const bool damped : {false, true}) {
    MotionSettings settings = exactly();
    settings.massDamping = damped ? 3 : 0;
    settings.stiffnessDamping = damped ? 0.02 : 0;
    MovingSolid alone(one, soft(1e5, 0.45), settings);
    alone.motion.setState(one.positions, velocities);
    MovingSolid again(two, soft(1e5, 0.45), exactly());
    again.motion.setState(two.positions, twice);
    for (int i = 0; i < 10; ++i) {
      alone.motion.step(0.01);
      again.motion.step(0.01, {}, loads);
    }
    const uint32_t first = damped ? n : 0;
    for (uint32_t v = 0; v < n; ++v) {
      const Vec3 way = again.motion.positions()[first + v] - two.positions[first + v];
      EXPECT_NEAR((way - (alone.motion.positions()[v] - one.positions[v])).norm(), 0, 1e-8) << v;
    }
  }
  byMass[3] = -1;
  EXPECT_THROW(both.motion.step(0.01, {}, loads), Error);
  loads.massDamping = std::span(byMass).first(3);
  EXPECT_THROW(both.motion.step(0.01, {}, loads), Error);
}

TEST(Motion, RefusesBadInput) {
  MovingSolid body(blockMesh({1, 1, 1}, {1, 1, 1}), soft(1e5));
  Motion& motion = body.motion;
  Motion unset;
  EXPECT_THROW(unset.step(0.1), Error);
  EXPECT_THROW(motion.step(0), Error);
  EXPECT_THROW(motion.step(std::nan("")), Error);
  EXPECT_THROW(motion.setState({}, {}), Error);
  MotionSettings settings;
  settings.tolerance = 0;
  EXPECT_THROW(motion.setSettings(settings), Error);
  settings = {};
  settings.stiffnessDamping = -1;
  EXPECT_THROW(motion.setSettings(settings), Error);
  EXPECT_THROW(motionSolver("best"), Error);
  for (const std::string_view solver : {"auto", "cholesky", "jacobi", "incomplete"})
    EXPECT_EQ(name(motionSolver(solver)), solver);

  Loads loads;
  const std::vector<NodalForce> wrong{{99, Vec3::UnitX()}};
  loads.forces = wrong;
  EXPECT_THROW(motion.step(0.1, {}, loads), Error);
  loads = {};
  const std::vector<Pin> twice{{0, Vec3::Zero()}, {0, Vec3::Zero()}}, beyond{{99, Vec3::Zero()}};
  loads.pins = twice;
  EXPECT_THROW(motion.step(0.1, {}, loads), Error);
  loads.pins = beyond;
  EXPECT_THROW(motion.step(0.1, {}, loads), Error);
  loads = {};
  loads.gravity.y() = std::numeric_limits<double>::infinity();
  EXPECT_THROW(motion.step(0.1, {}, loads), Error);
  loads = {};
  const std::vector<Vec3> few(2, Vec3::Zero());
  loads.accelerations = few;
  EXPECT_THROW(motion.step(0.1, {}, loads), Error);

  const uint64_t before = motion.hash();
  const std::vector<NodalForce> huge{{3, Vec3(1e300, 1e300, 0)}};
  loads = {};
  loads.forces = huge;
  EXPECT_THROW(motion.step(0.1, {}, loads), Error);
  EXPECT_EQ(motion.hash(), before);
  EXPECT_THROW(motion.setCorners(body.solid.tets(), std::vector<uint32_t>{99}), Error);

  std::string bytes;
  ByteWriter out(bytes);
  motion.save(out);
  for (size_t length = 0; length < bytes.size(); length += 7) {
    MovingSolid other(body.mesh, soft(1e5));
    ByteReader in(std::as_bytes(std::span(bytes.data(), length)), "state");
    EXPECT_THROW(other.motion.load(in), Error) << length;
  }
  MovingSolid other(blockMesh({2, 1, 1}, {1, 1, 1}), soft(1e5));
  ByteReader in(std::as_bytes(std::span(bytes.data(), bytes.size())), "state");
  EXPECT_THROW(other.motion.load(in), Error);
}

}  // namespace sunder::fem
