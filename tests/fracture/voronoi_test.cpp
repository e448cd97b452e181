#include "sunder/fracture/model/voronoi.h"

#include "sunder/base/error.h"
#include "sunder/geometry/mass_properties.h"
#include "sunder/geometry/mesh_report.h"

#include "geometry/closedness.h"
#include "tet/tet_cases.h"

#include <map>

#include <gtest/gtest.h>

namespace sunder::fracture {
namespace {

TEST(Voronoi, CellsOfAConvexBodyAreItsPieces) {
  const CrackedMesh body{tet::cubes(3, true, 0.15, 5)};
  const std::vector<Vec3> sites = voronoiSites(body, 12, 7);
  ASSERT_EQ(sites.size(), 12u);
  uint32_t next = 5;
  const BrokenBody broken = voronoiPieces(body, sites, 0, next);
  EXPECT_EQ(broken.pieces, 12u);
  EXPECT_GT(next, 5u + 12u);
  double sum = 0;
  for (uint32_t p = 0; p < broken.pieces; ++p) {
    const CrackedMesh piece = partOf(broken.cracked.mesh, broken.piece, p);
    const auto cells = cellsOf(piece);
    const CrackedSurface surface = surfaceOf(piece, cells, linksOf(piece, cells));
    EXPECT_EQ(geometry::closedness(surface.mesh).open, 0u) << p;
    const geometry::MassProperties mass = geometry::massProperties(surface.mesh);
    sum += mass.volume;
    // Every corner is at least as near to the piece's own site as to the others.
    size_t own = 0;
    for (size_t s = 1; s < sites.size(); ++s)
      if ((sites[s] - mass.centre).norm() < (sites[own] - mass.centre).norm()) own = s;
    for (const Vec3& v : surface.mesh.positions)
      for (const Vec3& site : sites) EXPECT_LE((v - sites[own]).norm(), (v - site).norm() + 1e-7);
  }
  EXPECT_NEAR(sum, 27, 1e-10);
}

TEST(Voronoi, PiecesBreakAgainAndFocusDrawsSites) {
  const CrackedMesh body{tet::cubes(3, true, 0.1, 2)};
  uint32_t next = 0;
  const BrokenBody first = voronoiPieces(body, voronoiSites(body, 3, 1), 0, next);
  double sum = 0;
  for (uint32_t p = 0; p < first.pieces; ++p) {
    const CrackedMesh piece = partOf(first.cracked.mesh, first.piece, p);
    const BrokenBody second = voronoiPieces(piece, voronoiSites(piece, 4, p), 0, next);
    EXPECT_GE(second.pieces, 4u);
    for (uint32_t q = 0; q < second.pieces; ++q) {
      const CrackedMesh part = partOf(second.cracked.mesh, second.piece, q);
      const auto cells = cellsOf(part);
      sum += geometry::massProperties(surfaceOf(part, cells, linksOf(part, cells)).mesh).volume;
    }
  }
  EXPECT_NEAR(sum, 27, 1e-10);
  const Vec3 corner(3, 3, 3);
  double even = 0, drawn = 0;
  for (const Vec3& s : voronoiSites(body, 200, 3)) even += (s - corner).norm() / 200;
  for (const Vec3& s : voronoiSites(body, 200, 3, corner, 4)) drawn += (s - corner).norm() / 200;
  EXPECT_LT(drawn, 0.6 * even);
  EXPECT_THROW(voronoiPieces(body, std::vector<Vec3>(2, Vec3(1, 1, 1)), 0, next), Error);
}

}  // namespace
}  // namespace sunder::fracture
