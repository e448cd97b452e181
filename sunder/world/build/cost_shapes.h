// How large the shapes of a scene are, without building them: sides, volume, surface, triangles. Primitives
// by their formulas, fields by sampling them on a coarse lattice, mesh files by reading them, procedural
// shapes by making them, with fewer segments where they have more than kCheapTriangles.
#pragma once

#include "sunder/base/box.h"
#include "sunder/sdf/field.h"
#include "sunder/shapes/catalogue.h"
#include "sunder/world/build/cost.h"
#include "sunder/world/scene/scene.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sunder::world {

inline constexpr double kCheapTriangles = 100'000;
// Bytes of a triangle: of a mesh alone, while it is read or made; of a solid with its trees; of one that is
// the isosurface of a field.
inline constexpr double kBytesAMeshTriangle = 60, kBytesASolidTriangle = 400, kBytesAFieldTriangle = 750;

struct ShapeSize {
  enum class Kind { Primitive, Plane, Box, Hull, Mesh, Field };
  Kind kind = Kind::Primitive;
  Box3 bounds;  // in the shape's own coordinates; empty for planes
  double volume = 0, area = 0;
  // Integrals of the mean curvature (m), of smooth parts and of creases, outward bends counting as positive:
  // how much volume tetrahedra of some edge lose follows from them. Of meshes that may break.
  double smoothBend = 0, creaseBend = 0;
  double leaves = 1;       // formulas that a field consists of
  double steepness = 1;    // of a field near its surface: below 1 where values are smaller than distances
  double emptyLength = 0;  // of a field: the longest stretch along a side of its box without any part of it
  int emptyAxis = 0;
  bool crossed =
      false;  // open, or its parts reach into each other: inside is where the winding number says so
  double triangles = 0;              // of its surface when it is built
  bool solid = false;                // gets a distance field and a tree of points
  std::optional<shapes::Loft> loft;  // of shapes of revolution that are thin enough to be filled exactly
  std::string file;
  double cutTriangles = 0;  // of the mesh that planes cut it from; 0: it is not cut
};

// Triangles of a procedural shape, from its parameters: within a factor of two (tested for every shape).
// Throws Error (Usage) as makeShape does for names and values that do not exist.
double shapeTriangles(const std::string& name, const shapes::ShapeValues& values);

// Values of a field at the middles of cells^3 cells of a box, and of `around` layers of cells outside of it.
std::vector<double> latticeValues(const sdf::Field& field, const Box3& box, int cells, int around = 0);

// What a solid of that surface takes: the distance field as fine as its error asks for, and points.
struct SolidCost {
  double kept = 0, passing = 0, seconds = 0;  // bytes; bytes more while it is built
};
SolidCost solidCost(const ShapeSize& size, double triangles, const rigid::SolidSettings& settings);

// The numbers of a procedural shape that make it finer, as levers; the first makes the most triangles.
std::vector<CostLever> finenessLevers(const std::string& name, const shapes::ShapeValues& values,
                                      const std::string& pointer, double bytesATriangle);

// Throws Error (Limit) with the place where a mesh alone would take more than `memory` bytes.
std::vector<ShapeSize> sizesOfShapes(const Scene& scene, uint64_t memory);
// The same for one shape that is about to be cut.
void requireAffordableMesh(const Scene& scene, const ShapeSpec& spec, uint64_t memory);

// What cutting a mesh of so many triangles takes while it lasts.
SolidCost cuttingCost(double triangles);
// What the pieces of a mesh take, in bytes, and cutting it. Throws Error (Limit) with the place where that
// and `besides` are more than `memory`.
double requireAffordablePieces(const Scene& scene, const ShapeSpec& spec, const CutSize& cut, double besides,
                               uint64_t memory);

// As estimateCost of cost.h, for sizes that are known already. The levers of the result refer to the scene.
Cost estimateCost(const Scene& scene, std::span<const ShapeSize> sizes, uint64_t memory);

}  // namespace sunder::world
