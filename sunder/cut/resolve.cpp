#include "sunder/cut/resolve.h"

#include "sunder/base/error.h"
#include "sunder/cut/arrangement/fragments.h"
#include "sunder/cut/finish/attributes.h"
#include "sunder/cut/kernel/self_check.h"
#include "sunder/cut/self_crossing.h"
#include "sunder/geometry/components.h"
#include "sunder/geometry/mass_properties.h"

#include <numeric>
#include <set>

#include <fmt/format.h>

namespace sunder::cut {

namespace {

using geometry::PolygonSoup;

Resolved unchanged(const PolygonSoup& mesh) {
  Resolved out{mesh, std::vector<uint32_t>(mesh.faceCount()), std::vector<uint32_t>(mesh.positions.size())};
  std::iota(out.sourceFace.begin(), out.sourceFace.end(), 0u);
  std::iota(out.sourceVertex.begin(), out.sourceVertex.end(), 0u);
  return out;
}

[[noreturn]] void refuse(const std::string& name, const std::string& what, uint32_t a, uint32_t b) {
  throw Error(ErrorKind::Geometry, fmt::format("the {}: {}: faces {} and {} meet", name, what, a, b))
      .hint("only closed meshes can be resolved");
}

// For each part the solid it belongs to: itself, or, for a cavity, the smallest part around it that it does
// not meet.
std::vector<uint32_t> solidsOf(const std::vector<geometry::SoupPart>& parts,
                               const std::set<std::array<uint32_t, 2>>& meeting, const std::string& name) {
  std::vector<double> volume;
  for (const auto& p : parts) volume.push_back(geometry::massProperties(p.mesh).volume);
  std::vector<uint32_t> solid(parts.size());
  for (uint32_t i = 0; i < parts.size(); ++i) {
    solid[i] = i;
    if (volume[i] >= 0) continue;
    uint32_t around = kNoIndex;
    for (uint32_t j = 0; j < parts.size(); ++j) {
      if (volume[j] < -volume[i] || (around != kNoIndex && volume[j] >= volume[around])) continue;
      if (meeting.count({std::min(i, j), std::max(i, j)}) != 0) continue;
      const KernelMesh shell = makeKernelMesh(parts[j].mesh, name);
      if (windingAround(parts[i].mesh.positions[0], kMesh, shell) > 0) around = j;
    }
    if (around == kNoIndex)
      throw Error(ErrorKind::Geometry,
                  fmt::format("the {}: the part with face {} is inside out and in no solid", name,
                              parts[i].faceSource[0]))
          .hint("sunder clean turns its faces");
    solid[i] = around;
  }
  return solid;
}

}  // namespace

PolygonSoup soupOf(const geometry::MeshView& mesh) {
  PolygonSoup soup;
  soup.positions.assign(mesh.positions.begin(), mesh.positions.end());
  for (size_t f = 0; f < mesh.faceCount(); ++f) soup.addFace(mesh.face(f));
  return soup;
}

Resolved resolveOverlaps(const PolygonSoup& mesh, const std::string& name, uint64_t most) {
  const KernelMesh kernel = makeKernelMesh(mesh, name);
  const geometry::Components components = geometry::faceComponents(mesh);
  std::set<std::array<uint32_t, 2>> meeting;  // parts
  for (const auto& [a, b] : selfIntersections(kernel, name, most)) {
    if (!kernel.closed()) refuse(name, "it is open and crosses itself", a, b);
    const uint32_t x = components.label[a], y = components.label[b];
    if (x == y) return resolveByWinding(mesh, kernel, name, most);
    meeting.insert({std::min(x, y), std::max(x, y)});
  }
  if (components.count == 1 || !kernel.closed()) return unchanged(mesh);

  const std::vector<geometry::SoupPart> parts = geometry::splitComponents(mesh, components);
  const std::vector<uint32_t> solid = solidsOf(parts, meeting, name);
  for (const auto& [x, y] : meeting)
    if (solid[x] == solid[y])
      refuse(name, "two cavities of a solid cross", parts[x].faceSource[0], parts[y].faceSource[0]);

  // Solids with their cavities, by the first part's number.
  geometry::Components bySolid{components.count, components.label};
  for (uint32_t& l : bySolid.label) l = solid[l];
  Resolved out;
  for (const geometry::SoupPart& next : geometry::splitComponents(mesh, bySolid)) {
    if (next.mesh.faceCount() == 0) continue;
    if (out.mesh.faceCount() == 0) {
      out = {next.mesh, next.faceSource, next.vertexSource};
      continue;
    }
    CutResult all = cut(geometry::MeshView(out.mesh), next.mesh, {.op = Op::Union, .mostPairs = most});
    transferAttributes(out.mesh, next.mesh, all);
    Resolved sum;
    for (size_t f = 0; f < all.sourceFace.size(); ++f)
      sum.sourceFace.push_back((all.fromCutter[f] ? next.faceSource : out.sourceFace)[all.sourceFace[f]]);
    for (size_t v = 0; v < all.sourceVertex.size(); ++v)
      sum.sourceVertex.push_back(all.vertexFrom[v] == VertexFrom::Seam ? kNoIndex
                                 : all.vertexFrom[v] == VertexFrom::Cutter
                                     ? next.vertexSource[all.sourceVertex[v]]
                                     : out.sourceVertex[all.sourceVertex[v]]);
    // Both are parts of one mesh, so their groups are the same list twice.
    if (!mesh.faceGroup.empty()) {
      for (uint32_t& g : all.mesh.faceGroup) g %= geometry::u32(mesh.groupNames.size());
      all.mesh.groupNames = mesh.groupNames;
    }
    sum.mesh = std::move(all.mesh);
    out = std::move(sum);
  }
  return out;
}

}  // namespace sunder::cut
