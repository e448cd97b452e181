#include "sunder/cut/arrangement/doubled_edges.h"

#include "sunder/base/index.h"
#include "sunder/geometry/rows.h"

#include <algorithm>
#include <span>

namespace sunder::cut {

namespace {

using geometry::u32;

struct SuspectEdge {
  uint32_t low, high;  // vertices
  uint32_t face, corner;
  bool forward;  // runs from low to high
  bool taken = false;
  auto operator<=>(const SuspectEdge&) const = default;
};

std::vector<SuspectEdge> suspectEdges(const FaceOrigin& origin, const std::vector<uint8_t>& suspect,
                                      const CutResult& result) {
  const geometry::PolygonSoup& soup = result.mesh;
  std::vector<SuspectEdge> edges;
  for (uint32_t f = 0; f < origin.use.size(); ++f) {
    if (origin.piece[f] == kNoIndex) continue;
    for (uint32_t c = soup.faceOffsets[f]; c < soup.faceOffsets[f + 1]; ++c) {
      const uint32_t a = soup.corners[c];
      if (!suspect[a]) continue;
      const uint32_t b = soup.corners[c + 1 == soup.faceOffsets[f + 1] ? soup.faceOffsets[f] : c + 1];
      if (suspect[b]) edges.push_back({std::min(a, b), std::max(a, b), f, c, a < b});
    }
  }
  std::sort(edges.begin(), edges.end());
  return edges;
}

struct EdgePair {
  uint32_t corner[2];
};

// Half-edges with the same ends, in pairs: those of one ring first, then of one use, then of two. A lid finds
// the mesh before the other lid, which it meets only where the sheet ends. On the seam lids find the mesh
// before all else.
std::vector<EdgePair> pairsOf(std::span<SuspectEdge> edges, const FaceOrigin& origin, bool onSeam) {
  std::vector<EdgePair> pairs;
  const auto pairUp = [&](auto&& fit) {
    for (SuspectEdge& e : edges)
      for (SuspectEdge& g : edges) {
        if (e.taken || g.taken || !e.forward || g.forward || !fit(e.face, g.face)) continue;
        e.taken = g.taken = true;
        pairs.push_back({{e.corner, g.corner}});
      }
  };
  if (onSeam) pairUp([&](uint32_t f, uint32_t g) { return (origin.use[f] == 0) != (origin.use[g] == 0); });
  pairUp([&](uint32_t f, uint32_t g) { return f == g || origin.piece[f] == origin.piece[g]; });
  pairUp([&](uint32_t f, uint32_t g) { return origin.use[f] == origin.use[g]; });
  pairUp([&](uint32_t f, uint32_t g) { return origin.use[f] == 0 || origin.use[g] == 0; });
  pairUp([&](uint32_t, uint32_t) { return true; });
  return pairs;
}

// Triangles of one whose edges have middles; kNoIndex where not. The same triangle the other way round is
// divided alike.
template <class Add>
void splitTriangle(const uint32_t* corner, const uint32_t* middle, const std::vector<Vec3>& positions,
                   Add&& add) {
  const auto isBefore = [&](uint32_t a, uint32_t b) {
    const Vec3 &p = positions[a], &q = positions[b];
    return std::lexicographical_compare(p.data(), p.data() + 3, q.data(), q.data() + 3);
  };
  // A corner between two middles is cut off, which leaves one case less.
  for (size_t k = 0; k < 3; ++k) {
    const size_t before = (k + 2) % 3, after = (k + 1) % 3;
    if (middle[before] == kNoIndex || middle[k] == kNoIndex) continue;
    add(middle[before], corner[k], middle[k]);
    if (middle[after] == kNoIndex && isBefore(middle[before], middle[k])) {
      add(middle[before], middle[k], corner[after]);
      add(middle[before], corner[after], corner[before]);
    } else if (middle[after] == kNoIndex) {
      add(middle[before], middle[k], corner[before]);
      add(middle[k], corner[after], corner[before]);
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

SeamEdges doubledSegments(const Seam& seam) {
  SeamEdges all, doubled;
  for (const SeamSegment& s : seam.segments)
    all.push_back({std::min(s.start, s.end), std::max(s.start, s.end)});
  std::sort(all.begin(), all.end());
  for (size_t i = 1; i < all.size(); ++i)
    if (all[i] == all[i - 1] && (doubled.empty() || doubled.back() != all[i])) doubled.push_back(all[i]);
  return doubled;
}

bool splitDoubledEdges(const SeamEdges& doubled, FaceOrigin& origin, std::vector<uint8_t>& suspect,
                       bool triangles, CutResult& result) {
  const auto onSeam = [&](uint32_t a, uint32_t b) {
    if (result.vertexFrom[a] != VertexFrom::Seam || result.vertexFrom[b] != VertexFrom::Seam) return false;
    const auto [low, high] = std::minmax(result.sourceVertex[a], result.sourceVertex[b]);
    return std::binary_search(doubled.begin(), doubled.end(), std::array<uint32_t, 2>{low, high});
  };
  std::vector<SuspectEdge> edges = suspectEdges(origin, suspect, result);
  geometry::PolygonSoup& soup = result.mesh;
  std::vector<uint32_t> middle;  // per corner: the vertex to put behind it
  for (size_t begin = 0; begin < edges.size();) {
    size_t end = begin + 1;
    while (end < edges.size() && edges[end].low == edges[begin].low && edges[end].high == edges[begin].high)
      ++end;
    if (end - begin > 2) {
      const Vec3 at = 0.5 * (soup.positions[edges[begin].low] + soup.positions[edges[begin].high]);
      const auto pairs =
          pairsOf({edges.data() + begin, end - begin}, origin, onSeam(edges[begin].low, edges[begin].high));
      for (const EdgePair& pair : pairs) {
        if (middle.empty()) middle.assign(soup.corners.size(), kNoIndex);
        for (const uint32_t c : pair.corner) middle[c] = u32(soup.positions.size());
        soup.positions.push_back(at);
        suspect.push_back(1);
        result.vertexFrom.push_back(VertexFrom::Seam);
        result.sourceVertex.push_back(kNoIndex);
      }
    }
    begin = end;
  }
  if (middle.empty()) return false;

  std::vector<uint32_t> offsets{0}, corners, sourceFace, fragment;
  std::vector<uint8_t> fromCutter;
  FaceOrigin newOrigin;
  const auto close = [&](size_t f) {
    offsets.push_back(u32(corners.size()));
    sourceFace.push_back(result.sourceFace[f]);
    fragment.push_back(result.fragment[f]);
    fromCutter.push_back(result.fromCutter[f]);
    newOrigin.use.push_back(origin.use[f]);
    newOrigin.piece.push_back(origin.piece[f]);
  };
  for (size_t f = 0; f < origin.use.size(); ++f) {
    const uint32_t first = soup.faceOffsets[f];
    if (triangles) {
      splitTriangle(soup.corners.data() + first, middle.data() + first, soup.positions,
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
  origin = std::move(newOrigin);
  return true;
}

}  // namespace sunder::cut
