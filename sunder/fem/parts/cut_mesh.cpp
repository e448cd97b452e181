#include "sunder/fem/parts/cut_mesh.h"

#include "sunder/base/disjoint_sets.h"
#include "sunder/base/error.h"
#include "sunder/base/hash.h"
#include "sunder/base/parallel.h"
#include "sunder/geometry/tet_mesh.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace sunder::fem {

namespace {

using geometry::kTetFaces;
using geometry::u32;

constexpr size_t kDivisionGrain = 32;

Box3f boxOf(const geometry::TetMesh& mesh, const geometry::Tetrahedron& tet) {
  constexpr float kFar = std::numeric_limits<float>::infinity();
  Box3f box;
  for (const uint32_t v : tet) {
    Vec3f lower, upper;
    for (int k = 0; k < 3; ++k) {
      const float x = static_cast<float>(mesh.positions[v][k]);
      lower[k] = std::nextafter(x, -kFar);
      upper[k] = std::nextafter(x, kFar);
    }
    box.grow(lower);
    box.grow(upper);
  }
  return box;
}

ElementPart wholePart(const geometry::TetMesh& mesh, uint32_t t, double volume) {
  ElementPart part{.tet = t, .nodes = mesh.tets[t], .volume = volume};
  for (const uint32_t v : mesh.tets[t]) part.centroid += 0.25 * mesh.positions[v];
  for (const uint32_t v : mesh.tets[t]) {
    const Vec3 d = mesh.positions[v] - part.centroid;
    part.second += volume / 20 * d * d.transpose();
  }
  return part;
}

}  // namespace

CutMesh::CutMesh(geometry::TetMesh mesh) : mesh_(std::move(mesh)) {
  if (mesh_.tets.empty())
    throw Error(ErrorKind::Geometry, "the mesh has no tetrahedra").hint("`sunder tet` fills a surface");
  makeElements(mesh_, {}, elements_);
  const uint32_t count = u32(mesh_.tets.size());
  std::vector<Box3f> boxes(count);
  first_.resize(count + 1);
  parts_.resize(count);
  parallelFor(count, [&](size_t t) {
    boxes[t] = boxOf(mesh_, mesh_.tets[t]);
    parts_[t] = wholePart(mesh_, u32(t), elements_[t].volume);
    first_[t] = u32(t);
  });
  first_[count] = count;
  spatial::OiTreeBuilder().build(tree_, boxes);
  divisionOf_.assign(count, kNoIndex);
  vertexOf_.resize(mesh_.positions.size());
  for (uint32_t v = 0; v < vertexOf_.size(); ++v) vertexOf_[v] = v;
}

// Keys of regions of faces, and of stretches of edges, by what is in their corners: vertices of the mesh that
// span the corner's feature, and the name of what the sheets have there.
void CutMesh::addContacts(uint32_t tet, const cut::SheetsCut& cut, Division& out) const {
  const geometry::Tetrahedron& vertices = mesh_.tets[tet];
  const auto keyOf = [&](unsigned spanning, uint64_t name) {
    std::array<uint64_t, 5> data{kNoIndex, kNoIndex, kNoIndex, kNoIndex, name};
    size_t count = 0;
    for (size_t v = 0; v < 4; ++v)
      if ((spanning >> v & 1u) != 0) data[count++] = vertices[v];
    std::sort(data.begin(), data.begin() + 4);
    return hash64(std::span<const uint64_t>(data));
  };
  // Both tetrahedra of a face see its rims in the direction of its ascending vertices.
  bool turned[4];
  for (size_t i = 0; i < 4; ++i) {
    const auto& f = kTetFaces[i];
    const uint32_t a = vertices[f[0]], b = vertices[f[1]], c = vertices[f[2]];
    turned[i] = ((a > b) != (b > c)) != (c > a);
  }
  for (const cut::FaceRegion& region : cut.regions) {
    const unsigned face = 15u & ~(1u << region.face);
    Contact contact{.key = {keyOf(face, 0), ~uint64_t(0), ~uint64_t(0)},
                    .part = region.fragment,
                    .vertices = static_cast<uint8_t>(face)};
    for (uint32_t e = region.first; e < region.first + region.count; ++e) {
      const cut::RimCorner &p = cut.rim[e][0], &q = cut.rim[e][1];
      std::array<uint64_t, 2> ends{keyOf(15u & ~p.faces, p.name), keyOf(15u & ~q.faces, q.name)};
      const unsigned both = unsigned(p.faces) & q.faces;
      // Along an edge, which two faces have: once.
      if (std::popcount(both) == 2 && region.face == std::countr_zero(both)) {
        const unsigned edge = 15u & ~both;
        out.contacts.push_back({{keyOf(edge, 0), std::min(ends[0], ends[1]), std::max(ends[0], ends[1])},
                                region.fragment,
                                static_cast<uint8_t>(edge)});
      }
      if (turned[region.face]) std::swap(ends[0], ends[1]);
      const std::array<uint64_t, 3> key{contact.key[0], ends[0], ends[1]};
      contact.key = std::min(contact.key, key);
    }
    out.contacts.push_back(contact);
  }
}

