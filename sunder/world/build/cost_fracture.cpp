// What bodies take that may break: tetrahedra, and what an analysis of an impact needs for them.
#include "sunder/base/json_pointer.h"
#include "sunder/base/text.h"
#include "sunder/tet/solid_fill.h"
#include "sunder/world/build/cost_impacts.h"
#include "sunder/world/build/cost_parts.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/core.h>

namespace sunder::world {

namespace {

constexpr double kTetsALattice = 12.7;  // of a lattice that fills a body, for each cube of its edge
constexpr double kTetsASurface = 0.3;   // more, for each square of its surface
// Bytes of a tetrahedron: of each different body its mesh and tree, and more while it is filled.
constexpr double kBytesATet = 700, kBytesATetFilling = 200;
// Breaking takes things that grow differently with the tetrahedra n of a body: pieces (n, and n^(2/3) for
// each of their surfaces); and while an impact is analysed the factors of the stiffness of a compact body
// (n^(4/3)) and what is refined along cracks (n^(2/3) for each). Every body keeps its pieces, one at a time
// is analysed.
constexpr double kBytesATetBroken = 1500, kBytesOfSurface = 1000, kBytesOfFactors = 105, kBytesOfCrack = 3000;
constexpr double kBytesAPiece = 8e4;                    // of a piece besides
constexpr double kPieces = 12;                          // of a body that broke by stress
constexpr double kRecordedATet = 800;                   // bytes: surfaces of pieces
constexpr double kSecondsATet = 5e-6;                   // besides the field of its surface
constexpr double kSecondsATrial = 3e-6;                 // a tetrahedron of a filling that lost too much
constexpr double kTrianglesASquare = 2.5;               // of the surface of tetrahedra
constexpr double kStrikeSeconds = 3.6e-5;               // a tetrahedron: an analysis, of kFewTets
constexpr double kFewTets = 5000, kStrikeGrowth = 0.3;  // solvers take more steps the more there are
constexpr double kPieceSeconds = 2e-4;                  // a piece among others, a step
constexpr double kStrikesLow = 0.3,
                 kStrikesHigh = 30;  // analyses of whole bodies, as long as an impact on each
// Part of the volume that tetrahedra of an edge lose: where the surface is smooth, by the chords of its arcs;
// at creases, of which most are met; and of walls not much thicker than the edge.
constexpr double kLostByBend = 0.086, kLostAtCrease = 0.035, kLostInWalls = 0.4, kSafeWall = 0.8;
constexpr int kMostTrials = 24;

double thicknessOf(const ShapeSize& size) { return size.area > 0 ? 2 * size.volume / size.area : 0; }

// As breakage.cpp decides it.
bool isThin(const ShapeSize& size) { return 1.2 * thicknessOf(size) < size.bounds.extent().maxCoeff() / 12; }

double edgeFor(const FractureSpec& spec, const ShapeSize& size) {
  if (spec.edge > 0) return spec.edge;
  return isThin(size) && !size.loft ? 1.2 * thicknessOf(size) : size.bounds.extent().maxCoeff() / 12;
}

double tetsOf(const ShapeSize& size, double edge) {
  if (size.bounds.empty() || !(edge > 0)) return 0;
  const Vec3 extent = size.bounds.extent();
  if (size.kind == ShapeSize::Kind::Box) {
    const Vec3 n = (extent / edge).unaryExpr([](double x) { return std::max(1.0, std::round(x)); });
    return 6 * n.prod();
  }
  if (size.loft && isThin(size)) {
    // The outline and the profile keep their own points and get more where the edge asks for them.
    double around = 0, along = 0, reach = 0;
    const auto& profile = size.loft->profile;
    const auto& outline = size.loft->outline;
    for (const Vec2& p : profile) reach = std::max(reach, p.x());
    for (size_t i = 0; i < outline.size(); ++i)
      around +=
          std::max(1.0, std::ceil(reach * (outline[(i + 1) % outline.size()] - outline[i]).norm() / edge));
    for (size_t i = 0; i < profile.size(); ++i)
      along += std::max(1.0, std::ceil((profile[(i + 1) % profile.size()] - profile[i]).norm() / edge));
    return 3 * around * along;
  }
  return kTetsALattice * size.volume / (edge * edge * edge) + kTetsASurface * size.area / (edge * edge);
}

bool isFilledExactly(const ShapeSize& size) {
  return size.kind == ShapeSize::Kind::Box || (size.loft && isThin(size));
}

double lostPart(const ShapeSize& size, double edge) {
  const double bends = kLostByBend * size.smoothBend + kLostAtCrease * std::abs(size.creaseBend);
  return edge * edge * std::max(0.0, bends) / size.volume +
         kLostInWalls * std::max(0.0, edge / thicknessOf(size) - kSafeWall);
}

// An edge that the scene leaves open is shortened until the volume is kept (tet::fillSolid): what it becomes,
// and tetrahedra of the trials.
struct Filling {
  double edge = 0, trials = 0;
};

Filling fillingFor(const FractureSpec& spec, const ShapeSize& size) {
  Filling filling{edgeFor(spec, size), 0};
  if (spec.edge > 0 || isFilledExactly(size) || !(size.volume > 0) || !(filling.edge > 0)) return filling;
  for (int i = 0; i < kMostTrials; ++i) {
    const double lost = std::min(1.0, lostPart(size, filling.edge));
    if (lost <= tet::kMostVolumeOff) break;
    filling.trials += tetsOf(size, filling.edge);
    filling.edge = tet::nextShorterEdge(filling.edge, lost);
  }
  return filling;
}

// Cells of the lattice around a body, most of them empty.
double latticeCells(const ShapeSize& size, double edge) {
  if (isFilledExactly(size)) return 0;
  const Vec3 cells = (size.bounds.extent() / edge).array() + 4;
  return cells.prod();
}

}  // namespace

namespace {

// While the impact on a body is analysed. Factors are made for breaking by stress only; the area of many
// cells grows with the cube root of their number.
double analysisBytes(double tets, double pieces, bool byStress) {
  return (byStress ? kBytesOfFactors * std::pow(tets, 4.0 / 3) : 0) +
         kBytesOfCrack * kPieces * std::cbrt(pieces / kPieces) * std::pow(tets, 2.0 / 3);
}

// That the pieces of one body keep.
double brokenBytes(double tets, double pieces) {
  return kBytesATetBroken * tets + pieces * (kBytesAPiece + kBytesOfSurface * std::pow(tets, 2.0 / 3));
}

double strikeSeconds(double tets) {
  return kStrikeSeconds * tets * std::pow(std::max(1.0, tets / kFewTets), kStrikeGrowth);
}

// All bodies that may break.
struct Breakables {
  struct Kind {
    ShapeSize size;
    double edge = 0, tets = 0, bodies = 0, pieces = 0;  // bodies that can break, and their pieces
    double mostPieces = 0;                              // of one body
    bool known = false;
    bool byStress = false;  // not by Voronoi cells alone
    CostLever lever;        // its edge
  };
  std::map<std::pair<uint32_t, double>, Kind> kinds;  // by shape and edge
  std::map<std::string, double> arrays;               // bodies of each
  // Of bodies that can break: how many, their tetrahedra, pieces and what these keep.
  double bodies = 0, all = 0, pieces = 0, byBodies = 0;
  double likely = 0, likelyAnalysis = 0;  // bytes of what is expected to break, and of the largest analysis
  double mostSites = 0, bySites = 0;      // of the body with most Voronoi cells; bytes of its cells
  std::string sitesPointer;
};

// What one kind of body takes itself.
CostItem kindItem(const BodySpec& body, const Breakables::Kind& kind, const Filling& filling) {
  CostItem item;
  item.count = kind.tets;
  item.what = fmt::format("{} tetrahedra of body {}", countWords(kind.tets), body.id);
  item.kept = kBytesATet * kind.tets;
  item.passing = kBytesATetFilling * kind.tets + latticeCells(kind.size, kind.edge) / 8;
  item.buildSeconds = kSecondsATet * kind.tets + kSecondsATrial * filling.trials;
  if (kind.size.kind != ShapeSize::Kind::Box) {
    ShapeSize surface = kind.size;
    surface.kind = ShapeSize::Kind::Mesh;
    surface.crossed = false;
    const SolidCost field =
        solidCost(surface, kTrianglesASquare * surface.area / (kind.edge * kind.edge), {});
    item.buildSeconds += field.seconds;
    item.kept += field.kept;
    item.passing += field.passing;
  }
  item.levers.push_back(kind.lever);
  return item;
}

// As if every body broke that can.
void addBreaking(const Scene& scene, const Breakables& breakables, Cost& cost) {
  // The one whose edge helps most.
  const Breakables::Kind* largest = nullptr;
  double byAnalysis = 0;
  const auto bytesOf = [](const Breakables::Kind& kind, double tets) {
    return kind.bodies * brokenBytes(tets, kind.pieces / std::max(1.0, kind.bodies)) +
           analysisBytes(tets, kind.mostPieces, kind.byStress);
  };
  for (const auto& [key, kind] : breakables.kinds) {
    if (!largest || bytesOf(kind, kind.tets) > bytesOf(*largest, largest->tets)) largest = &kind;
    byAnalysis = std::max(byAnalysis, analysisBytes(kind.tets, kind.mostPieces, kind.byStress));
  }
  CostItem breaking;
  breaking.count = breakables.bodies;
  breaking.what =
      fmt::format("{} bodies that may break, of {} tetrahedra, into {} pieces", countWords(breakables.bodies),
                  countWords(breakables.all), countWords(breakables.pieces));
  const double byBodies = breakables.byBodies, all = byBodies + byAnalysis;
  breaking.kept = breaking.byBreaking = all;
  breaking.unlikely = all - std::min(all, breakables.likelyAnalysis + breakables.likely);
  const double most = breakables.mostSites, bySites = breakables.bySites;
  if (most > 0 && 2 * bySites > all)
    breaking.levers.push_back(
        {breakables.sitesPointer,
         [most](double s) { return fmt::format("{:.0f}", std::floor(std::max(2.0, most / s))); },
         [=](double s) { return all - bySites * (1 - std::floor(std::max(2.0, most / s)) / most); }});
  if (largest->tets > 0) {
    CostLever lever = largest->lever;
    const double others = std::max(0.0, all - bytesOf(*largest, largest->tets));
    lever.bytes = [others, bytesOf, kind = *largest](double s) {
      return others + bytesOf(kind, tetsOf(kind.size, kind.edge * s));
    };
    breaking.levers.push_back(std::move(lever));
  }
  // Fewer bodies help where many are small.
  const auto array = std::max_element(breakables.arrays.begin(), breakables.arrays.end(),
                                      [](const auto& a, const auto& b) { return a.second < b.second; });
  if (array != breakables.arrays.end() && array->second > 1) {
    const Json& json = *findAt(scene.document.json(), array->first);
    CostLever lever = countLever(SceneNode(scene.document, json, array->first), 1);
    const double own = byBodies * array->second / breakables.bodies;
    lever.bytes = [=, count = lever.bytes](double s) { return all - own * (1 - count(s) / count(1)); };
    breaking.levers.push_back(std::move(lever));
  }
  cost.items.push_back(std::move(breaking));
}

}  // namespace

void addFractureCost(const Scene& scene, std::span<const ShapeSize> sizes, Cost& cost) {
  Breakables breakables;
  double count = 0;
  for (const BodySpec& body : scene.bodies)
    if (body.fracture) count += body.standsFor;
  if (count == 0) return;
  cost.breakable = uint64_t(std::llround(count));
  const std::vector<FateForecast> fates = forecastFates(scene, sizes);
  for (size_t b = 0; b < scene.bodies.size(); ++b) {
    const BodySpec& body = scene.bodies[b];
    if (!body.fracture) continue;
    const FractureSpec& spec = *body.fracture;
    auto& kind = breakables.kinds[{body.shape, spec.edge}];
    if (!kind.known) {
      kind.known = true;
      kind.size = sizes[body.shape];
      const Filling filling = fillingFor(spec, kind.size);
      const double edge = kind.edge = filling.edge;
      kind.tets = tetsOf(kind.size, edge);
      kind.lever = {spec.pointer + "/edge",
                    [edge](double s) { return s == 1 ? fmt::format("{:.6g}", edge) : twoDigitsUp(edge * s); },
                    [size = kind.size, edge](double s) {
                      return (kBytesATet + kBytesATetFilling) * tetsOf(size, edge * s) +
                             latticeCells(size, edge * s) / 8;
                    }};
      cost.tetrahedra += uint64_t(std::min(kind.tets, 1e18));
      cost.strikeSeconds += strikeSeconds(kind.tets);
      cost.items.push_back(kindItem(body, kind, filling));
    }
    if (fates[b].worst == Fate::Whole) continue;
    const bool byStress = spec.sites == 0;
    const double some = byStress ? kPieces : spec.sites;
    const double bytes = body.standsFor * brokenBytes(kind.tets, some);
    kind.bodies += body.standsFor;
    kind.pieces += body.standsFor * some;
    kind.mostPieces = std::max(kind.mostPieces, some);
    kind.byStress |= byStress;
    breakables.bodies += body.standsFor;
    breakables.pieces += body.standsFor * some;
    breakables.byBodies += bytes;
    if (spec.sites > breakables.mostSites) {
      breakables.mostSites = spec.sites;
      breakables.bySites = 0;
      breakables.sitesPointer = spec.pointer + "/pieces";
    }
    if (spec.pointer + "/pieces" == breakables.sitesPointer)
      breakables.bySites += bytes - body.standsFor * brokenBytes(kind.tets, 0);
    if (body.pointer.starts_with("/arrays/")) breakables.arrays[body.pointer] += body.standsFor;
    breakables.all += body.standsFor * kind.tets;
    const double cracks = fates[b].likely == Fate::Broken ? some : 0;
    if (fates[b].likely != Fate::Whole)
      breakables.likelyAnalysis =
          std::max(breakables.likelyAnalysis, analysisBytes(kind.tets, cracks, byStress));
    if (fates[b].likely == Fate::Broken) {
      breakables.likely += bytes;
      cost.stepSecondsLow += body.standsFor * kStrikesLow * kStrikeSeconds * kind.tets;
    }
    cost.stepSecondsHigh += body.standsFor * kStrikesHigh * strikeSeconds(kind.tets);
  }
  if (breakables.pieces == 0) return;
  addBreaking(scene, breakables, cost);
  const double frames = double(scene.world.frames), steps = frames * scene.world.stepsPerFrame;
  cost.stepSecondsHigh += kPieceSeconds * breakables.pieces * steps;
  cost.recordingBytes += kRecordedATet * breakables.all + 28 * breakables.pieces * frames;
}

}  // namespace sunder::world
