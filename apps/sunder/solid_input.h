// Solids and materials as the verbs that analyse them take them.
#pragma once

#include "sunder/fem/material.h"
#include "sunder/geometry/mesh.h"

#include "command.h"

#include <optional>
#include <string>
#include <vector>

namespace sunder::cli {

// "1,2.5,-3": exactly `count` finite numbers. Throws Error (Usage) with `form` as the example.
std::vector<double> numbersOf(const std::string& text, size_t count, const char* option, const char* form);

// Tetrahedra of a file, or a closed mesh or field filled with them: with this edge, or with a part of the
// longest side where it is 0. `surface` receives the mesh that was filled, if it was one. Throws what the
// readers throw, and Error (Geometry) where there is no inside.
geometry::TetMesh readSolid(const std::string& path, double edge, double edgesPerSide, bool sharp,
                            const Settings& settings, std::optional<geometry::TriMesh>* surface = nullptr);

struct MaterialChoice {
  std::string name = "glass";
  std::optional<double> young, poisson, density;
};
// --material, --young, --poisson and --density.
void addMaterialOptions(CLI::App& app, MaterialChoice& choice);
// The preset of that name with what is given instead. `preset` receives it. Throws Error (Usage) with the
// names.
fem::ElasticMaterial elasticMaterial(const MaterialChoice& choice, fem::ElasticPreset& preset);

}  // namespace sunder::cli
