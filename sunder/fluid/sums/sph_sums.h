// Sums over the neighbours of particles for densities and pressures: the inner loops of the fluid, in vector
// form; sph_forces.h has those of other forces. Eight neighbours are taken at a time; what they add is summed
// by lane and then from the first lane to the last, so that the bits are the same on every target and for any
// number of threads.
//
// Particles all have the volume V; a sum over volumes stands for an integral. Each particle has two rows of
// four floats: `place` = (x, y, z, -) relative to an origin near the particles, and `motion` = (vx, vy, vz,
// lightness). Lightness is a reference density over the rest density of the particle's fluid: 1 where there
// is one fluid.
//
// Neighbours come in blocks of eight with the gradients of the kernel, which several sums of a step share:
// reading them costs less than computing them anew.
//
// Cost: about 1 ns a pair and sum on one core; 128 bytes a block, that is 16 to 20 a pair.
#pragma once

#include "sunder/base/array/reusable_array.h"
#include "sunder/base/math.h"
#include "sunder/spatial/points/neighbour_rows.h"

#include <span>
#include <vector>

namespace sunder::fluid {

// Lanes beyond the last neighbour hold the particle itself and gradients of zero.
struct alignas(64) PairBlock {
  uint32_t index[8];
  float x[8], y[8], z[8];  // V grad W
};

class PairBlocks {
 public:
  // Places for the blocks of the rows.
  void reserve(const spatial::NeighbourRows& rows);
  std::span<PairBlock> of(size_t particle) {
    return {blocks_.data() + start_[particle], start_[particle + 1] - start_[particle]};
  }
  std::span<const PairBlock> of(size_t particle) const {
    return {blocks_.data() + start_[particle], start_[particle + 1] - start_[particle]};
  }
  size_t bytes() const { return blocks_.bytes() + start_.size() * sizeof(uint64_t); }

 private:
  std::vector<uint64_t> start_;
  ReusableArray<PairBlock> blocks_;
};

struct PairSums {
  std::span<const Vec4f> place, motion;
  float support = 0, volume = 0;
  const PairBlocks* blocks = nullptr;
  // Lengths after which the fluid repeats itself (periodic.h), 0 where it does not: of a neighbour, the image
  // that is nearest counts.
  Vec3f period = Vec3f::Zero();
};

// Density of the fluid relative to rest, the particle itself included, in .w, and its gradient; and the sum
// of lightness_j |V grad W|^2. Makes the blocks that the other sums use.
void sumDensity(const PairSums& pairs, const spatial::NeighbourRows& rows, PairBlocks& blocks,
                std::span<Vec4f> density, std::span<float> squares);

// The density alone, with places that are not those of the blocks: neighbours have moved since.
void sumValues(const PairSums& pairs, std::span<float> density);

// Rate of the density by motion: V sum (v_i - v_j) . grad W.
void sumRate(const PairSums& pairs, std::span<float> rate);

// V sum (k_i + k_j) grad W.
void sumPressure(const PairSums& pairs, std::span<const float> stiffness, std::span<Vec4f> gradient);

}  // namespace sunder::fluid
