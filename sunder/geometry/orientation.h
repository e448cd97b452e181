// Which faces to turn around so that neighbours agree, and closed shells face outward.
//
// Faces spread their direction across edges that exactly two faces share; the faces reached that way are a
// patch. A patch where the walk contradicts itself (a Moebius strip) is not orientable and is left as it is.
// A closed patch is turned so that its volume is positive, unless its box lies inside the box of another
// closed patch: it may be a cavity, so it keeps the side that most of its faces had, as open patches do. A
// tie goes to the first face. O(corners + patches^2 / threads) with a small constant for the boxes;
// deterministic.
#pragma once

#include "sunder/geometry/adjacency.h"
#include "sunder/geometry/components.h"

#include <vector>

namespace sunder::geometry {

struct Orientation {
  std::vector<uint8_t> flip;             // per face: 1 when it has to be turned around
  Components patches;                    // per face: its patch
  std::vector<uint8_t> patchOrientable;  // per patch
  std::vector<uint8_t> patchClosed;      // per patch: orientable, and its edges cancel

  bool orientable() const;
  size_t flipCount() const;
};

Orientation orientation(const MeshView& mesh, const EdgeAdjacency& edges);

}  // namespace sunder::geometry
