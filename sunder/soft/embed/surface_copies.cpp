#include "sunder/soft/embed/surface_copies.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/geometry/mesh_view.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/soft/cage/clip_surface.h"
#include "sunder/soft/cage/part_copies.h"
#include "sunder/soft/cage/solid.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace sunder::soft {

namespace {

// Tetrahedra at the same place, the first of each group and those that follow it.
std::vector<std::vector<uint32_t>> doubledTets(const geometry::TetMesh& cage) {
  using Place = std::array<std::array<double, 3>, 4>;
  std::vector<std::pair<Place, uint32_t>> places(cage.tets.size());
  parallelFor(cage.tets.size(), [&](size_t t) {
    for (size_t k = 0; k < 4; ++k) {
      const Vec3& p = cage.positions[cage.tets[t][k]];
      places[t].first[k] = {p.x(), p.y(), p.z()};
    }
    std::sort(places[t].first.begin(), places[t].first.end());
    places[t].second = uint32_t(t);
  });
  std::sort(places.begin(), places.end());
  std::vector<std::vector<uint32_t>> groups;
  for (size_t i = 0; i < places.size();) {
    size_t end = i + 1;
    while (end < places.size() && places[end].first == places[i].first) ++end;
    if (end - i > 1) {
      groups.emplace_back();
      for (size_t j = i; j < end; ++j) groups.back().push_back(places[j].second);
    }
    i = end;
  }
  std::sort(groups.begin(), groups.end());
  return groups;
}

// The cage before its tetrahedra were doubled: the first of each group, with one vertex at each place.
Cage undoubled(const geometry::TetMesh& cage, const std::vector<uint8_t>& skip,
               std::vector<uint32_t>& source) {
  using Place = std::array<double, 3>;
  std::vector<std::pair<Place, uint32_t>> places(cage.positions.size());
  for (uint32_t v = 0; v < places.size(); ++v) {
    const Vec3& p = cage.positions[v];
    places[v] = {{p.x(), p.y(), p.z()}, v};
  }
  std::sort(places.begin(), places.end());
  std::vector<uint32_t> first(places.size());
  for (size_t i = 0; i < places.size(); ++i)
    first[places[i].second] =
        i > 0 && places[i].first == places[i - 1].first ? first[places[i - 1].second] : places[i].second;
  geometry::TetMesh mesh;
  mesh.positions = cage.positions;
  for (uint32_t t = 0; t < cage.tets.size(); ++t) {
    if (skip[t]) continue;
    geometry::Tetrahedron tet = cage.tets[t];
    for (uint32_t& v : tet) v = first[v];
    mesh.tets.push_back(tet);
    source.push_back(t);
  }
  return makeCage(std::move(mesh));
}

// Gives the polygons of the first tetrahedron of each group to the others, by parts of the solid. Parts are
// found again, in the cage as it was before.
void shareOut(const ClipSurface& surface, const geometry::TetMesh& cage, const std::vector<uint8_t>& skip,
              const std::vector<std::vector<uint32_t>>& groups, SurfaceClips& clips) {
  std::vector<uint32_t> kept;
  const Cage before = undoubled(cage, skip, kept);
  const PartCopies found =
      findPartCopies(surface, Solid(surface.mesh), before, clipSurface(surface, before.rest));
  const size_t copies = clips.trianglesOf.items.size();
  std::vector<uint32_t> owner(copies), source(copies);
  for (uint32_t t = 0; t < cage.tets.size(); ++t)
    for (uint32_t i = clips.trianglesOf.offsets[t]; i < clips.trianglesOf.offsets[t + 1]; ++i) owner[i] = t;
  // A copy may have its corners in another order.
  std::vector<std::array<uint8_t, 4>> from(cage.tets.size(), {0, 1, 2, 3});
  for (const std::vector<uint32_t>& group : groups) {
    const auto base = uint32_t(std::lower_bound(kept.begin(), kept.end(), group[0]) - kept.begin());
    const std::vector<uint32_t>& ofPolygon = found.parts[base].ofPolygon;
    if (found.copies[base] != group.size())
      throw Error(
          ErrorKind::Geometry,
          fmt::format("{} tetrahedra of the cage lie in the same place ({} and {}), where the solid has "
                      "{} separate part{}",
                      group.size(), group[0], group[1], found.copies[base],
                      found.copies[base] == 1 ? "" : "s"))
          .hint("a cage whose tetrahedra do not overlap is doubled where that is needed");
    const uint32_t begin = clips.trianglesOf.offsets[group[0]];
    for (uint32_t i = 0; i < ofPolygon.size(); ++i)
      owner[begin + i] = group[found.copyOfPart[found.firstPart[base] + ofPolygon[i]]];
    for (const uint32_t t : group)
      for (uint8_t k = 0; k < 4; ++k)
        for (uint8_t j = 0; j < 4; ++j)
          if (cage.positions[cage.tets[t][k]] == cage.positions[cage.tets[group[0]][j]]) from[t][k] = j;
  }
  const auto rows = geometry::groupBy<uint32_t>(
      copies, cage.tets.size(), [&](size_t i) { return owner[i]; }, [](size_t i) { return uint32_t(i); });
  SurfaceClips out;
  out.copiesOf = std::move(clips.copiesOf);
  out.covered = std::move(clips.covered);
  out.trianglesOf.offsets = rows.offsets;
  for (const uint32_t i : rows.items) {
    out.trianglesOf.items.push_back(clips.trianglesOf.items[i]);
    for (ClipCorner corner : clips.polygon(i)) {
      const std::array<uint8_t, 4>& map = from[owner[i]];
      const ClipCorner was = corner;
      corner.faces = 0;
      for (size_t k = 0; k < 4; ++k) {
        corner.weights[int(k)] = was.weights[map[k]];
        if (was.faces >> map[k] & 1) corner.faces |= uint8_t(1u << k);
      }
      out.polygons.push_back(corner);
    }
    out.polygonStart.push_back(uint32_t(out.polygons.size()));
  }
  clips = std::move(out);
}

}  // namespace

