// Whether a mesh crosses itself, before it is cut.
#pragma once

#include "sunder/cut/kernel/kernel_mesh.h"
#include "sunder/cut/kernel/types.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace sunder::cut {

// Pairs of faces of a mesh that have a point in common and no vertex, as faces of the input.
// Throws Error (Limit) where more than `most` pairs would have to be looked at; `name` is for that message.
std::vector<std::array<uint32_t, 2>> selfIntersections(const KernelMesh& mesh,
                                                       const std::string& name = "mesh",
                                                       uint64_t most = kMostCandidates);

// Refuses a mesh that crosses itself, naming pairs of faces; nothing happens to one that does not. Lids of an
// incision lie on each other and are no crossing: what was cut may be cut again.
void refuseSelfIntersection(const KernelMesh& mesh, const std::string& name, uint64_t most = kMostCandidates);

}  // namespace sunder::cut
