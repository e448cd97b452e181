// Well-spread random numbers for one pixel: the first two dimensions of Sobol's sequence, shuffled and
// scrambled anew for every pair of numbers asked for (Burley 2020: Practical hash-based Owen scrambling).
// Neighbouring samples of a pixel fill each square evenly, so pictures need fewer of them.
#pragma once

#include "sunder/base/math.h"

#include <algorithm>
#include <cstdint>

namespace sunder::show {

class Sampler {
 public:
  // `index`: which sample of the pixel, from 0.
  Sampler(uint64_t seed, uint32_t pixel, uint32_t index)
      : seed_(mix(uint32_t(seed) ^ mix(uint32_t(seed >> 32) ^ mix(pixel)))), index_(index) {}

  Vec2f next2() {
    const uint32_t seed = mix(seed_ + 0x9e3779b9u * ++asked_);
    const uint32_t i = scramble(index_, seed);
    return {toUnit(scramble(reverse(i), mix(seed ^ 0x68bc21ebu))),
            toUnit(scramble(second(i), mix(seed ^ 0x02e5be93u)))};
  }
  float next() { return next2().x(); }

 private:
  static uint32_t mix(uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
  }
  static uint32_t reverse(uint32_t x) {
    x = (x >> 16) | (x << 16);
    x = ((x & 0xff00ff00u) >> 8) | ((x & 0x00ff00ffu) << 8);
    x = ((x & 0xf0f0f0f0u) >> 4) | ((x & 0x0f0f0f0fu) << 4);
    x = ((x & 0xccccccccu) >> 2) | ((x & 0x33333333u) << 2);
    return ((x & 0xaaaaaaaau) >> 1) | ((x & 0x55555555u) << 1);
  }
  // Each bit is flipped by a hash of the bits above it.
  static uint32_t scramble(uint32_t x, uint32_t seed) {
    x = reverse(x) + seed;
    x ^= x * 0x6c50b47cu;
    x ^= x * 0xb82f1e52u;
    x ^= x * 0xc7afe638u;
    x ^= x * 0x8d22f6e6u;
    return reverse(x);
  }
  // Sobol's second dimension: Pascal's triangle modulo 2.
  static uint32_t second(uint32_t i) {
    uint32_t x = 0;
    for (uint32_t v = 1u << 31; i; i >>= 1, v ^= v >> 1)
      if (i & 1) x ^= v;
    return x;
  }
  static float toUnit(uint32_t x) { return std::min(float(x) * 0x1p-32f, 0x1.fffffep-1f); }

  uint32_t seed_, index_, asked_ = 0;
};

}  // namespace sunder::show
