// What cannot be broken, or hardly: refused with a reason, or broken without losing anything.
#include "sunder/base/error.h"
#include "sunder/base/random.h"
#include "sunder/fracture/crack/healing.h"
#include "sunder/fracture/model/adaptive_fracture.h"
#include "sunder/fracture/model/voronoi.h"
#include "sunder/fracture/pieces/rest_mesh.h"
#include "sunder/geometry/mass_properties.h"
#include "sunder/sdf/analytic_field.h"

#include "fem/fem_cases.h"
#include "geometry/closedness.h"
#include "tet/tet_cases.h"

#include <limits>
#include <map>
#include <numeric>

#include <gtest/gtest.h>

namespace sunder::fracture {
namespace {

const BrittleMaterial kPlaster{{4.5e9, 0.22, 1100}, 2e6, 5};

FractureOutcome strike(const CrackedMesh& body, const BrittleMaterial& material, const Impact& impact,
                       const FractureSettings& settings = {}) {
  AdaptiveFracture fracture;
  uint32_t next = 1;
  return fracture.strike(body, material, {&impact, 1}, settings, std::max(meanEdge(body.mesh), 1e-3), next);
}

template <class Run>
void refused(ErrorKind kind, const char* says, const Run& run) {
  try {
    run();
    ADD_FAILURE() << "not refused: " << says;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
  }
}

double volumeOf(std::span<const CrackedMesh> pieces) {
  double sum = 0;
  for (const CrackedMesh& piece : pieces) {
    const auto cells = cellsOf(piece);
    const CrackedSurface surface = surfaceOf(piece, cells, linksOf(piece, cells));
    EXPECT_EQ(geometry::closedness(surface.mesh).open, 0u);
    sum += geometry::massProperties(surface.mesh).volume;
  }
  return sum;
}

TEST(BadInput, FlatAndInvertedTetrahedraAreNamed) {
  const Impact impact{Vec3(0, 0, 0), Vec3(0, -50, 0), 10, {}};
  geometry::TetMesh mesh = tet::cubes(2, true);
  for (Vec3& p : mesh.positions) p *= 0.1;
  const sdf::FieldPtr field = sdf::makeBoxField({Vec3::Zero(), Vec3::Constant(0.2)});
  geometry::TetMesh inverted = mesh;
  std::swap(inverted.tets[7][0], inverted.tets[7][1]);
  refused(ErrorKind::Geometry, "tetrahedron 7", [&] { strike(CrackedMesh(inverted), kPlaster, impact); });
  refused(ErrorKind::Geometry, "tetrahedron 7", [&] { RestMesh(inverted, field); });
  geometry::TetMesh flat = mesh;
  flat.positions[flat.tets[7][3]] =
      (flat.positions[flat.tets[7][0]] + flat.positions[flat.tets[7][1]] + flat.positions[flat.tets[7][2]]) /
      3;
  refused(ErrorKind::Geometry, "tetrahedron", [&] { strike(CrackedMesh(flat), kPlaster, impact); });
  refused(ErrorKind::Geometry, "tetrahedron", [&] { RestMesh(flat, field); });
  refused(ErrorKind::Geometry, "no tetrahedra", [&] { strike(CrackedMesh(), kPlaster, impact); });
}

TEST(BadInput, PartsThatDoNotHangTogetherAreCounted) {
  geometry::TetMesh mesh = tet::cubes(2, true);
  const auto vertices = uint32_t(mesh.positions.size());
  const size_t count = mesh.tets.size();
  EXPECT_NO_THROW(requireOnePart(mesh));
  for (size_t v = 0; v < vertices; ++v) mesh.positions.push_back(0.5 * mesh.positions[v] + Vec3(5, 0, 0));
  for (size_t t = 0; t < count; ++t) {
    mesh.tets.push_back(mesh.tets[t]);
    for (uint32_t& v : mesh.tets.back()) v += vertices;
  }
  refused(ErrorKind::Geometry, "2 parts that do not hang together; the smallest is 11 %", [&] {
    RestMesh(mesh, sdf::makeBoxField({Vec3::Zero(), Vec3::Ones()}));
  });
  // Those that share no more than a vertex or an edge hang by nothing, either.
  mesh = tet::cubes(1, true);
  const geometry::Tetrahedron first = mesh.tets[0];
  mesh.positions.push_back(mesh.positions[first[0]] - Vec3(1, 0, 0));
  mesh.positions.push_back(mesh.positions[first[0]] - Vec3(1, 1, 0));
  mesh.positions.push_back(mesh.positions[first[0]] - Vec3(1, 0, 1));
  const auto n = uint32_t(mesh.positions.size());
  mesh.tets.push_back({first[0], n - 3, n - 2, n - 1});
  geometry::flipInverted(mesh);
  refused(ErrorKind::Geometry, "2 parts", [&] { requireOnePart(mesh); });
}

TEST(BadInput, MaterialsThatDoNotExistAreRefused) {
  const CrackedMesh body{fem::blockMesh({3, 1, 1}, {0.3, 0.1, 0.1})};
  const Impact impact{Vec3(0.15, 0.1, 0.05), Vec3(0, -100, 0), 10, {}};
  BrittleMaterial material = kPlaster;
  for (const double strength : {0.0, -1.0, std::nan("")}) {
    material.strength = strength;
    refused(ErrorKind::Usage, "strength", [&] { strike(body, material, impact); });
  }
  // Infinite strength is allowed, and does not break.
  material.strength = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(AdaptiveFracture::hopeless({Vec3::Zero(), Vec3(0.3, 0.1, 0.1)}, 3, material, impact,
                                         Vec3(0.15, 0.05, 0.05), {}));
  const FractureOutcome never = strike(body, material, impact);
  ASSERT_EQ(never.pieces.size(), 1u);
  EXPECT_EQ(never.pieces[0].mesh.tets, body.mesh.tets);
  EXPECT_GT(strike(body, kPlaster, impact).pieces.size(), 1u);
  material = kPlaster;
  for (const double poisson : {0.5, -1.0, std::nan("")}) {
    material.elastic.poisson = poisson;
    refused(ErrorKind::Usage, "Poisson", [&] { strike(body, material, impact); });
  }
  material.elastic.poisson = 0.499;  // too stiff, but an answer
  EXPECT_NEAR(volumeOf(strike(body, material, impact).pieces), 3e-3, 1e-15);
}

TEST(BadInput, ImpactsBesideTheBodyActOnWhatIsNearest) {
  const CrackedMesh body{fem::blockMesh({6, 1, 1}, {0.6, 0.1, 0.1})};
  const Impact on{Vec3(0.3, 0.1, 0.05), Vec3(0, -100, 0), 10, {}};
  for (const Vec3& off : {Vec3(0, 0.4, 0), Vec3(0, -0.04, 0), Vec3(0, 1e6, 0)}) {
    Impact impact = on;
    impact.point += off;
    const FractureOutcome outcome = strike(body, kPlaster, impact);
    EXPECT_TRUE(outcome.analysed);
    EXPECT_NEAR(volumeOf(outcome.pieces), 6e-3, 1e-14);
  }
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()})
    for (int k = 0; k < 3; ++k) {
      Impact impact = on;
      (k == 0 ? impact.point.x() : k == 1 ? impact.impulse.y() : impact.speed) = bad;
      refused(ErrorKind::Usage, "not finite", [&] { strike(body, kPlaster, impact); });
    }
}

