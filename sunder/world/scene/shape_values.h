// The shapes that bodies of a scene can have, as values: what a scene file says, or a program puts together.
// Nothing is built here; build/shape_library.h does, once for each shape.
#pragma once

#include "sunder/rigid/shape/shape.h"
#include "sunder/sdf/field.h"
#include "sunder/shapes/catalogue.h"
#include "sunder/world/scene/field_values.h"

#include <string>
#include <variant>
#include <vector>

namespace sunder::world {

struct SphereShape {
  double radius = 0.5;
};

struct BoxShape {
  Vec3 size = Vec3::Ones();
};

// A cylinder along y with half balls at its ends.
struct CapsuleShape {
  double length = 1;  // of the cylinder
  double radius = 0.25;
};

// The half-space below y = 0. It cannot move.
struct PlaneShape {};

// The convex hull of points.
struct HullShape {
  std::vector<Vec3> points;
};

struct CutPlane {
  Vec3 point = Vec3::Zero(), normal = Vec3::UnitY();
};

// A mesh from a file or from the catalogue of shapes, as a solid with a distance field, or as its convex
// hull.
struct MeshShape {
  std::string file;          // a path; empty: procedural
  std::string make;          // name of a procedural shape (shapes/catalogue.h)
  shapes::ShapeValues with;  // its parameters
  double scale = 1;
  bool hull = false;
  rigid::SolidSettings solid = {};
  // Of a piece, which building makes of a body with a cut (BodySpec::cut); scenes do not say these.
  std::vector<CutPlane> cut = {};  // planes that cut it into pieces
  size_t piece = 0;                // which of those it is
};

// A solid by formulas.
struct FieldShape {
  FieldValue formula = {};
  rigid::SolidSettings solid = {};
  // What follows from the formula; a program may leave them out, building fills them in.
  sdf::FieldPtr field = nullptr;
  double leaves = 1;  // formulas that it consists of, noise counting as several; for estimates of cost
};

using ShapeValue =
    std::variant<SphereShape, BoxShape, CapsuleShape, PlaneShape, HullShape, MeshShape, FieldShape>;

// "sphere", "mesh"; of a mesh the name of its file without folder and ending, or of its procedural shape.
std::string kindName(const ShapeValue& shape);

}  // namespace sunder::world
