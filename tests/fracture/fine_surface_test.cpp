#include "sunder/fracture/fine_surface.h"

#include "sunder/base/error.h"
#include "sunder/fracture/crack.h"
#include "sunder/fracture/fracture_geometry.h"
#include "sunder/geometry/mass_properties.h"
#include "sunder/geometry/mesh_report.h"
#include "sunder/geometry/shapes.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/rigid/shape.h"
#include "sunder/sdf/mesh_field.h"
#include "sunder/tet/stuffing.h"

#include <gtest/gtest.h>

namespace sunder::fracture {
namespace {

double areaOf(const FineSurface::Piece& piece, bool interior) {
  double sum = 0;
  for (size_t t = 0; t < piece.mesh.triangles.size(); ++t) {
    if ((piece.interior[t] != 0) != interior) continue;
    const auto& [a, b, c] = piece.mesh.triangles[t];
    const auto& p = piece.mesh.positions;
    sum += 0.5 * (p[b] - p[a]).cross(p[c] - p[a]).norm();
  }
  return sum;
}

// A fine ring in coarse tetrahedra, cut by two bumpy cracks: the pieces are closed, fill the ring, have its
// surface between them, and as much inside as the cracks have on both sides.
TEST(FineSurface, PiecesOfAFineRingFillIt) {
  const geometry::TriMesh ring =
      geometry::makeTorus({.radius = 0.12, .tube = 0.04, .segments = 96, .sides = 40});
  tet::FillReport report;
  geometry::TetMesh filled = tet::fill(sdf::MeshField(ring), {.edge = 0.035}, report);
  const rigid::ShapePtr solid = rigid::makeSolid(geometry::boundarySurface(filled).surface);
  const auto rest = std::make_shared<const RestMesh>(std::move(filled), solid);
  const FineSurface fine(ring, rest);
  EXPECT_LT(fine.grown(), 0.5 * rest->edge());

  FractureGeometry::State state{CrackedMesh(rest->mesh())};
  uint32_t id = 1;
  for (const Vec3& normal : {Vec3(1, 0.3, 0.1), Vec3(-0.2, 0.1, 1)}) {
    const CrackFunction crack = noisyCrack(Vec3(0.003, 0.002, 0.001), normal.normalized(), {0.006, 0.05, id});
    std::vector<Mark> marks;
    for (uint32_t t = 0; t < state.mesh.size(); ++t) {
      Mark mark{t, {}};
      const auto corners = state.mesh.corners(t);
      for (size_t i = 0; i < 4; ++i) mark.phi[i] = crack(corners[i]);
      const CutCell& cell = state.cells[t];
      if (cell.empty() ? *std::min_element(mark.phi.begin(), mark.phi.end()) < 0 &&
                             *std::max_element(mark.phi.begin(), mark.phi.end()) > 0
                       : crosses(cell, mark.phi))
        marks.push_back(mark);
    }
    Dissection cut = dissect(state.mesh, state.cells, state.links, id++, marks);
    state.mesh = std::move(cut.mesh);
    state.cells = std::move(cut.cells);
    state.links = std::move(cut.links);
  }
  uint32_t count = 0;
  const std::vector<uint32_t> parts = partsOf(state.mesh.size(), state.links, count);
  ASSERT_EQ(count, 4u);
  double volume = 0, outside = 0;
  std::vector<double> inside;
  for (uint32_t p = 0; p < count; ++p) {
    const CrackedMesh part = partOf(state.mesh, parts, p);
    const std::vector<CutCell> cells = cellsOf(part);
    const FineSurface::Piece piece = fine.piece(surfaceOf(part, cells, linksOf(part, cells)));
    const geometry::MeshReport sound = geometry::meshReport(geometry::MeshView(piece.mesh));
    EXPECT_TRUE(sound.watertight);
    EXPECT_TRUE(sound.consistentlyOriented);
    volume += geometry::massProperties(piece.mesh).volume;
    outside += areaOf(piece, false);
    inside.push_back(areaOf(piece, true));
    EXPECT_GT(inside.back(), 1.8 * kPi * 0.04 * 0.04);  // two cross-sections at least
  }
  EXPECT_NEAR(volume, geometry::massProperties(ring).volume, 1e-9 * volume);
  EXPECT_NEAR(outside, geometry::surfaceArea(geometry::MeshView(ring)), 1e-9 * outside);
}

// Tetrahedra that do not follow the surface at all cannot be grown around it.
TEST(FineSurface, TetrahedraElsewhereAreRefused) {
  const geometry::TriMesh ball = geometry::makeIcosphere({.radius = 0.1, .frequency = 4});
  tet::FillReport report;
  geometry::TetMesh filled = tet::fill(sdf::MeshField(ball), {.edge = 0.03}, report);
  const rigid::ShapePtr solid = rigid::makeSolid(geometry::boundarySurface(filled).surface);
  const auto rest = std::make_shared<const RestMesh>(std::move(filled), solid);
  geometry::TriMesh away = ball;
  for (Vec3& p : away.positions) p.x() += 0.08;
  EXPECT_THROW(FineSurface(away, rest), Error);
}

}  // namespace
}  // namespace sunder::fracture
