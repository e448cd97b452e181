// Sums over the neighbours of particles: the inner loops of the fluid, in vector form. Eight neighbours are
// taken at a time; what they add is summed by lane and then from the first lane to the last, so that the bits
// are the same on every target and for any number of threads.
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

// V sum s_ij (v_j - v_i) W, divided by the mean of both densities (XSPH), `density` as of sumDensity with
// what boundaries add. s_ij here and below is the mean of the strengths of both: equal on either side.
void sumSmoothing(const PairSums& pairs, std::span<const float> strength, std::span<const float> density,
                  std::span<Vec4f> difference);

// Viscosity, divided by the mean of both densities as above. Central: V sum s_ij (v_ij . x_ij) / (|x_ij|^2 +
// 0.01 r^2) grad W, a tenth of the Laplacian of the velocity where particles lie in no order, along the lines
// between them. Full: V sum s_ij v_ij (x_ij . grad W) / (|x_ij|^2 + 0.01 r^2), half of the Laplacian, on
// lattices too (Morris et al. 1997).
enum class ViscousForces { Central, Full };
void sumViscosity(const PairSums& pairs, ViscousForces forces, std::span<const float> strength,
                  std::span<const float> density, std::span<Vec4f> sum);

// Surface tension (Akinci, Akinci and Teschner 2013): the velocity that cohesion and curvature give,
// -sum s_ij 2 / (d_i + d_j) [m C(|x_ij|) x_ij / |x_ij| + n_i - n_j], with n = r times the gradient of the
// density and m the mass of a particle. Cohesion C keeps particles half a support apart.
void sumTension(const PairSums& pairs, float mass, std::span<const float> strength,
                std::span<const float> density, std::span<const Vec4f> gradient, std::span<Vec4f> velocity);

}  // namespace sunder::fluid
