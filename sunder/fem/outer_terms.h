// A sum of outer products  w_i g_i g_i^T  whose vectors g_i have a few blocks of three numbers each. What
// contacts, averaged volumes and other terms over a handful of vertices add to the second derivatives of a
// potential where the pattern of the mesh has no room for it; a BlockMatrix with it is a sum that solvers
// multiply with, never one matrix.
#pragma once

#include "sunder/base/math.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder::fem {

struct OuterTerms {
  std::vector<double> weights;      // w_i >= 0
  std::vector<uint32_t> starts{0};  // blocks of term i are starts[i] to starts[i + 1]
  std::vector<uint32_t> rows;       // of each block
  std::vector<Vec3> blocks;

  size_t size() const { return weights.size(); }
  void clear() {
    weights.clear();
    starts.assign(1, 0);
    rows.clear();
    blocks.clear();
  }
  // Adds one more term; its rows must differ from each other.
  void add(double weight, std::span<const uint32_t> termRows, std::span<const Vec3> termBlocks) {
    weights.push_back(weight);
    rows.insert(rows.end(), termRows.begin(), termRows.end());
    blocks.insert(blocks.end(), termBlocks.begin(), termBlocks.end());
    starts.push_back(static_cast<uint32_t>(rows.size()));
  }
};

}  // namespace sunder::fem
