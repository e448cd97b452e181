// The place of a point of a soft body relative to a point of another one, or of a rigid body, as a linear
// function of the unknowns of a step:
//
//   D(x) = sum w_i x_i - (u + t x lever)
//
// with u and t the two own blocks of a rigid body that takes part, if there is one. Contacts and attachments
// are energies of D, so that all that they do to a gradient or a second derivative is written here once.
#pragma once

#include "sunder/base/index.h"
#include "sunder/fem/block_matrix.h"
#include "sunder/fem/outer_terms.h"

#include <array>
#include <cstdint>
#include <span>

namespace sunder::soft {

struct LinearGap {
  uint32_t count = 0;
  std::array<uint32_t, 8> rows{};
  std::array<double, 8> weights{};
  uint32_t body = kNoIndex;  // first own block of the rigid body
  Vec3 lever = Vec3::Zero();

  // Adds to the weight of a vertex.
  void add(uint32_t row, double weight);
  // sum of w_i x_i, and all of D.
  Vec3 softPlace(std::span<const Vec3> x) const;
  Vec3 place(std::span<const Vec3> x) const;
  // For an energy with that derivative by D.
  void addGradient(const Vec3& derivative, std::span<Vec3> gradient) const;
  // For an energy with the second derivative sum of weights_k d_k d_k^T by D, weights >= 0. Goes to the
  // matrix where its pattern has all blocks, else to the outer terms.
  void addCurvature(std::span<const Vec3> directions, std::span<const double> weights,
                    fem::BlockMatrix& matrix, fem::OuterTerms& outer) const;
};

}  // namespace sunder::soft
