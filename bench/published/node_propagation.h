// Distances handed on from node to node, by the rules of the literature: what the records of
// fragment_field.h are compared with. The published rule (Glondu et al. 2012, equations 1 and 2) averages
// what the neighbours of the last front predict and takes it where it is smaller; it does not end and drives
// values below zero (specification 05, 3.1). With upwind neighbours only, those from which the node lies
// deeper, it ends. The closest-point rule takes the nearest of the neighbours' points.
//
// For tests and measurements; a plain implementation.
#pragma once

#include "sunder/base/math.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder::published {

enum class PropagationRule { Published, Upwind, ClosestPoint };

struct NodeDistance {
  double distance = 0;
  Vec3 direction = Vec3::Zero();  // unit, towards the surface
};

struct PropagationReport {
  uint32_t steps = 0;
  size_t updates = 0;
  bool ended = false;  // the front is empty; else the limit of steps was reached
};

// Fronts start at `front`, whose nodes have their values already. All values of a step are set at its end.
PropagationReport propagate(PropagationRule rule, std::span<const Vec3> positions,
                            std::span<const std::vector<uint32_t>> neighbours, std::vector<uint32_t> front,
                            std::span<NodeDistance> nodes, uint32_t mostSteps = 200);

}  // namespace sunder::published
