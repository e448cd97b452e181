// Signed distances on a lattice, kept in bricks of 16^3 only where they are between two bounds; everywhere
// else the bound itself stands for them. What boundary maps are built from. Private to the room.
//
// Blocks that are beyond a bound are found by their centre and the fact that distances change no faster than
// points move, so the field is asked about the band alone. Cost: one question for each lattice point in the
// band, some 2 % more for the search; 4 bytes each.
#pragma once

#include "sunder/base/math.h"
#include "sunder/sdf/field.h"

#include <array>
#include <cstdint>
#include <vector>

namespace sunder::fluid {

using Index3 = std::array<int, 3>;

struct DistanceLattice {
  Vec3 origin = Vec3::Zero();
  double step = 0;
  Index3 size{};     // points along each axis
  double scale = 1;  // what is stored is the field's value times this, negative to turn it around
  float low = 0, high = 0;

  Vec3 position(int i, int j, int k) const { return origin + step * Vec3(i, j, k); }
};

class DistanceBricks {
 public:
  static constexpr int kEdge = 16;
  static constexpr size_t kPoints = size_t(kEdge) * kEdge * kEdge;
  static constexpr int32_t kAllHigh = -1, kAllLow = -2;

  // Asks in all threads. Throws Error (Numerical) where the field's answer is not a number.
  DistanceBricks(const sdf::Field& field, const DistanceLattice& lattice);

  const DistanceLattice& lattice() const { return lattice_; }
  size_t brickCount() const { return places_.size(); }                // that are kept
  const Index3& place(size_t brick) const { return places_[brick]; }  // in bricks
  size_t queries() const { return queries_; }

  // Number of the brick that holds a lattice point, or which bound stands for all of it.
  int32_t brickOf(int i, int j, int k) const {
    return numbers_[size_t(i / kEdge) +
                    size_t(counts_[0]) * (size_t(j / kEdge) + size_t(counts_[1]) * size_t(k / kEdge))];
  }
  static size_t slot(int i, int j, int k) {
    return size_t(i % kEdge) + size_t(kEdge) * (size_t(j % kEdge) + size_t(kEdge) * size_t(k % kEdge));
  }
  float at(int i, int j, int k) const {
    const int32_t brick = brickOf(i, j, k);
    if (brick < 0) return brick == kAllHigh ? lattice_.high : lattice_.low;
    return values_[size_t(brick) * kPoints + slot(i, j, k)];
  }
  const float* values(size_t brick) const { return values_.data() + brick * kPoints; }

  // A cube of edge^3 points from `first` on, along x first, of numbers that are kept like the distances, by
  // brick and slot. `low` and `high` stand for bricks that are not kept; `high` also beyond the lattice.
  template <class T>
  void copy(const std::vector<T>& numbers, T low, T high, const Index3& first, int edge, T* out) const;
  void copyDistances(const Index3& first, int edge, float* out) const {
    copy(values_, lattice_.low, lattice_.high, first, edge, out);
  }

 private:
  void number(const sdf::Field& field);
  size_t fill(const sdf::Field& field, size_t brick);
  float bounded(double distance) const;

  DistanceLattice lattice_;
  Index3 counts_{};  // bricks along each axis
  std::vector<int32_t> numbers_;
  std::vector<Index3> places_;
  std::vector<float> values_;
  size_t queries_ = 0;
};

}  // namespace sunder::fluid
