// What solids take: the surface, a distance field in bricks near it (rigid/band_field.h), a tree of points.
#include "sunder/world/build/cost_parts.h"
#include "sunder/world/build/cost_shapes.h"
#include "sunder/world/build/shape_library.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace sunder::world {

namespace {

// As rigid/shape_solid.cpp has them: cells along the longest side of the first lattice; nodes of the finest;
// bricks of the field; parts of the radius that the lattice reaches beyond the body, and that are near.
constexpr double kFirstCells = 64, kMostNodes = 20e6, kMostBricks = 32000, kPad = 0.15, kBand = 0.04;
constexpr int kMostAttempts = 4;
// Steps beyond the band that bricks reach: half the diagonal of a brick of four cells, and some.
constexpr double kBrickReach = 4.5;
constexpr double kFirstError = 5.5e-4;  // of the first lattice, as a part of the radius: bodies without walls
constexpr double kWallSteps = 1.4;      // walls thinner than so many steps are lost
constexpr double kBytesASolid = 1e6, kBytesAPoint = 450, kBytesANode = 4, kBytesASample = 44;
constexpr double kSecondsOfSolid = 0.02, kSecondsATriangle = 2.4e-6, kSecondsASample = 8e-7,
                 kSecondsALeaf = 4e-8, kSecondsAFieldTriangle = 4e-6, kSecondsAPoint = 2e-5,
                 kSecondsAPairOfPoints = 8e-9, kSecondsAnInsidePoint = 5e-5;
constexpr double kSecondsAHullTriangle = 4e-5;
// Of meshes whose inside the winding number decides.
constexpr double kSecondsOfWinding = 0.5, kWindingSecondsATriangle = 9e-5, kBytesOfWinding = 15e6;

// Cutting a mesh by planes, with the search for faces that cross each other.
constexpr double kBuildingShare = 0.5;  // of the bytes of a solid's triangles: only while it is built
constexpr double kBytesACutTriangle = 300, kSecondsACutTriangle = 2.4e-6;

struct BandCount {
  double nodes = 0, samples = 0, lattice = 0;  // near the surface; that are asked for; of the whole box
};

BandCount bandCount(const ShapeSize& size, const Box3& domain, double band, double cells) {
  const double step = domain.extent().maxCoeff() / cells;
  const double reach = (band + kBrickReach * step) / size.steepness;
  BandCount count;
  count.lattice = (domain.extent() / step).array().max(1.0).prod();
  const double thickness = size.area > 0 ? 2 * size.volume / size.area : 0;
  count.nodes =
      std::min(count.lattice, size.area * (reach + std::min(reach, 0.5 * thickness)) / std::pow(step, 3));
  count.samples = count.nodes + count.lattice / 32;
  return count;
}

}  // namespace

SolidCost solidCost(const ShapeSize& size, double triangles, const rigid::SolidSettings& settings) {
  SolidCost cost;
  const bool field = size.kind == ShapeSize::Kind::Field;
  const double points = double(settings.surfacePoints), inside = double(settings.insidePoints);
  cost.kept = kBytesASolid + (field ? kBytesAFieldTriangle : kBytesASolidTriangle) * triangles +
              kBytesAPoint * (points + inside);
  cost.seconds = kSecondsOfSolid + (field ? kSecondsAFieldTriangle : kSecondsATriangle) * triangles +
                 kSecondsAPoint * points + kSecondsAPairOfPoints * points * points +
                 kSecondsAnInsidePoint * inside;
  if (size.cutTriangles > 0) {
    // Pieces come in numbers: what is needed only while a solid is built is needed by one of them at a time.
    cost.passing = kBuildingShare * kBytesASolidTriangle * triangles;
    cost.kept -= cost.passing;
  }
  if (size.bounds.empty()) return cost;
  const double radius = 0.5 * size.bounds.diagonal(), band = kBand * radius;
  Box3 domain = size.bounds;
  domain.lower.array() -= kPad * radius;
  domain.upper.array() += kPad * radius;
  const double longest = domain.extent().maxCoeff();
  const double thickness = size.area > 0 ? 2 * size.volume / size.area : longest;
  const double secondsASample = field ? kSecondsALeaf * size.leaves : kSecondsASample;
  if (size.crossed) {
    cost.seconds += kSecondsOfWinding + kWindingSecondsATriangle * triangles;
    cost.passing += kBytesOfWinding;
  }
  // Lattices get finer until the error is met and walls are not lost, or there are too many bricks.
  const double mostCells = longest * std::cbrt(kMostNodes / domain.extent().prod());
  double cells = kFirstCells, error = kFirstError;
  BandCount count;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    count = bandCount(size, domain, band, cells);
    cost.seconds += secondsASample * count.samples;
    const bool lost = thickness < kWallSteps * longest / cells;
    if (error <= settings.fieldError && !lost) break;
    double finer = std::max(1.15, std::pow(error / settings.fieldError, 1 / 1.3));
    if (lost) finer = std::max(finer, 1.7);
    finer = std::min({finer, mostCells / cells, std::sqrt(kMostBricks / std::max(1.0, count.nodes / 64))});
    if (finer < 1.1) break;
    cells *= finer;
    error /= std::pow(finer, 1.3);
  }
  cost.kept += 4 * count.nodes;
  cost.passing += kBytesANode * count.lattice + kBytesASample * count.nodes;
  return cost;
}

