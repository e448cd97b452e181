#include "sunder/show/solid_texture.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace sunder::show {

namespace {

constexpr uint32_t kCells = 32;

// Words of a kind, the first kind with one of them in the name is taken.
const std::array<std::pair<Solid, std::vector<std::string_view>>, 4>& wordsOfKinds() {
  static const std::array<std::pair<Solid, std::vector<std::string_view>>, 4> kWords{
      {{Solid::Wood, {"wood", "oak", "pine", "beech", "birch", "spruce", "walnut", "timber", "log"}},
       {Solid::Marble, {"marble"}},
       {Solid::Flesh, {"flesh", "meat", "muscle", "skin", "tissue"}},
       {Solid::Grain, {"stone", "granite", "concrete", "rock", "clay", "brick", "cake", "bread"}}}};
  return kWords;
}

const std::vector<uint8_t>& noiseCells() {
  static const std::vector<uint8_t> kValues = [] {
    std::vector<uint8_t> values(size_t(kCells) * kCells * kCells);
    uint32_t state = 0x9e3779b9;
    for (uint8_t& value : values) {
      state = (state ^ state >> 15) * 0x2c1b3c6du;
      state += 0x6d2b79f5u;
      const uint32_t mixed = (state ^ state >> 12) * 0x297a2d39u;
      value = uint8_t((mixed ^ mixed >> 15) & 255);
    }
    return values;
  }();
  return kValues;
}

float smooth(float from, float to, float value) {
  const float t = std::clamp((value - from) / (to - from), 0.0f, 1.0f);
  return t * t * (3 - 2 * t);
}

// Four octaves, 0 to 1.
float sum(Vec3f place) {
  float all = 0, part = 0.5f;
  for (int k = 0; k < 4; ++k, part *= 0.5f, place *= 2.03f) all += part * solidNoise(place);
  return all / 0.9375f;
}

float scaledNoise(const Vec3f& p, float x, float y, float z) {
  return solidNoise(Vec3f(p.x() * x, p.y() * y, p.z() * z));
}

}  // namespace

Solid solidOf(std::string_view material) {
  std::string name(material);
  for (char& c : name) c = char(std::tolower(static_cast<unsigned char>(c)));
  for (const auto& [kind, words] : wordsOfKinds())
    for (const std::string_view word : words)
      if (name.find(word) != std::string::npos) return kind;
  return Solid::Plain;
}

float solidNoise(const Vec3f& place) {
  const std::vector<uint8_t>& cells = noiseCells();
  std::array<uint32_t, 3> first{};
  Vec3f part;
  for (int k = 0; k < 3; ++k) {
    const float at = place[k] * float(kCells) - 0.5f, below = std::floor(at);
    part[k] = at - below;
    first[size_t(k)] = uint32_t(int64_t(below) & int64_t(kCells - 1));
  }
  float all = 0;
  for (uint32_t corner = 0; corner < 8; ++corner) {
    float weight = 1;
    std::array<uint32_t, 3> at{};
    for (size_t k = 0; k < 3; ++k) {
      const uint32_t upper = corner >> k & 1u;
      at[k] = (first[k] + upper) & (kCells - 1);
      weight *= upper ? part[int(k)] : 1 - part[int(k)];
    }
    all += weight * float(cells[(size_t(at[2]) * kCells + at[1]) * kCells + at[0]]);
  }
  return all / 255;
}

Vec3f SolidTexture::colour(const Vec3f& base, const Vec3f& rest, bool within) const {
  const Vec3f p = (rest - middle) * scale;
  switch (kind) {
    case Solid::Plain:
      break;
    case Solid::Grain:
      return base * (0.7f + 0.6f * sum(p * 1.7f));
    case Solid::Wood: {
      const float bend = 0.06f * (sum(Vec3f(0.3f * p.x(), 0.12f * p.y(), 0.3f * p.z())) - 0.5f);
      const float along = 9 * std::hypot(p.x() + 0.13f, p.z() + 0.07f) + 22 * bend;
      const float ring = along - std::floor(along);
      const float late = smooth(0.35f, 0.9f, ring) * (1 - smooth(0.94f, 1, ring));
      return base * ((1.12f - 0.5f * late) * (0.9f + 0.2f * scaledNoise(p, 2.6f, 0.15f, 2.6f)));
    }
    case Solid::Marble: {
      const float vein = std::abs(std::sin(7 * p.dot(Vec3f(0.6f, 0.7f, 0.4f)) + 7 * sum(p * 0.25f)));
      const float light = smooth(0, 0.5f, vein);
      const Vec3f dark = base.cwiseProduct(Vec3f(0.42f, 0.44f, 0.48f));
      return (dark + light * (base - dark)) * (0.95f + 0.1f * sum(p));
    }
    case Solid::Flesh: {
      if (!within) break;
      const float layer = (depths ? depths->share(rest) : 0) + 0.03f * (sum(p * 0.5f) - 0.5f);
      const Vec3f fat(0.86f, 0.68f, 0.42f);
      const Vec3f muscle = Vec3f(0.5f, 0.06f, 0.05f) * (0.7f + 0.6f * scaledNoise(p, 0.25f, 2.2f, 2.2f));
      const Vec3f inner = fat + smooth(0.16f, 0.2f, layer) * (muscle - fat);
      return base + smooth(0.03f, 0.05f, layer) * (inner - base);
    }
  }
  return base;
}

}  // namespace sunder::show
