// Contacts made ready to be solved: cut into units, units coloured greedily in the order of the pairs so that
// no body that moves is twice in a colour, packed four to a block. A colour's blocks may be solved in any
// order and by many threads; colours are solved one after the other. Units that find none of the colours free
// are solved in order at the end.
#pragma once

#include "sunder/base/array/reusable_array.h"
#include "sunder/rigid/solver/contact_block.h"
#include "sunder/rigid/solver/pair_table.h"
#include "sunder/rigid/solver/softness.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder::rigid {

inline constexpr uint32_t kColours = 32;

struct ContactUnit {
  uint32_t pair, first, count;  // contacts of the table
  uint32_t p, q;                // bodies; p moves
  bool flipped;                 // p is the pair's b
};

class ContactGraph {
 public:
  struct Colour {
    uint32_t firstBlock = 0, blocks = 0;
  };

  // Units of all pairs with contacts and a body that moves.
  void build(const BodySet& bodies, const PairTable& table);
  // Fills blocks [begin, end) from the table.
  void fill(const BodySet& bodies, const PairTable& table, const SimulationSettings& settings,
            const Softness& soft, const Softness& softOnStatic, size_t begin, size_t end);
  // After a substep: adds friction of blocks [begin, end) to its sum over the step.
  void addFriction(size_t begin, size_t end);
  // Impulses of blocks [begin, end) back into the table.
  void store(PairTable& table, size_t begin, size_t end) const;

  size_t blockCount() const { return blockCount_; }
  std::span<ContactBlock> blocks(size_t begin, size_t end) { return {blocks_.data() + begin, end - begin}; }
  ContactRow* rows() { return rows_.data(); }
  std::span<const Colour> colours() const { return colours_; }
  const Colour& overflow() const { return overflow_; }  // one unit a block
  std::span<const ContactUnit> units() const { return units_; }

 private:
  std::vector<ContactUnit> units_;
  std::vector<uint8_t> colourOf_;
  std::vector<uint32_t> order_, used_;
  std::vector<Colour> colours_;
  Colour overflow_;
  ReusableArray<ContactBlock> blocks_;
  ReusableArray<ContactRow> rows_;
  // Friction over the substeps, by row. Not in the rows: the kernels do not need it.
  struct Slide {
    float impulse[3][kLanes];
  };
  ReusableArray<Slide> slides_;
  size_t blockCount_ = 0, rowCount_ = 0;
};

}  // namespace sunder::rigid
