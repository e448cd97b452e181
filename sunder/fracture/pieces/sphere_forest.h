// The tree of spheres over the points of an object, taken apart when the object breaks (Glondu et al. 2012,
// section 5.2). Points are the vertices of the tetrahedra, on the surface and inside, so that material which
// comes to light is there already; a fracture adds points on the new crack faces.
//
// An occurrence of a point whose parent went to another fragment hangs below the nearest ancestor that is in
// its own, or is a root. New points hang below the first occurrence of a vertex of their tetrahedron, so that
// searches come to them early. Radii keep reaching to all points below: they are made larger for new points
// all the way up, and stay larger than necessary where points left.
//
// The result is an sdf::SphereTree whose ranks number the fragment's points, old ones first in their old
// order; levelStart is empty, gap is that of the old tree (0 for new points). At most kMostRoots roots:
// others hang below the one that had the largest sphere.
//
// Cost: linear in the occurrences, for all fragments together, and in the new points times their depth.
#pragma once

#include "sunder/base/index.h"
#include "sunder/sdf/sphere_tree.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder::fracture {

inline constexpr size_t kMostRoots = 8;

// A point that a fracture adds to a fragment.
struct NewPoint {
  Vec3 position;
  uint32_t below = kNoIndex;  // rank in the parent's tree of the point to hang it under; kNoIndex: a root
};

// One tree a fragment. `label`: by rank of the parent's tree, which fragment has the point; kNoIndex: none.
// `added`: one list a fragment; points whose `below` is in another fragment hang below the first root.
// `rankOf`, if asked for, receives each old rank's rank in its fragment's tree. New points follow in order.
std::vector<sdf::SphereTree> splitForest(const sdf::SphereTree& parent, std::span<const uint32_t> label,
                                         std::span<const std::vector<NewPoint>> added,
                                         std::vector<uint32_t>* rankOf = nullptr);

}  // namespace sunder::fracture
