// What acts on a deformable solid during one step, constant in it, and what of its vertices is prescribed.
#pragma once

#include "sunder/fem/point_force.h"
#include "sunder/geometry/mesh.h"

#include <array>
#include <span>
#include <vector>

namespace sunder::fem {

// A vertex that is held at `target` at the end of the step, in the directions that are `held`. A vertex may
// be named once.
struct Pin {
  uint32_t vertex = 0;
  Vec3 target = Vec3::Zero();
  std::array<bool, 3> held{true, true, true};
};

struct Loads {
  Vec3 gravity = Vec3::Zero();               // force a mass, m/s^2
  std::span<const Vec3> accelerations = {};  // further forces a mass, by vertex; empty: none
  std::span<const NodalForce> forces = {};   // N
  // Rayleigh damping beside that of the settings, by vertex: 1/s and s. Equal over each connected part, or
  // what the step minimises is no potential. Empty: none.
  std::span<const double> massDamping = {}, stiffnessDamping = {};
  std::span<const Pin> pins = {};
};

// Adds a force an area, `traction` (Pa), on faces of `mesh`, a third to each vertex of a face. Areas are
// those of the mesh as it is given. Throws Error (Usage) for vertices that are not there.
void addTraction(const geometry::TriMesh& mesh, const Vec3& traction, std::vector<NodalForce>& forces);
// The same on the boundary faces of tetrahedra whose three vertices all are marked in `on` (one a vertex).
// Returns the area.
double addTraction(const geometry::TetMesh& mesh, std::span<const uint8_t> on, const Vec3& traction,
                   std::vector<NodalForce>& forces);

}  // namespace sunder::fem
