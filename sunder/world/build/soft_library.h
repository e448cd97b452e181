// Builds what soft bodies are made of: a cage around the surface, the surface in it, walls, collision
// spheres, how much of each tetrahedron is there, and points that liquids meet. Bodies that ask for the same
// share it.
//
// Errors: of surfaces that are open, of cages that miss a part of the surface or have flat tetrahedra, with
// the place in the scene. Cost: some tenths of a second for 5,000 triangles.
#pragma once

#include "sunder/record/mesh_change.h"
#include "sunder/soft/cage/cage.h"
#include "sunder/soft/spheres/collision_spheres.h"
#include "sunder/soft/spheres/volume_points.h"
#include "sunder/world/build/shape_library.h"
#include "sunder/world/scene/scene.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sunder::world {

struct BuiltSoft {
  soft::Cage cage;                // in the frame of the shape
  std::vector<double> fractions;  // of each tetrahedron that is solid
  soft::CollisionSpheres spheres;
  soft::VolumePoints points;  // that liquids meet; none where the scene has no liquid
  double volume = 0;          // of the solid, m^3
  double size = 0;            // m: longest side of its box
  double edge = 0;            // m: mean of the cage's edges
  // What recordings hold: the surface clipped at the faces of the cage, with the walls behind it. Numbers of
  // meshes are filled in by who records.
  record::MeshEntry surface;
  record::Embedding embedding;
  std::vector<std::string> problems;  // in sentences; each degrades the run
};
using BuiltSoftPtr = std::shared_ptr<const BuiltSoft>;

// From one point to the next, against the radius of the liquid's particles (soft/spheres/volume_points.h):
// fine enough that a particle which slides along them feels no grain.
inline constexpr double kLiquidPointSpacing = 1.5;

// One for each soft body of the scene, which is ready (ready_scene.h). `progress(done, name)` is called
// before each one that is built.
std::vector<BuiltSoftPtr> buildSoftBodies(
    const Scene& scene, const std::vector<BuiltShape>& shapes,
    const std::function<void(size_t, const std::string&)>& progress = {});

}  // namespace sunder::world
