#include "sunder/soft/contact/linear_gap.h"

#include <cassert>

namespace sunder::soft {

void LinearGap::add(uint32_t row, double weight) {
  for (uint32_t i = 0; i < count; ++i) {
    if (rows[i] != row) continue;
    weights[i] += weight;
    return;
  }
  assert(count < rows.size());
  rows[count] = row;
  weights[count] = weight;
  ++count;
}

Vec3 LinearGap::softPlace(std::span<const Vec3> x) const {
  Vec3 sum = Vec3::Zero();
  for (uint32_t i = 0; i < count; ++i) sum += weights[i] * x[rows[i]];
  return sum;
}

Vec3 LinearGap::place(std::span<const Vec3> x) const {
  const Vec3 soft = softPlace(x);
  if (body == kNoIndex) return soft;
  return soft - x[body] - x[body + 1].cross(lever);
}

void LinearGap::addGradient(const Vec3& derivative, std::span<Vec3> gradient) const {
  for (uint32_t i = 0; i < count; ++i) gradient[rows[i]] += weights[i] * derivative;
  if (body == kNoIndex) return;
  gradient[body] -= derivative;
  gradient[body + 1] -= lever.cross(derivative);
}

void LinearGap::addCurvature(std::span<const Vec3> directions, std::span<const double> strengths,
                             fem::BlockMatrix& matrix, fem::OuterTerms& outer) const {
  if (body == kNoIndex) {
    std::array<uint32_t, 64> slots{};
    bool fits = true;
    for (uint32_t i = 0; i < count && fits; ++i)
      for (uint32_t j = 0; j < count && fits; ++j) {
        if (rows[i] < rows[j]) continue;
        slots[8 * i + j] = matrix.pattern().slot(rows[i], rows[j]);
        fits = slots[8 * i + j] != kNoIndex;
      }
    if (fits) {
      Mat3 second = Mat3::Zero();
      for (size_t k = 0; k < directions.size(); ++k)
        second += strengths[k] * directions[k] * directions[k].transpose();
      for (uint32_t i = 0; i < count; ++i)
        for (uint32_t j = 0; j < count; ++j)
          if (rows[i] >= rows[j]) matrix.block(slots[8 * i + j]) += weights[i] * weights[j] * second;
      return;
    }
  }
  std::array<uint32_t, 10> at{};
  std::array<Vec3, 10> blocks;
  for (size_t k = 0; k < directions.size(); ++k) {
    const Vec3& d = directions[k];
    uint32_t size = 0;
    for (uint32_t i = 0; i < count; ++i) {
      at[size] = rows[i];
      blocks[size++] = weights[i] * d;
    }
    if (body != kNoIndex) {
      at[size] = body;
      blocks[size++] = -d;
      at[size] = body + 1;
      blocks[size++] = -lever.cross(d);
    }
    outer.add(strengths[k], {at.data(), size}, {blocks.data(), size});
  }
}

}  // namespace sunder::soft
