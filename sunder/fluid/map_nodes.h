// Boundary densities at the nodes of one brick of a map's lattice. Private to the room; density_map_build.h
// says how.
#pragma once

#include "sunder/fluid/density_map_kernel.h"
#include "sunder/fluid/distance_bricks.h"

#include <vector>

namespace sunder::fluid {

struct NodeSettings {
  int pad = 0;          // lattice points before the first node
  Index3 cells{};       // of the map
  double offset = 0.5;  // supports
  float deepest = 0;    // nodes below are in no kept cell
};

struct NodeCounts {
  size_t plane = 0, quadrature = 0, thin = 0;
  float thinnest = 0;  // depth of the lattice point at a thin place that is nearest to the surface
  Index3 thinnestAt{};
};

class MapNodes {
 public:
  // `perSupport`: lattice steps.
  MapNodes(const DistanceBricks& distances, const NodeSettings& settings, double perSupport);

  // Densities of the nodes among the brick's points; zero for all others. From any thread.
  NodeCounts compute(size_t brick, float* out) const;

 private:
  struct Cube;
  void row(const Cube& cube, const Index3& first, int j, int k, float* out, NodeCounts& counts) const;
  void findThin(const Cube& cube, const Index3& first, NodeCounts& counts) const;

  const DistanceBricks& distances_;
  NodeSettings settings_;
  int reach_, halo_, edge_;  // of the quadrature, around a brick, of the cube with it
  double step_;              // supports
  kernels::LatticeRule rule_;
};

}  // namespace sunder::fluid
