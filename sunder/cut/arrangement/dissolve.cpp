#include "sunder/cut/arrangement/dissolve.h"

#include "sunder/base/disjoint_sets.h"
#include "sunder/base/index.h"
#include "sunder/base/radix_sort.h"
#include "sunder/geometry/rows.h"

#include <algorithm>
#include <tuple>

namespace sunder::cut {

namespace {

using geometry::u32;

struct Faces {
  std::vector<uint32_t> offsets{0}, corners, source, fragment;
  std::vector<uint8_t> fromCutter, use;
};

// The pieces of one polygon.
class Polygon {
 public:
  Polygon(const DissolveMarks& marks, const CutResult& result) : marks_(marks), result_(result) {}

  void merge(std::span<const uint32_t> faces, Faces& out) {
    const auto& offsets = result_.mesh.faceOffsets;
    const auto& corners = result_.mesh.corners;
    next_.clear();
    origin_.clear();
    piece_.clear();
    inner_.clear();
    for (uint32_t i = 0; i < faces.size(); ++i) {
      const uint32_t begin = offsets[faces[i]], end = offsets[faces[i] + 1], first = u32(next_.size());
      for (uint32_t c = begin; c < end; ++c) {
        const uint32_t h = u32(next_.size());
        next_.push_back(c + 1 == end ? first : h + 1);
        origin_.push_back(corners[c]);
        piece_.push_back(i);
        if (marks_.diagonal[c] != kNoIndex)
          inner_.push_back({corners[c], corners[c + 1 == end ? begin : c + 1], marks_.diagonal[c], h});
      }
    }
    std::sort(inner_.begin(), inner_.end());
    previous_.resize(next_.size());
    for (uint32_t h = 0; h < next_.size(); ++h) previous_[next_[h]] = h;
    gone_.assign(next_.size(), 0);
    DisjointSets sets(faces.size());
    for (const Edge& e : inner_) {
      if (e.from > e.to) continue;
      const auto opposite = std::lower_bound(inner_.begin(), inner_.end(), Edge{e.to, e.from, e.diagonal, 0});
      if (opposite == inner_.end() || opposite->from != e.to || opposite->to != e.from ||
          opposite->diagonal != e.diagonal)
        continue;
      const uint32_t h = e.halfedge, g = opposite->halfedge;
      if (!sets.unite(piece_[h], piece_[g])) continue;
      link(previous_[h], next_[g]);
      link(previous_[g], next_[h]);
      gone_[h] = gone_[g] = 1;
    }
    for (uint32_t h = 0; h < next_.size(); ++h) {
      if (gone_[h]) continue;
      const uint32_t face = faces[piece_[h]];
      for (uint32_t at = h; !gone_[at]; at = next_[at]) {
        out.corners.push_back(origin_[at]);
        gone_[at] = 1;
      }
      out.offsets.push_back(u32(out.corners.size()));
      out.source.push_back(result_.sourceFace[face]);
      out.fromCutter.push_back(result_.fromCutter[face]);
      out.fragment.push_back(result_.fragment[face]);
      out.use.push_back(marks_.use[face]);
    }
  }

 private:
  struct Edge {
    uint32_t from, to, diagonal, halfedge;
    auto operator<=>(const Edge&) const = default;
  };
  void link(uint32_t a, uint32_t b) {
    next_[a] = b;
    previous_[b] = a;
  }

