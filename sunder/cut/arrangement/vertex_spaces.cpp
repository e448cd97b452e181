#include "sunder/cut/arrangement/vertex_spaces.h"

#include "sunder/base/parallel.h"

#include <algorithm>
#include <atomic>

namespace sunder::cut {

namespace {

constexpr size_t kSpacesGrain = 16384;

// All of the mesh: then its vertices keep their numbers, those without faces too.
bool takesAll(const Use& u) {
  return u.mesh == kMesh && std::find(u.fragment.begin(), u.fragment.end(), kNoIndex) == u.fragment.end();
}

}  // namespace

size_t VertexSpaces::spaceSize(int space) const {
  if (space == kMeshVertices) return scene_.mesh[kMesh]->positions.size();
  return space <= kCutterCopies ? scene_.mesh[kCutter]->positions.size() : scene_.seam->points.size();
}

void VertexSpaces::mark(const Use& u, std::span<const uint32_t> regions) {
  for (const uint32_t r : regions)
    for (const RingCorner& c : scene_.regions[u.mesh]->ring(r)) used_[spaceOf(u, c)][c.id] = 1;
  if (takesAll(u)) {
    std::fill(used_[kMeshVertices].begin(), used_[kMeshVertices].end(), uint8_t(1));
    return;
  }
  const KernelMesh& mesh = *scene_.mesh[u.mesh];
  parallelBlocks(mesh.triangles.size(), kSpacesGrain, [&](size_t begin, size_t end) {
    for (size_t f = begin; f < end; ++f) {
      if (fragmentOfFace(scene_, u, u32(f)) == kNoIndex) continue;
      for (const uint32_t v : mesh.triangles[f])
        std::atomic_ref(used_[spaceOfVertex(u, v)][v]).store(1, std::memory_order_relaxed);
    }
  });
}

void VertexSpaces::number(const std::vector<Use>& uses, std::span<const std::span<const uint32_t>> regions,
                          CutResult& result) {
  const KernelMesh& cutter = *scene_.mesh[kCutter];
  onBorder_.assign(cutter.positions.size(), 0);
  if (!cutter.closed())
    for (uint32_t h = 0; h < cutter.twin.size(); ++h)
      if (cutter.twin[h] == kNoIndex) onBorder_[cutter.origin(h)] = onBorder_[cutter.target(h)] = 1;
  for (int s = 0; s < kSpaces; ++s) used_[s].assign(spaceSize(s), 0);
  for (size_t i = 0; i < uses.size(); ++i) mark(uses[i], regions[i]);

  uint32_t count = 0;
  for (int s = 0; s < kSpaces; ++s) {
    map_[s].resize(used_[s].size());
    for (size_t v = 0; v < used_[s].size(); ++v) {
      map_[s][v] = count;
      count += used_[s][v];
    }
  }
  result.mesh.positions.resize(count);
  result.vertexFrom.resize(count);
  result.sourceVertex.resize(count);
  for (int s = 0; s < kSpaces; ++s) {
    const KernelMesh* from = s == kMeshVertices ? scene_.mesh[kMesh] : scene_.mesh[kCutter];
    const VertexFrom kind = s == kMeshVertices   ? VertexFrom::Mesh
                            : s <= kCutterCopies ? VertexFrom::Cutter
                                                 : VertexFrom::Seam;
    parallelFor(
        used_[s].size(),
        [&](size_t v) {
          if (!used_[s][v]) return;
          const uint32_t to = map_[s][v];
          const bool point = kind == VertexFrom::Seam;
          result.mesh.positions[to] = point ? scene_.seam->points[v].position : from->positions[v];
          result.vertexFrom[to] = kind;
          result.sourceVertex[to] = point ? u32(v) : from->sourceVertex(u32(v));
        },
        kSpacesGrain);
  }
}

bool VertexSpaces::lidsMeet() const {
  if (scene_.mesh[kCutter]->closed()) return false;
  for (size_t v = 0; v < onBorder_.size(); ++v)
    if (onBorder_[v] && used_[kCutterVertices][v]) return true;
  return std::ranges::any_of(scene_.seam->points,
                             [](const SeamPoint& x) { return x.border && x.edgeOf == kCutter; });
}

}  // namespace sunder::cut
