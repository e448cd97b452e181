// What soft bodies take: the cage with the surface in it, once for all bodies that share it; and of each body
// its motion and the system that is solved.
#include "sunder/world/build/cost_soft.h"

#include "sunder/base/json_pointer.h"
#include "sunder/base/text.h"
#include "sunder/world/build/cost_parts.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <tuple>

#include <fmt/core.h>

namespace sunder::world {

namespace {

constexpr double kVerticesATet = 0.3;     // of a cage
constexpr double kTetVolume = 0.1179;     // of a regular tetrahedron, in cubes of its edge
constexpr double kSpheresAnEdge = 0.4;    // from one to the next, where nothing is said
constexpr double kSpheresASquare = 3;     // kept, for each square of their spacing on the surface
constexpr double kLeastSpheres = 3;       // of a tetrahedron
constexpr double kMostSpheres = 1 << 22;  // before those inside are left out (soft/spheres)
// More triangles by clipping: this times the square root of the triangles and the cube root of tetrahedra.
constexpr double kCopies = 7.7;
constexpr double kBytesOfFileTet = 60;  // of a file of tetrahedra, with its vertices
// Bytes, once for all bodies that share a cage, and of each body.
constexpr double kBytesACageTet = 900, kBytesASphere = 90, kBytesASkinTriangle = 1300,
                 kBytesATriedSphere = 60;
constexpr double kBytesAMovingTet = 2500, kBytesAMovingSphere = 200, kBytesAMovingTriangle = 60;
constexpr double kBytesOfSystem = 25, kDirectTets = 30'000;  // of factors, up to where they are made
// Seconds of building.
constexpr double kCageSecondsATriangle = 1.5e-4, kCageSecondsATet = 2e-5, kSphereSeconds = 3e-6;
// Of one step: a tetrahedron in few iterations of Newton, and in many with contacts; a sphere that is looked
// at.
constexpr double kTetSecondsLow = 1e-6, kTetSecondsHigh = 3e-4;
constexpr double kSphereSecondsLow = 2e-8, kSphereSecondsHigh = 1e-6;
constexpr double kFrameVertexBytes = 12;

double systemBytes(double tets) { return kBytesOfSystem * std::pow(std::min(tets, kDirectTets), 4.0 / 3); }

double cageBytes(const SoftSize& size) {
  return kBytesACageTet * size.tets + kBytesASphere * size.spheres + kBytesASkinTriangle * size.triangles;
}

double movingBytes(const SoftSize& size) {
  return kBytesAMovingTet * size.tets + systemBytes(size.tets) + kBytesAMovingSphere * size.spheres +
         kBytesAMovingTriangle * size.triangles;
}

// Bodies that share a cage.
struct CageKind {
  const SoftBodySpec* first = nullptr;
  SoftSize size;
  double bodies = 0;
};

CostLever tetsLever(const CageKind& kind, const ShapeSize& shape) {
  const SoftSpec& soft = kind.first->soft;
  const double tets = soft.tets;
  const auto fewer = [tets](double s) { return std::max(1.0, std::floor(tets / s)); };
  return {soft.pointer + "/tets", [=](double s) { return fmt::format("{:.0f}", fewer(s)); },
          [=, bodies = kind.bodies](double s) {
            SoftSpec smaller = soft;
            smaller.tets = uint32_t(fewer(s));
            const SoftSize size = softSize(smaller, shape);
            return cageBytes(size) + bodies * movingBytes(size);
          }};
}

CostLever spheresLever(const CageKind& kind, const ShapeSize& shape) {
  const SoftSpec& soft = kind.first->soft;
  const double spacing = kind.size.spacing;
  return {soft.pointer + "/spheres",
          [spacing](double s) { return s == 1 ? fmt::format("{:.6g}", spacing) : twoDigitsUp(spacing * s); },
          [=, bodies = kind.bodies](double s) {
            SoftSpec coarser = soft;
            coarser.spheres = spacing * s;
            const SoftSize size = softSize(coarser, shape);
            if (size.tried > kMostSpheres) return std::numeric_limits<double>::infinity();
            return cageBytes(size) + bodies * movingBytes(size) + kBytesATriedSphere * size.tried;
          }};
}

CostItem cageItem(const Scene& scene, const CageKind& kind, const ShapeSize& shape) {
  const SoftSize& size = kind.size;
  const SoftBodySpec& first = *kind.first;
  CostItem item;
  const bool tooMany = size.tried > kMostSpheres;
  if (tooMany) {
    item.count = size.tried;
    item.what = fmt::format("{} collision spheres in body {}", countWords(size.tried), first.id);
    item.impossible = fmt::format("{:.0f} are possible", kMostSpheres);
  } else {
    item.count = kind.bodies * size.tets;
    item.what = kind.bodies > 1 ? fmt::format("{} tetrahedra of {} bodies such as {}", countWords(item.count),
                                              countWords(kind.bodies), first.id)
                                : fmt::format("{} tetrahedra of body {}", countWords(item.count), first.id);
  }
  item.kept = cageBytes(size) + kind.bodies * movingBytes(size);
  item.passing = kBytesATriedSphere * size.tried;
  item.buildSeconds =
      kCageSecondsATriangle * shape.triangles + kCageSecondsATet * size.tets + kSphereSeconds * size.tried;
  const CostLever spheres = spheresLever(kind, shape);
  if (tooMany) item.levers.push_back(spheres);
  if (first.soft.cage.empty() && !tooMany) item.levers.push_back(tetsLever(kind, shape));
  if (kind.bodies > 1 && first.pointer.starts_with("/arrays/"))
    if (const Json* const array = findAt(scene.document.json(), first.pointer))
      item.levers.push_back(countLever(SceneNode(scene.document, *array, first.pointer),
                                       (cageBytes(size) + kind.bodies * movingBytes(size)) / kind.bodies));
  if (!tooMany) item.levers.push_back(spheres);
  return item;
}

}  // namespace

SoftSize softSize(const SoftSpec& soft, const ShapeSize& shape) {
  SoftSize size;
  size.tets = soft.tets;
  if (!soft.cage.empty()) {
    std::error_code code;
    const auto bytes = std::filesystem::file_size(soft.cage, code);
    size.tets = code ? 0 : double(bytes) / kBytesOfFileTet;
  }
  size.vertices = 3 + kVerticesATet * size.tets;
  const double tets = std::max(1.0, size.tets);
  size.edge = std::cbrt(shape.volume / tets / kTetVolume);
  size.spacing = soft.spheres > 0 ? soft.spheres : kSpheresAnEdge * size.edge;
  if (size.spacing > 0) {
    size.tried = shape.volume / std::pow(size.spacing, 3);
    size.spheres = std::min(size.tried, kSpheresASquare * shape.area / (size.spacing * size.spacing));
  }
  size.spheres = std::max(size.spheres, kLeastSpheres * size.tets);
  // Faces of the cage cross the surface along lines; their length in triangles and their number decide.
  size.triangles = shape.triangles + kCopies * std::sqrt(shape.triangles) * std::cbrt(tets);
  return size;
}

void addSoftCost(const Scene& scene, std::span<const ShapeSize> sizes, Cost& cost) {
  std::map<std::tuple<uint32_t, uint32_t, std::string, double>, CageKind> kinds;
  for (const SoftBodySpec& body : scene.softBodies) {
    const SoftSpec& soft = body.soft;
    CageKind& kind = kinds[{body.shape, soft.cage.empty() ? soft.tets : 0, soft.cage, soft.spheres}];
    if (!kind.first) {
      kind.first = &body;
      kind.size = softSize(soft, sizes[body.shape]);
    }
    kind.bodies += body.standsFor;
  }
  const double frames = double(scene.world.frames), steps = frames * scene.world.stepsPerFrame;
  for (const auto& [key, kind] : kinds) {
    cost.items.push_back(cageItem(scene, kind, sizes[kind.first->shape]));
    const double tets = kind.bodies * kind.size.tets, spheres = kind.bodies * kind.size.spheres;
    cost.softBodies += uint64_t(std::llround(kind.bodies));
    cost.softTets += tets;
    cost.stepSecondsLow += steps * (kTetSecondsLow * tets + kSphereSecondsLow * spheres);
    cost.stepSecondsHigh += steps * (kTetSecondsHigh * tets + kSphereSecondsHigh * spheres);
    cost.recordingBytes += kFrameVertexBytes * kind.bodies * kind.size.vertices * frames +
                           kBytesASkinTriangle * kind.size.triangles;
  }
}

}  // namespace sunder::world
