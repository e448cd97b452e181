// Pieces without stress: the body falls into the Voronoi cells of random points, as games break things. The
// plain thing to compare with, and cheap: no analysis, one dissection.
#pragma once

#include "sunder/fracture/crack/cracked_mesh.h"
#include "sunder/fracture/model/adaptive_fracture.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder::fracture {

// Points in the body, even by volume, closer together around `centre` where `focus` is above 0 (1: half of
// them within a quarter of the body's size). A function of the seed.
std::vector<Vec3> voronoiSites(const CrackedMesh& body, size_t count, uint64_t seed,
                               const Vec3& centre = Vec3::Zero(), double focus = 0);

// Cuts the body along the planes half-way between sites. Cracks are numbered from `nextCrack` on, one for
// each pair of sites that meet somewhere; it is raised. Cells that are cut apart by the body's own shape or
// earlier cracks are several pieces. Throws Error (Usage) for sites that coincide or are fewer than two.
// `neighbours`: of the body's tetrahedra across their faces, where they are known.
using Neighbours = std::span<const std::array<uint32_t, 4>>;
BrokenBody voronoiPieces(const CrackedMesh& body, std::span<const Vec3> sites, double leastPart,
                         uint32_t& nextCrack, Neighbours neighbours = {});

}  // namespace sunder::fracture
