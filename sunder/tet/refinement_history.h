// The history of a refined tetrahedron in one word: its generation and seven bits for every cycle.
// Specification 07, section 2.
//
//   64 bits: generation in bits 0..5, cycle c in bits 6 + 7 c ..; eight cycles, generations to 40.
//   32 bits: generation in bits 0..3, cycle c in bits 4 + 7 c ..; three cycles, generations to 15.
//
// Bits of a cycle, lowest first: A, the first of the four quarters; B, the first of the three pieces; B's
// edge (three bits), which of the six edges of the quarter (kTetEdges) the piece lies at; C, the middle
// piece; D, the inner piece. E adds none: its two pieces have neither C nor D.
#pragma once

#include <cstdint>
#include <optional>

namespace sunder::tet {

struct CycleTags {
  bool quarter = false, piece = false, middle = false, inner = false;
  uint32_t edge = 0;
  bool operator==(const CycleTags&) const = default;
};

inline uint32_t historyGeneration(uint64_t word) { return uint32_t(word & 63); }

inline CycleTags historyTags(uint64_t word, uint32_t cycle) {
  const auto bits = uint32_t(word >> (6 + 7 * cycle) & 127);
  return {(bits & 1) != 0, (bits & 2) != 0, (bits & 32) != 0, (bits & 64) != 0, bits >> 2 & 7};
}

// Nothing for generations above 15.
inline std::optional<uint32_t> shortHistory(uint64_t word) {
  if (historyGeneration(word) > 15) return std::nullopt;
  return uint32_t(word & 15) | uint32_t(word >> 6) << 4;
}
inline uint64_t longHistory(uint32_t word) { return uint64_t(word & 15) | uint64_t(word >> 4) << 6; }

}  // namespace sunder::tet
