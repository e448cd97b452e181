#include "sunder/fem/sparse_pattern.h"

#include "sunder/base/error.h"

#include <algorithm>
#include <atomic>

#include <fmt/format.h>

namespace sunder::fem {

namespace {
std::atomic<uint64_t> lastStamp{0};
}

void SparsePattern::build(const geometry::TetMesh& mesh) {
  const size_t n = mesh.positions.size(), tets = mesh.tets.size();
  if (tets > (size_t(1) << 28))
    throw Error(ErrorKind::Limit, fmt::format("{} tetrahedra are more than an analysis takes", tets));
  stamp_ = ++lastStamp;

  stars_.offsets.assign(n + 1, 0);
  for (const geometry::Tetrahedron& tet : mesh.tets)
    for (const uint32_t v : tet) ++stars_.offsets[v];
  stars_.items.resize(geometry::countsToOffsets(stars_.offsets));
  cursor_.assign(stars_.offsets.begin(), stars_.offsets.end() - 1);
  for (uint32_t t = 0; t < tets; ++t)
    for (uint32_t k = 0; k < 4; ++k) stars_.items[cursor_[mesh.tets[t][k]]++] = 4 * t + k;

  // Per row: its columns, sorted, then the sources of each in the order of the star. place_ has, per vertex,
  // the place of a column in the row at hand.
  lower_.offsets.assign(1, 0);
  lower_.items.clear();
  sourceStart_.assign(1, 0);
  sources_.resize(10 * tets);
  place_.assign(n, kNoIndex);
  uint32_t written = 0;
  for (uint32_t i = 0; i < n; ++i) {
    const auto first = static_cast<uint32_t>(lower_.items.size());
    for (const uint32_t entry : stars_.row(i))
      for (const uint32_t j : mesh.tets[entry / 4])
        if (j < i && place_[j] == kNoIndex) {
          place_[j] = 0;
          lower_.items.push_back(j);
        }
    std::sort(lower_.items.begin() + first, lower_.items.end());
    lower_.items.push_back(i);
    const auto columns = static_cast<uint32_t>(lower_.items.size()) - first;
    for (uint32_t c = 0; c < columns; ++c) place_[lower_.items[first + c]] = c;
    cursor_.assign(columns + 1, 0);
    for (const uint32_t entry : stars_.row(i))
      for (const uint32_t j : mesh.tets[entry / 4])
        if (j <= i) ++cursor_[place_[j]];
    for (uint32_t c = 0; c < columns; ++c) {
      const uint32_t count = cursor_[c];
      cursor_[c] = written;
      written += count;
      sourceStart_.push_back(written);
    }
    for (const uint32_t entry : stars_.row(i)) {
      const geometry::Tetrahedron& tet = mesh.tets[entry / 4];
      for (uint32_t k = 0; k < 4; ++k)
        if (tet[k] <= i) sources_[cursor_[place_[tet[k]]]++] = {(entry / 4) << 4 | (entry % 4) << 2 | k};
    }
    for (uint32_t c = 0; c < columns; ++c) place_[lower_.items[first + c]] = kNoIndex;
    lower_.offsets.push_back(first + columns);
  }

  full_.offsets.assign(n + 1, 0);
  for (uint32_t i = 0; i < n; ++i)
    for (const uint32_t j : lower_.row(i))
      if (j != i) ++full_.offsets[i], ++full_.offsets[j];
  full_.items.resize(geometry::countsToOffsets(full_.offsets));
  cursor_.assign(full_.offsets.begin(), full_.offsets.end() - 1);
  for (uint32_t i = 0; i < n; ++i)
    for (uint32_t s = lower_.offsets[i]; s + 1 < lower_.offsets[i + 1]; ++s) {
      const uint32_t j = lower_.items[s];
      full_.items[cursor_[i]++] = {j, 2 * s};
      full_.items[cursor_[j]++] = {i, 2 * s + 1};
    }
}

uint32_t SparsePattern::slot(uint32_t row, uint32_t column) const {
  const std::span<const uint32_t> columns = lowerRow(row);
  const auto found = std::lower_bound(columns.begin(), columns.end(), column);
  if (found == columns.end() || *found != column) return kNoIndex;
  return lowerStart(row) + static_cast<uint32_t>(found - columns.begin());
}

}  // namespace sunder::fem
