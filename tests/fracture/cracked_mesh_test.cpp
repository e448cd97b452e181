#include "sunder/base/random.h"
#include "sunder/fracture/crack/crack.h"
#include "sunder/geometry/mass_properties.h"
#include "sunder/geometry/tet_mesh.h"

#include "geometry/closedness.h"
#include "tet/tet_cases.h"

#include <map>
#include <set>

#include <gtest/gtest.h>

namespace sunder::fracture {
namespace {

// A cracked mesh with what follows from it.
struct Body {
  CrackedMesh mesh;
  std::vector<CutCell> cells;
  std::vector<Link> links;
  uint32_t cracks = 0;

  explicit Body(CrackedMesh m) : mesh(std::move(m)) { refresh(); }
  void refresh() {
    cells = cellsOf(mesh);
    links = linksOf(mesh, cells);
  }
  // From the vertex nearest to `at`; returns how many tetrahedra were cut.
  size_t crack(const CrackFunction& function, const Vec3& at, double mostArea = Box3::kInfinity,
               double* area = nullptr) {
    uint32_t seed = 0;
    for (uint32_t v = 0; v < mesh.mesh.positions.size(); ++v)
      if ((mesh.mesh.positions[v] - at).norm() < (mesh.mesh.positions[seed] - at).norm()) seed = v;
    const auto values = crackValues(mesh.mesh, function);
    const auto marks = markCrack(mesh, cells, links, values, seed, mostArea, area);
    mesh = dissect(mesh, cells, links, ++cracks, marks).mesh;
    refresh();
    return marks.size();
  }
  std::vector<CrackedMesh> parts() const {
    uint32_t count = 0;
    const auto labels = partsOf(mesh.size(), links, count);
    std::vector<CrackedMesh> out;
    for (uint32_t p = 0; p < count; ++p) out.push_back(partOf(mesh, labels, p));
    return out;
  }
  double cellVolume() const {
    double sum = 0;
    for (size_t t = 0; t < mesh.size(); ++t) {
      const auto p = mesh.corners(t);
      sum += mesh.cuts[t].empty() ? geometry::signedVolume(p[0], p[1], p[2], p[3]) : cells[t].volume();
    }
    return sum;
  }
  CrackedSurface surface() const { return surfaceOf(mesh, cells, links); }
};

geometry::TetMesh box(uint32_t n, bool kuhn = true, double jitter = 0.15) {
  return tet::cubes(n, kuhn, jitter, 5);
}

TEST(CutCell, PlaneThroughATetrahedronHasTheClosedFormVolumes) {
  const std::array<Vec3, 4> p{Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1)};
  const std::array<uint32_t, 4> v{7, 3, 9, 1};
  RandomStream random(3, 1);
  for (int i = 0; i < 2000; ++i) {
    Cut cut{0, 1, {}};
    for (double& phi : cut.phi) phi = random.uniform(-1, 1);
    const double above = makeCell(v, p, {&cut, 1}).volume();
    cut.side = -1;
    const double below = makeCell(v, p, {&cut, 1}).volume();
    EXPECT_NEAR(above + below, 1.0 / 6, 1e-15);
    // One vertex on a side: its corner is a tetrahedron whose edges are cut at known parts.
    int positive = 0, lonely = 0;
    for (int k = 0; k < 4; ++k) positive += cut.phi[size_t(k)] >= 0;
    if (positive != 1) continue;
    for (int k = 0; k < 4; ++k)
      if (cut.phi[size_t(k)] >= 0) lonely = k;
    double part = 1;
    for (int k = 0; k < 4; ++k)
      if (k != lonely) part *= cut.phi[size_t(lonely)] / (cut.phi[size_t(lonely)] - cut.phi[size_t(k)]);
    EXPECT_NEAR(above, part / 6, 1e-14);
  }
}

TEST(CutCell, PiecesOfManyCutsFillTheTetrahedron) {
  const std::array<Vec3, 4> p{Vec3(0, 0, 0), Vec3(1, 0.1, 0), Vec3(0.2, 1, 0), Vec3(0.1, 0.3, 1)};
  const std::array<uint32_t, 4> v{0, 1, 2, 3};
  const double whole = geometry::signedVolume(p[0], p[1], p[2], p[3]);
  RandomStream random(4, 1);
  for (int round = 0; round < 200; ++round) {
    std::vector<Cut> cuts(5);
    for (uint32_t k = 0; k < cuts.size(); ++k) {
      cuts[k].surface = k;
      for (double& phi : cuts[k].phi) phi = random.uniform(-1, 1);
    }
    double sum = 0;
    for (int signs = 0; signs < 32; ++signs) {
      for (size_t k = 0; k < 5; ++k) cuts[k].side = signs >> k & 1 ? 1 : -1;
      const CutCell cell = makeCell(v, p, cuts);
      EXPECT_FALSE(cell.degenerate);
      EXPECT_GE(cell.volume(), -1e-15);
      sum += cell.volume();
    }
    EXPECT_NEAR(sum, whole, 1e-13);
  }
}

TEST(CrackedMesh, APlaneMakesTwoClosedPartsOfTheExactVolumes) {
  RandomStream random(11, 0);
  for (int round = 0; round < 20; ++round) {
    Body body{CrackedMesh(box(3, round % 2 == 0))};
    const Vec3 normal =
        Vec3(random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)).normalized();
    const Vec3 seed = body.mesh.mesh.positions[random.below(uint32_t(body.mesh.mesh.positions.size()))];
    const Vec3 point = 0.3 * seed + 0.7 * Vec3(1.5, 1.5, 1.5);
    body.crack(planeCrack(point, normal), point);
    const auto parts = body.parts();
    ASSERT_EQ(parts.size(), 2u);
    EXPECT_NEAR(body.cellVolume(), 27, 1e-11);
    double sum = 0;
    for (const CrackedMesh& part : parts) {
      const Body piece(part);
      const CrackedSurface surface = piece.surface();
      const geometry::Closedness closed = geometry::closedness(surface.mesh);
      EXPECT_EQ(closed.open, 0u) << round;
      EXPECT_EQ(closed.euler, 2) << round;
      const double volume = geometry::massProperties(surface.mesh).volume;
      EXPECT_NEAR(volume, piece.cellVolume(), 1e-11);
      sum += volume;
    }
    EXPECT_NEAR(sum, 27, 1e-11);
  }
}

