// The outer products of a step's system: which of them a matrix takes in, and the product with what is left.
// Private to the room. Same bits for any number of threads.
#pragma once

#include "sunder/fem/block_matrix.h"
#include "sunder/fem/outer_terms.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder::fem {

class OuterProducts {
 public:
  OuterTerms& terms() { return terms_; }
  const OuterTerms& terms() const { return terms_; }

  // What terms add between vertices (rows below that of the matrix) goes to the matrix, where its pattern has
  // room for all of a term's. `rows`: of the whole system.
  void absorb(BlockMatrix& matrix, size_t rows);
  // Takes components of vertices out of what is left.
  void hold(std::span<const Vec3> free);

  // Terms that are not all in the matrix; of them, whether what they add between vertices is.
  std::span<const uint32_t> kept() const { return kept_; }
  bool absorbed(uint32_t term) const { return absorbed_[term]; }
  // Some add between vertices what is not in the matrix.
  bool outside() const { return outside_; }
  // result += what the matrix does not hold * x
  void addProduct(std::span<const Vec3> x, std::span<Vec3> result);

 private:
  void gather(size_t rows);

  OuterTerms terms_;
  size_t vertices_ = 0;
  std::vector<uint8_t> absorbed_;
  std::vector<uint32_t> kept_;
  bool outside_ = false;
  // Rows that kept terms touch, ascending, and where: term and number of the block.
  struct Place {
    uint32_t term, block;
  };
  std::vector<uint32_t> touched_, touchedStart_, cursor_;
  std::vector<Place> places_;
  struct Product {
    double vertices = 0, own = 0;  // what blocks of vertices, and of other rows, are multiplied by
  };
  std::vector<Product> products_;
};

}  // namespace sunder::fem
