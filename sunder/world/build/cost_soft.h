// How large the cages and collision spheres of soft bodies will be, from numbers alone.
#pragma once

#include "sunder/world/build/cost_shapes.h"
#include "sunder/world/scene/scene.h"

namespace sunder::world {

struct SoftSize {
  double tets = 0, vertices = 0;  // of the cage; of one from a file by its length
  double edge = 0;                // m: of tetrahedra as large as these
  double spacing = 0;             // m: from one collision sphere to the next
  double tried = 0, spheres = 0;  // places of the grid that lie in the solid; spheres that are kept
  double triangles = 0;           // of the surface, after it is clipped by the cage
};

SoftSize softSize(const SoftSpec& soft, const ShapeSize& shape);

}  // namespace sunder::world
