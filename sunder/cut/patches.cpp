#include "sunder/cut/patches.h"

#include "sunder/cut/arrangement/arrangement.h"
#include "sunder/cut/arrangement/fragments.h"

#include <numeric>

namespace sunder::cut {

CutterPatches cutterPatches(const geometry::MeshView& mesh, const geometry::MeshView& cutter, bool triangles,
                            bool checkInput) {
  CutResult written;
  Arrangement all = arrange(mesh, cutter, "cutter", {.checkInput = checkInput}, written.statistics);
  Parts& parts = all.parts[kCutter];
  placeUnmetParts(parts, kCutter, all.meshes[kCutter], all.meshes[kMesh]);
  const Scene scene = all.scene();
  if (all.meshes[kMesh].closed()) refuseBothSides(scene, kCutter, "cutter", "mesh");
  Use use{.mesh = kCutter, .bySide = true};
  use.fragment.resize(parts.count);
  std::iota(use.fragment.begin(), use.fragment.end(), 0u);
  emit(scene, {use}, triangles, written);

  CutterPatches out;
  out.patches = parts.count;
  for (const uint8_t sides : parts.sides) out.inside.push_back((sides & kMinus) != 0);
  out.area.assign(parts.count, 0.0);
  for (size_t f = 0; f < written.mesh.faceCount(); ++f)
    out.area[written.fragment[f]] += geometry::vectorArea(written.mesh, f).norm();
  out.mesh = std::move(written.mesh);
  out.sourceFace = std::move(written.sourceFace);
  out.patch = std::move(written.fragment);
  out.vertexFrom = std::move(written.vertexFrom);
  out.sourceVertex = std::move(written.sourceVertex);
  return out;
}

}  // namespace sunder::cut
