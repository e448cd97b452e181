// Meshes that cross themselves, made solids by winding number: volumes by formula, winding numbers of many
// points before and after, closed results.
#include "sunder/base/error.h"
#include "sunder/cut/arrangement/fragments.h"
#include "sunder/cut/arrangement/seam.h"
#include "sunder/cut/kernel/self_check.h"
#include "sunder/cut/resolve.h"
#include "sunder/shapes/catalogue.h"

#include "cut/cut_shapes.h"

#include <cmath>
#include <cstdio>

namespace sunder::cut {

namespace {

using namespace testing;

// Inside the result is where the input winds at least once; neither is asked near a surface, where rounding
// counts.
void expectSameInside(const PolygonSoup& before, const PolygonSoup& after, uint64_t seed, int samples = 400) {
  const KernelMesh old = makeKernelMesh(before, "mesh");
  const bool none = after.faceCount() == 0;
  KernelMesh made;
  if (!none) made = makeKernelMesh(after, "result");
  RandomStream random(seed);
  int wrong = 0;
  for (int i = 0; i < samples; ++i) {
    Vec3 p;
    for (int k = 0; k < 3; ++k) p[k] = random.uniform(old.bounds.lower[k], old.bounds.upper[k]);
    const int w = windingAround(p, kMesh, old), now = none ? 0 : windingAround(p, kMesh, made);
    wrong += now != (w >= 1 ? 1 : 0);
  }
  EXPECT_EQ(wrong, 0);
}

// A prism over a closed line that may cross itself: walls, and lids that are fans around a point.
PolygonSoup fanPrism(const std::vector<Vec2>& line, const Vec2& centre, double height) {
  PolygonSoup soup;
  const uint32_t n = static_cast<uint32_t>(line.size());
  for (const double z : {0.0, height}) {
    for (const Vec2& p : line) soup.positions.push_back({p.x(), p.y(), z});
    soup.positions.push_back({centre.x(), centre.y(), z});
  }
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t j = (i + 1) % n, up = n + 1;
    soup.addFace(std::vector<uint32_t>{n, j, i});
    soup.addFace(std::vector<uint32_t>{up + n, up + i, up + j});
    soup.addFace(std::vector<uint32_t>{i, j, up + j, up + i});
  }
  return soup;
}

std::vector<Vec2> star(int points, int step) {
  std::vector<Vec2> line;
  for (int i = 0; i < points; ++i) {
    const double angle = 2 * M_PI * (i * step % points) / points;
    line.push_back({std::cos(angle), std::sin(angle)});
  }
  return line;
}

TEST(CutSelfCrossing, ABowTieIsItsHalfThatTurnsRight) {
  const PolygonSoup bow = prism({{0, 0}, {2, 2}, {2, 0}, {0, 2}}, 1);
  try {
    cut(bow, unitCube(), {.checkInput = true});
    FAIL() << "not refused";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("crosses itself"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find(" and "), std::string::npos) << e.what();
  }
  const Resolved one = resolveOverlaps(bow, "mesh");
  EXPECT_EQ(unmatchedEdges(one.mesh), 0u);
  EXPECT_NEAR(volumeOf(one.mesh), 1, 1e-14);
  expectSameInside(bow, one.mesh, 1);
}

TEST(CutSelfCrossing, AStarIsFilled) {
  // A pentagram winds twice around its middle. Its outline is ten triangles about the centre.
  const PolygonSoup pentagram = fanPrism(star(5, 2), {0, 0}, 0.5);
  const Resolved one = resolveOverlaps(pentagram, "mesh");
  EXPECT_EQ(unmatchedEdges(one.mesh), 0u);
  const double inner = std::cos(2 * M_PI / 5) / std::cos(M_PI / 5);
  EXPECT_NEAR(volumeOf(one.mesh), 0.5 * 10 * 0.5 * inner * std::sin(M_PI / 5), 1e-13);
  expectSameInside(pentagram, one.mesh, 2);
  for (size_t v = 0; v < one.sourceVertex.size(); ++v)
    if (one.sourceVertex[v] != kNoIndex) {
      EXPECT_EQ(one.mesh.positions[v], pentagram.positions[one.sourceVertex[v]]);
    }
  for (const int points : {7, 8, 9, 11}) {
    const PolygonSoup soup = fanPrism(star(points, 3), {0.01, 0.02}, 1);
    if (points == 9) continue;  // three triangles
    const Resolved solid = resolveOverlaps(soup, "mesh");
    EXPECT_EQ(unmatchedEdges(solid.mesh), 0u) << points;
    const double in = std::cos(3 * M_PI / points) / std::cos(2 * M_PI / points);
    EXPECT_NEAR(volumeOf(solid.mesh), points * in * std::sin(M_PI / points), 1e-12) << points;
  }
}

void cutATorusThatCoversItsHole(int segments, int sides, int samples) {
  // The tube of an ordinary one, made thicker than the ring.
  shapes::TorusShape shape;
  shape.segments = segments;
  shape.sides = sides;
  PolygonSoup torus = geometry::toSoup(shapes::makeTorus(shape));
  for (Vec3& p : torus.positions) {
    const Vec3 middle = shape.radius * Vec3(p.x(), 0, p.z()).normalized();
    p = middle + 3.5 * (p - middle);
  }
  const Resolved one = resolveOverlaps(torus, "mesh");
  EXPECT_EQ(unmatchedEdges(one.mesh), 0u);
  expectSameInside(torus, one.mesh, 3, samples);
  const PolygonSoup half = box({0.1, -2, -2}, {2, 2, 2});
  const CutResult rest = cut(torus, half, {.op = Op::Difference, .resolve = true}),
                  common = cut(torus, half, {.op = Op::Intersection, .resolve = true});
  EXPECT_EQ(unmatchedEdges(rest.mesh), 0u);
  EXPECT_EQ(unmatchedEdges(common.mesh), 0u);
  EXPECT_NEAR(total(rest) + total(common), volumeOf(one.mesh), 1e-12);
}
TEST(CutSelfCrossing, ATorusThatCoversItsHole) { cutATorusThatCoversItsHole(24, 12, 2000); }
TEST(CutSelfCrossing, ASmallTorusThatCoversItsHole) { cutATorusThatCoversItsHole(10, 6, 100); }

// A ball with corners at random places: all kinds of crossings, points of three faces among them.
PolygonSoup crumpled(RandomStream& random, double by, bool grid) {
  shapes::IcosphereShape shape;
  shape.frequency = 3;
  PolygonSoup soup = geometry::toSoup(shapes::makeIcosphere(shape));
  for (Vec3& p : soup.positions) {
    p += by * Vec3(random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1));
    if (grid) p = (4 * p).array().round() / 4;
  }
  return soup;
}

