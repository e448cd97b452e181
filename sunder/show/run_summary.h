// What one has to know of a recorded run to show it: where the action is, where the ground is, what the
// materials are.
//
// Recordings say which body is the ground without end (BodyEntry::ground); it counts where it is level. In
// those that do not, a flat horizontal square of two triangles that does not move is taken for it, as
// half-spaces are recorded. Where there is none, the ground lies below the lowest thing that does not move; a
// run without such things has no ground. Cost: reads all meshes and up to 24 frames.
#pragma once

#include "sunder/record/run_reader.h"
#include "sunder/show/run_materials.h"

#include <optional>
#include <string>
#include <vector>

namespace sunder::show {

struct MeshSummary {
  Vec3f centre = Vec3f::Zero();  // of the box about it
  Vec3f half = Vec3f::Zero();    // half the box's sides
  float radius = 0;              // and half its diagonal
  bool square = false;           // two triangles in a plane
  Vec3f normal = Vec3f::UnitY();
};

struct RunSummary {
  std::vector<MeshSummary> meshes;
  std::vector<material::Material> materials;
  // Where things that move are over the whole run, but for the few that flew off: the middle 90 % along each
  // axis.
  Box3 action = {};
  std::optional<double> ground;
  std::vector<uint32_t> groundBodies;  // that are the ground itself, ascending
};

// Throws what the reader and materialsOf() throw.
RunSummary summarise(const record::RunReader& run);

// Whether a body in this state is the ground itself.
bool isGround(const RunSummary& summary, const record::BodyEntry& body, const record::BodyState& state);

}  // namespace sunder::show
