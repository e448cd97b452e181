#include "sunder/soft/cage/clip_surface.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/work.h"
#include "sunder/geometry/mesh_view.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/spatial/tree/oi_tree.h"
#include "sunder/spatial/tree/tree_query.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace sunder::soft {

namespace {

constexpr size_t kTrianglesAtOnce = 512;  // triangles

Box3f boxOutwards(const Box3& box) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Box3f result;
  for (int k = 0; k < 3; ++k) {
    result.lower[k] = std::nextafter(static_cast<float>(box.lower[k]), -kInfinity);
    result.upper[k] = std::nextafter(static_cast<float>(box.upper[k]), kInfinity);
  }
  return result;
}

class TetCandidates {
 public:
  TetCandidates(const geometry::TetMesh& cage, std::span<const uint8_t> skip) {
    std::vector<Box3f> boxes;
    for (uint32_t t = 0; t < cage.tets.size(); ++t) {
      if (!skip.empty() && skip[t]) continue;
      Box3 box;
      for (const uint32_t v : cage.tets[t]) box.grow(cage.positions[v]);
      boxes.push_back(boxOutwards(box));
      tets_.push_back(t);
    }
    spatial::OiTreeBuilder().build(tree_, boxes);
  }

  // Ascending.
  void find(const geometry::TriMesh& mesh, uint32_t triangle, std::vector<uint32_t>& out) const {
    out.clear();
    if (tree_.empty()) return;
    Box3 box;
    for (const uint32_t v : mesh.triangles[triangle]) box.grow(mesh.positions[v]);
    uint64_t tests = 0;
    spatial::kernels::overlappingPrimitives(tree_, boxOutwards(box), out, tests);
    for (uint32_t& t : out) t = tets_[t];
    std::sort(out.begin(), out.end());
  }

 private:
  std::vector<uint32_t> tets_;
  spatial::OiTree tree_;
};

struct ClipHit {
  uint32_t triangle, tet, corners;
};

}  // namespace

SurfaceClips clipSurface(const ClipSurface& surface, const geometry::TetMesh& cage,
                         std::span<const uint8_t> skip) {
  const geometry::TriMesh& mesh = surface.mesh;
  const size_t n = mesh.triangles.size();
  const TetCandidates candidates(cage, skip);
  SurfaceClips clips;
  clips.copiesOf.assign(n, 0);
  clips.covered.assign(n, 0);

  Work work("assigning the surface", 2 * n, "triangles");
  std::vector<std::vector<ClipHit>> found((n + kTrianglesAtOnce - 1) / kTrianglesAtOnce);
  parallelBlocks(n, kTrianglesAtOnce, [&](size_t begin, size_t end) {
    std::vector<ClipHit>& hits = found[begin / kTrianglesAtOnce];
    std::vector<uint32_t> tets;
    for (size_t t = begin; t < end; ++t) {
      candidates.find(mesh, uint32_t(t), tets);
      for (const uint32_t k : tets) {
        const ClipPolygon polygon = clipTriangle(surface, uint32_t(t), cage, k);
        if (polygon.size == 0) continue;
        hits.push_back({uint32_t(t), k, uint32_t(polygon.size)});
        const double share = shareOfTriangle(polygon);
        clips.copiesOf[t] += share > kDust;
        clips.covered[t] += share;
      }
    }
    work.step(end - begin);
  });
  std::vector<ClipHit> hits;
  uint64_t corners = 0;
  for (std::vector<ClipHit>& block : found) {
    hits.insert(hits.end(), block.begin(), block.end());
    for (const ClipHit& hit : block) corners += hit.corners;
    std::vector<ClipHit>().swap(block);
  }
  if (corners >= kNoIndex)
    throw Error(ErrorKind::Limit, "the cage cuts the surface into more polygons than 32-bit numbers count")
        .hint("fewer tetrahedra, or a surface of fewer triangles");

  const auto order = geometry::groupBy<uint32_t>(
      hits.size(), cage.tets.size(), [&](size_t i) { return hits[i].tet; },
      [](size_t i) { return uint32_t(i); });
  clips.trianglesOf.offsets = order.offsets;
  clips.trianglesOf.items.resize(hits.size());
  clips.polygonStart.resize(hits.size() + 1);
  uint32_t start = 0;
  for (size_t i = 0; i < hits.size(); ++i) {
    const ClipHit& hit = hits[order.items[i]];
    clips.trianglesOf.items[i] = hit.triangle;
    clips.polygonStart[i] = start;
    start += hit.corners;
  }
  clips.polygonStart.back() = start;
  clips.polygons.resize(start);
  parallelBlocks(hits.size(), kTrianglesAtOnce, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const ClipHit& hit = hits[order.items[i]];
      const ClipPolygon polygon = clipTriangle(surface, hit.triangle, cage, hit.tet);
      std::copy_n(polygon.corners.begin(), polygon.size, clips.polygons.begin() + clips.polygonStart[i]);
    }
  });
  return clips;
}

std::vector<uint8_t> touchedTets(const ClipSurface& surface, const geometry::TetMesh& cage, size_t* copies) {
  const size_t n = surface.mesh.triangles.size();
  const TetCandidates candidates(cage, {});
  std::vector<std::vector<uint32_t>> found((n + kTrianglesAtOnce - 1) / kTrianglesAtOnce);
  std::vector<size_t> counts(found.size(), 0);
  parallelBlocks(n, kTrianglesAtOnce, [&](size_t begin, size_t end) {
    std::vector<uint32_t>& mine = found[begin / kTrianglesAtOnce];
    std::vector<uint32_t> tets;
    for (size_t t = begin; t < end; ++t) {
      candidates.find(surface.mesh, uint32_t(t), tets);
      for (const uint32_t k : tets)
        if (clipTriangle(surface, uint32_t(t), cage, k).size != 0) mine.push_back(k);
    }
    counts[begin / kTrianglesAtOnce] = mine.size();
    std::sort(mine.begin(), mine.end());
    mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
  });
  std::vector<uint8_t> touched(cage.tets.size(), 0);
  for (const auto& block : found)
    for (const uint32_t t : block) touched[t] = 1;
  if (copies) *copies = std::accumulate(counts.begin(), counts.end(), size_t(0));
  return touched;
}

Uncovered uncovered(const geometry::TriMesh& surface, std::span<const double> covered) {
  Uncovered result;
  double whole = 0, missing = 0;
  for (uint32_t t = 0; t < surface.triangles.size(); ++t) {
    const geometry::Triangle& v = surface.triangles[t];
    const Vec3 &a = surface.positions[v[0]], &b = surface.positions[v[1]], &c = surface.positions[v[2]];
    const double area = (b - a).cross(c - a).norm();
    whole += area;
    if (!(area > 0) || covered[t] > 1 - 1e-9) continue;
    missing += area * (1 - covered[t]);
    if (result.triangle == kNoIndex) result.triangle = t;
  }
  if (whole > 0) result.share = missing / whole;
  return result;
}

}  // namespace sunder::soft
