#include "sunder/soft/cage/part_copies.h"

#include "sunder/base/disjoint_sets.h"
#include "sunder/base/index.h"
#include "sunder/base/parallel.h"

#include <algorithm>
#include <utility>

namespace sunder::soft {

namespace {

// Glues parts of neighbours where one region of the inside of their shared face bounds both.
class Gluing {
 public:
  Gluing(const Cage& cage, const SurfaceClips& clips, const std::vector<TetParts>& parts,
         const std::vector<uint32_t>& first)
      : cage_(cage), clips_(clips), parts_(parts), first_(first), slots_(4 * size_t(first.back())) {}

  void run() {
    for (uint32_t t = 0; t < cage_.rest.tets.size(); ++t)
      for (size_t f = 0; f < 4; ++f) {
        const uint32_t other = cage_.neighbours[t][f];
        if (other != kNoIndex && other > t) glue(t, f, other);
      }
  }
  uint32_t slot(uint32_t part, size_t corner) { return slots_.find(4 * part + uint32_t(corner)); }

 private:
  static size_t cornerOf(const geometry::Tetrahedron& tet, uint32_t vertex) {
    return size_t(std::find(tet.begin(), tet.end(), vertex) - tet.begin());
  }

  // Triangles with a contour on the face, and the part that they bound.
  std::vector<std::pair<uint32_t, uint32_t>> contours(uint32_t t, size_t f) const {
    std::vector<std::pair<uint32_t, uint32_t>> result;
    const uint32_t begin = clips_.trianglesOf.offsets[t];
    for (uint32_t i = begin; i < clips_.trianglesOf.offsets[t + 1]; ++i) {
      const auto corners = clips_.polygon(i);
      for (size_t c = 0; c < corners.size(); ++c)
        if ((corners[c].faces & corners[(c + 1) % corners.size()].faces) >> f & 1) {
          result.emplace_back(clips_.trianglesOf.items[i], parts_[t].ofPolygon[i - begin]);
          break;
        }
    }
    return result;
  }

  void glue(uint32_t a, size_t f, uint32_t b) {
    const geometry::Tetrahedron &ta = cage_.rest.tets[a], &tb = cage_.rest.tets[b];
    size_t g = 0;
    while (cage_.neighbours[b][g] != a) ++g;
    const auto join = [&](uint32_t i, uint32_t j) {
      for (size_t k = 0; k < 4; ++k)
        if (k != f)
          slots_.unite(4 * (first_[a] + i) + uint32_t(k),
                       4 * (first_[b] + j) + uint32_t(cornerOf(tb, ta[k])));
    };
    for (size_t k = 0; k < 4; ++k) {
      if (k == f) continue;
      const uint32_t i = parts_[a].ofCorner[k], j = parts_[b].ofCorner[cornerOf(tb, ta[k])];
      if (i != kNoIndex && j != kNoIndex) join(i, j);
    }
    const auto left = contours(a, f), right = contours(b, g);
    for (size_t i = 0, j = 0; i < left.size() && j < right.size();) {
      if (left[i].first == right[j].first) join(left[i].second, right[j].second);
      left[i].first <= right[j].first ? ++i : ++j;
    }
  }

  const Cage& cage_;
  const SurfaceClips& clips_;
  const std::vector<TetParts>& parts_;
  const std::vector<uint32_t>& first_;
  DisjointSets slots_;
};

}  // namespace

PartCopies findPartCopies(const ClipSurface& surface, const Solid& solid, const Cage& cage,
                          const SurfaceClips& clips) {
  const uint32_t tets = uint32_t(cage.rest.tets.size());
  PartCopies result;
  result.parts.resize(tets);
  parallelFor(
      tets, [&](size_t t) { result.parts[t] = tetParts(surface, cage.rest, clips, uint32_t(t), solid); }, 16);
  result.firstPart.assign(tets + 1, 0);
  for (uint32_t t = 0; t < tets; ++t) result.firstPart[t + 1] = result.firstPart[t] + result.parts[t].count;

  Gluing gluing(cage, clips, result.parts, result.firstPart);
  gluing.run();
  result.copyOfPart.resize(result.firstPart.back());
  result.vertexOf.resize(result.firstPart.back());
  result.copies.assign(tets, 0);
  for (uint32_t t = 0; t < tets; ++t)
    for (uint32_t i = result.firstPart[t]; i < result.firstPart[t + 1]; ++i) {
      for (size_t k = 0; k < 4; ++k) result.vertexOf[i][k] = gluing.slot(i, k);
      uint32_t same = result.firstPart[t];
      while (result.vertexOf[same] != result.vertexOf[i]) ++same;
      result.copyOfPart[i] = same < i ? result.copyOfPart[same] : result.copies[t]++;
    }
  return result;
}

}  // namespace sunder::soft
