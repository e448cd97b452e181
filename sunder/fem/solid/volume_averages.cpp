#include "sunder/fem/solid/volume_averages.h"

#include "sunder/base/index.h"
#include "sunder/base/parallel.h"

#include <algorithm>
#include <functional>

namespace sunder::fem {

namespace {

constexpr size_t kAverageGrain = 512;

size_t rowOf(std::span<const uint32_t> rows, uint32_t vertex) {
  return static_cast<size_t>(std::lower_bound(rows.begin(), rows.end(), vertex) - rows.begin());
}

}  // namespace

void VolumeAverages::build(const Mesh& mesh, const geometry::Rows& stars) {
  stiffness.clear();
  volume.clear();
  members = {};
  rows = {};
  starts.clear();
  sources.clear();
  averageOf.clear();
  share.clear();
  if (std::none_of(mesh.stiffness.begin(), mesh.stiffness.end(), [](double k) { return k > 0; })) return;
  averageOf.assign(4 * mesh.corners.size(), kNoIndex);
  share.resize(mesh.corners.size());
  for (size_t p = 0; p < share.size(); ++p) share[p] = mesh.volumes[p] / 4;
  std::vector<uint32_t> cursor;
  for (size_t v = 0; v < stars.size(); ++v) {
    const std::span<const uint32_t> star = stars.row(v);
    for (const uint32_t first : star) {
      const uint16_t material = mesh.materials[first / 4];
      if (averageOf[first] != kNoIndex || !(mesh.stiffness[material] > 0)) continue;
      const auto average = static_cast<uint32_t>(stiffness.size());
      const size_t firstRow = rows.items.size(), firstMember = members.items.size();
      double sum = 0;
      for (const uint32_t entry : star) {
        if (mesh.materials[entry / 4] != material) continue;
        averageOf[entry] = average;
        members.items.push_back(entry);
        sum += share[entry / 4];
        for (const uint32_t corner : mesh.corners[entry / 4]) rows.items.push_back(corner);
      }
      const auto begin = rows.items.begin() + static_cast<std::ptrdiff_t>(firstRow);
      std::sort(begin, rows.items.end());
      rows.items.erase(std::unique(begin, rows.items.end()), rows.items.end());
      const std::span<const uint32_t> own{rows.items.data() + firstRow, rows.items.size() - firstRow};
      // Sorted by row, members in their order.
      cursor.assign(own.size() + 1, 0);
      for (size_t m = firstMember; m < members.items.size(); ++m)
        for (const uint32_t corner : mesh.corners[members.items[m] / 4]) ++cursor[rowOf(own, corner)];
      geometry::countsToOffsets(cursor);
      const auto firstSource = static_cast<uint32_t>(sources.size());
      for (size_t r = 0; r < own.size(); ++r) starts.push_back(firstSource + cursor[r]);
      sources.resize(4 * members.items.size());
      for (size_t m = firstMember; m < members.items.size(); ++m) {
        const uint32_t place = members.items[m] / 4;
        for (uint32_t k = 0; k < 4; ++k)
          sources[firstSource + cursor[rowOf(own, mesh.corners[place][k])]++] = 4 * place + k;
      }
      stiffness.push_back(mesh.stiffness[material]);
      volume.push_back(sum);
      members.offsets.push_back(static_cast<uint32_t>(members.items.size()));
      rows.offsets.push_back(static_cast<uint32_t>(rows.items.size()));
    }
  }
  starts.push_back(static_cast<uint32_t>(sources.size()));
}

double VolumeAverages::excess(std::span<const double> ratios, size_t average) const {
  double sum = 0;
  for (const uint32_t entry : members.row(average)) sum += share[entry / 4] * (ratios[entry / 4] - 1);
  return sum / volume[average];
}

double VolumeAverages::energy(std::span<const double> ratios, std::span<double> nodal) const {
  return parallelReduce(
      stiffness.size(), 0.0,
      [&](size_t begin, size_t end) {
        double sum = 0;
        for (size_t a = begin; a < end; ++a) {
          const double e = excess(ratios, a);
          nodal[a] = stiffness[a] * e;
          sum += volume[a] * nodal[a] * e / 2;
        }
        return sum;
      },
      std::plus<double>(), kAverageGrain);
}

void VolumeAverages::pressures(std::span<const double> ratios, std::span<double> nodal,
                               std::span<double> pressures) const {
  parallelFor(
      stiffness.size(), [&](size_t a) { nodal[a] = stiffness[a] * excess(ratios, a); }, kAverageGrain);
  parallelFor(
      pressures.size(),
      [&](size_t p) {
        double sum = 0;
        for (size_t k = 4 * p; k < 4 * p + 4; ++k)
          if (averageOf[k] != kNoIndex) sum += nodal[averageOf[k]];
        pressures[p] = sum / 4;
      },
      4 * kAverageGrain);
}

void VolumeAverages::addOuter(std::span<const double> gradients, double scale, OuterTerms& outer) const {
  const size_t terms = outer.weights.size(), blocks = outer.blocks.size();
  outer.weights.resize(terms + stiffness.size());
  outer.starts.resize(terms + stiffness.size() + 1);
  outer.rows.insert(outer.rows.end(), rows.items.begin(), rows.items.end());
  outer.blocks.resize(blocks + rows.items.size());
  parallelFor(
      stiffness.size(),
      [&](size_t a) {
        outer.weights[terms + a] = scale * volume[a] * stiffness[a];
        outer.starts[terms + a + 1] = static_cast<uint32_t>(blocks + rows.offsets[a + 1]);
        for (uint32_t r = rows.offsets[a]; r < rows.offsets[a + 1]; ++r) {
          double x = 0, y = 0, z = 0;
          for (uint32_t s = starts[r]; s < starts[r + 1]; ++s) {
            const double* from = gradients.data() + 3 * size_t(sources[s]);
            x += from[0];
            y += from[1];
            z += from[2];
          }
          outer.blocks[blocks + r] = Vec3(x, y, z) / volume[a];
        }
      },
      kAverageGrain);
}

}  // namespace sunder::fem
