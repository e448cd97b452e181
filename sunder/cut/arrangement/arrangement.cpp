#include "sunder/cut/arrangement/arrangement.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/stopwatch.h"
#include "sunder/cut/arrangement/fragments.h"
#include "sunder/cut/arrangement/unfold.h"
#include "sunder/cut/kernel/self_check.h"

#include <algorithm>
#include <exception>

#include <fmt/format.h>

namespace sunder::cut {

namespace {

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

Arrangement arrange(const geometry::MeshView& mesh, const geometry::MeshView& cutter, const std::string& name,
                    const CutOptions& options, CutStatistics& statistics) {
  Stopwatch watch;
  Arrangement out;
  const geometry::MeshView* const views[] = {&mesh, &cutter};
  const std::string names[] = {"mesh", name};
  both([&](size_t m) { out.meshes[m] = makeKernelMesh(*views[m], names[m]); });
  if (options.op >= Op::Union)
    for (const MeshId m : {kMesh, kCutter})
      requireClosed(out.meshes[m], names[m],
                    "union, intersection and differences need closed meshes; split does not");
  if (options.checkInput)
    for (const MeshId m : {kMesh, kCutter})
      refuseSelfIntersection(out.meshes[m], names[m], options.mostPairs);
  statistics.prepare = watch.lap();

  out.seam = findSeam(out.meshes[kMesh], out.meshes[kCutter], options.mostPairs);
  statistics.intersect = watch.lap();

  const auto trace = [&] {
    both([&](size_t m) {
      const MeshId id = m == 0 ? kMesh : kCutter;
      out.regions[m] = traceRegions(out.meshes[m], out.meshes[1 - m], id, out.seam);
      out.parts[m] = findParts(out.meshes[m], id, out.seam, out.regions[m]);
    });
  };
  trace();
  const auto contradicts = [&](MeshId m) {
    return out.meshes[1 - m].closed() &&
           std::ranges::find(out.parts[m].sides, kBothSides) != out.parts[m].sides.end();
  };
  if ((contradicts(kMesh) || contradicts(kCutter)) &&
      unfoldSeam(out.meshes[kMesh], out.meshes[kCutter], out.seam))
    trace();
  statistics.trace = watch.lap();
  statistics.candidates = out.seam.candidates;
  statistics.seamPoints = out.seam.points.size();
  statistics.seamSegments = out.seam.segments.size();
  return out;
}

}  // namespace sunder::cut
