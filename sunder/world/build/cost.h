// What a scene will cost, from its numbers alone: how many bodies, pairs, triangles, tetrahedra, particles
// and cells of boundary maps it asks for, and what each of them takes. Nothing of the world is built, so that
// a scene that does not fit the memory is refused before the memory is taken, with the number to change.
//
// Accuracy, for the scenes that tests/cli/test_cost.py compares with their runs, which the constants were
// adjusted with: memory within a factor of two, the time of building within three. Stepping
// depends on what happens, so it is a range. Cost of the estimate: reading mesh files and making procedural
// meshes of at most kCheapTriangles (cost_shapes.h); the rest is below 0.2 s and 50 MB for 100,000 bodies.
//
// Counts follow what the builders do: lattices of distance fields (cost_solids.cpp), edges that are shortened
// until tetrahedra keep the volume (cost_fracture.cpp), cages (cost_soft.cpp), boundary maps
// (cost_fluid.cpp), the flight of what emitters let in (cost_emitters.cpp). What each counted thing takes is
// fitted, to peak memory (ru_maxrss) and processor time of `sunder run`.
#pragma once

#include "sunder/world/scene/cost_item.h"
#include "sunder/world/scene/scene.h"

#include <string>
#include <vector>

namespace sunder::world {

struct Cost {
  std::vector<CostItem> items;
  // Most that the process takes at a time: as is expected, if nothing breaks, and if all breaks that can.
  double memoryBytes = 0, memoryUnbroken = 0, memoryBroken = 0;
  double buildSeconds = 0;                         // before the first frame
  double stepSecondsLow = 0, stepSecondsHigh = 0;  // of all frames together
  double strikeSeconds = 0;                        // an analysis of one impact on each different brittle body
  double recordingBytes = 0;                       // of run.sunder, at most
  uint64_t bodies = 0, dynamicBodies = 0, breakable = 0, joints = 0;
  uint64_t tetrahedra = 0;  // of bodies that may break
  uint64_t softBodies = 0;
  double softTets = 0;        // of all of them together
  uint64_t particles = 0;     // at the start
  double particlesLater = 0;  // that emitters let in
  uint64_t pairs = 0;         // of bodies whose boxes overlap at the start
  bool crowded = false;       // bodies overlap so many others that they must lie in one place
};

// Of a scene that is ready or estimated (ready_scene.h).
// Throws Error with the place in the scene for shapes and fields that cannot be; Error (Limit) for a mesh
// file or a procedural shape that alone is above `memory` bytes, before it is read or made.
Cost estimateCost(const Scene& scene, uint64_t memory = UINT64_MAX);

// Throws Error (Limit) where the cost is above `memory` bytes if all breaks that can, or the scene is
// crowded: file, line and key of the number that is to blame for most of it, its value, and one that would
// fit.
void requireAffordable(const Scene& scene, const Cost& cost, uint64_t memory);

// Throws Error (Limit) where even a recording of a tenth of the most it may have is larger than `freeBytes`
// of disk: the key of the run's length, its value, and one that would fit.
void requireDiskSpace(const Scene& scene, const Cost& cost, double freeBytes);

}  // namespace sunder::world
