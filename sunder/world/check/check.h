// Looks at a scene before it runs: what would go wrong, what is doubtful, what it will cost.
//
// First come looks that need numbers only: the estimate of cost.h, which is refused above the memory there
// may be, meshes that are open or inside out, sizes, places and joints that a person would wonder about. They
// take less than a second and 100 MB besides reading mesh files. Then, where the world is built in less than
// kCheapSeconds and kCheapBytes by that estimate, or where it is asked for, the world is built and stepped:
// bodies that overlap, walls that are thin for liquids, the pace of the first frames, what an impact costs.
#pragma once

#include "sunder/base/error.h"
#include "sunder/world/build/cost.h"
#include "sunder/world/world.h"

#include <optional>
#include <string>
#include <vector>

namespace sunder::world {

struct Finding {
  bool error = false;  // else a warning
  std::string where;   // a body, a shape
  std::string text;
};

enum class CheckDepth { Numbers, WhereCheap, Built };

struct CheckOptions {
  CheckDepth depth = CheckDepth::WhereCheap;
  uint64_t memory = 0;  // bytes a run may take; 0: as memoryLimit() of base says
  World::Progress progress = {};
};

inline constexpr double kCheapSeconds = 0.3, kCheapBytes = 7e7;
inline constexpr uint64_t kMostSampled = 30'000;  // bodies of arrays that an estimate looks at (sampleScene)

struct CheckReport {
  std::vector<Finding> findings;
  Cost cost;                     // the estimate
  std::optional<Error> refusal;  // of a scene that is too large; nothing else was looked at then
  bool built = false;            // whether the world was built; what follows from it is 0 else
  uint64_t bodies = 0, dynamicBodies = 0, shapes = 0, triangles = 0, joints = 0, frames = 0;
  uint64_t breakable = 0;      // bodies
  uint64_t contacts = 0;       // in the first step; built
  uint64_t particles = 0;      // of liquids, at the start
  double seconds = 0;          // of the run: building, the pace of the first frames, and breaking; built
  double breakingSeconds = 0;  // of it: a few impacts on each body that may break
  bool failed() const;
};

// Errors: a scene that is too large, overlaps deeper than a tenth of the smaller body, surfaces that are open
// or inside out. Warnings: other overlaps, meshes with defects, bodies that move farther than their size in a
// step, mass ratios above 10^4 in contact, bodies as large as hills, joints far from their bodies, nothing
// below what falls, tetrahedra too coarse for the walls of what may break. A sample of a scene is never
// built.
CheckReport checkScene(Scene scene, const CheckOptions& options = {});

}  // namespace sunder::world
