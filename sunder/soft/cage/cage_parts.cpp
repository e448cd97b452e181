#include "sunder/soft/cage/cage_parts.h"

#include "sunder/base/error.h"
#include "sunder/geometry/components.h"
#include "sunder/geometry/mesh_view.h"
#include "sunder/soft/cage/clip_surface.h"
#include "sunder/soft/cage/part_copies.h"
#include "sunder/soft/cage/solid.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace sunder::soft {

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

  const PartCopies found = findPartCopies(surface, solid, cage, clips);
  PartsReport numbers;
  geometry::TetMesh out;
  // A vertex keeps its number for the first of its copies; the others follow behind.
  std::vector<uint32_t> vertexOf(4 * size_t(found.firstPart.back()), kNoIndex);
  std::vector<uint8_t> used(cage.rest.positions.size(), 0);
  std::vector<Vec3> added;
  for (uint32_t t = 0; t < cage.rest.tets.size(); ++t) {
    uint32_t made = 0;
    for (uint32_t i = found.firstPart[t]; i < found.firstPart[t + 1]; ++i) {
      if (found.copyOfPart[i] != made) continue;  // it shares an earlier one
      ++made;
      geometry::Tetrahedron tet;
      for (size_t k = 0; k < 4; ++k) {
        uint32_t& vertex = vertexOf[found.vertexOf[i][k]];
        const uint32_t old = cage.rest.tets[t][k];
        if (vertex == kNoIndex && !used[old]) {
          used[old] = 1;
          vertex = old;
        } else if (vertex == kNoIndex) {
          vertex = uint32_t(cage.rest.positions.size() + added.size());
          added.push_back(cage.rest.positions[old]);
        }
        tet[k] = vertex;
      }
      out.tets.push_back(tet);
      if (!cage.rest.region.empty()) out.region.push_back(cage.rest.region[t]);
      numbers.source.push_back(t);
    }
    numbers.doubled += made > 1;
    numbers.copies += made > 1 ? made - 1 : 0;
    numbers.most = std::max(numbers.most, made);
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

  Cage result = makeCage(std::move(out));
  numbers.pieces = geometry::tetComponents(result.rest, geometry::Connect::Vertices).count;
  if (report) *report = std::move(numbers);
  return result;
}

}  // namespace sunder::soft
