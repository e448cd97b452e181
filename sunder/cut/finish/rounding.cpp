#include "sunder/cut/finish/rounding.h"

#include "sunder/base/parallel.h"
#include "sunder/cut/kernel/kernel_mesh.h"
#include "sunder/cut/kernel/pair_search.h"
#include "sunder/geometry/predicates.h"

#include <algorithm>

namespace sunder::cut {

namespace {

constexpr size_t kRoundingGrain = 1024;

// Does an edge of one triangle pass through the inside of the other?
bool pierces(const std::array<const Vec3*, 3>& edges, const std::array<const Vec3*, 3>& face) {
  using geometry::orient3d;
  using geometry::sign;
  int side[3];
  for (size_t k = 0; k < 3; ++k) side[k] = sign(orient3d(*face[0], *face[1], *face[2], *edges[k]));
  for (size_t k = 0; k < 3; ++k) {
    if (side[k] * side[(k + 1) % 3] >= 0) continue;
    const Vec3 &p = *edges[k], &q = *edges[(k + 1) % 3];
    const int s = sign(orient3d(p, q, *face[0], *face[1]));
    if (s != 0 && s == sign(orient3d(p, q, *face[1], *face[2])) &&
        s == sign(orient3d(p, q, *face[2], *face[0])))
      return true;
  }
  return false;
}

}  // namespace

bool trianglesCross(const std::array<const Vec3*, 3>& a, const std::array<const Vec3*, 3>& b) {
  return pierces(a, b) || pierces(b, a);
}

std::vector<std::array<uint32_t, 2>> crossingFaces(const CutResult& result, uint64_t most) {
  if (result.mesh.faceCount() == 0) return {};
  // The triangles that a further cut would see.
  const KernelMesh mesh = makeKernelMesh(result.mesh, "result");
  std::vector<uint8_t> rounded(result.mesh.faceCount(), 0);
  for (size_t f = 0; f < rounded.size(); ++f)
    for (const uint32_t v : result.mesh.face(f)) rounded[f] |= result.vertexFrom[v] == VertexFrom::Seam;
  spatial::OiTree tree;
  spatial::OiTreeBuilder builder;
  builder.build(tree, spatial::TriangleLeaves{.positions = mesh.positions, .triangles = mesh.triangles});
  spatial::PairList list;
  searchPairs(tree, tree, most, "of the result", list);
  const auto pairs = list.pairs();
  const auto corners = [&](uint32_t t) {
    const auto& v = mesh.triangles[t];
    return std::array<const Vec3*, 3>{&mesh.positions[v[0]], &mesh.positions[v[1]], &mesh.positions[v[2]]};
  };
  std::vector<std::vector<std::array<uint32_t, 2>>> blocks((pairs.size() + kRoundingGrain - 1) /
                                                           kRoundingGrain);
  parallelBlocks(pairs.size(), kRoundingGrain, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const uint32_t a = mesh.sourceOf(pairs[i].a), b = mesh.sourceOf(pairs[i].b);
      if (a == b || result.fragment[a] != result.fragment[b] || !(rounded[a] || rounded[b])) continue;
      const auto x = corners(pairs[i].a), y = corners(pairs[i].b);
      if (trianglesCross(x, y)) blocks[begin / kRoundingGrain].push_back({std::min(a, b), std::max(a, b)});
    }
  });
  std::vector<std::array<uint32_t, 2>> found;
  for (const auto& b : blocks) found.insert(found.end(), b.begin(), b.end());
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

void lookForCrossings(const CutOptions& options, CutResult& result) {
  if (options.mendRounding)
    result.crossings = mendCrossings(result, options.mostPairs);
  else if (options.checkRounding)
    result.crossings = crossingFaces(result, options.mostPairs);
}

}  // namespace sunder::cut
