#include "sunder/fracture/fine_surface.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/cut/cut.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/sdf/mesh_field.h"
#include "sunder/spatial/narrow_phase.h"

#include <algorithm>

#include <fmt/core.h>

namespace sunder::fracture {

namespace {

constexpr double kFirst = 0.02;  // of the mean edge: how far vertices move at least
constexpr double kMost = 3;
constexpr int kMostRounds = 40, kFaceRounds = 12;

// Pairs of triangles that meet.
std::vector<spatial::PrimitivePair> meeting(const geometry::TriMesh& a, const geometry::TriMesh& b) {
  spatial::OiTreeBuilder builder;
  spatial::OiTree treeA, treeB;
  builder.build(treeA, spatial::TriangleLeaves{a.positions, a.triangles});
  builder.build(treeB, spatial::TriangleLeaves{b.positions, b.triangles});
  spatial::PairList list;
  spatial::overlapPairs(treeA, treeB, list);
  return spatial::intersectingPairs({a.positions, a.triangles}, {b.positions, b.triangles}, list.pairs());
}

}  // namespace

FineSurface::FineSurface(geometry::TriMesh mesh, RestMeshPtr rest)
    : mesh_(std::move(mesh)), rest_(std::move(rest)), way_(rest_->mesh().positions.size(), 0) {
  const geometry::TetBoundary boundary = geometry::boundarySurface(rest_->mesh());
  geometry::TriMesh skin = boundary.surface;
  for (const uint32_t v : boundary.vertexSource) way_[v] = kFirst * rest_->edge();
  std::vector<double> farther(skin.positions.size());
  std::vector<sdf::MeshField::Nearest> nearest(mesh_.positions.size());
  bool all = false;
  int faceRounds = 0;
  for (int round = 0; !all; ++round) {
    for (size_t i = 0; i < skin.positions.size(); ++i) {
      const uint32_t v = boundary.vertexSource[i];
      skin.positions[i] = boundary.surface.positions[i] + rest_->normal(v) * way_[v];
    }
    std::fill(farther.begin(), farther.end(), 0.0);
    all = true;
    const auto lift = [&](uint32_t triangle, double more) {
      all = false;
      for (const uint32_t v : skin.triangles[triangle]) farther[v] = std::max(farther[v], more);
    };
    const sdf::MeshField field(skin);
    parallelBlocks(nearest.size(), 1024, [&](size_t begin, size_t end) {
      field.nearest(std::span(mesh_.positions).subspan(begin, end - begin),
                    std::span(nearest).subspan(begin, end - begin));
    });
    for (const sdf::MeshField::Nearest& n : nearest)
      if (n.distance >= 0) lift(n.closest.triangle, n.distance + kFirst * rest_->edge());
    // Where corners are inside, edges and faces may still reach out; some always do where tetrahedra are
    // coarser than grooves and holes, whose grown walls cross each other.
    if (all && faceRounds++ < kFaceRounds)
      for (const spatial::PrimitivePair& pair : meeting(mesh_, skin)) lift(pair.b, kFirst * rest_->edge());
    for (size_t i = 0; i < farther.size(); ++i) {
      double& way = way_[boundary.vertexSource[i]];
      way += farther[i];
      grown_ = std::max(grown_, way);
    }
    if (grown_ > kMost * rest_->edge() || round > kMostRounds)
      throw Error(ErrorKind::Geometry, fmt::format("tetrahedra of edge {:.3g} m cannot be grown around the "
                                                   "body's surface",
                                                   rest_->edge()))
          .hint("give a smaller \"edge\"");
  }
}

FineSurface::Piece FineSurface::piece(const CrackedSurface& surface) const {
  geometry::TriMesh grown = surface.mesh;
  std::vector<uint8_t> done(grown.positions.size(), 0);
  for (size_t t = 0; t < grown.triangles.size(); ++t) {
    if (surface.crack[t] != kNoIndex) continue;
    for (const uint32_t v : grown.triangles[t]) {
      if (done[v]++) continue;
      // On a face of the body, whichever tetrahedron is taken only that face's vertices have weight.
      const RestMesh::Place place = rest_->locate(surface.mesh.positions[v]);
      if (place.tet == kNoIndex) continue;
      for (size_t i = 0; i < 4; ++i) {
        const uint32_t corner = rest_->mesh().tets[place.tet][i];
        grown.positions[v] += place.weights[i] * way_[corner] * rest_->normal(corner);
      }
    }
  }
  const cut::CutResult result = cut::cut(mesh_, grown, {.op = cut::Op::Intersection, .triangles = true});
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
