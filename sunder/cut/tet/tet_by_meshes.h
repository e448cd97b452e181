// One tetrahedron cut by way of cut(), tens of times slower than tet_cutter.h, which falls back to it for
// loops that need bridges.
#pragma once

#include "sunder/cut/kernel/kernel_mesh.h"
#include "sunder/cut/tet/tet_cutter.h"

namespace sunder::cut {

// `faces` of the sheet, at least one.
void cutTetByMeshes(const std::array<Vec3, 4>& tet, const KernelMesh& sheet, std::span<const uint32_t> faces,
                    TetCut& out);

}  // namespace sunder::cut
