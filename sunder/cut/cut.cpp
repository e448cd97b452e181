#include "sunder/cut/cut.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/cut/fragments.h"
#include "sunder/cut/resolve.h"
#include "sunder/cut/rounding.h"
#include "sunder/cut/unfold.h"
#include "sunder/geometry/components.h"

#include <algorithm>
#include <chrono>
#include <exception>

#include <fmt/format.h>

namespace sunder::cut {

namespace {

class Stopwatch {
 public:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return seconds;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// Runs job(0) and job(1), side by side where there are threads; the error of the first goes before the
// second's.
template <class Job>
void both(Job&& job) {
  std::exception_ptr failed[2];
  parallelFor(
      2,
      [&](size_t i) {
        try {
          job(i);
        } catch (...) {
          failed[i] = std::current_exception();
        }
      },
      1);
  for (const std::exception_ptr& f : failed)
    if (f) std::rethrow_exception(f);
}

void requireClosed(const KernelMesh& mesh, const std::string& name, const std::string& why) {
  if (mesh.closed()) return;
  const uint32_t h = mesh.borderEdge;
  throw Error(ErrorKind::Geometry, fmt::format("the {} is open: face {} has nothing across its edge {}-{}",
                                               name, mesh.sourceOf(h / 3), mesh.sourceVertex(mesh.origin(h)),
                                               mesh.sourceVertex(mesh.target(h))))
      .hint(why);
}

}  // namespace

CutResult cutNamed(const geometry::MeshView& mesh, const geometry::MeshView& cutter, const std::string& name,
                   const CutOptions& options) {
  Stopwatch watch;
  CutResult result;
  const geometry::MeshView* const views[] = {&mesh, &cutter};
  const std::string names[] = {"mesh", name};
  KernelMesh meshes[2];
  both([&](size_t m) { meshes[m] = makeKernelMesh(*views[m], names[m]); });
  if (options.op >= Op::Union)
    for (const MeshId m : {kMesh, kCutter})
      requireClosed(meshes[m], names[m],
                    "union, intersection and differences need closed meshes; split does not");
  if (options.checkInput)
    for (const MeshId m : {kMesh, kCutter}) refuseSelfIntersection(meshes[m], names[m]);
  result.statistics.prepare = watch.lap();

  Seam seam = findSeam(meshes[kMesh], meshes[kCutter]);
  result.statistics.intersect = watch.lap();

  Regions regions[2];
  Parts parts[2];
  const auto trace = [&] {
    both([&](size_t m) {
      const MeshId id = m == 0 ? kMesh : kCutter;
      regions[m] = traceRegions(meshes[m], meshes[1 - m], id, seam);
      parts[m] = findParts(meshes[m], id, seam, regions[m]);
    });
  };
  trace();
  const auto contradicts = [&](MeshId m) {
    return meshes[1 - m].closed() && std::ranges::find(parts[m].sides, kBothSides) != parts[m].sides.end();
  };
  if ((contradicts(kMesh) || contradicts(kCutter)) && unfoldSeam(meshes[kMesh], meshes[kCutter], seam))
    trace();
  result.statistics.trace = watch.lap();

  const Scene scene{{&meshes[0], &meshes[1]}, {&regions[0], &regions[1]}, {&parts[0], &parts[1]}, &seam};
  placeUnmetParts(parts[kMesh], kMesh, meshes[kMesh], meshes[kCutter]);
  if (meshes[kMesh].closed()) placeUnmetParts(parts[kCutter], kCutter, meshes[kCutter], meshes[kMesh]);
  const Selection selection = selectFragments(scene, options);
  result.statistics.sort = watch.lap();

  emit(scene, selection.uses, options.triangles, result);
  result.fragments = selection.fragments;
  result.volume = selection.volume;
  for (const uint8_t s : selection.sides) {
    result.below.push_back((s & kPlus) != 0);
    result.above.push_back((s & kMinus) != 0);
  }
  for (const SeamPoint& p : seam.points) result.seamPoints.push_back(p.position);
  for (const SeamSegment& s : seam.segments) result.seam.push_back({s.start, s.end});
  result.statistics.candidates = seam.candidates;
  result.statistics.seamPoints = seam.points.size();
  result.statistics.seamSegments = seam.segments.size();
  result.statistics.write = watch.lap();
  return result;
}

namespace {

// Meshes whose overlapping parts are one solid each; what the result came from is named in the meshes given.
CutResult cutResolved(const geometry::MeshView& mesh, const geometry::MeshView& cutter,
                      const CutOptions& options) {
  const Resolved resolved[] = {resolveOverlaps(soupOf(mesh), "mesh"),
                               resolveOverlaps(soupOf(cutter), "cutter")};
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
  if (options.checkRounding) result.crossings = crossingFaces(result);
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
