// What a cut knows before it chooses: both meshes as triangles, the seam, the pieces of touched faces and the
// parts that they form, with the side of the other mesh that each is on. Operations (fragments.h) and the
// patches of the cutter (patches.h) are made from it.
#pragma once

#include "sunder/cut/arrangement/emit.h"
#include "sunder/cut/kernel/types.h"

#include <string>

namespace sunder::cut {

struct Arrangement {
  KernelMesh meshes[2];
  Seam seam;
  Regions regions[2];
  Parts parts[2];

  Scene scene() const {
    return {{&meshes[0], &meshes[1]}, {&regions[0], &regions[1]}, {&parts[0], &parts[1]}, &seam};
  }
};

// Errors call the cutter `name`. Of the options only `op`, `checkInput` and `mostPairs` matter here: what
// they refuse. Fills the statistics of its stages. Parts that no seam touches do not have their side yet
// (placeUnmetParts).
Arrangement arrange(const geometry::MeshView& mesh, const geometry::MeshView& cutter, const std::string& name,
                    const CutOptions& options, CutStatistics& statistics);

}  // namespace sunder::cut
