// Splinters heal: parts of a body that are too small to go their own way are joined with a neighbour by
// taking back cuts of the impact, before anything is made of the parts. What is left is a plan of cracks like
// any other, so it is recorded and replayed as it is.
//
// Cuts of one tetrahedron are a binary tree: a mark cuts what earlier marks left of it. Where all of one side
// of a mark is a splinter and all of the other side is one neighbour, taking the mark back joins these two
// and nothing else. Splinters go from the smallest up, each to the neighbour that it shares most area of such
// marks with, until none is too small. Where later cracks divide the other side they are led on through the
// splinter; that is kept only where no two large parts come together and fewer splinters are left.
// Cuts of earlier impacts are not touched.
//
// Guarantees: large parts stay apart; a function of the plan. Linear in the tetrahedra where there are no
// splinters; some dissections for each one of the second kind. Not for use outside this room.
#pragma once

#include "sunder/fracture/crack/fracture_geometry.h"

namespace sunder::fracture {

struct Healing {
  uint32_t healed = 0;  // parts that are joined with others now
  uint32_t left = 0;    // parts that are still too small
};
// `least`: of the volume of the whole. Cracks of which nothing is left leave the plan.
Healing heal(FractureGeometry& geometry, double least);

}  // namespace sunder::fracture
