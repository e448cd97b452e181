#include "sunder/fracture/model/seeds.h"

#include <algorithm>

namespace sunder::fracture {

geometry::Rows vertexNeighbours(const geometry::TetMesh& mesh) {
  const size_t count = mesh.positions.size();
  std::vector<uint32_t> start(count + 1, 0);
  for (const auto& t : mesh.tets)
    for (const uint32_t v : t) start[v + 1] += 3;
  for (size_t v = 0; v < count; ++v) start[v + 1] += start[v];
  std::vector<uint32_t> next(start.begin(), start.end() - 1), all(12 * mesh.tets.size());
  for (const auto& t : mesh.tets)
    for (size_t i = 0; i < 4; ++i)
      for (size_t j = 0; j < 4; ++j)
        if (i != j) all[next[t[i]]++] = t[j];
  geometry::Rows rows;
  rows.offsets.assign(1, 0);
  rows.items.reserve(all.size() / 3);
  for (size_t v = 0; v < count; ++v) {
    const auto begin = all.begin() + start[v], end = all.begin() + start[v + 1];
    std::sort(begin, end);
    rows.items.insert(rows.items.end(), begin, std::unique(begin, end));
    rows.offsets.push_back(uint32_t(rows.items.size()));
  }
  return rows;
}

namespace {

// Calls visit for everything that is connected with `from` through vertices above `level` and not yet seen.
template <class Visit>
void flood(uint32_t from, double level, std::span<const fem::Principal> stress,
           const geometry::Rows& neighbours, std::vector<char>& seen, std::vector<uint32_t>& stack,
           const Visit& visit) {
  stack.assign(1, from);
  seen[from] = 1;
  while (!stack.empty()) {
    const uint32_t v = stack.back();
    stack.pop_back();
    visit(v);
    for (const uint32_t n : neighbours.row(v)) {
      if (seen[n] || !(stress[n].value > level)) continue;
      seen[n] = 1;
      stack.push_back(n);
    }
  }
}

}  // namespace

std::vector<uint32_t> crackSeeds(std::span<const fem::Principal> stress, const geometry::Rows& neighbours,
                                 const SeedSettings& settings, SeedReport* report) {
  SeedReport counts;
  std::vector<uint32_t> peaks;
  for (uint32_t v = 0; v < stress.size(); ++v) {
    const double tau = stress[v].value;
    if (!(tau > settings.strength)) continue;
    ++counts.above;
    const auto& around = neighbours.row(v);
    const bool peak = std::none_of(around.begin(), around.end(), [&](uint32_t n) {
      return stress[n].value > tau || (stress[n].value == tau && n < v);
    });
    if (!peak) continue;
    ++counts.peaks;
    if (stress[v].rate >= -settings.fading)
      peaks.push_back(v);
    else
      ++counts.fading;
  }
  std::stable_sort(peaks.begin(), peaks.end(),
                   [&](uint32_t a, uint32_t b) { return stress[a].value > stress[b].value; });
  std::vector<char> visited(stress.size(), 0), seen(stress.size(), 0);
  std::vector<uint32_t> seeds, stack, reached;
  for (const uint32_t s : peaks) {
    if (visited[s]) continue;
    seeds.push_back(s);
    reached.clear();
    flood(s, settings.gamma * stress[s].value, stress, neighbours, seen, stack, [&](uint32_t v) {
      visited[v] = 1;
      reached.push_back(v);
    });
    // Floods of other peaks go their own ways.
    for (const uint32_t v : reached) seen[v] = 0;
  }
  if (report) *report = counts;
  return seeds;
}

std::vector<uint32_t> peakVertices(std::span<const fem::Principal> stress, const geometry::Rows& neighbours,
                                   double strength, double gamma) {
  std::vector<char> seen(stress.size(), 0);
  std::vector<uint32_t> stack, region, marked;
  for (uint32_t v = 0; v < stress.size(); ++v) {
    if (seen[v] || !(stress[v].value > strength)) continue;
    region.clear();
    double most = 0;
    flood(v, strength, stress, neighbours, seen, stack, [&](uint32_t u) {
      region.push_back(u);
      most = std::max(most, stress[u].value);
    });
    for (const uint32_t u : region)
      if (stress[u].value > gamma * most) marked.push_back(u);
  }
  std::sort(marked.begin(), marked.end());
  return marked;
}

}  // namespace sunder::fracture
