// Looks at a scene before it runs: what would go wrong, what is doubtful, what it will cost.
#pragma once

#include "sunder/world/world.h"

#include <string>
#include <vector>

namespace sunder::world {

struct Finding {
  bool error = false;  // else a warning
  std::string where;   // a body, a shape
  std::string text;
};

struct CheckReport {
  std::vector<Finding> findings;
  uint64_t bodies = 0, dynamicBodies = 0, shapes = 0, triangles = 0, joints = 0, frames = 0;
  uint64_t breakable = 0;      // bodies
  uint64_t contacts = 0;       // in the first step
  uint64_t particles = 0;      // of liquids, at the start
  double memoryBytes = 0;      // estimate of the simulation
  double seconds = 0;          // estimate of the run: building, the pace of the first frames, and breaking
  double breakingSeconds = 0;  // of it: a few blows on each body that may break
  double recordingBytes = 0;   // estimate of run.sunder, at most
  bool failed() const;
};

// Builds the world, takes a few steps and strikes a copy of each body that may break. Errors: overlaps deeper
// than a tenth of the smaller body, surfaces that are open or inside out. Warnings: other overlaps, meshes
// with defects, bodies that move farther than their size in a step, mass ratios above 10^4 in contact, sizes
// far from a metre.
CheckReport checkScene(Scene scene, const World::Progress& progress = {});

}  // namespace sunder::world
