#include "sunder/soft/cage/cage_parts.h"

#include "sunder/base/disjoint_sets.h"
#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/geometry/components.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/soft/cage/clip_surface.h"
#include "sunder/soft/cage/solid.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

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
  uint32_t slot(uint32_t tet, size_t corner) { return slots_.find(4 * tet + uint32_t(corner)); }

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

Cage separateParts(const geometry::TriMesh& mesh, Cage cage, PartsReport* report) {
  geometry::requireValid(geometry::MeshView(mesh));
  const ClipSurface surface(mesh);
  const Solid solid(mesh);
  const SurfaceClips clips = clipSurface(surface, cage.rest);
  const Uncovered outside = uncovered(mesh, clips.covered);
  if (outside.triangle != kNoIndex)
    throw Error(ErrorKind::Geometry,
                fmt::format("{:.3g} % of the surface is outside the cage, first triangle {}",
                            100 * outside.share, outside.triangle))
        .hint("the cage has to hold the whole surface");

  const uint32_t tets = uint32_t(cage.rest.tets.size());
  std::vector<TetParts> parts(tets);
  parallelFor(
      tets, [&](size_t t) { parts[t] = tetParts(surface, cage.rest, clips, uint32_t(t), solid); }, 16);
  std::vector<uint32_t> first(tets + 1, 0);
  for (uint32_t t = 0; t < tets; ++t) first[t + 1] = first[t] + parts[t].count;

  Gluing gluing(cage, clips, parts, first);
  gluing.run();

  PartsReport numbers;
  geometry::TetMesh out;
  // A vertex keeps its number for the first of its copies; the others follow behind.
  std::vector<uint32_t> vertexOf(4 * size_t(first.back()), kNoIndex);
  std::vector<uint32_t> wasIn(cage.rest.positions.size(), kNoIndex);
  std::vector<Vec3> added;
  for (uint32_t t = 0; t < tets; ++t)
    for (uint32_t i = first[t]; i < first[t + 1]; ++i) {
      geometry::Tetrahedron tet;
      for (size_t k = 0; k < 4; ++k) {
        uint32_t& vertex = vertexOf[gluing.slot(i, k)];
        if (vertex == kNoIndex) {
          const uint32_t old = cage.rest.tets[t][k];
          if (wasIn[old] == kNoIndex) {
            wasIn[old] = 0;
            vertex = old;
          } else {
            vertex = uint32_t(cage.rest.positions.size() + added.size());
            added.push_back(cage.rest.positions[old]);
          }
        }
        tet[k] = vertex;
      }
      out.tets.push_back(tet);
      if (!cage.rest.region.empty()) out.region.push_back(cage.rest.region[t]);
      numbers.source.push_back(t);
    }
  numbers.vertices = uint32_t(added.size());
  // Without the vertices that no tetrahedron has any more.
  std::vector<Vec3> positions = std::move(cage.rest.positions);
  positions.insert(positions.end(), added.begin(), added.end());
  std::vector<uint32_t> number(positions.size(), kNoIndex);
  for (const geometry::Tetrahedron& tet : out.tets)
    for (const uint32_t v : tet) number[v] = 0;
  for (uint32_t v = 0; v < positions.size(); ++v)
    if (number[v] == 0) {
      number[v] = uint32_t(out.positions.size());
      out.positions.push_back(positions[v]);
    }
  for (geometry::Tetrahedron& tet : out.tets)
    for (uint32_t& v : tet) v = number[v];

  for (const TetParts& p : parts) {
    numbers.doubled += p.count > 1;
    numbers.copies += p.count > 1 ? p.count - 1 : 0;
    numbers.most = std::max(numbers.most, p.count);
  }
  Cage result = makeCage(std::move(out));
  numbers.pieces = geometry::tetComponents(result.rest, geometry::Connect::Vertices).count;
  if (report) *report = std::move(numbers);
  return result;
}

}  // namespace sunder::soft
