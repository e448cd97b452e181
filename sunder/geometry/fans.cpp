#include "sunder/geometry/fans.h"

#include "sunder/base/disjoint_sets.h"
#include "sunder/base/parallel.h"

#include <algorithm>

namespace sunder::geometry {

VertexFans vertexFans(const MeshView& mesh, const EdgeAdjacency& edges, FanEdges through) {
  const Rows corners = vertexCorners(mesh);
  const std::vector<uint32_t> faces = cornerFaces(mesh);
  VertexFans fans;
  fans.first.assign(mesh.positions.size() + 1, 0);
  fans.cornerFan.assign(mesh.corners.size(), 0);

  parallelBlocks(mesh.positions.size(), kDefaultGrain, [&](size_t begin, size_t end) {
    std::vector<std::pair<uint32_t, uint32_t>> ends;  // (edge, which corner of the vertex)
    DisjointSets sets;
    for (size_t v = begin; v < end; ++v) {
      const auto row = corners.row(v);
      ends.clear();
      sets.reset(row.size());
      for (uint32_t i = 0; i < row.size(); ++i) {
        const uint32_t f = faces[row[i]];
        for (const uint32_t edge : {edges.cornerEdge[row[i]], edges.cornerEdge[mesh.previous(f, row[i])]}) {
          if (edge == kNoIndex) continue;
          if (through == FanEdges::All || isRegular(mesh, edges, edge)) ends.emplace_back(edge, i);
        }
        // A face that repeats the vertex holds its corners together.
        if (i != 0 && faces[row[i - 1]] == f) sets.unite(i - 1, i);
      }
      std::sort(ends.begin(), ends.end());
      for (size_t k = 1; k < ends.size(); ++k) {
        if (ends[k].first == ends[k - 1].first) sets.unite(ends[k].second, ends[k - 1].second);
      }
      uint32_t count = 0;
      for (uint32_t i = 0; i < row.size(); ++i) {
        const uint32_t r = sets.find(i);
        fans.cornerFan[row[i]] = r == i ? count++ : fans.cornerFan[row[r]];
      }
      fans.first[v] = count;
    }
  });
  countsToOffsets(fans.first);
  parallelFor(mesh.corners.size(), [&](size_t c) { fans.cornerFan[c] += fans.first[mesh.corners[c]]; });
  return fans;
}

}  // namespace sunder::geometry