SolidCost cuttingCost(double triangles) {
  return {0, kBytesACutTriangle * triangles, kSecondsACutTriangle * triangles};
}

void addShapeCost(const Scene& scene, std::span<const ShapeSize> sizes, Cost& cost) {
  for (size_t i = 0; i < sizes.size(); ++i) {
    const ShapeSize& size = sizes[i];
    const ShapeSpec& spec = scene.shapes[i];
    const auto* mesh = std::get_if<MeshShape>(&spec.value);
    CostItem item;
    item.count = size.triangles;
    item.what = fmt::format("the shape {} of {} triangles", shapeTitle(spec), countWords(item.count));
    const double bytesATriangle = !size.solid                           ? kBytesAMeshTriangle
                                  : size.kind == ShapeSize::Kind::Field ? kBytesAFieldTriangle
                                                                        : kBytesASolidTriangle;
    if (!size.solid) {
      item.kept = kBytesAMeshTriangle * size.triangles;
      const bool hull = size.kind == ShapeSize::Kind::Hull;
      item.buildSeconds = (hull ? kSecondsAHullTriangle : 1e-7) * size.triangles;
    } else {
      const rigid::SolidSettings solid = solidSettings(spec.value);
      const SolidCost own = solidCost(size, size.triangles, solid);
      item.kept = own.kept;
      item.passing = own.passing;
      item.buildSeconds = own.seconds;
      const double points = double(solid.surfacePoints) + double(solid.insidePoints);
      if (points > 2 * size.triangles) {
        const bool inside = solid.insidePoints > solid.surfacePoints;
        const double now = double(inside ? solid.insidePoints : solid.surfacePoints);
        item.levers.push_back(
            {spec.pointer + "/solid/" + (inside ? "insidePoints" : "points"),
             [now](double s) { return fmt::format("{:.0f}", std::floor(std::max(8.0, now / s))); },
             [size, solid, inside](double s) {
               rigid::SolidSettings fewer = solid;
               (inside ? fewer.insidePoints : fewer.surfacePoints) =
                   size_t(std::max(8.0, double(inside ? solid.insidePoints : solid.surfacePoints) / s));
               const SolidCost changed = solidCost(size, size.triangles, fewer);
               return changed.kept + changed.passing;
             }});
      }
      if (own.passing > 0.5 * own.kept)
        item.levers.push_back({spec.pointer + "/solid/error",
                               [error = solid.fieldError](double s) {
                                 return fmt::format("{:.2g}", std::min(0.05, error * s));
                               },
                               [size, solid](double s) {
                                 rigid::SolidSettings coarser = solid;
                                 coarser.fieldError = std::min(0.05, solid.fieldError * s);
                                 const SolidCost changed = solidCost(size, size.triangles, coarser);
                                 return changed.kept + changed.passing;
                               }});
      if (size.kind == ShapeSize::Kind::Field)
        item.levers.push_back({spec.pointer + "/solid/cells",
                               [cells = solid.cells](double s) {
                                 return fmt::format("{:.0f}", std::floor(std::max(8.0, cells / s)));
                               },
                               [size, solid](double s) {
                                 const double part = std::max(8.0, solid.cells / s) / solid.cells;
                                 const SolidCost changed =
                                     solidCost(size, size.triangles * part * part, solid);
                                 return changed.kept + changed.passing;
                               }});
    }
    if (size.cutTriangles > 0) {  // once for each piece
      const SolidCost cutting = cuttingCost(size.cutTriangles);
      item.passing = std::max(item.passing, cutting.passing);
      item.buildSeconds += cutting.seconds;
    }
    if (mesh && mesh->file.empty())
      for (const CostLever& lever : finenessLevers(mesh->make, mesh->with, spec.pointer, bytesATriangle))
        item.levers.push_back({lever.pointer, lever.value,
                               [rest = item.kept + item.passing - lever.bytes(1),
                                own = lever.bytes](double s) { return std::max(0.0, rest) + own(s); }});
    if (mesh && !mesh->file.empty())
      item.levers.push_back({spec.pointer + "/file", [file = size.file](double) { return file; }, {}});
    cost.items.push_back(std::move(item));
  }
}

}  // namespace sunder::world
