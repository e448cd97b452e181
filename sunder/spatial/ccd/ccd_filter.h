// The vectorised filter in front of batched continuous collision tests (ccd.h): many queries side by side, a
// few fixed directions and the coplanarity cubic for each. Internal to the room.
//
// Guarantee: what it calls apart is apart, by the same error bounds as ccd_certificates.h; the same bits with
// every vector width (multiplications and additions are not fused). Cost: tens of nanoseconds a query.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sunder::spatial::ccd {

inline constexpr size_t kFilterBlock = 32;  // queries side by side; a multiple of every vector width

// Difference<N> of each query, one row of queries per number. Rows: corner i has x, y, z at the start and x,
// y, z at the end; then side 0 and side 1 likewise.
template <int N>
struct FilterBlock {
  static constexpr int kRows = 6 * N + 12;
  alignas(64) double rows[kRows][kFilterBlock];
};

// apart[q] becomes 1 where query q is proven to stay further apart than `separation`, 0 elsewhere. Unused
// queries of the block must hold finite numbers.
void filterApart(const FilterBlock<3>& block, double separation, uint8_t* apart);
void filterApart(const FilterBlock<4>& block, double separation, uint8_t* apart);

}  // namespace sunder::spatial::ccd