void CutMesh::divide(uint32_t tet, cut::SheetsCutter& cutter, uint32_t later, Division& out) const {
  const cut::SheetsCut& cut = cutter.cut(cornersOf(tet), out.faces, later);
  out.touched = cut.touched;
  out.touchedLater = cut.touchedLater;
  out.before.assign(cut.before.begin(), cut.before.end());
  out.parts.clear();
  out.contacts.clear();
  for (const cut::TetFragment& f : cut.fragments)
    out.parts.push_back({tet, mesh_.tets[tet], f.nodes, f.volume, f.centroid, f.second});
  if (out.parts.size() == 1) {
    const double volume = elements_[tet].volume;
    out.parts[0] = wholePart(mesh_, tet, volume);
  }
  if (cut.touched) addContacts(tet, cut, out);
}

geometry::TopologyChange CutMesh::cut(const geometry::TriMesh& sheet, uint64_t body, uint64_t mostPairs) {
  const uint32_t number = sheets_.add(sheet), later = sheets_.firstFace(number);
  try {
    const uint32_t tets = u32(mesh_.tets.size());
    // Triangles near each tetrahedron, ascending.
    std::vector<spatial::PrimitivePair> pairs;
    if (!sheet.triangles.empty()) {
      spatial::OiTree tree;
      spatial::OiTreeBuilder().build(
          tree, spatial::TriangleLeaves{.positions = sheet.positions, .triangles = sheet.triangles});
      spatial::PairList list;
      spatial::overlapPairs(tree_, tree, list, mostPairs);
      pairs.assign(list.pairs().begin(), list.pairs().end());
      std::vector<uint8_t> misses(pairs.size());
      parallelFor(pairs.size(), [&](size_t i) {
        misses[i] = sheets_.clearlyMisses(later + pairs[i].b, cornersOf(pairs[i].a)) ? 1 : 0;
      });
      size_t kept = 0;
      for (size_t i = 0; i < pairs.size(); ++i)
        if (misses[i] == 0) pairs[kept++] = pairs[i];
      pairs.resize(kept);
      std::sort(pairs.begin(), pairs.end());
    }
    std::vector<uint32_t> near;  // tetrahedra
    std::vector<size_t> begin;
    for (size_t i = 0; i < pairs.size(); ++i)
      if (i == 0 || pairs[i].a != pairs[i - 1].a) {
        near.push_back(pairs[i].a);
        begin.push_back(i);
      }
    begin.push_back(pairs.size());
    std::vector<Division> divided(near.size());
    parallelBlocks(near.size(), kDivisionGrain, [&](size_t first, size_t last) {
      cut::SheetsCutter cutter(sheets_);
      for (size_t i = first; i < last; ++i) {
        Division& d = divided[i];
        if (divisionOf_[near[i]] != kNoIndex) d.faces = divisions_[divisionOf_[near[i]]].faces;
        for (size_t p = begin[i]; p < begin[i + 1]; ++p) d.faces.push_back(later + pairs[p].b);
        divide(near[i], cutter, later, d);
      }
    });

    // All parts anew: those of other tetrahedra stay as they are.
    std::vector<const Division*> divisionOf(tets, nullptr);
    for (uint32_t t = 0; t < tets; ++t)
      if (divisionOf_[t] != kNoIndex) divisionOf[t] = &divisions_[divisionOf_[t]];
    std::vector<uint32_t> first(tets + 1, 0), source;
    std::vector<ElementPart> parts;
    parts.reserve(parts_.size());
    size_t next = 0;
    for (uint32_t t = 0; t < tets; ++t) {
      first[t] = u32(parts.size());
      if (next < near.size() && near[next] == t) {
        const Division& d = divided[next++];
        divisionOf[t] = &d;
        for (size_t p = 0; p < d.parts.size(); ++p) {
          parts.push_back(d.parts[p]);
          source.push_back(first_[t] + d.before[p]);
        }
        continue;
      }
      for (uint32_t p = first_[t]; p < first_[t + 1]; ++p) {
        parts.push_back(parts_[p]);
        source.push_back(p);
      }
    }
    first[tets] = u32(parts.size());
    Nodes nodes = numberNodes(divisionOf, parts, first, source);

    geometry::TopologyChange change;
    change.kind = geometry::ChangeKind::Cut;
    const uint32_t before = u32(parts_.size()), now = u32(parts.size());
    change.disappeared = {{body, u32(vertexOf_.size()), 4 * before, before}};
    change.appeared = {{{body, u32(nodes.vertexOf.size()), 4 * now, now}, {0}, 0}};
    change.vertexSource = std::move(nodes.source);
    change.tetSource = source;
    for (const uint32_t p : source)
      for (uint32_t k = 0; k < 4; ++k) change.faceSource.push_back(4 * p + k);

    reached_ = 0;
    for (size_t i = 0; i < near.size(); ++i) {
      reached_ += divided[i].touchedLater;
      uint32_t& place = divisionOf_[near[i]];
      if (place == kNoIndex) {
        place = u32(divisions_.size());
        divisions_.emplace_back();
      }
      divisions_[place] = std::move(divided[i]);
    }
    parts_ = std::move(parts);
    first_ = std::move(first);
    vertexOf_ = std::move(nodes.vertexOf);
    return change;
  } catch (...) {
    sheets_.removeLast();
    throw;
  }
}