TEST(CrackedMesh, CrossingCracksLoseNothing) {
  RandomStream random(12, 0);
  for (int round = 0; round < 8; ++round) {
    std::vector<CrackedMesh> pieces{CrackedMesh(box(3))};
    uint32_t cracks = 0;
    for (int k = 0; k < 6; ++k) {
      const Vec3 normal =
          Vec3(random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)).normalized();
      const Vec3 point(random.uniform(1, 2), random.uniform(1, 2), random.uniform(1, 2));
      std::vector<CrackedMesh> next;
      ++cracks;
      for (CrackedMesh& piece : pieces) {
        Body body(std::move(piece));
        body.cracks = cracks - 1;
        const auto values = crackValues(body.mesh.mesh, planeCrack(point, normal));
        // Anywhere in the piece that it passes through.
        std::vector<Mark> marks;
        for (uint32_t t = 0; t < body.mesh.size() && marks.empty(); ++t)
          marks = markCrack(body.mesh, body.cells, body.links, values, body.mesh.mesh.tets[t][0]);
        body.mesh = dissect(body.mesh, body.cells, body.links, cracks, marks).mesh;
        body.refresh();
        for (CrackedMesh& part : body.parts()) next.push_back(std::move(part));
      }
      pieces = std::move(next);
    }
    EXPECT_GT(pieces.size(), 12u);
    double sum = 0;
    for (CrackedMesh& piece : pieces) {
      const Body body(std::move(piece));
      const CrackedSurface surface = body.surface();
      EXPECT_EQ(closedness(surface.mesh).open, 0u) << round;
      for (const CutCell& cell : body.cells) EXPECT_FALSE(cell.degenerate);
      sum += geometry::massProperties(surface.mesh).volume;
    }
    EXPECT_NEAR(sum, 27, 1e-10);
  }
}

