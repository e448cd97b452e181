#include "sunder/cut/doubled_edges.h"

#include "sunder/base/index.h"
#include "sunder/geometry/rows.h"

#include <algorithm>
#include <span>

namespace sunder::cut {

namespace {

using geometry::u32;

struct SharedEdge {
  uint32_t low, high;  // vertices
  uint32_t face, corner;
  bool forward;  // runs from low to high
  auto operator<=>(const SharedEdge&) const = default;
};

std::vector<SharedEdge> sharedEdges(uint8_t lid, uint8_t otherLid, const std::vector<uint8_t>& use,
                                    const CutResult& result) {
  const geometry::PolygonSoup& soup = result.mesh;
  std::vector<uint8_t> seen(soup.positions.size(), 0);
  bool any = false;
  for (const uint8_t which : {lid, otherLid})
    for (size_t f = 0; f < use.size(); ++f) {
      if (use[f] != which) continue;
      for (const uint32_t v : soup.face(f)) {
        seen[v] |= which == lid ? 1 : 2;
        any = any || seen[v] == 3;
      }
    }
  std::vector<SharedEdge> edges;
  if (!any) return edges;
  for (uint32_t f = 0; f < use.size(); ++f)
    for (uint32_t c = soup.faceOffsets[f]; c < soup.faceOffsets[f + 1]; ++c) {
      const uint32_t a = soup.corners[c];
      if (seen[a] != 3) continue;
      const uint32_t b = soup.corners[c + 1 == soup.faceOffsets[f + 1] ? soup.faceOffsets[f] : c + 1];
      if (seen[b] == 3) edges.push_back({std::min(a, b), std::max(a, b), f, c, a < b});
    }
  std::sort(edges.begin(), edges.end());
  return edges;
}

// Triangles of one whose edges have middles; kNoIndex where not.
template <class Add>
void splitTriangle(const uint32_t* corner, const uint32_t* middle, Add&& add) {
  // A corner between two middles is cut off, which leaves one case less.
  for (size_t k = 0; k < 3; ++k) {
    const size_t before = (k + 2) % 3, after = (k + 1) % 3;
    if (middle[before] == kNoIndex || middle[k] == kNoIndex) continue;
    add(middle[before], corner[k], middle[k]);
    if (middle[after] == kNoIndex) {
      add(middle[before], middle[k], corner[after]);
      add(middle[before], corner[after], corner[before]);
    } else {
      add(middle[k], corner[after], middle[after]);
      add(middle[after], corner[before], middle[before]);
      add(middle[before], middle[k], middle[after]);
    }
    return;
  }
  for (size_t k = 0; k < 3; ++k) {
    if (middle[k] == kNoIndex) continue;
    add(corner[k], middle[k], corner[(k + 2) % 3]);
    add(middle[k], corner[(k + 1) % 3], corner[(k + 2) % 3]);
    return;
  }
  add(corner[0], corner[1], corner[2]);
}

}  // namespace

void splitDoubledEdges(uint8_t lid, uint8_t otherLid, std::vector<uint8_t>& use, CutResult& result,
                       bool triangles) {
  const std::vector<SharedEdge> edges = sharedEdges(lid, otherLid, use, result);
  geometry::PolygonSoup& soup = result.mesh;
  std::vector<uint32_t> middle;  // per corner: the vertex to put behind it
  // Gives the edges of one lid, and where that is at the seam the mesh's opposite, a new vertex.
  const auto split = [&](uint8_t which, std::span<const SharedEdge> all) {
    size_t own = 0;
    bool forward = false;
    for (const SharedEdge& e : all)
      if (use[e.face] == which) {
        forward = e.forward;
        ++own;
      }
    if (own == 0 || (own == 1 && which == otherLid)) return size_t(0);
    if (middle.empty()) middle.assign(soup.corners.size(), kNoIndex);
    const uint32_t vertex = u32(soup.positions.size());
    for (const SharedEdge& e : all) {
      const bool ofMesh = use[e.face] != lid && use[e.face] != otherLid;
      if (use[e.face] == which || (own == 1 && ofMesh && e.forward != forward)) middle[e.corner] = vertex;
    }
    soup.positions.push_back(0.5 * (soup.positions[all[0].low] + soup.positions[all[0].high]));
    result.vertexFrom.push_back(VertexFrom::Seam);
    result.sourceVertex.push_back(kNoIndex);
    return size_t(2);
  };
  for (size_t begin = 0; begin < edges.size();) {
    size_t end = begin + 1;
    while (end < edges.size() && edges[end].low == edges[begin].low && edges[end].high == edges[begin].high)
      ++end;
    size_t left = end - begin;
    for (const uint8_t which : {lid, otherLid}) {
      if (left <= 2) break;
      left -= split(which, {edges.data() + begin, end - begin});
    }
    begin = end;
  }
  if (middle.empty()) return;

  std::vector<uint32_t> offsets{0}, corners, sourceFace, fragment;
  std::vector<uint8_t> fromCutter, newUse;
  const auto close = [&](size_t f) {
    offsets.push_back(u32(corners.size()));
    sourceFace.push_back(result.sourceFace[f]);
    fragment.push_back(result.fragment[f]);
    fromCutter.push_back(result.fromCutter[f]);
    newUse.push_back(use[f]);
  };
  for (size_t f = 0; f < use.size(); ++f) {
    const uint32_t first = soup.faceOffsets[f];
    if (triangles) {
      splitTriangle(soup.corners.data() + first, middle.data() + first,
                    [&](uint32_t a, uint32_t b, uint32_t c) {
                      for (const uint32_t v : {a, b, c}) corners.push_back(v);
                      close(f);
                    });
      continue;
    }
    for (uint32_t c = first; c < soup.faceOffsets[f + 1]; ++c) {
      corners.push_back(soup.corners[c]);
      if (middle[c] != kNoIndex) corners.push_back(middle[c]);
    }
    close(f);
  }
  soup.faceOffsets = std::move(offsets);
  soup.corners = std::move(corners);
  result.sourceFace = std::move(sourceFace);
  result.fragment = std::move(fragment);
  result.fromCutter = std::move(fromCutter);
  use = std::move(newUse);
}

}  // namespace sunder::cut
