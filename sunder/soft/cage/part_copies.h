// Which parts of a solid need tetrahedra of their own (cage_parts.h): parts of neighbours are glued where one
// region of the inside of their shared face bounds both, and parts of a tetrahedron that then have all four
// vertices in common share one copy.
#pragma once

#include "sunder/soft/cage/cage.h"
#include "sunder/soft/cage/clip_surface.h"
#include "sunder/soft/cage/solid.h"

#include <array>
#include <cstdint>
#include <vector>

namespace sunder::soft {

struct PartCopies {
  std::vector<TetParts> parts;                    // by tetrahedron
  std::vector<uint32_t> firstPart;                // by tetrahedron and one more
  std::vector<uint32_t> copyOfPart;               // by part of all: number among the tetrahedron's copies
  std::vector<std::array<uint32_t, 4>> vertexOf;  // by part of all: numbers that glued corners share
  std::vector<uint32_t> copies;                   // by tetrahedron: how many; 0 where there is no solid
};

PartCopies findPartCopies(const ClipSurface& surface, const Solid& solid, const Cage& cage,
                          const SurfaceClips& clips);

}  // namespace sunder::soft
