#include "sunder/soft/tear/tear.h"

#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/base/random.h"
#include "sunder/fem/dynamics.h"

#include "fem/fem_cases.h"

#include <cmath>
#include <numbers>
#include <set>

#include <gtest/gtest.h>

namespace sunder::soft {

namespace {

struct Stressed {
  Cage cage;
  fem::SparsePattern pattern;
  std::vector<fem::Element> elements;
  std::vector<Mat3> biot, rotations;

  explicit Stressed(geometry::TetMesh mesh) : cage(makeCage(std::move(mesh))) {
    pattern.build(cage.rest);
    fem::makeElements(cage.rest, {}, elements);
    biot.assign(elements.size(), Mat3::Zero());
    rotations.assign(elements.size(), Mat3::Identity());
  }
  std::vector<Separation> separations() const {
    std::vector<Separation> result(pattern.rows());
    soft::separations(pattern, elements, biot, rotations, result);
    return result;
  }
};

geometry::TetMesh block(uint32_t n, double jitter = 0.2, uint64_t seed = 5) {
  return fem::blockMesh({n, n, n}, Vec3::Ones(), jitter, seed);
}

double volume(const geometry::TetMesh& rest, uint32_t t) {
  const geometry::Tetrahedron& c = rest.tets[t];
  return geometry::signedVolume(rest.positions[c[0]], rest.positions[c[1]], rest.positions[c[2]],
                                rest.positions[c[3]]);
}

// A bar of linear elements that is pulled or pressed at both ends, in steps, and torn on the way.
struct PulledBar {
  static constexpr double kLength = 1, kSide = 0.15;
  static constexpr uint32_t kBoxes = 21;
  fem::ElasticMaterial material{1e9, 0.3, 1000};
  Cage cage = makeCage(fem::blockMesh({kBoxes, 3, 3}, {kLength, kSide, kSide}, 0.2, 3));
  Torn torn{cage};
  std::vector<double> places;  // along the bar at rest, of the vertices that split

