// Random numbers by counter: Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as
// 1, 2, 3, SC 2011). Every (seed, stream, position) has its number, whoever asks and in whatever order, so
// threads need no shared state: give each body, particle or element its own stream.
//
//   RandomStream random(seed, bodyId);
//   const double angle = random.uniform(0, 2 * kPi);
//
// Guarantee: integers and uniform doubles have the same bits on every machine; normal() and unitVector() use
// the machine's log, sin and cos. Cost: about 2.5 ns per 32-bit number, a stream is 40 bytes and free to
// make. A stream has 2^64 numbers, and there are 2^64 streams to each of 2^64 seeds.
#pragma once

#include "sunder/base/box.h"
#include "sunder/base/math.h"

#include <array>
#include <cassert>
#include <cmath>
#include <cstdint>

namespace sunder {

// The function itself: 128 bits of counter and 64 bits of key make 128 random bits.
inline std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t(0xd2511f53u) * counter[0];
    const uint64_t b = uint64_t(0xcd9e8d57u) * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key[0] += 0x9e3779b9u;  // golden ratio
    key[1] += 0xbb67ae85u;  // sqrt(3) - 1
  }
  return counter;
}

class RandomStream {
 public:
  explicit RandomStream(uint64_t seed, uint64_t stream = 0) : seed_(seed), stream_(stream) {}

  // The 32-bit number at any position, without moving.
  uint32_t at(uint64_t position) const { return block(position / 4)[position % 4]; }

  uint64_t position() const { return position_; }  // of the number that nextU32 returns next
  void seek(uint64_t position) {
    position_ = position;
    if (position % 4 != 0) numbers_ = block(position / 4);
  }

  uint32_t nextU32() {
    if (position_ % 4 == 0) numbers_ = block(position_ / 4);
    return numbers_[position_++ % 4];
  }
  uint64_t nextU64() {
    const uint64_t low = nextU32();
    return low | (uint64_t(nextU32()) << 32);
  }

  // In [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>(nextU64() >> 11) * 0x1p-53; }
  // In [low, high); with rounding, high itself is possible where the range is narrow against its ends.
  double uniform(double low, double high) { return low + (high - low) * uniform(); }

  // In [0, n), every value equally likely (Lemire 2019: Fast random integer generation in an interval); n >
  // 0.
  uint32_t below(uint32_t n) {
    assert(n > 0);
    uint64_t product = uint64_t(nextU32()) * n;
    if (static_cast<uint32_t>(product) < n) {
      const uint32_t threshold = (0u - n) % n;
      while (static_cast<uint32_t>(product) < threshold) product = uint64_t(nextU32()) * n;
    }
    return static_cast<uint32_t>(product >> 32);
  }
  uint64_t below64(uint64_t n) {
    assert(n > 0);
    __extension__ using Wide = unsigned __int128;
    Wide product = Wide(nextU64()) * n;
    if (static_cast<uint64_t>(product) < n) {
      const uint64_t threshold = (uint64_t(0) - n) % n;
      while (static_cast<uint64_t>(product) < threshold) product = Wide(nextU64()) * n;
    }
    return static_cast<uint64_t>(product >> 64);
  }

  // Mean 0, deviation 1 (Box and Muller 1958); takes four numbers of the stream each time.
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * kPi * uniform());
  }

  // Uniform on the unit sphere: a uniform height and a uniform angle (Archimedes).
  Vec3 unitVector() {
    const double z = uniform(-1, 1), angle = uniform(0, 2 * kPi);
    const double radius = std::sqrt(1 - z * z);
    return {radius * std::cos(angle), radius * std::sin(angle), z};
  }

  Vec3 pointIn(const Box3& box) {
    Vec3 point;
    for (int k = 0; k < 3; ++k) point[k] = uniform(box.lower[k], box.upper[k]);
    return point;
  }

 private:
  std::array<uint32_t, 4> block(uint64_t index) const {
    return philox4x32({static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32),
                       static_cast<uint32_t>(stream_), static_cast<uint32_t>(stream_ >> 32)},
                      {static_cast<uint32_t>(seed_), static_cast<uint32_t>(seed_ >> 32)});
  }

  uint64_t seed_, stream_;
  uint64_t position_ = 0;
  std::array<uint32_t, 4> numbers_{};
};

}  // namespace sunder
