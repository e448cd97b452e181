// Where a crack runs: the zero of a function through a seed, as far as it is connected to it (specification
// 07, M9).
#pragma once

#include "sunder/fracture/cracked_mesh.h"

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

// Tetrahedra that the crack cuts, from those around the seed across faces that it crosses, ascending. Other
// places that the function passes through zero in stay whole. `mostArea`: the crack stops when it has this
// area, nearest to the seed first, and may end inside. `area` receives the area cut.
std::vector<Mark> markCrack(const CrackedMesh& mesh, std::span<const CutCell> cells,
                            std::span<const Link> links, std::span<const double> values, uint32_t seed,
                            double mostArea = Box3::kInfinity, double* area = nullptr);

}  // namespace sunder::fracture