TEST(CrackedMesh, ACrackMayEndInside) {
  for (const double mostArea : {0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 9.0}) {
    Body body{CrackedMesh(box(4))};
    double area = 0;
    const size_t cut =
        body.crack(planeCrack(Vec3(2.03, 2, 2), Vec3(1, 0.1, 0.2)), Vec3(2, 0, 2), mostArea, &area);
    EXPECT_GT(cut, 0u);
    EXPECT_GE(area, mostArea);
    EXPECT_LT(area, mostArea + 1);
    EXPECT_EQ(body.parts().size(), 1u);
    const CrackedSurface surface = body.surface();
    EXPECT_EQ(closedness(surface.mesh).open, 0u) << mostArea;
    double crackArea = 0;
    for (size_t f = 0; f < surface.crack.size(); ++f)
      if (surface.crack[f] != kNoIndex) {
        const auto& t = surface.mesh.triangles[f];
        const Vec3 a = surface.mesh.positions[t[0]];
        crackArea += 0.5 * (surface.mesh.positions[t[1]] - a).cross(surface.mesh.positions[t[2]] - a).norm();
      }
    EXPECT_NEAR(crackArea, 2 * area, 1e-10);
    EXPECT_NEAR(geometry::massProperties(surface.mesh).volume, 64, 1e-10);
  }
}

// Two limbs on a base: a plane through both, started in one, cuts only that one.
TEST(CrackedMesh, OnlyTheLimbOfTheSeedIsCut) {
  const geometry::TetMesh whole = box(5, true, 0);
  geometry::TetMesh fork;
  fork.positions = whole.positions;
  for (const auto& t : whole.tets) {
    Vec3 centre = Vec3::Zero();
    for (const uint32_t v : t) centre += 0.25 * whole.positions[v];
    if (centre.y() < 2 || centre.x() < 2 || centre.x() > 3) fork.tets.push_back(t);
  }
  Body body{CrackedMesh(fork)};
  body.crack(planeCrack(Vec3(0, 3.51, 0), Vec3(0, 1, 0)), Vec3(1, 4, 2));
  ASSERT_EQ(body.parts().size(), 2u);
  std::vector<double> volumes;
  for (const CrackedMesh& part : body.parts()) volumes.push_back(Body(part).cellVolume());
  std::sort(volumes.begin(), volumes.end());
  EXPECT_NEAR(volumes[0], 2 * 5 * (5 - 3.51), 1e-10);
  EXPECT_NEAR(volumes[1], 125 - 15 - volumes[0], 1e-10);
}

TEST(CrackedMesh, CopiesDoNotShareVerticesAcrossACrack) {
  Body body{CrackedMesh(box(3))};
  const size_t before = body.mesh.mesh.positions.size();
  const size_t cut = body.crack(planeCrack(Vec3(1.4, 1.5, 1.5), Vec3(1, 0.05, 0.1)), Vec3(1, 1, 1));
  EXPECT_EQ(body.mesh.size(), 6 * 27 + cut);
  EXPECT_GT(body.mesh.mesh.positions.size(), before);
  const std::vector<double> fractions = fractionsOf(body.mesh, body.cells);
  double volume = 0;
  for (size_t t = 0; t < body.mesh.size(); ++t) {
    EXPECT_GT(fractions[t], 0);
    EXPECT_LE(fractions[t], 1 + 1e-12);
    const auto p = body.mesh.corners(t);
    volume += fractions[t] * geometry::signedVolume(p[0], p[1], p[2], p[3]);
  }
  EXPECT_NEAR(volume, 27, 1e-11);
  // With whole tetrahedra for copies the mass would be wrong.
  EXPECT_GT(geometry::totalVolume(body.mesh.mesh), 27 * 1.2);
}

}  // namespace
}  // namespace sunder::fracture
