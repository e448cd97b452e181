#include "sunder/fracture/crack/fine_surface.h"

#include "sunder/base/error.h"
#include "sunder/fracture/crack/crack.h"
#include "sunder/fracture/crack/fracture_geometry.h"
#include "sunder/fracture/model/adaptive_fracture.h"
#include "sunder/fracture/model/voronoi.h"
#include "sunder/geometry/mass_properties.h"
#include "sunder/geometry/mesh_report.h"
#include "sunder/sdf/mesh_field.h"
#include "sunder/shapes/catalogue.h"
#include "sunder/tet/stuffing.h"

#include <gtest/gtest.h>

namespace sunder::fracture {
namespace {

double areaOf(const FinePiece& piece, bool interior) {
  double sum = 0;
  for (size_t t = 0; t < piece.mesh.triangles.size(); ++t) {
    if ((piece.interior[t] != 0) != interior) continue;
    const auto& [a, b, c] = piece.mesh.triangles[t];
    const auto& p = piece.mesh.positions;
    sum += 0.5 * (p[b] - p[a]).cross(p[c] - p[a]).norm();
  }
  return sum;
}

FineSurface fineOf(const geometry::TriMesh& mesh, double edge, CrackedMesh& body) {
  tet::FillReport report;
  body = CrackedMesh(tet::fill(sdf::MeshField(mesh), {.edge = edge}, report));
  return FineSurface(mesh, edge);
}

// Pieces are closed, fill the mesh and have its surface between them; cracks have two sides.
void expectFilled(const geometry::TriMesh& mesh, const std::vector<FinePiece>& pieces) {
  double volume = 0, outside = 0, inside = 0;
  for (const FinePiece& piece : pieces) {
    ASSERT_FALSE(piece.mesh.triangles.empty());
    ASSERT_EQ(piece.interior.size(), piece.mesh.triangles.size());
    const geometry::MeshReport sound = geometry::meshReport(geometry::MeshView(piece.mesh));
    EXPECT_TRUE(sound.watertight);
    EXPECT_TRUE(sound.consistentlyOriented);
    EXPECT_GT(geometry::massProperties(piece.mesh).volume, 0);
    volume += geometry::massProperties(piece.mesh).volume;
    outside += areaOf(piece, false);
    inside += areaOf(piece, true);
  }
  EXPECT_NEAR(volume, geometry::massProperties(mesh).volume, 1e-9 * volume);
  EXPECT_NEAR(outside, geometry::surfaceArea(geometry::MeshView(mesh)), 1e-7 * outside);  // does not cancel
  EXPECT_GT(inside, 0);
}

std::vector<FinePiece> split(const FineSurface& fine, const BrokenBody& broken) {
  return fine.split(fine.whole(), {broken.cracked.mesh, broken.cracked.tetSource, broken.cracked.vertexSource,
                                   broken.piece, broken.pieces});
}

// Cuts all that a function passes through.
void crack(FractureGeometry::State& state, const CrackFunction& function, uint32_t id) {
  std::vector<Mark> marks;
  for (uint32_t t = 0; t < state.mesh.size(); ++t) {
    Mark mark{t, {}};
    const auto corners = state.mesh.corners(t);
    for (size_t i = 0; i < 4; ++i) mark.phi[i] = function(corners[i]);
    const CutCell& cell = state.cells[t];
    if (cell.empty() ? *std::min_element(mark.phi.begin(), mark.phi.end()) < 0 &&
                           *std::max_element(mark.phi.begin(), mark.phi.end()) > 0
                     : crosses(cell, mark.phi))
      marks.push_back(mark);
  }
  PlannedCrack planned{id, 0, {}};
  for (const Mark& mark : marks) planned.marks.push_back(state.planned(mark));
  state.insert(planned);
}

BrokenBody brokenOf(const FractureGeometry::State& state) {
  BrokenBody out;
  out.cracked = {state.mesh, state.cells, state.links, state.vertexSource, state.slots};
  out.piece = partsOf(state.mesh.size(), state.links, out.pieces);
  return out;
}

// Two bumpy cracks that cross in the air: four pieces, each with two cross-sections.
TEST(FineSurface, PiecesOfAFineRingFillIt) {
  const geometry::TriMesh ring =
      shapes::makeTorus({.radius = 0.12, .tube = 0.04, .segments = 96, .sides = 40});
  CrackedMesh body;
  const FineSurface fine = fineOf(ring, 0.035, body);
  FractureGeometry::State state{std::move(body)};
  uint32_t id = 1;
  for (const Vec3& normal : {Vec3(1, 0.3, 0.1), Vec3(-0.2, 0.1, 1)}) {
    crack(state, noisyCrack(Vec3(0.003, 0.002, 0.001), normal.normalized(), {0.006, 0.05, id}), id);
    ++id;
  }
  const BrokenBody broken = brokenOf(state);
  ASSERT_EQ(broken.pieces, 4u);
  const std::vector<FinePiece> pieces = split(fine, broken);
  expectFilled(ring, pieces);
  for (const FinePiece& piece : pieces) EXPECT_GT(areaOf(piece, true), 1.8 * kPi * 0.04 * 0.04);
}

// Three bumpy cracks that cross inside a ball, at its surface and each other.
TEST(FineSurface, CracksThatMeetAtTheSurfaceLoseNothing) {
  const geometry::TriMesh ball = shapes::makeIcosphere({.radius = 0.1, .frequency = 20});
  CrackedMesh body;
  const FineSurface fine = fineOf(ball, 0.04, body);
  FractureGeometry::State state{std::move(body)};
  uint32_t id = 1;
  for (const Vec3& normal : {Vec3(1, 0.3, 0.1), Vec3(-0.2, 0.1, 1), Vec3(0.1, 1, -0.2)}) {
    crack(state, noisyCrack(Vec3(0.003, 0.002, 0.001), normal.normalized(), {0.004, 0.06, id}), id);
    ++id;
  }
  const BrokenBody broken = brokenOf(state);
  ASSERT_GE(broken.pieces, 8u);
  expectFilled(ball, split(fine, broken));
}

// Many cells, where three and four meet in lines and points.
TEST(FineSurface, VoronoiCellsOfARingFillIt) {
  const geometry::TriMesh ring =
      shapes::makeTorus({.radius = 0.12, .tube = 0.04, .segments = 64, .sides = 32});
  CrackedMesh body;
  const FineSurface fine = fineOf(ring, 0.03, body);
  uint32_t next = 1;
  const std::vector<Vec3> sites = voronoiSites(body, 25, 3, Vec3(0.12, 0, 0), 0.5);
  expectFilled(ring, split(fine, voronoiPieces(body, sites, 1e-4, next)));
}

// A mesh of two balls in tetrahedra of one: nothing can be cut where they are not, which is said, not hidden.
TEST(FineSurface, WhatCannotBePartedIsCoarse) {
  const geometry::TriMesh ball = shapes::makeIcosphere({.radius = 0.1, .frequency = 6});
  CrackedMesh body;
  fineOf(ball, 0.04, body);
  geometry::TriMesh away = ball;
  for (Vec3& p : away.positions) p.x() += 0.5;
  const FineSurface fine(away, 0.04);
  FractureGeometry::State state{std::move(body)};
  crack(state, planeCrack(Vec3(0.001, 0.002, 0.003), Vec3(1, 0, 0)), 1);
  for (const FinePiece& piece : split(fine, brokenOf(state))) EXPECT_TRUE(piece.mesh.triangles.empty());
}

TEST(FineSurface, AnOpenMeshIsRefused) {
  geometry::TriMesh open = shapes::makeIcosphere({.radius = 0.1, .frequency = 3});
  open.triangles.pop_back();
  EXPECT_THROW(FineSurface(open, 0.04), Error);
}

}  // namespace
}  // namespace sunder::fracture
