#include "sunder/cut/cut.h"

#include "sunder/base/stopwatch.h"
#include "sunder/cut/arrangement/arrangement.h"
#include "sunder/cut/arrangement/fragments.h"
#include "sunder/cut/finish/rounding.h"
#include "sunder/cut/resolve.h"
#include "sunder/geometry/components.h"

namespace sunder::cut {

CutResult cutNamed(const geometry::MeshView& mesh, const geometry::MeshView& cutter, const std::string& name,
                   const CutOptions& options) {
  CutResult result;
  Arrangement all = arrange(mesh, cutter, name, options, result.statistics);
  Stopwatch watch;
  placeUnmetParts(all.parts[kMesh], kMesh, all.meshes[kMesh], all.meshes[kCutter]);
  if (all.meshes[kMesh].closed())
    placeUnmetParts(all.parts[kCutter], kCutter, all.meshes[kCutter], all.meshes[kMesh]);
  const Scene scene = all.scene();
  const Selection selection = selectFragments(scene, options);
  result.statistics.sort = watch.lap();

  emit(scene, selection.uses, options.triangles, result);
  result.fragments = selection.fragments;
  result.volume = selection.volume;
  for (const uint8_t s : selection.sides) {
    result.below.push_back((s & kPlus) != 0);
    result.above.push_back((s & kMinus) != 0);
  }
  for (const SeamPoint& p : all.seam.points) result.seamPoints.push_back(p.position);
  for (const SeamSegment& s : all.seam.segments) result.seam.push_back({s.start, s.end});
  result.statistics.write = watch.lap();
  return result;
}

namespace {

// Meshes whose overlapping parts are one solid each; what the result came from is named in the meshes given.
CutResult cutResolved(const geometry::MeshView& mesh, const geometry::MeshView& cutter,
                      const CutOptions& options) {
  const Resolved resolved[] = {resolveOverlaps(soupOf(mesh), "mesh", options.mostPairs),
                               resolveOverlaps(soupOf(cutter), "cutter", options.mostPairs)};
  CutResult result = cutNamed(resolved[0].mesh, resolved[1].mesh, "cutter", options);
  for (size_t f = 0; f < result.sourceFace.size(); ++f)
    result.sourceFace[f] = resolved[result.fromCutter[f]].sourceFace[result.sourceFace[f]];
  for (size_t v = 0; v < result.sourceVertex.size(); ++v) {
    if (result.vertexFrom[v] == VertexFrom::Seam) continue;
    const Resolved& from = resolved[result.vertexFrom[v] == VertexFrom::Cutter ? 1 : 0];
    result.sourceVertex[v] = from.sourceVertex[result.sourceVertex[v]];
    if (result.sourceVertex[v] == kNoIndex) result.vertexFrom[v] = VertexFrom::Seam;
  }
  return result;
}

}  // namespace

CutResult cut(const geometry::MeshView& mesh, const geometry::MeshView& cutter, const CutOptions& options) {
  CutOptions own = options;
  if (options.resolve) own.checkInput = false;  // the search was part of it
  CutResult result = options.resolve ? cutResolved(mesh, cutter, own) : cutNamed(mesh, cutter, "cutter", own);
  lookForCrossings(options, result);
  return result;
}

std::vector<geometry::PolygonSoup> separate(const CutResult& result) {
  std::vector<geometry::PolygonSoup> fragments;
  for (geometry::SoupPart& part :
       geometry::splitComponents(result.mesh, geometry::Components{result.fragments, result.fragment}))
    fragments.push_back(std::move(part.mesh));
  return fragments;
}

geometry::TriMesh triangleMesh(const CutResult& result) { return geometry::toTriMesh(result.mesh); }

}  // namespace sunder::cut
