#include "sunder/geometry/adjacency.h"

#include "sunder/base/parallel.h"

#include <algorithm>

namespace sunder::geometry {

namespace {

// Per lower vertex, its directed edges as (higher vertex << 32 | corner), ascending. The only place that
// sorts.
RowsOf<uint64_t> sortedDirectedEdges(const MeshView& mesh) {
  RowsOf<uint64_t> rows;
  const size_t vertexCount = mesh.positions.size(), faceCount = mesh.faceCount();
  rows.offsets.assign(vertexCount + 1, 0);
  auto eachDirectedEdge = [&](auto&& visit) {
    for (size_t f = 0; f < faceCount; ++f) {
      const uint32_t begin = mesh.begin(f), end = mesh.end(f);
      for (uint32_t c = begin; c < end; ++c) {
        const uint32_t a = mesh.corners[c], b = mesh.corners[c + 1 == end ? begin : c + 1];
        if (a != b) visit(std::min(a, b), std::max(a, b), c);
      }
    }
  };
  eachDirectedEdge([&](uint32_t lower, uint32_t, uint32_t) { ++rows.offsets[lower]; });
  rows.items.resize(countsToOffsets(rows.offsets));
  std::vector<uint32_t> cursor(rows.offsets.begin(), rows.offsets.end() - 1);
  eachDirectedEdge([&](uint32_t lower, uint32_t higher, uint32_t corner) {
    rows.items[cursor[lower]++] = uint64_t(higher) << 32 | corner;
  });
  parallelFor(vertexCount, [&](size_t v) {
    uint64_t* items = rows.items.data();
    std::sort(items + rows.offsets[v], items + rows.offsets[v + 1]);
  });
  return rows;
}

}  // namespace

EdgeAdjacency edgeAdjacency(const MeshView& mesh) {
  requireValid(mesh);
  const size_t vertexCount = mesh.positions.size();
  const RowsOf<uint64_t> directed = sortedDirectedEdges(mesh);
  auto startsEdge = [&](uint32_t slot, uint32_t rowBegin) {
    return slot == rowBegin || directed.items[slot] >> 32 != directed.items[slot - 1] >> 32;
  };

  std::vector<uint32_t> firstEdge(vertexCount + 1, 0);
  parallelFor(vertexCount, [&](size_t v) {
    uint32_t count = 0;
    for (uint32_t s = directed.offsets[v]; s < directed.offsets[v + 1]; ++s) {
      count += startsEdge(s, directed.offsets[v]) ? 1 : 0;
    }
    firstEdge[v] = count;
  });
  const uint32_t edgeCount = countsToOffsets(firstEdge);

  const bool triangles = mesh.offsets.empty();
  const std::vector<uint32_t> faces = triangles ? std::vector<uint32_t>() : cornerFaces(mesh);
  EdgeAdjacency result;
  result.edges.resize(edgeCount);
  result.uses.offsets.resize(edgeCount + 1);
  result.uses.items.resize(directed.items.size());
  result.cornerEdge.assign(mesh.corners.size(), kNoIndex);
  parallelFor(vertexCount, [&](size_t v) {
    uint32_t edge = firstEdge[v];
    for (uint32_t s = directed.offsets[v]; s < directed.offsets[v + 1]; ++s) {
      const uint32_t higher = static_cast<uint32_t>(directed.items[s] >> 32);
      const uint32_t corner = static_cast<uint32_t>(directed.items[s]);
      if (startsEdge(s, directed.offsets[v])) {
        result.edges[edge] = {u32(v), higher};
        result.uses.offsets[edge] = s;
        ++edge;
      }
      result.uses.items[s] = {triangles ? corner / 3 : faces[corner], corner};
      result.cornerEdge[corner] = edge - 1;
    }
  });
  result.uses.offsets[edgeCount] = u32(directed.items.size());
  return result;
}

std::vector<uint32_t> faceNeighbours(const MeshView& mesh, const EdgeAdjacency& edges) {
  std::vector<uint32_t> neighbours(mesh.corners.size(), kNoIndex);
  parallelFor(edges.size(), [&](size_t e) {
    const auto uses = edges.uses.row(e);
    if (uses.size() != 2) return;
    neighbours[uses[0].corner] = uses[1].face;
    neighbours[uses[1].corner] = uses[0].face;
  });
  return neighbours;
}

Rows vertexCorners(const MeshView& mesh) {
  requireValid(mesh);
  return groupBy<uint32_t>(
      mesh.corners.size(), mesh.positions.size(), [&](size_t c) { return mesh.corners[c]; },
      [](size_t c) { return u32(c); });
}

Rows vertexFaces(const MeshView& mesh) {
  const Rows corners = vertexCorners(mesh);
  const std::vector<uint32_t> faces = cornerFaces(mesh);
  // Corners of a face are consecutive numbers, so its repeats are neighbours in a row.
  auto isNew = [&](size_t v, uint32_t slot) {
    return slot == corners.offsets[v] || faces[corners.items[slot]] != faces[corners.items[slot - 1]];
  };
  Rows result;
  result.offsets.assign(corners.offsets.size(), 0);
  parallelFor(corners.size(), [&](size_t v) {
    for (uint32_t s = corners.offsets[v]; s < corners.offsets[v + 1]; ++s) result.offsets[v] += isNew(v, s);
  });
  result.items.resize(countsToOffsets(result.offsets));
  parallelFor(corners.size(), [&](size_t v) {
    uint32_t slot = result.offsets[v];
    for (uint32_t s = corners.offsets[v]; s < corners.offsets[v + 1]; ++s) {
      if (isNew(v, s)) result.items[slot++] = faces[corners.items[s]];
    }
  });
  return result;
}

}  // namespace sunder::geometry
