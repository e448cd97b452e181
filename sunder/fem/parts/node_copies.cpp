// Which parts have a node in common: the one-ring criterion of specification 08 (X4.2) by disjoint sets.
//
// Each part has an instance of a node at each of its tetrahedron's vertices. Two instances of one vertex are
// the same node if their parts have a region of a face in common that the vertex spans, or a stretch of an
// edge; those of all parts that hold the vertex itself are one. So instances are joined if and only if one
// can walk from part to part around the vertex without crossing a sheet.
#include "sunder/base/disjoint_sets.h"
#include "sunder/fem/parts/cut_mesh.h"
#include "sunder/geometry/rows.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace sunder::fem {

using geometry::u32;

CutMesh::Nodes CutMesh::numberNodes(std::span<const Division* const> divisionOf,
                                    std::vector<ElementPart>& parts, std::span<const uint32_t> first,
                                    std::span<const uint32_t> partSource) const {
  const uint32_t vertices = u32(mesh_.positions.size()), tets = u32(mesh_.tets.size());
  // Sets: the vertices, which stand for the parts that hold them; then four instances for each part of the
  // tetrahedra that sheets reach into.
  std::vector<uint32_t> partOf;  // of those parts
  std::vector<uint32_t> firstOf(tets, kNoIndex);
  for (uint32_t t = 0; t < tets; ++t) {
    if (divisionOf[t] == nullptr || !divisionOf[t]->touched) continue;
    firstOf[t] = u32(partOf.size());
    for (uint32_t p = first[t]; p < first[t + 1]; ++p) partOf.push_back(p);
  }
  const auto instance = [&](uint32_t local, size_t k) { return vertices + 4 * local + u32(k); };
  DisjointSets sets(vertices + 4 * partOf.size());
  for (uint32_t local = 0; local < partOf.size(); ++local) {
    const ElementPart& part = parts[partOf[local]];
    for (size_t k = 0; k < 4; ++k)
      if ((part.holds >> k & 1u) != 0) sets.unite(mesh_.tets[part.tet][k], instance(local, k));
  }
  struct Met {
    std::array<uint64_t, 3> key;
    uint32_t local, tet;
    uint8_t vertices;
  };
  std::vector<Met> all;
  for (uint32_t t = 0; t < tets; ++t)
    if (firstOf[t] != kNoIndex)
      for (const Contact& c : divisionOf[t]->contacts)
        all.push_back({c.key, firstOf[t] + c.part, t, c.vertices});
  std::sort(all.begin(), all.end(), [](const Met& a, const Met& b) {
    if (a.key != b.key) return a.key < b.key;
    return a.local != b.local ? a.local < b.local : a.vertices < b.vertices;
  });
  for (size_t i = 1; i < all.size(); ++i) {
    const Met &a = all[i - 1], &b = all[i];
    if (a.key != b.key) continue;
    for (size_t k = 0; k < 4; ++k) {
      if ((a.vertices >> k & 1u) == 0) continue;
      const auto& other = mesh_.tets[b.tet];
      const auto at = std::find(other.begin(), other.end(), mesh_.tets[a.tet][k]);
      if (at == other.end()) continue;
      sets.unite(instance(a.local, k), instance(b.local, static_cast<size_t>(at - other.begin())));
    }
  }

  // The classes, by their roots, with the node that they were before.
  const uint32_t members = u32(sets.size());
  std::vector<uint32_t> before(members, kNoIndex);
  std::vector<uint8_t> solid(members, 0);
  for (uint32_t t = 0; t < tets; ++t)
    if (firstOf[t] == kNoIndex)
      for (const uint32_t v : mesh_.tets[t]) {
        before[v] = v;
        solid[v] = 1;
      }
  for (uint32_t local = 0; local < partOf.size(); ++local) {
    const ElementPart& part = parts[partOf[local]];
    const bool full = !isEmpty(part);
    for (size_t k = 0; k < 4; ++k) {
      const uint32_t root = sets.find(instance(local, k));
      // An empty part has borrowed its nodes, so it does not know.
      const ElementPart& was = parts_[partSource[partOf[local]]];
      if (!isEmpty(was) && (full || before[root] == kNoIndex)) before[root] = was.nodes[k];
      if (full) solid[root] = 1;
    }
  }
  // Each old node goes on as one of its classes: the vertex's own if that is not empty, else the first that
  // is not. The others get new numbers, in order; empty ones keep the old number.
  Nodes nodes;
  nodes.vertexOf = vertexOf_;
  nodes.source.resize(vertexOf_.size());
  for (uint32_t n = 0; n < vertexOf_.size(); ++n) nodes.source[n] = n;
  std::vector<uint32_t> numberOf(members, kNoIndex);
  std::vector<uint8_t> taken(vertexOf_.size(), 0);
  for (uint32_t i = 0; i < members; ++i) {
    if (!sets.isRoot(i)) continue;
    const uint32_t old = before[i];
    if (old == kNoIndex || solid[i] == 0) continue;
    if (taken[old] == 0) {
      taken[old] = 1;
      numberOf[i] = old;
      continue;
    }
    numberOf[i] = u32(nodes.vertexOf.size());
    nodes.vertexOf.push_back(vertexOf_[old]);
    nodes.source.push_back(old);
  }
  for (uint32_t local = 0; local < partOf.size(); ++local) {
    ElementPart& part = parts[partOf[local]];
    for (size_t k = 0; k < 4; ++k) {
      const uint32_t root = sets.find(instance(local, k));
      const uint32_t number = numberOf[root];
      part.nodes[k] = number != kNoIndex ? number : parts_[partSource[partOf[local]]].nodes[k];
    }
  }
  return nodes;
}

}  // namespace sunder::fem