  const DissolveMarks& marks_;
  const CutResult& result_;
  std::vector<uint32_t> next_, previous_, origin_, piece_;
  std::vector<Edge> inner_;
  std::vector<uint8_t> gone_;
};

// Puts vertices back without which two edges would have the same ends. True when there were any.
bool keepEdgesApart(const Faces& faces, std::vector<uint8_t>& remove) {
  struct Edge {
    uint32_t from, to, corner;  // `corner` is where the edge starts
    auto operator<=>(const Edge&) const = default;
  };
  std::vector<uint8_t> end(remove.size(), 0);
  std::vector<Edge> edges;
  // First the ends of edges that lose a vertex, then all edges between such ends.
  for (const bool collect : {false, true})
    for (size_t f = 0; f + 1 < faces.offsets.size(); ++f) {
      const uint32_t begin = faces.offsets[f], n = faces.offsets[f + 1] - begin;
      for (uint32_t i = 0; i < n; ++i) {
        const uint32_t from = faces.corners[begin + i];
        if (remove[from]) continue;
        uint32_t k = 1;
        while (remove[faces.corners[begin + (i + k) % n]]) ++k;
        const uint32_t to = faces.corners[begin + (i + k) % n];
        if (collect && end[from] && end[to]) edges.push_back({from, to, begin + i});
        if (!collect && k > 1) end[from] = end[to] = 1;
      }
    }
  std::sort(edges.begin(), edges.end());
  bool any = false;
  for (size_t i = 0; i < edges.size(); ++i) {
    const auto same = [&](size_t j) { return edges[j].from == edges[i].from && edges[j].to == edges[i].to; };
    if (!(i > 0 && same(i - 1)) && !(i + 1 < edges.size() && same(i + 1))) continue;
    const auto face = std::upper_bound(faces.offsets.begin(), faces.offsets.end(), edges[i].corner);
    const uint32_t begin = *(face - 1), n = *face - begin;
    for (uint32_t c = edges[i].corner - begin + 1; remove[faces.corners[begin + c % n]]; ++c) {
      remove[faces.corners[begin + c % n]] = 0;
      any = true;
    }
  }
  return any;
}

// Takes vertices out that only two corners are left of, as long as every face keeps three corners.
void removePlainVertices(const DissolveMarks& marks, Faces& faces, CutResult& result) {
  const size_t vertices = result.mesh.positions.size(), faceCount = faces.offsets.size() - 1;
  std::vector<uint32_t> uses(vertices, 0);
  for (const uint32_t v : faces.corners) ++uses[v];
  std::vector<uint8_t> remove(vertices, 0);
  for (size_t v = 0; v < vertices; ++v) remove[v] = marks.removable[v] && uses[v] <= marks.facesAtPlainVertex;
  for (bool again = true; again;) {
    again = false;
    for (size_t f = 0; f < faceCount; ++f) {
      uint32_t kept = 0;
      for (uint32_t c = faces.offsets[f]; c < faces.offsets[f + 1]; ++c) kept += !remove[faces.corners[c]];
      if (kept >= 3) continue;
      for (uint32_t c = faces.offsets[f]; c < faces.offsets[f + 1]; ++c) {
        again = again || remove[faces.corners[c]];
        remove[faces.corners[c]] = 0;
      }
    }
    again = again || keepEdgesApart(faces, remove);
    for (size_t v = 0; v < vertices; ++v) {
      if (!remove[v] || marks.across[v] == kNoIndex || remove[marks.across[v]]) continue;
      remove[v] = 0;
      again = true;
    }
  }
  std::vector<uint32_t> place(vertices);
  uint32_t count = 0;
  for (size_t v = 0; v < vertices; ++v) {
    place[v] = count;
    if (remove[v]) continue;
    result.mesh.positions[count] = result.mesh.positions[v];
    result.vertexFrom[count] = result.vertexFrom[v];
    result.sourceVertex[count++] = result.sourceVertex[v];
  }
  result.mesh.positions.resize(count);
  result.vertexFrom.resize(count);
  result.sourceVertex.resize(count);
  uint32_t to = 0;
  for (size_t f = 0; f < faceCount; ++f) {
    const uint32_t begin = faces.offsets[f], end = faces.offsets[f + 1];
    faces.offsets[f] = to;
    for (uint32_t c = begin; c < end; ++c)
      if (!remove[faces.corners[c]]) faces.corners[to++] = place[faces.corners[c]];
    // The next face still needs its old beginning.
    if (f + 1 == faceCount) faces.offsets[f + 1] = to;
  }
  faces.corners.resize(to);
}

}  // namespace

void dissolve(DissolveMarks& marks, CutResult& result) {
  const size_t count = result.sourceFace.size();
  std::vector<uint64_t> keys(count);
  std::vector<uint32_t> order(count);
  for (size_t f = 0; f < count; ++f) {
    keys[f] = (uint64_t(marks.use[f]) << 32) | result.sourceFace[f];
    order[f] = u32(f);
  }
  RadixScratch scratch;
  radixSortPairs(std::span<uint64_t>(keys), std::span<uint32_t>(order), scratch, 40);
  Faces faces;
  faces.corners.reserve(result.mesh.corners.size());
  Polygon polygon(marks, result);
  for (size_t begin = 0; begin < count;) {
    size_t end = begin + 1;
    while (end < count && keys[end] == keys[begin]) ++end;
    polygon.merge({order.data() + begin, end - begin}, faces);
    begin = end;
  }
  removePlainVertices(marks, faces, result);
  result.mesh.faceOffsets = std::move(faces.offsets);
  result.mesh.corners = std::move(faces.corners);
  result.sourceFace = std::move(faces.source);
  result.fromCutter = std::move(faces.fromCutter);
  result.fragment = std::move(faces.fragment);
  marks.use = std::move(faces.use);
}

}  // namespace sunder::cut
