// Mean volume ratios around vertices, which the part of lambda that would lock acts on: of each vertex and
// each material around it that has such a part, the mean over the tetrahedra of that material, by volume
// (after Bonet and Burton 1998). Its energy is V k / 2 (ratio - 1)^2. Private to the room.
#pragma once

#include "sunder/fem/outer_terms.h"
#include "sunder/fem/sparse_pattern.h"
#include "sunder/geometry/rows.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace sunder::fem {

struct VolumeAverages {
  std::vector<double> stiffness;    // k of each average, Pa
  std::vector<double> volume;       // V: a quarter of that of its tetrahedra
  geometry::Rows members;           // 4 * place + corner, of each average
  std::vector<uint32_t> averageOf;  // of each place and corner; kNoIndex: none
  std::vector<double> share;        // of each place: a quarter of its volume
  geometry::Rows rows;              // vertices of all members, ascending
  // What adds to row r of all rows: sources[starts[r]] to sources[starts[r + 1]], 4 * place + corner.
  std::vector<uint32_t> starts, sources;

  bool empty() const { return stiffness.empty(); }

  struct Mesh {
    std::span<const std::array<uint32_t, 4>> corners;  // of each place, ascending
    std::span<const double> volumes;                   // of each place
    std::span<const uint16_t> materials;               // of each place
    std::span<const double> stiffness;                 // of each material; 0: none
  };
  // `stars` has 4 * place + corner of each vertex.
  void build(const Mesh& mesh, const geometry::Rows& stars);

  // The energy where `ratios` are those of all places. Writes k (ratio - 1) of each average to `nodal`.
  double energy(std::span<const double> ratios, std::span<double> nodal) const;
  // The mean of k (ratio - 1) of the corners of each place, 0 where there are none.
  void pressures(std::span<const double> ratios, std::span<double> nodal, std::span<double> pressures) const;
  // One term for each average. `gradients` has four vectors a place: of its volume ratio by each corner,
  // times a quarter of its volume.
  void addOuter(std::span<const double> gradients, double scale, OuterTerms& outer) const;

 private:
  double excess(std::span<const double> ratios, size_t average) const;  // ratio - 1
};

}  // namespace sunder::fem
