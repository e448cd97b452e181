#include "sunder/tet/stuffing.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/prefix_sum.h"
#include "sunder/base/work.h"
#include "sunder/tet/dihedral.h"
#include "sunder/tet/manifold.h"
#include "sunder/tet/sharp_features.h"
#include "sunder/tet/stuffing_emit.h"

#include <atomic>

namespace sunder::tet {

namespace {

// Numbers the raw vertices in use, in their order, and writes their positions; returns which of them are on
// the surface.
std::vector<uint8_t> numberVertices(const StuffingLattice& lattice, uint32_t cutOffset,
                                    geometry::TetMesh& mesh, FillReport& report) {
  std::vector<uint32_t> number(cutOffset + lattice.cutPositions().size(), 0);
  parallelFor(mesh.tets.size(), [&](size_t t) {
    for (const uint32_t v : mesh.tets[t])
      std::atomic_ref<uint32_t>(number[v]).store(1, std::memory_order_relaxed);
  });
  std::vector<uint8_t> used(number.size());
  parallelFor(number.size(), [&](size_t v) { used[v] = uint8_t(number[v]); });
  mesh.positions.resize(exclusiveScan(std::span<uint32_t>(number)));
  std::vector<uint8_t> outer(mesh.positions.size());
  parallelFor(number.size(), [&](size_t v) {
    if (used[v] == 0) return;
    outer[number[v]] = v >= cutOffset || lattice.onSurface(uint32_t(v));
    mesh.positions[number[v]] =
        v < cutOffset ? lattice.pointPosition(uint32_t(v)) : lattice.cutPositions()[v - cutOffset];
  });
  report.cutPoints =
      mesh.positions.size() - (cutOffset < number.size() ? number[cutOffset] : mesh.positions.size());
  parallelFor(mesh.tets.size(), [&](size_t t) {
    for (uint32_t& v : mesh.tets[t]) v = number[v];
  });
  return outer;
}

void measureAngles(const geometry::TetMesh& mesh, const std::vector<uint8_t>& special, bool all,
                   FillReport& report) {
  struct Range {
    double low = 1, high = -1;  // of cosines
    size_t irregular = 0;
    bool regular = false;
  };
  const Range r = parallelReduce(
      mesh.tets.size(), Range{},
      [&](size_t begin, size_t end) {
        Range part;
        for (size_t i = begin; i < end; ++i) {
          part.irregular += special[i];
          if (special[i] == 0 && !all) {
            part.regular = true;
            continue;
          }
          const geometry::Tetrahedron& t = mesh.tets[i];
          const auto [low, high] = cosineRange(mesh.positions[t[0]], mesh.positions[t[1]],
                                               mesh.positions[t[2]], mesh.positions[t[3]]);
          part.low = std::min(part.low, low);
          part.high = std::max(part.high, high);
        }
        return part;
      },
      [](Range a, const Range& b) {
        return Range{std::min(a.low, b.low), std::max(a.high, b.high), a.irregular + b.irregular,
                     a.regular || b.regular};
      });
  report.irregular = r.irregular;
  // Lattice tetrahedra have right angles at their long edges and 60 degrees at the short ones.
  report.largestAngle = std::max(degreesOf(r.low), r.regular ? 90.0 : 0.0);
  report.smallestAngle = std::min(degreesOf(r.high), r.regular ? 60.0 : 180.0);
}

}  // namespace

geometry::TetMesh fill(const sdf::Field& field, const FillSettings& settings, FillReport& report) {
  report = {};
  const Work work("filling");
  StuffingLattice lattice(field, settings, report);
  lattice.classify();
  lattice.findCuts();
  if (settings.skipFar && 4 * report.jumps > report.crossed)
    throw Error(ErrorKind::Geometry, "there is no inside to fill: the field's sign jumps at " +
                                         std::to_string(report.jumps) + " of the " +
                                         std::to_string(report.crossed) + " places where it changes")
        .hint("a sheet has no inside; close the mesh, or give it a thickness (shell)");
  const StuffingOctree octree(lattice, settings.levels);
  lattice.store(octree.bricksInUse(lattice));

  const auto cutOffset = uint32_t(kBrickPoints * lattice.stored().size());
  EmittedTets emitted = emitTetrahedra(lattice, octree, cutOffset, report);
  geometry::TetMesh mesh;
  mesh.tets = std::move(emitted.tets);
  if (mesh.tets.empty()) return mesh;
  std::vector<uint8_t> outer = numberVertices(lattice, cutOffset, mesh, report);
  if (settings.sharp) moveToFeatures(field, settings, lattice.edge(), mesh, report);
  if (settings.manifold) report.doubled = makeManifold(mesh, std::move(outer)).doubled;
  report.vertices = mesh.positions.size();
  report.tets = mesh.tets.size();
  measureAngles(mesh, emitted.special, settings.sharp, report);
  return mesh;
}

}  // namespace sunder::tet
