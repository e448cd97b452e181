#include "sunder/fracture/fine_surface.h"

#include "sunder/base/error.h"
#include "sunder/cut/cut.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/spatial/narrow_phase.h"
#include "sunder/tet/point_location.h"

#include <algorithm>

#include <fmt/core.h>

namespace sunder::fracture {

namespace {

constexpr double kFirst = 0.03;  // of the mean edge: how far vertices move at least
constexpr double kMost = 1.5;
constexpr double kStep = 1.3;

bool inverted(const geometry::TetMesh& tets) {
  return std::any_of(tets.tets.begin(), tets.tets.end(), [&](const geometry::Tetrahedron& t) {
    return !(geometry::signedVolume(tets.positions[t[0]], tets.positions[t[1]], tets.positions[t[2]],
                                    tets.positions[t[3]]) > 0);
  });
}

// Pairs of triangles that meet.
std::vector<spatial::PrimitivePair> meeting(const spatial::TriangleSet& a, const spatial::TriangleSet& b) {
  spatial::OiTreeBuilder builder;
  spatial::OiTree treeA, treeB;
  builder.build(treeA, spatial::TriangleLeaves{a.positions, a.triangles});
  builder.build(treeB, spatial::TriangleLeaves{b.positions, b.triangles});
  spatial::PairList list;
  spatial::overlapPairs(treeA, treeB, list);
  return spatial::intersectingPairs(a, b, list.pairs());
}

}  // namespace

FineSurface::FineSurface(geometry::TriMesh mesh, const RestMesh& rest) : mesh_(std::move(mesh)) {
  // Where a vertex of the mesh is outside, the vertices of the nearest tetrahedron go farther.
  geometry::TetMesh tets = rest.mesh();
  std::vector<double> way(tets.positions.size(), kFirst * rest.edge());
  std::vector<tet::TetLocation> found(mesh_.positions.size());
  std::vector<uint8_t> farther(way.size());
  const geometry::TetBoundary boundary = geometry::boundarySurface(tets);
  std::vector<Vec3> skin(boundary.surface.positions.size());
  for (bool all = false; !all;) {
    for (uint32_t v = 0; v < way.size(); ++v)
      if (rest.onSurface(v)) tets.positions[v] = rest.mesh().positions[v] + rest.normal(v) * way[v];
    tet::PointLocator(tets).locate(mesh_.positions, found);
    std::fill(farther.begin(), farther.end(), uint8_t(0));
    all = true;
    for (const tet::TetLocation& place : found) {
      if (place.inside) continue;
      all = false;
      for (const uint32_t v : tets.tets[place.tet]) farther[v] = 1;
    }
    if (all) {
      for (size_t i = 0; i < skin.size(); ++i) skin[i] = tets.positions[boundary.vertexSource[i]];
      for (const spatial::PrimitivePair& pair :
           meeting({mesh_.positions, mesh_.triangles}, {skin, boundary.surface.triangles})) {
        all = false;
        for (const uint32_t v : boundary.surface.triangles[pair.b]) farther[boundary.vertexSource[v]] = 1;
      }
    }
    for (uint32_t v = 0; v < way.size(); ++v) {
      if (rest.onSurface(v)) grown_ = std::max(grown_, way[v]);
      if (farther[v]) way[v] *= kStep;
    }
    if (grown_ > kMost * rest.edge() || inverted(tets))
      throw Error(ErrorKind::Geometry, fmt::format("tetrahedra of edge {:.3g} m cannot be grown around the "
                                                   "body's surface",
                                                   rest.edge()))
          .hint("give a smaller \"edge\"");
  }
  positions_ = std::move(tets.positions);
}

FineSurface::Piece FineSurface::piece(const CrackedMesh& mesh, std::span<const uint32_t> rootVertices) const {
  CrackedMesh grown = mesh;
  for (size_t v = 0; v < grown.mesh.positions.size(); ++v) {
    if (rootVertices[v] >= positions_.size())
      throw Error(ErrorKind::Usage, "a piece has vertices that are not the body's");
    grown.mesh.positions[v] = positions_[rootVertices[v]];
  }
  const std::vector<CutCell> cells = cellsOf(grown);
  const CrackedSurface surface = surfaceOf(grown, cells, linksOf(grown, cells));
  const cut::CutResult result =
      cut::cut(mesh_, surface.mesh, {.op = cut::Op::Intersection, .triangles = true});
  Piece piece;
  piece.mesh.positions = result.mesh.positions;
  piece.interior = result.fromCutter;
  const auto& corners = result.mesh.corners;
  piece.mesh.triangles.reserve(corners.size() / 3);
  for (size_t c = 0; c + 2 < corners.size(); c += 3)
    piece.mesh.triangles.push_back({corners[c], corners[c + 1], corners[c + 2]});
  return piece;
}

}  // namespace sunder::fracture
