#include "sunder/base/hash.h"

#include <algorithm>

#define XXH_STATIC_LINKING_ONLY  // to hold a state by value
#include <xxhash.h>

namespace sunder {

struct Hasher::State {
  XXH3_state_t xxh;
};

uint64_t hash64(std::span<const std::byte> bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

uint64_t hash64(std::string_view text, uint64_t seed) {
  return XXH3_64bits_withSeed(text.data(), text.size(), seed);
}

Hasher::Hasher(uint64_t seed) : state_(std::make_unique<State>()) {
  XXH3_INITSTATE(&state_->xxh);
  XXH3_64bits_reset_withSeed(&state_->xxh, seed);
}

Hasher::~Hasher() = default;
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;

void Hasher::updateBytes(std::span<const std::byte> bytes) {
  if (!bytes.empty()) XXH3_64bits_update(&state_->xxh, bytes.data(), bytes.size());
}

void Hasher::updateScalars(std::span<const std::byte> bytes, size_t scalarSize) {
  if (std::endian::native == std::endian::little || scalarSize == 1) {
    updateBytes(bytes);
    return;
  }
  std::array<std::byte, 8> swapped;
  for (; !bytes.empty(); bytes = bytes.subspan(scalarSize)) {
    std::reverse_copy(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(scalarSize),
                      swapped.begin());
    updateBytes({swapped.data(), scalarSize});
  }
}

uint64_t Hasher::digest() const { return XXH3_64bits_digest(&state_->xxh); }

}  // namespace sunder
