// Procedural shapes by name, for the command line and scene files:
//
//   TriMesh glass = makeShape("wine-glass", {{"height", "0.2"}, {"segments", "96"}});
//
// and, through the headers included here, as plain functions for programs: makeWineGlass({.height = 0.2}).
//
// Guarantee: a shape marked `closed` is watertight (each edge lies in exactly two triangles that run through
// it in opposite directions) and every vertex has one fan of triangles, for every parameter set that is
// accepted. No triangle is degenerate and the volume is positive as long as the smallest detail (a wall, a
// bevel, a segment's length) is above a billionth of the whole. The others are open sheets, manifold with
// boundary. Vertices are shared, their order depends on the parameters only. Solids are centred on the
// origin, things that stand (vessels, letters, walls) have their base on y = 0; each summary says which.
//
// Errors: an unknown shape or parameter, something that is not a number, or a value out of range throws Error
// (Usage) that names the nearest known name or the range.
#pragma once

#include "sunder/geometry/mesh.h"
#include "sunder/shapes/extrude.h"
#include "sunder/shapes/lathe.h"
#include "sunder/shapes/round.h"
#include "sunder/shapes/sheet.h"
#include "sunder/shapes/text.h"
#include "sunder/shapes/tube.h"
#include "sunder/shapes/vessel.h"
#include "sunder/shapes/wall.h"

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sunder::shapes {

enum class ParameterKind {
  Number,   // any real number in [lower, upper]
  Integer,  // a whole number in [lower, upper]
  Flag,     // 0 or 1 (also: no, yes, false, true)
  Choice,   // one of the space-separated words in `choices`
  Text,     // any text
};

struct ShapeParameter {
  const char* name;
  ParameterKind kind;
  double value;         // the default, for the first three kinds
  double lower, upper;  // inclusive
  std::string word;     // the default, for the last two kinds
  const char* choices;  // for Choice, else ""
  const char* unit;     // "m", or "" for plain numbers
  const char* text;     // what it means, in a few words

  std::string defaultText() const;  // as it would be written in ShapeValues
  std::string rangeText() const;    // "0.001 to 1000 m", "one of star, gear", "any text"
};

struct ShapeInfo {
  const char* name;
  const char* summary;  // one line; says where the origin is
  bool closed;          // false: an open sheet (noisy-sheet is closed unless its parameter says otherwise)
  std::span<const ShapeParameter> parameters;
};

std::span<const ShapeInfo> shapeCatalogue();

// Throws Error (Usage) with the nearest name.
const ShapeInfo& shapeInfo(std::string_view name);

// Parameter name -> value as text. What is not given has its default.
using ShapeValues = std::map<std::string, std::string, std::less<>>;

geometry::TriMesh makeShape(std::string_view name, const ShapeValues& values = {});

// What the shape is turned from, if it is one of revolution: makeShape() then is the loft of that, to the
// last bit.
std::optional<Loft> shapeLoft(std::string_view name, const ShapeValues& values = {});

}  // namespace sunder::shapes
