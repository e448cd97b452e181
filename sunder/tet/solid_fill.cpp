#include "sunder/tet/solid_fill.h"

#include "sunder/base/error.h"
#include "sunder/base/text.h"
#include "sunder/base/work.h"
#include "sunder/geometry/mass_properties.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/sdf/isosurface.h"
#include "sunder/tet/tet_report.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

namespace sunder::tet {

namespace {

constexpr uint64_t kMostTrialTets = 4'000'000;
constexpr double kMostShorter = 256;          // than the first edge
constexpr double kFinestLattice = 1.0 / 256;  // of the longest side

double offBy(double volume, const SolidSize& solid) { return volume / solid.volume - 1; }

bool keepsVolume(double volume, const SolidSize& solid) {
  return std::abs(offBy(volume, solid)) <= kMostVolumeOff;
}

[[noreturn]] void refuse(double volume, const SolidSize& solid, double edge,
                         const std::optional<double>& shorter) {
  const double off = offBy(volume, solid);
  Error error(ErrorKind::Geometry,
              fmt::format("tetrahedra of edge {:.3g} m {} {:.{}f} % of the body: they have {:.4g} m^3, the "
                          "body has {:.4g} m^3",
                          edge, off < 0 ? "lose" : "add", 100 * std::abs(off), std::abs(off) < 0.1 ? 1 : 0,
                          volume, solid.volume));
  if (shorter)
    error.hint(fmt::format("an edge of {:.2g} m would do", *shorter));
  else
    error.hint("its walls are too thin for tetrahedra of any edge that was tried: make them thicker");
  throw std::move(error);
}

}  // namespace

double nextShorterEdge(double edge, double off) {
  const double missing = std::abs(off), shrink = missing > 0.5 ? 0.5 : missing > 0.15 ? 0.7 : 0.88;
  // The very number that a message says.
  return std::strtod(twoDigitsDown(shrink * edge).c_str(), nullptr);
}

SolidSize solidSize(const sdf::Field& field, double edge) {
  const double longest = field.bounds().extent().maxCoeff();
  sdf::IsosurfaceReport report;
  const geometry::TriMesh surface =
      sdf::isosurface(field, {.edge = std::max(0.5 * edge, kFinestLattice * longest)}, report);
  return {surface.triangles.empty() ? 0 : geometry::massProperties(surface).volume, SIZE_MAX};
}

SolidSize solidSize(const sdf::MeshField& field, const geometry::TriMesh& mesh, double edge) {
  if (field.sign().rule != sdf::SignRule::PseudoNormal)
    return solidSize(static_cast<const sdf::Field&>(field), edge);
  return {std::abs(geometry::massProperties(mesh).volume), field.sign().components};
}

std::optional<double> edgeThatKeeps(const Filling& fill, const SolidSize& solid, double edge, double had,
                                    uint64_t mostTets) {
  Work work("looking for an edge that keeps the volume", 0, "tetrahedra");
  double off = offBy(had, solid);
  const double shortest = edge / kMostShorter;
  for (uint64_t spent = 0; spent < mostTets;) {
    edge = nextShorterEdge(edge, off);
    if (edge < shortest) break;  // a body that vanishes costs its surface all the same
    geometry::TetMesh mesh;
    try {
      mesh = fill(edge);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::Limit) return std::nullopt;  // the lattice is too large
      throw;
    }
    spent += mesh.tets.size();
    const double volume = geometry::totalVolume(mesh);
    off = offBy(volume, solid);
    work.note(fmt::format("edge {:.2g} m: volume off by {:.1f} %", edge, 100 * off));
    work.step(mesh.tets.size());
    if (keepsVolume(volume, solid) && tetAdjacency(mesh).components <= solid.mostParts) return edge;
  }
  return std::nullopt;
}

SolidFill fillSolid(const Filling& fill, const SolidSize& solid, double edge, bool mayShorten) {
  SolidFill result{fill(edge), edge, 0};
  result.volume = geometry::totalVolume(result.mesh);
  if (!(solid.volume > 0) || keepsVolume(result.volume, solid)) return result;
  const std::optional<double> shorter = edgeThatKeeps(fill, solid, edge, result.volume, kMostTrialTets);
  if (!mayShorten || !shorter) refuse(result.volume, solid, edge, shorter);
  result = {fill(*shorter), *shorter, 0};
  result.volume = geometry::totalVolume(result.mesh);
  return result;
}

}  // namespace sunder::tet
