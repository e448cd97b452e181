#include "sunder/soft/cage/auto_cage.h"

#include "sunder/base/bounds.h"
#include "sunder/base/error.h"
#include "sunder/base/index.h"
#include "sunder/base/parallel.h"
#include "sunder/geometry/adjacency.h"
#include "sunder/geometry/mesh_view.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/soft/cage/clip_surface.h"
#include "sunder/soft/cage/fit_cage.h"
#include "sunder/soft/cage/lattice_search.h"
#include "sunder/soft/cage/solid.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace sunder::soft {

namespace {

void checkCageSettings(const CageSettings& settings) {
  if (settings.tets < kLeastCageTets) throw Error(ErrorKind::Usage, "a cage has at least one tetrahedron");
  if (settings.tets > kMostCageTets)
    throw Error(ErrorKind::Limit, fmt::format("a cage of {} tetrahedra was asked for, {} is the most",
                                              settings.tets, kMostCageTets))
        .hint("the surface may be as fine as you like, the cage is what moves");
  if (!(settings.margin >= 0 && settings.margin <= 0.5))
    throw Error(ErrorKind::Usage, fmt::format("the margin {} is not from 0 to 0.5", settings.margin));
}

void checkCagedSurface(const geometry::TriMesh& surface) {
  geometry::requireValid(geometry::MeshView(surface));
  if (surface.triangles.empty()) throw Error(ErrorKind::Geometry, "the surface has no triangles");
  if (const size_t bad = firstNonFinite(surface.positions); bad != surface.positions.size())
    throw Error(ErrorKind::Geometry, fmt::format("vertex {} of the surface is not finite", bad));
}

size_t openEdges(const geometry::TriMesh& surface) {
  const geometry::MeshView view(surface);
  const geometry::EdgeAdjacency edges = geometry::edgeAdjacency(view);
  size_t count = 0;
  for (size_t e = 0; e < edges.size(); ++e) {
    const auto uses = edges.uses.row(e);
    size_t forward = 0;
    for (const auto& use : uses) forward += geometry::runsForward(view, edges, e, use);
    count += 2 * forward != uses.size();
  }
  return count;
}

// Behind most of its area a surface that encloses something has a winding number of about one.
void requireInside(const geometry::TriMesh& surface, const Solid& solid, size_t open) {
  constexpr size_t kSamples = 2000;
  constexpr double kLeastWinding = 0.9, kMostDoubtful = 0.2;
  const size_t n = surface.triangles.size(), stride = (n + kSamples - 1) / kSamples;
  const double small = 1e-5 * geometry::bounds(surface.positions).diagonal();
  const spatial::WindingNumber winding(solid.query());
  double area = 0, doubtful = 0;
  for (size_t t = 0; t < n; t += stride) {
    const geometry::Triangle& v = surface.triangles[t];
    const Vec3 &a = surface.positions[v[0]], &b = surface.positions[v[1]], &c = surface.positions[v[2]];
    Vec3 normal = (b - a).cross(c - a);
    const double size = normal.norm();
    if (!(size > 0)) continue;
    if (solid.turned()) normal = -normal;
    area += size;
    if (winding.fast((a + b + c) / 3 - small / size * normal, 4) < kLeastWinding) doubtful += size;
  }
  if (!(area > 0)) throw Error(ErrorKind::Geometry, "the surface has no area");
  if (doubtful > kMostDoubtful * area)
    throw Error(ErrorKind::Geometry,
                fmt::format("the surface is open at {} edge{} and has no inside: behind {:.0f} % of its area",
                            open, open == 1 ? "" : "s", 100 * doubtful / area))
        .hint("close its holes with sunder clean");
}

// Leaves out the tetrahedra that hold nothing of the solid; returns how many of the rest have no surface.
uint32_t removeEmpty(const ClipSurface& surface, const Solid& solid, geometry::TetMesh& cage) {
  const std::vector<uint8_t> touched = touchedTets(surface, cage);
  geometry::TetMesh out;
  std::vector<uint32_t> number(cage.positions.size(), kNoIndex);
  uint32_t inside = 0;
  for (size_t t = 0; t < cage.tets.size(); ++t) {
    if (!touched[t]) {
      Vec3 middle = Vec3::Zero();
      for (const uint32_t v : cage.tets[t]) middle += 0.25 * cage.positions[v];
      if (!solid.inside(middle)) continue;
      ++inside;
    }
    out.tets.push_back(cage.tets[t]);
    for (const uint32_t v : cage.tets[t]) number[v] = 0;
  }
  for (size_t v = 0; v < number.size(); ++v)
    if (number[v] == 0) {
      number[v] = uint32_t(out.positions.size());
      out.positions.push_back(cage.positions[v]);
    }
  for (auto& tet : out.tets)
    for (uint32_t& v : tet) v = number[v];
  cage = std::move(out);
  return inside;
}

bool holdsAll(const ClipSurface& surface, const geometry::TetMesh& cage) {
  const SurfaceClips clips = clipSurface(surface, cage);
  return uncovered(surface.mesh, clips.covered).triangle == kNoIndex;
}

double smallestDihedral(const geometry::TetMesh& cage) {
  double largestCosine = -1;
  for (const auto& tet : cage.tets) {
    std::array<Vec3, 4> normals;
    for (size_t f = 0; f < 4; ++f) {
      const geometry::Triangle t = geometry::tetFace(tet, f);
      normals[f] = (cage.positions[t[1]] - cage.positions[t[0]])
                       .cross(cage.positions[t[2]] - cage.positions[t[0]])
                       .normalized();
    }
    for (size_t f = 0; f < 4; ++f)
      for (size_t g = 0; g < f; ++g) largestCosine = std::max(largestCosine, -normals[f].dot(normals[g]));
  }
  return std::acos(std::clamp(largestCosine, -1.0, 1.0)) * 180 / kPi;
}

}  // namespace

Cage makeCageAround(const geometry::TriMesh& surface, const CageSettings& settings, CageReport* report) {
  checkCageSettings(settings);
  checkCagedSurface(surface);
  const ClipSurface given(surface);
  const Solid solid(surface);
  const size_t open = openEdges(surface);
  requireInside(surface, solid, open);

  LatticeChoice choice = chooseLattice(given, solid, settings.tets);
  CageReport numbers;
  geometry::TetMesh mesh = choice.cage.mesh;
  numbers.inside = choice.cage.inside;
  if (settings.fit) {
    const double margin = settings.margin * geometry::bounds(surface.positions).extent().maxCoeff();
    geometry::TetMesh fitted = mesh;
    const uint32_t moved = fitCage(given, solid, margin, fitted);
    const uint32_t inside = removeEmpty(given, solid, fitted);
    if (moved != 0 && holdsAll(given, fitted)) {
      mesh = std::move(fitted);
      numbers.moved = moved;
      numbers.inside = inside;
    }
  }
  Cage cage = makeCage(std::move(mesh));
  if (report) {
    numbers.wished = settings.tets;
    numbers.tets = uint32_t(cage.rest.tets.size());
    numbers.vertices = uint32_t(cage.rest.positions.size());
    numbers.trials = choice.trials;
    numbers.edge = choice.lattice.edge;
    numbers.volume = geometry::totalVolume(cage.rest);
    numbers.solid = numbers.volume > 0 ? solid.volume() / numbers.volume : 0;
    numbers.smallestAngle = smallestDihedral(cage.rest);
    numbers.closed = open == 0;
    *report = numbers;
  }
  return cage;
}

}  // namespace sunder::soft
