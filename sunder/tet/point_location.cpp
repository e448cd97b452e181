#include "sunder/tet/point_location.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/geometry/predicates.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/spatial/query/float_point.h"
#include "sunder/spatial/tree/tree_query.h"

#include <algorithm>

namespace sunder::tet {

namespace {

constexpr size_t kPointsAtOnce = 512;

Box3f roundedOut(const Box3& box) {
  Box3f out;
  for (int d = 0; d < 3; ++d) {
    out.lower[d] = spatial::floatBelow(box.lower[d]);
    out.upper[d] = spatial::floatAbove(box.upper[d]);
  }
  return out;
}

}  // namespace

Vec4 barycentric(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d, const Vec3& point) {
  const Vec4 parts(geometry::orient3d(point, b, c, d), geometry::orient3d(a, point, c, d),
                   geometry::orient3d(a, b, point, d), geometry::orient3d(a, b, c, point));
  return parts / parts.sum();
}

PointLocator::PointLocator(const geometry::TetMesh& mesh) : positions_(mesh.positions), tets_(mesh.tets) {
  geometry::requireValid(mesh);
  for (size_t v = 0; v < positions_.size(); ++v)
    if (!(positions_[v].cwiseAbs().maxCoeff() < 1e37))
      throw Error(ErrorKind::Geometry, "vertex " + std::to_string(v) + " is not finite or too far away");
  sign_.resize(tets_.size());
  std::vector<Box3f> boxes(tets_.size());
  parallelFor(tets_.size(), [&](size_t t) {
    Box3 box;
    for (const uint32_t v : tets_[t]) box.grow(positions_[v]);
    boxes[t] = roundedOut(box);
    const geometry::Tetrahedron& k = tets_[t];
    sign_[t] = int8_t(geometry::sign(
        geometry::orient3d(positions_[k[0]], positions_[k[1]], positions_[k[2]], positions_[k[3]])));
  });
  if (tets_.empty()) return;
  spatial::OiTreeBuilder builder;
  builder.build(tree_, boxes, {.order = spatial::LeafOrder::Selection});
  geometry::TetBoundary boundary = geometry::boundarySurface(mesh);
  boundary_ = spatial::MeshQuery(boundary.surface);
  boundaryTet_ = std::move(boundary.faceTet);
  boundarySide_ = std::move(boundary.faceSide);
}

bool PointLocator::holds(uint32_t tet, const Vec3& point) const {
  if (sign_[tet] == 0) return false;
  const geometry::Tetrahedron& t = tets_[tet];
  for (size_t side = 0; side < 4; ++side) {
    const geometry::Triangle f = geometry::tetFace(t, side);
    // Faces look outward where the tetrahedron is positive: the point is not in front of them.
    if (geometry::sign(geometry::orient3d(positions_[f[0]], positions_[f[1]], positions_[f[2]], point)) *
            sign_[tet] >
        0)
      return false;
  }
  return true;
}

uint32_t PointLocator::holder(const Vec3& point, std::vector<uint32_t>& candidates) const {
  candidates.clear();
  uint64_t tests = 0;
  spatial::kernels::overlappingPrimitives(tree_, roundedOut({point, point}), candidates, tests);
  uint32_t best = kNoIndex;
  for (const uint32_t t : candidates)
    if (t < best && holds(t, point)) best = t;
  return best;
}

uint32_t PointLocator::holder(const Vec3& point) const {
  spatial::checkQueryPoint(point);
  if (tets_.empty()) return kNoIndex;
  std::vector<uint32_t> candidates;
  return holder(point, candidates);
}

TetLocation PointLocator::outside(const Vec3& point) const {
  TetLocation result;
  const spatial::ClosestPoint nearest = boundary_.closest(point);
  if (nearest.triangle == kNoIndex) return result;
  result.tet = boundaryTet_[nearest.triangle];
  result.distance = std::sqrt(nearest.squaredDistance);
  const auto& face = geometry::kTetFaces[boundarySide_[nearest.triangle]];
  for (int k = 0; k < 3; ++k) result.barycentric[face[size_t(k)]] = nearest.barycentric[k];
  return result;
}

TetLocation PointLocator::answer(const Vec3& point, std::vector<uint32_t>& candidates) const {
  if (tets_.empty()) return {};
  const uint32_t t = holder(point, candidates);
  if (t == kNoIndex) return outside(point);
  const geometry::Tetrahedron& k = tets_[t];
  return {t, true, barycentric(positions_[k[0]], positions_[k[1]], positions_[k[2]], positions_[k[3]], point),
          0};
}

TetLocation PointLocator::locate(const Vec3& point) const {
  spatial::checkQueryPoint(point);
  std::vector<uint32_t> candidates;
  return answer(point, candidates);
}

void PointLocator::locate(std::span<const Vec3> points, std::span<TetLocation> results) const {
  if (points.size() != results.size())
    throw Error(ErrorKind::Usage, "there must be as many places for results as points");
  for (const Vec3& p : points) spatial::checkQueryPoint(p);
  parallelBlocks(points.size(), kPointsAtOnce, [&](size_t begin, size_t end) {
    std::vector<uint32_t> candidates;
    for (size_t i = begin; i < end; ++i) results[i] = answer(points[i], candidates);
  });
}

}  // namespace sunder::tet