  // `pressure` on both ends for the time that a front takes through the bar. Returns the steps until there
  // are two pieces, or 0.
  int pull(double pressure, double strength) {
    const double step = kLength / material.barSpeed() / 40;
    std::vector<Vec3> u(torn.vertices(), Vec3::Zero()), v = u;
    for (int i = 1; i <= 60; ++i) {
      geometry::TetMesh mesh;
      mesh.tets.assign(torn.tets().begin(), torn.tets().end());
      for (const uint32_t origin : torn.origins()) mesh.positions.push_back(cage.rest.positions[origin]);
      fem::ElasticDynamics dynamics;
      dynamics.setBody(mesh, material);
      dynamics.prepare({.step = step});
      dynamics.setState(u, v);
      std::vector<fem::NodalForce> forces;
      for (const double end : {0.0, kLength}) {
        const double sign = end > 0 ? 1 : -1;
        const auto onEnd = [&](const Vec3& x) { return std::abs(x.x() - end) < 1e-9; };
        const auto more = fem::spread(cage.rest, Vec3(sign * pressure * kSide * kSide, 0, 0), onEnd);
        forces.insert(forces.end(), more.begin(), more.end());
      }
      dynamics.step(forces);
      u.assign(dynamics.displacements().begin(), dynamics.displacements().end());
      v.assign(dynamics.velocities().begin(), dynamics.velocities().end());

      std::vector<Mat3> stress, rotations(mesh.tets.size(), Mat3::Identity());
      for (size_t t = 0; t < mesh.tets.size(); ++t) {
        Mat3 gradient = Mat3::Zero();
        for (int k = 0; k < 4; ++k)
          gradient += u[mesh.tets[t][k]] * dynamics.body().elements()[t].gradient[k].transpose();
        stress.push_back(fem::tensor(fem::hooke(material, gradient)));
      }
      std::vector<Separation> separations(mesh.positions.size());
      soft::separations(dynamics.body().pattern(), dynamics.body().elements(), stress, rotations,
                        separations);
      std::vector<Vec3> now = mesh.positions;
      for (size_t k = 0; k < now.size(); ++k) now[k] += u[k];
      const Vec3 before = momentum(dynamics.body().masses(), v);
      const TearOutcome outcome = torn.tear({.strength = strength, .mostSplits = 16}, separations, now);
      for (const uint32_t source : outcome.sources) {
        places.push_back(cage.rest.positions[torn.origins()[source]].x());
        u.push_back(Vec3(u[source]));
        v.push_back(Vec3(v[source]));
      }
      for (size_t k = 0; k < separations.size() && outcome.any(); ++k)
        if (separations[k].stress() > strength) normals.push_back(separations[k].normal);
      if (outcome.any()) {
        geometry::TetMesh after;
        after.tets.assign(torn.tets().begin(), torn.tets().end());
        for (const uint32_t origin : torn.origins()) after.positions.push_back(cage.rest.positions[origin]);
        const fem::ElasticBody body(after, material);
        momentumLost = std::max(momentumLost, (momentum(body.masses(), v) - before).norm());
        double mass = 0;
        for (const double m : body.masses()) mass += m;
        massLost = std::max(massLost, std::abs(mass - material.density * kLength * kSide * kSide));
      }
      if (torn.pieces().count > 1) return i;
    }
    return 0;
  }
  static Vec3 momentum(std::span<const double> masses, std::span<const Vec3> v) {
    Vec3 sum = Vec3::Zero();
    for (size_t k = 0; k < masses.size(); ++k) sum += masses[k] * v[k];
    return sum;
  }
  std::vector<Vec3> normals;
  double momentumLost = 0, massLost = 0;
};

}  // namespace

// The cases that show the signs of the separation tensor.
TEST(Separation, LoadsThatNothingBalancesDoNotSeparate) {
  const Vec3 f(3, -1, 2);
  EXPECT_LT(separationTensor(std::array{f}, {}).norm(), 1e-15);
  EXPECT_LT(separationTensor({}, std::array{f}).norm(), 1e-15);
}

TEST(Separation, OppositeTensionSeparatesAndOppositeCompressionDoesNot) {
  const Vec3 f(3, -1, 2);
  const std::array<Vec3, 2> both{f, Vec3(-f)};
  const Mat3 expected = f * f.transpose() / f.norm();
  EXPECT_LT((separationTensor(both, {}) - expected).norm(), 1e-14);
  EXPECT_LT((separationTensor({}, both) + expected).norm(), 1e-14);
}

TEST(Separation, IsSymmetricAndTurnsWithTheState) {
  RandomStream random(3);
  std::vector<Vec3> tensile, compressive, turnedTensile, turnedCompressive;
  const Mat3 turn = Eigen::AngleAxisd(1.3, Vec3(0.3, -1.1, 0.7).normalized()).toRotationMatrix();
  for (int i = 0; i < 20; ++i) {
    tensile.push_back(random.pointIn({Vec3::Constant(-1), Vec3::Constant(1)}));
    compressive.push_back(random.pointIn({Vec3::Constant(-1), Vec3::Constant(1)}));
    turnedTensile.push_back(turn * tensile.back());
    turnedCompressive.push_back(turn * compressive.back());
  }
  const Mat3 s = separationTensor(tensile, compressive);
  EXPECT_LT((s - s.transpose()).norm(), 1e-14);
  EXPECT_LT((separationTensor(turnedTensile, turnedCompressive) - turn * s * turn.transpose()).norm(), 1e-13);
}

// In one tension the separating stress is that tension, inside and at free boundaries, on any mesh; turned
// bodies tear as bodies that are not turned.
TEST(Separation, IsTheTensionOfAUniformStateOnAnyMesh) {
  for (const uint64_t seed : {1, 2, 3}) {
    Stressed body(block(4, 0.25, seed));
    const Mat3 turn =
        Eigen::AngleAxisd(1.3, Vec3(0.2 * double(seed), 0.5, -0.4).normalized()).toRotationMatrix();
    for (size_t t = 0; t < body.elements.size(); ++t) {
      body.biot[t] = 7e5 * Vec3::UnitX() * Vec3::UnitX().transpose();
      body.rotations[t] = turn;
    }
    const std::vector<Separation> separations = body.separations();
    int seen = 0;
    for (size_t v = 0; v < separations.size(); ++v) {
      const Vec3& x = body.cage.rest.positions[v];
      if (x.x() == 0 || x.x() == 1) continue;  // what pulls at the ends is not in the tetrahedra
      EXPECT_NEAR(separations[v].stress(), 7e5, 1e-5) << x.transpose();
      EXPECT_NEAR(std::abs(separations[v].normal.dot(turn.col(0))), 1, 1e-12);
      ++seen;
    }
    EXPECT_EQ(seen, 75);
    for (Mat3& s : body.biot) s = -s;
    for (const Separation& s : body.separations()) EXPECT_LT(s.stress(), 1e-5);
  }
}

// A plane through a vertex of a block: all of its tetrahedra on one side keep it.
TEST(Tear, SplitsAVertexByAPlane) {
  const Cage cage = makeCage(block(4, 0));
  Torn torn(cage);
  const uint32_t middle = 62;
  ASSERT_EQ(cage.rest.positions[middle], Vec3::Constant(0.5));
  const TearOutcome outcome = torn.split(middle, Vec3::UnitX(), cage.rest.positions);
  EXPECT_EQ(outcome.splits, 1u);
  ASSERT_EQ(outcome.sources, std::vector<uint32_t>{middle});
  for (size_t t = 0; t < torn.tets().size(); ++t)
    for (int k = 0; k < 4; ++k) {
      if (cage.rest.tets[t][k] != middle) {
        EXPECT_EQ(torn.tets()[t][k], cage.rest.tets[t][k]);
        continue;
      }
      double x = 0;
      for (const uint32_t v : cage.rest.tets[t]) x += cage.rest.positions[v].x() / 4;
      EXPECT_EQ(torn.tets()[t][k], x > 0.5 ? middle : 125u);
    }
  EXPECT_NEAR(torn.openArea(), 0.25 / 3, 1e-12);  // of the square around it, one corner of three
  EXPECT_EQ(torn.pieces().count, 1u);
  EXPECT_FALSE(outcome.opened.empty());
  // Everything is on one side already.
  EXPECT_FALSE(torn.split(middle, Vec3::UnitX(),
                          [&] {
                            std::vector<Vec3> now = cage.rest.positions;
                            now.push_back(now[middle]);
                            return now;
                          }())
                   .any());
}

// All nine vertices of the middle plane: two halves, the open area is that of the plane, and only faces of
// the plane are open.
TEST(Tear, PartsABlockInTwo) {
  const Cage cage = makeCage(block(2, 0));
  Torn torn(cage);
  std::vector<Vec3> now = cage.rest.positions;
  for (uint32_t v = 0; v < 27; ++v) {
    if (cage.rest.positions[v].x() != 0.5) continue;
    const TearOutcome outcome = torn.split(v, Vec3::UnitX(), now);
    for (const uint32_t source : outcome.sources) now.push_back(Vec3(now[source]));
    EXPECT_EQ(geometry::validate(torn.change(7, outcome)), "");
  }
  EXPECT_EQ(torn.vertices(), 36u);
  EXPECT_EQ(torn.pieces().count, 2u);
  EXPECT_NEAR(torn.openArea(), 1, 1e-12);
  for (uint32_t t = 0; t < torn.tets().size(); ++t)
    for (int k = 0; k < 4; ++k) {
      bool onPlane = true;
      for (int c = 0; c < 4; ++c)
        onPlane = onPlane && (c == k || cage.rest.positions[cage.rest.tets[t][c]].x() == 0.5);
      EXPECT_EQ((torn.exposed()[t] >> k & 1) != 0, onPlane || cage.neighbours[t][k] == kNoIndex);
      EXPECT_EQ(torn.disagrees(t, k) != 0, onPlane);
    }
}

// Two tetrahedra that share an edge only, after the face between them and a third one has opened.
TEST(Tear, HingesPart) {
  geometry::TetMesh mesh;
  mesh.positions = {{0, 0, -1}, {0, 0, 1}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  mesh.tets = {{0, 1, 2, 3}, {0, 1, 3, 4}};
  geometry::flipInverted(mesh);
  const Cage cage = makeCage(mesh);
  // Vertex 3 is split: the two tetrahedra disagree in one vertex of their face, so the edge 0-1 is a hinge.
  Torn torn(cage);
  const TearOutcome outcome = torn.split(3, Vec3(1, -1, 0).normalized(), mesh.positions);
  EXPECT_EQ(outcome.splits, 1u);
  EXPECT_EQ(outcome.hinges, 2u);
  EXPECT_EQ(torn.vertices(), 8u);
  EXPECT_EQ(torn.disagrees(0, 2 /* opposite to vertex 2, if not flipped */) != 0 || torn.exposed()[0] == 15,
            true);
  std::set<uint32_t> first(torn.tets()[0].begin(), torn.tets()[0].end());
  for (const uint32_t v : torn.tets()[1]) EXPECT_FALSE(first.contains(v));
  Torn hinged(cage);
  EXPECT_EQ(hinged.split(3, Vec3(1, -1, 0).normalized(), mesh.positions, false).sources.size(), 1u);
}

// Random splits until nothing is left to split: numbers of vertices stay below four a tetrahedron, origins
// and corners fit, every tetrahedron keeps its volume at rest, and a state goes through its bytes.
TEST(Tear, ComesApartIntoSingleTetrahedra) {
  const Cage cage = makeCage(block(2));
  Torn torn(cage);
  std::vector<Vec3> now = cage.rest.positions;
  RandomStream random(9);
  uint32_t quiet = 0;
  size_t before = torn.vertices();
  while (quiet < 2000) {
    const uint32_t v = random.nextU32() % static_cast<uint32_t>(torn.vertices());
    const Vec3 normal = random.unitVector();
    const TearOutcome outcome = torn.split(v, normal, now);
    quiet = outcome.any() ? 0 : quiet + 1;
    for (const uint32_t source : outcome.sources) now.push_back(Vec3(now[source]));
    ASSERT_GE(torn.vertices(), before);
    before = torn.vertices();
    ASSERT_EQ(geometry::validate(torn.change(1, outcome)), "");
  }
  EXPECT_EQ(torn.vertices(), 4 * cage.rest.tets.size());
  EXPECT_EQ(torn.pieces().count, cage.rest.tets.size());
  double all = 0;
  for (uint32_t t = 0; t < torn.tets().size(); ++t) {
    for (int k = 0; k < 4; ++k) EXPECT_EQ(torn.origins()[torn.tets()[t][k]], cage.rest.tets[t][k]);
    all += volume(cage.rest, t);
    EXPECT_EQ(torn.exposed()[t], 15);
  }
  EXPECT_NEAR(all, 1, 1e-12);

  std::string bytes;
  ByteWriter writer(bytes);
  torn.save(writer);
  Torn read(cage);
  ByteReader reader(std::as_bytes(std::span(bytes)), "state");
  read.load(reader);
  EXPECT_TRUE(reader.atEnd());
  EXPECT_TRUE(std::equal(read.tets().begin(), read.tets().end(), torn.tets().begin()));
  EXPECT_TRUE(std::equal(read.exposed().begin(), read.exposed().end(), torn.exposed().begin()));
  EXPECT_EQ(read.openArea(), torn.openArea());
  bytes[bytes.size() / 2] = 'x';
  ByteReader damaged(std::as_bytes(std::span(bytes)), "state");
  EXPECT_THROW(read.load(damaged), Error);
}

// Fronts of tension that start at both ends meet in the middle, where alone they exceed the strength.
TEST(Tear, ABarPulledAtBothEndsBreaksInTheMiddle) {
  PulledBar bar;
  EXPECT_GT(bar.pull(1e5, 1.4e5), 0);
  const Torn::Pieces pieces = bar.torn.pieces();
  EXPECT_NE(pieces.of.front(),
            pieces.of.back());  // the tetrahedra at the ends; splinters between them may be
  ASSERT_FALSE(bar.places.empty());
  for (const double x : bar.places) {
    EXPECT_GE(x, 1.0 / 3 - 1e-12);
    EXPECT_LE(x, 2.0 / 3 + 1e-12);
  }
  EXPECT_GT(std::abs(bar.normals.front().x()), std::cos(20 * std::numbers::pi / 180));
  EXPECT_LT(bar.massLost, 1e-12);
  EXPECT_LT(bar.momentumLost, 1e-10);
  EXPECT_EQ(bar.torn.tets().size(), bar.cage.rest.tets.size());
}

TEST(Tear, ABarPressedAtBothEndsDoesNotBreak) {
  PulledBar bar;
  EXPECT_EQ(bar.pull(-1e5, 1.4e5), 0);
  EXPECT_EQ(bar.torn.vertices(), bar.cage.rest.positions.size());
}

// The published criterion asks for a force: it halves its stress where elements are larger by the root of
// two.
TEST(Tear, StrengthIsAStressAndThePublishedOneAForce) {
  for (const uint32_t n : {3u, 6u}) {
    Stressed body(block(n, 0));
    for (Mat3& s : body.biot) s = 1e5 * Vec3::UnitX() * Vec3::UnitX().transpose();
    const std::vector<Separation> separations = body.separations();
    Torn stress(body.cage), force(body.cage);
    EXPECT_TRUE(stress.tear({.strength = 0.99e5}, separations, body.cage.rest.positions).any());
    Torn strong(body.cage);
    EXPECT_FALSE(strong.tear({.strength = 1.01e5}, separations, body.cage.rest.positions).any());
    // A vertex of the lattice is pulled at by about a cell's face.
    EXPECT_EQ(force.tear({.force = 1e5 / 16}, separations, body.cage.rest.positions).any(), n == 3);
  }
}

TEST(Tear, TakesTheFurthestBeyondItsStrengthFirstAndNoMoreThanAsked) {
  Stressed body(block(4));
  for (size_t t = 0; t < body.biot.size(); ++t)
    body.biot[t] = (1e5 + 10.0 * double(t)) * Vec3::UnitY() * Vec3::UnitY().transpose();
  const std::vector<Separation> separations = body.separations();
  uint32_t best = 0;
  for (uint32_t v = 0; v < separations.size(); ++v)
    if (separations[v].stress() > separations[best].stress()) best = v;
  Torn torn(body.cage);
  const TearOutcome outcome = torn.tear({.strength = 5e4, .mostSplits = 1, .partHinges = false}, separations,
                                        body.cage.rest.positions);
  EXPECT_EQ(outcome.splits, 1u);
  EXPECT_EQ(outcome.sources, std::vector<uint32_t>{best});
}

TEST(Tear, SaysWhatDoesNotFit) {
  const Cage cage = makeCage(block(2));
  Torn torn(cage);
  EXPECT_THROW(torn.split(99, Vec3::UnitX(), cage.rest.positions), Error);
  EXPECT_THROW(torn.split(1, Vec3::UnitX(), {}), Error);
  EXPECT_THROW(torn.tear({}, {}, cage.rest.positions), Error);
}

}  // namespace sunder::soft