void crumple(int rounds, bool grid) {
  int crossing = 0;
  for (int i = 0; i < rounds; ++i) {
    RandomStream random(grid ? 31 : 30, static_cast<uint64_t>(i));
    const PolygonSoup ball = crumpled(random, 0.2 + 0.1 * (i % 10), grid);
    SCOPED_TRACE(i);
    Resolved one;
    try {
      const KernelMesh kernel = makeKernelMesh(ball, "mesh");
      crossing += !selfIntersections(kernel).empty();
      one = resolveOverlaps(ball, "mesh");
      EXPECT_EQ(unmatchedEdges(one.mesh), 0u);
      expectSameInside(ball, one.mesh, static_cast<uint64_t>(i), 100);
    } catch (const Error& e) {
      ADD_FAILURE() << e.what();
    }
  }
  std::printf("%d balls, %d cross themselves\n", rounds, crossing);
}

TEST(CutSelfCrossing, CrumpledBalls) { crumple(40, false); }
TEST(CutSelfCrossing, AFewCrumpledBalls) {
  crumple(3, false);
  crumple(3, true);
}
TEST(CutSelfCrossing, CrumpledBallsOnAGrid) { crumple(40, true); }
TEST(CutSelfCrossingFull, CrumpledBalls) { crumple(2000, false); }
TEST(CutSelfCrossingFull, CrumpledBallsOnAGrid) { crumple(2000, true); }

}  // namespace

}  // namespace sunder::cut
