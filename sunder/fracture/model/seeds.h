// Where cracks start: peaks of the largest principal stress above the strength that are not fading (Rankine's
// criterion with a test of the rate), one for each concentration however fine the mesh (specification 07, M7,
// M8).
#pragma once

#include "sunder/base/math.h"
#include "sunder/fem/principal.h"
#include "sunder/geometry/mesh.h"
#include "sunder/geometry/rows.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder::fracture {

// Vertices that share an edge with each vertex, ascending.
geometry::Rows vertexNeighbours(const geometry::TetMesh& mesh);

struct SeedSettings {
  double strength = 1e6;  // Pa
  double fading = 0;      // Pa/s: stress that falls faster does not crack
  double gamma = 0.8;     // of a peak: what is above belongs to it
};

struct SeedReport {
  uint32_t above = 0;   // vertices above the strength
  uint32_t peaks = 0;   // of these, largest among their neighbours
  uint32_t fading = 0;  // peaks that the rate excluded
};

// By falling stress. Of equal neighbours the one with the smaller number is the peak.
std::vector<uint32_t> crackSeeds(std::span<const fem::Principal> stress, const geometry::Rows& neighbours,
                                 const SeedSettings& settings, SeedReport* report = nullptr);

// Vertices near the peaks, for refinement (M5): of each connected region above the strength, those above
// gamma times the largest there. Ascending.
std::vector<uint32_t> peakVertices(std::span<const fem::Principal> stress, const geometry::Rows& neighbours,
                                   double strength, double gamma);

}  // namespace sunder::fracture
