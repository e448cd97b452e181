// Solids and materials as the verbs that analyse them take them.
#pragma once

#include "sunder/geometry/mesh.h"
#include "sunder/material/material.h"

#include "command.h"

#include <optional>
#include <string>
#include <vector>

namespace sunder::cli {

// "1,2.5,-3": exactly `count` finite numbers. Throws Error (Usage) with `form` as the example.
std::vector<double> numbersOf(const std::string& text, size_t count, const char* option, const char* form);

// Whether tetrahedra must have the volume of the mesh or field that was filled (tet/solid_fill.h).
enum class SolidVolume {
  Told,   // a note says how much is lost
  Whole,  // Error (Geometry) where the edge was given; where it was not, a shorter one is taken
};

struct SolidInput {
  geometry::TetMesh mesh;
  std::optional<geometry::TriMesh> surface;  // that was filled, if it was a mesh
  std::string note;                          // about edge and volume; most often empty
};

// Tetrahedra of a file, or a closed mesh or field filled with them: with this edge, or with a part of the
// longest side where it is 0. Throws what the readers throw, and Error (Geometry) where there is no inside.
SolidInput readSolid(const std::string& path, double edge, double edgesPerSide, bool sharp,
                     SolidVolume volume, const Settings& settings);

struct MaterialChoice {
  std::string name = "glass";
  std::optional<double> young, poisson, density;
};
// --material, --young, --poisson and --density.
void addMaterialOptions(App& app, MaterialChoice& choice);
// The preset of that name with what is given instead. Throws Error (Usage) for one without elastic constants,
// with the names of those that have them.
material::Material chosenMaterial(const MaterialChoice& choice);

}  // namespace sunder::cli
