#include "bench/published/node_propagation.h"

#include <algorithm>

namespace sunder::published {

namespace {

// What the neighbours in the front say of a node; false where they say nothing.
bool predict(PropagationRule rule, const Vec3& p, std::span<const Vec3> positions,
             std::span<const uint32_t> from, std::span<const NodeDistance> nodes, NodeDistance& out) {
  if (rule == PropagationRule::ClosestPoint) {
    out.distance = -1;
    for (const uint32_t j : from) {
      const Vec3 to = positions[j] + nodes[j].distance * nodes[j].direction - p;
      const double d = to.norm();
      if (out.distance < 0 || d < out.distance) out = {d, d > 0 ? Vec3(to / d) : nodes[j].direction};
    }
    return out.distance >= 0;
  }
  double sum = 0;
  out = {};
  for (const uint32_t j : from) {
    const Vec3 way = positions[j] - p;
    const double deeper = nodes[j].direction.dot(way);
    if (rule == PropagationRule::Upwind && deeper <= 0) continue;
    const double w = 1 / way.squaredNorm();
    sum += w;
    out.distance += w * (nodes[j].distance + deeper);
    out.direction += w * nodes[j].direction;
  }
  if (!(sum > 0)) return false;
  out.distance /= sum;
  out.direction.normalize();
  return true;
}

}  // namespace

PropagationReport propagate(PropagationRule rule, std::span<const Vec3> positions,
                            std::span<const std::vector<uint32_t>> neighbours, std::vector<uint32_t> front,
                            std::span<NodeDistance> nodes, uint32_t mostSteps) {
  PropagationReport report;
  std::vector<char> inFront(positions.size(), 0), asked(positions.size(), 0);
  std::vector<uint32_t> candidates, from;
  std::vector<std::pair<uint32_t, NodeDistance>> changes;
  while (!front.empty()) {
    if (report.steps == mostSteps) return report;
    ++report.steps;
    candidates.clear();
    for (const uint32_t v : front) inFront[v] = 1;
    for (const uint32_t v : front)
      for (const uint32_t n : neighbours[v])
        if (!asked[n]) {
          asked[n] = 1;
          candidates.push_back(n);
        }
    changes.clear();
    for (const uint32_t v : candidates) {
      asked[v] = 0;
      from.clear();
      for (const uint32_t n : neighbours[v])
        if (inFront[n]) from.push_back(n);
      NodeDistance next;
      if (predict(rule, positions[v], positions, from, nodes, next) && next.distance < nodes[v].distance)
        changes.emplace_back(v, next);
    }
    for (const uint32_t v : front) inFront[v] = 0;
    front.clear();
    for (const auto& [v, next] : changes) {
      nodes[v] = next;
      front.push_back(v);
    }
    report.updates += changes.size();
  }
  report.ended = true;
  return report;
}

}  // namespace sunder::published
