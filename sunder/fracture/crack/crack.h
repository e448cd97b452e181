// Where a crack runs: the zero of a function through a seed, as far as it is connected to it (specification
// 07, M9).
#pragma once

#include "sunder/fracture/crack/cracked_mesh.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace sunder::fracture {

// Positive on one side of the crack, negative on the other; in rest coordinates.
using CrackFunction = std::function<double(const Vec3&)>;

// The plane through a point.
CrackFunction planeCrack(const Vec3& point, const Vec3& normal);

struct CrackNoise {
  double amplitude = 0;   // length
  double wavelength = 1;  // length
  uint64_t seed = 1;
};
// The plane, moved along its normal by smooth noise with values up to about the amplitude.
CrackFunction noisyCrack(const Vec3& point, const Vec3& normal, const CrackNoise& noise);

// Values at all vertices, none of them zero: those below kNearestVertex of the mean length of the vertex's
// edges are moved there, to the positive side. A crack through vertices, which is the normal case as cracks
// start at them, then misses all of them.
inline constexpr double kNearestVertex = 1e-3;
std::vector<double> crackValues(const geometry::TetMesh& mesh, const CrackFunction& crack);

// Tetrahedra that the crack cuts, from those around the seed (a vertex, or tetrahedra) across faces that it
// crosses, ascending. Other places that the function passes through zero in stay whole. `mostArea`: the crack
// stops when it has this area, nearest to the seed first, and may end inside. `area` receives the area cut.
std::vector<Mark> markCrack(const CrackedMesh& mesh, std::span<const CutCell> cells,
                            std::span<const Link> links, std::span<const double> values, uint32_t seed,
                            double mostArea = Box3::kInfinity, double* area = nullptr);
std::vector<Mark> markCrack(const CrackedMesh& mesh, std::span<const CutCell> cells,
                            std::span<const Link> links, std::span<const double> values, const Vec3& seed,
                            std::span<const uint32_t> seedTets, double mostArea = Box3::kInfinity,
                            double* area = nullptr);

// A crack as a list of tetrahedra to cut, for a mesh that may be made again: slots of a refinement, or
// numbers of an uncracked mesh, and on which sides of earlier cracks.
struct PlannedMark {
  uint32_t slot = 0;
  std::vector<std::pair<uint32_t, int8_t>> sides;
  std::array<double, 4> phi{};
  bool operator==(const PlannedMark&) const = default;
};
struct PlannedCrack {
  uint32_t id = 0, step = 0;  // the step of the analysis before which it is there
  std::vector<PlannedMark> marks;
  bool operator==(const PlannedCrack&) const = default;
};

}  // namespace sunder::fracture