SurfaceCopies assignSurface(const geometry::TriMesh& surface, const Cage& cage) {
  geometry::requireValid(geometry::MeshView(surface));
  if (surface.triangles.empty()) throw Error(ErrorKind::Geometry, "the surface has no triangles");
  geometry::requireValid(cage.rest);
  const ClipSurface given(surface);
  const std::vector<std::vector<uint32_t>> groups = doubledTets(cage.rest);
  std::vector<uint8_t> skip;
  if (!groups.empty()) {
    skip.assign(cage.rest.tets.size(), 0);
    for (const std::vector<uint32_t>& group : groups)
      for (size_t i = 1; i < group.size(); ++i) skip[group[i]] = 1;
  }
  SurfaceClips clips = clipSurface(given, cage.rest, skip);
  const Uncovered outside = uncovered(surface, clips.covered);
  if (outside.triangle != kNoIndex)
    throw Error(ErrorKind::Geometry,
                fmt::format("{:.3g} % of the surface is outside the cage, first triangle {}",
                            100 * outside.share, outside.triangle))
        .hint("the cage has to hold the whole surface");
  for (uint32_t t = 0; t < clips.covered.size(); ++t)
    if (clips.covered[t] > 1 + 1e-6)
      throw Error(ErrorKind::Geometry,
                  fmt::format("tetrahedra of the cage overlap at triangle {} of the surface", t));
  if (!groups.empty()) shareOut(given, cage.rest, skip, groups, clips);
  return {std::move(clips.trianglesOf), std::move(clips.polygonStart), std::move(clips.polygons),
          std::move(clips.copiesOf)};
}

CopyStatistics copyStatistics(const SurfaceCopies& copies) {
  CopyStatistics result;
  result.triangles = copies.copiesOf.size();
  for (const uint32_t k : copies.copiesOf) {
    if (result.times.size() <= k) result.times.resize(k + 1, 0);
    ++result.times[k];
    result.copies += k;
  }
  for (size_t i = 0; i < copies.copies(); ++i)
    if (!isDust(copies.polygon(i))) result.clippedTriangles += copies.polygon(i).size() - 2;
  return result;
}

std::vector<TetContent> tetContents(const geometry::TriMesh& surface, const Cage& cage,
                                    const SurfaceCopies& copies) {
  const size_t n = cage.rest.tets.size();
  std::vector<TetContent> contents(n, TetContent::Surface);
  std::vector<uint32_t> empty;
  std::vector<Vec3> middles;
  for (uint32_t t = 0; t < n; ++t) {
    if (!copies.trianglesOf.row(t).empty()) continue;
    empty.push_back(t);
    Vec3 middle = Vec3::Zero();
    for (const uint32_t v : cage.rest.tets[t]) middle += 0.25 * cage.rest.positions[v];
    middles.push_back(middle);
  }
  if (empty.empty()) return contents;
  const std::vector<uint8_t> inside = Solid(surface).inside(middles);
  for (size_t i = 0; i < empty.size(); ++i)
    contents[empty[i]] = inside[i] ? TetContent::Inside : TetContent::Outside;
  return contents;
}

}  // namespace sunder::soft
