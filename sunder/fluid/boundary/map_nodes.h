// Boundary densities at the nodes of one brick of a map's lattice. Private to the room; density_map_build.h
// says how.
#pragma once

#include "sunder/fluid/boundary/distance_bricks.h"
#include "sunder/fluid/boundary/map_quadrature_kernel.h"

#include <vector>

namespace sunder::fluid {

struct NodeSettings {
  int pad = 0;          // lattice points before the first node
  Index3 cells{};       // of the map
  double offset = 0.5;  // supports
  float deepest = 0;    // nodes below are in no kept cell
};

struct NodeCounts {
  size_t plane = 0, quadrature = 0;
};

// A lattice point next to the middle of what may be a thin wall.
struct ThinPoint {
  Index3 at{};
  float depth = 0;  // supports, of the middle
};

class MapNodes {
 public:
  // `perSupport`: lattice steps. Looks at all distances, in all threads.
  MapNodes(const DistanceBricks& distances, const NodeSettings& settings, double perSupport);

  // Densities of the nodes among the brick's points; zero for all others. From any thread.
  NodeCounts compute(size_t brick, float* out) const;

  // Points where the distance to walls thinner than two supports has its valley, in order of bricks; also
  // points in crests that are too narrow for the lattice.
  const std::vector<ThinPoint>& thin() const { return thin_; }

 private:
  struct Cube;
  std::vector<ThinPoint> lookAt(size_t brick);
  void row(const Cube& cube, size_t brick, int j, int k, float* out, NodeCounts& counts) const;

  const DistanceBricks& distances_;
  NodeSettings settings_;
  int reach_, felt_;  // of the quadrature, of its part that bends are felt in
  double step_;       // supports
  kernels::LatticeRule rule_;
  std::vector<float> sharp_;   // distances as the quadrature takes them
  std::vector<uint8_t> bent_;  // where they have second differences
  std::vector<ThinPoint> thin_;
};

}  // namespace sunder::fluid