std::vector<uint32_t> CutMesh::pieces(uint32_t& count) const {
  DisjointSets sets(nodes());
  for (const ElementPart& p : parts_)
    if (!isEmpty(p))
      for (size_t k = 1; k < 4; ++k) sets.unite(p.nodes[0], p.nodes[k]);
  std::vector<uint32_t> numberOf(nodes(), kNoIndex), result;
  count = 0;
  for (const ElementPart& p : parts_) {
    if (isEmpty(p)) {
      result.push_back(kNoIndex);
      continue;
    }
    uint32_t& number = numberOf[sets.find(p.nodes[0])];
    if (number == kNoIndex) number = count++;
    result.push_back(number);
  }
  return result;
}

CutCounts CutMesh::counts() const {
  CutCounts c{.parts = parts_.size(), .copies = nodes() - mesh_.positions.size()};
  for (uint32_t t = 0; t < mesh_.tets.size(); ++t) {
    const size_t parts = first_[t + 1] - first_[t];
    c.most = std::max(c.most, parts);
    if (parts > 1)
      ++c.cut;
    else if (divisionOf_[t] != kNoIndex && divisions_[divisionOf_[t]].touched)
      ++c.incised;
  }
  for (const ElementPart& p : parts_) c.empty += isEmpty(p);
  std::vector<uint8_t> copied(mesh_.positions.size(), 0);
  for (size_t n = mesh_.positions.size(); n < nodes(); ++n) copied[vertexOf_[n]] = 1;
  c.copied = static_cast<size_t>(std::count(copied.begin(), copied.end(), 1));
  uint32_t pieces = 0;
  this->pieces(pieces);
  c.pieces = pieces;
  return c;
}

}  // namespace sunder::fem