// A hundred times as wide as thick, one layer of tetrahedra.
void expectThinBodiesLoseNothing(uint32_t boxes) {
  const CrackedMesh pane{fem::blockMesh({boxes, 1, boxes}, {0.6, 0.001, 0.6})};
  for (const double strong : {1.0, 1000.0}) {
    const Impact impact{Vec3(0.31, 0.001, 0.29), Vec3(0, -0.05 * strong, 0), 10, {}};
    FractureSettings settings;
    settings.mostCracks = 6;
    const FractureOutcome outcome = strike(pane, kPlaster, impact, settings);
    EXPECT_NEAR(volumeOf(outcome.pieces) / 3.6e-4, 1, 1e-9);
    EXPECT_EQ(outcome.pieces.size() > 1, outcome.cracks.size() > 0);
  }
}
TEST(BadInput, BodiesThinnerThanAnElementBreakAndLoseNothing) { expectThinBodiesLoseNothing(6); }
TEST(BadInput, CoarseBodiesThinnerThanAnElementBreakAndLoseNothing) { expectThinBodiesLoseNothing(2); }

// Planes in all directions through a few coarse tetrahedra: thousands of splinters. As they are, and healed.
void splintersLoseNothing(uint32_t planes, size_t splinters) {
  RandomStream random(8);
  const CrackedMesh body{tet::cubes(2, true)};
  FractureGeometry geometry(body);
  for (uint32_t k = 1; k <= planes; ++k) {
    const FractureGeometry::State& state = geometry.cracked();
    std::vector<uint32_t> all(state.mesh.size());
    std::iota(all.begin(), all.end(), 0u);
    const Vec3 at = Vec3::Constant(1) + random.uniform(0, 0.5) * random.unitVector();
    const auto values = crackValues(state.mesh.mesh, planeCrack(at, random.unitVector()));
    PlannedCrack crack{k, 0, {}};
    // Everything that the plane passes through, wherever it is.
    for (uint32_t t = 0; t < state.mesh.size(); ++t) {
      std::array<double, 4> phi;
      for (size_t i = 0; i < 4; ++i) phi[i] = values[state.mesh.mesh.tets[t][i]];
      const CutCell cell = state.mesh.cuts[t].empty()
                               ? makeCell(state.mesh.mesh.tets[t], state.mesh.corners(t), {})
                               : state.cells[t];
      if (crosses(cell, phi)) crack.marks.push_back(state.planned({t, phi}));
    }
    geometry.add(std::move(crack));
  }
  const auto parts = [&] {
    const FractureGeometry::State& state = geometry.cracked();
    uint32_t count = 0;
    const auto label = partsOf(state.mesh.size(), state.links, count);
    const auto volumes = volumesOf(state.mesh, state.cells, label, count);
    EXPECT_NEAR(std::accumulate(volumes.begin(), volumes.end(), 0.0), 8, 1e-9 * 8);
    return volumes;
  };
  const std::vector<double> before = parts();
  constexpr double kLeast = 1e-3;
  const auto tiny = std::count_if(before.begin(), before.end(), [](double v) { return v < kLeast * 8; });
  EXPECT_GT(size_t(tiny), splinters);
  const Healing healing = heal(geometry, kLeast);
  const std::vector<double> after = parts();
  EXPECT_EQ(after.size() + healing.healed, before.size());
  EXPECT_LT(double(healing.left), 0.01 * double(tiny));
}
TEST(BadInput, HundredsOfSplintersLoseNothing) { splintersLoseNothing(12, 100); }
TEST(BadInputFull, ThousandsOfSplintersLoseNothing) { splintersLoseNothing(28, 2000); }

TEST(BadInput, MoreCutsThanATetrahedronHoldsAreRefused) {
  const CrackedMesh body{tet::cubes(1, true)};
  const std::vector<Vec3> sites = voronoiSites(body, 900, 1, Vec3::Constant(0.5), 0);
  uint32_t next = 1;
  refused(ErrorKind::Limit, "one tetrahedron", [&] { voronoiPieces(body, sites, 0, next); });
}

}  // namespace
}  // namespace sunder::fracture
