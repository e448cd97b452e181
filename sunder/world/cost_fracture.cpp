// What bodies take that may break: tetrahedra, and what an analysis of a blow needs for them.
#include "sunder/base/text.h"
#include "sunder/world/cost_parts.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/core.h>

namespace sunder::world {

namespace {

constexpr double kTetsALattice = 12.7;  // of a lattice that fills a body, for each cube of its edge
constexpr double kTetsASurface = 0.3;   // more, for each square of its surface
// Bytes of a tetrahedron: of each different body its mesh, field and tree, and more while it is filled; of
// the largest body the analysis of a blow; of every body its pieces and what is seen of them.
constexpr double kBytesATet = 2300, kBytesATetFilling = 500, kBytesATetAnalysed = 6300,
                 kBytesATetBroken = 1500;
constexpr double kBytesAPiece = 8e4, kBytesACell = 2.5e5;      // of a piece; of one that is a Voronoi cell
constexpr double kPieces = 12;                                 // of a body that broke by stress
constexpr double kRecordedATet = 800;                          // bytes: surfaces of pieces
constexpr double kSecondsATet = 2.7e-5, kSecondsABody = 0.04;  // the field of each different body is one more
constexpr double kStrikeSeconds = 3.6e-5;                      // a tetrahedron: an analysis
constexpr double kPieceSeconds = 1e-4;                         // a piece among others, a step
constexpr double kStrikesLow = 0.5, kStrikesHigh = 12;  // analyses of whole bodies, as long as a blow on each

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

// Cells of the lattice around a body, most of them empty.
double latticeCells(const ShapeSize& size, double edge) {
  if (size.kind == ShapeSize::Kind::Box || (size.loft && isThin(size))) return 0;
  const Vec3 cells = (size.bounds.extent() / edge).array() + 4;
  return cells.prod();
}

}  // namespace

void addFractureCost(const Scene& scene, std::span<const ShapeSize> sizes, Cost& cost) {
  std::set<std::pair<uint32_t, double>> known;  // shape and edge
  double all = 0, largest = 0;                  // tetrahedra
  double pieces = 0, byPieces = 0, mostSites = 0;
  double largestEdge = 0;
  ShapeSize largestSize;
  std::string sitesPointer;
  CostLever largestLever;
  for (const BodySpec& body : scene.bodies) {
    if (!body.fracture) continue;
    ++cost.breakable;
    const ShapeSize& size = sizes[body.shape];
    const double edge = edgeFor(*body.fracture, size);
    const double tets = tetsOf(size, edge);
    all += tets;
    const double some = body.fracture->sites > 0 ? body.fracture->sites : kPieces;
    pieces += some;
    byPieces += some * (body.fracture->sites > 0 ? kBytesACell : kBytesAPiece);
    if (body.fracture->sites > mostSites) {
      mostSites = body.fracture->sites;
      sitesPointer = body.fracture->pointer + "/pieces";
    }
    if (!known.insert({body.shape, edge}).second) continue;
    CostItem item;
    item.count = tets;
    item.what = fmt::format("{} tetrahedra of body {}", countWords(tets), body.id);
    item.kept = kBytesATet * tets;
    item.passing = kBytesATetFilling * tets + latticeCells(size, edge) / 8;
    item.buildSeconds = kSecondsABody + kSecondsATet * tets;
    item.levers.push_back(
        {body.fracture->pointer + "/edge",
         [edge](double s) { return s == 1 ? fmt::format("{:.6g}", edge) : twoDigitsUp(edge * s); },
         [size, edge](double s) {
           return (kBytesATet + kBytesATetFilling) * tetsOf(size, edge * s) +
                  latticeCells(size, edge * s) / 8;
         }});
    if (tets > largest) {
      largest = tets;
      largestEdge = edge;
      largestSize = size;
      largestLever = item.levers.front();
    }
    cost.tetrahedra += uint64_t(std::min(tets, 1e18));
    cost.items.push_back(std::move(item));
  }
  if (cost.breakable == 0) return;
  // As if every body broke.
  const double bodies = double(cost.breakable);
  CostItem breaking;
  breaking.count = bodies;
  breaking.what = fmt::format("{} bodies that may break, of {} tetrahedra, into {} pieces", cost.breakable,
                              countWords(all), countWords(pieces));
  const double byTets = kBytesATetAnalysed * largest + kBytesATetBroken * all;
  breaking.kept = byTets + byPieces;
  if (mostSites > 0 && byPieces > byTets)
    breaking.levers.push_back(
        {sitesPointer,
         [mostSites](double s) { return fmt::format("{:.0f}", std::floor(std::max(2.0, mostSites / s))); },
         [=](double s) { return byTets + byPieces / s; }});
  if (largest > 0) {
    largestLever.bytes = [=](double s) {
      return byTets * tetsOf(largestSize, largestEdge * s) / largest + byPieces;
    };
    breaking.levers.push_back(largestLever);
  }
  cost.items.push_back(std::move(breaking));
  const double frames = double(scene.world.frames), steps = frames * scene.world.stepsPerFrame;
  cost.stepSecondsLow += kStrikesLow * kStrikeSeconds * all;
  cost.stepSecondsHigh += kStrikesHigh * kStrikeSeconds * all + kPieceSeconds * pieces * steps;
  cost.recordingBytes += kRecordedATet * all + 28 * pieces * frames;
}

}  // namespace sunder::world
