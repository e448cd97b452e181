// From parts to fragments: which parts of the two meshes an operation takes, how they hang together across
// the seam, which shells are cavities of which solid, and which are empty.
#pragma once

#include "sunder/cut/arrangement/emit.h"

namespace sunder::cut {

struct Selection {
  std::vector<Use> uses;
  uint32_t fragments = 0;
  std::vector<double> volume;
  std::vector<uint8_t> sides;  // per fragment: SideBits of its parts of the mesh
};

// Throws Error (Geometry) where a closed mesh is inside out, or the seam contradicts itself: a part of one
// mesh on both sides of a closed other one, or, for Above and Below, a cutter that ends inside the mesh.
Selection selectFragments(const Scene& scene, const CutOptions& options);

// Refuses a part of one mesh that is on both sides of the other.
void refuseBothSides(const Scene& scene, MeshId id, const std::string& name, const std::string& otherName);

// cut() of meshes as they are, where errors call the cutter `name`.
CutResult cutNamed(const geometry::MeshView& mesh, const geometry::MeshView& cutter, const std::string& name,
                   const CutOptions& options);

}  // namespace sunder::cut
