// The last step of a cut: writes the chosen parts of both meshes as one result. A part may be used native or
// reversed; which copy of a vertex a corner gets follows from its side of the seam alone, so no walk around
// vertices is needed. Untouched faces are copied in blocks.
#pragma once

#include "sunder/cut/arrangement/parts.h"
#include "sunder/cut/kernel/types.h"

namespace sunder::cut {

struct Use {
  MeshId mesh = kMesh;
  bool reversed = false;
  bool bySide = false;                  // points below get copy 0, points above copy 1
  uint8_t copy = 0;                     // else all get this one, except tips, which have copy 0 only
  std::vector<uint32_t> fragment = {};  // per part of the mesh: its fragment, or kNoIndex to leave it out
};

struct Scene {
  const KernelMesh* mesh[2];
  const Regions* regions[2];
  const Parts* parts[2];
  const Seam* seam;
};

// Fills mesh, faces and vertices of the result.
void emit(const Scene& scene, const std::vector<Use>& uses, bool triangles, CutResult& result);

}  // namespace sunder::cut
