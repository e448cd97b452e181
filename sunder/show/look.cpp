#include "sunder/show/look.h"

#include <array>
#include <cmath>

namespace sunder::show {

namespace {

struct Named {
  std::string_view name;
  Look look;
};

Vec3f srgb(int r, int g, int b) {
  return {linearFromSrgb(float(r) / 255), linearFromSrgb(float(g) / 255), linearFromSrgb(float(b) / 255)};
}

const std::array<Named, 17>& catalogue() {
  static const std::array<Named, 17> looks = {{
      {"glass",
       {.colour = {1, 1, 1},
        .roughness = 0,
        .transmission = 1,
        .refraction = 1.52f,
        .absorption = {6, 2, 4}}},
      {"water",
       {.colour = {1, 1, 1},
        .roughness = 0,
        .transmission = 1,
        .refraction = 1.333f,
        .absorption = {1.8f, 0.5f, 0.3f}}},
      {"ice",
       {.colour = {1, 1, 1},
        .roughness = 0.1f,
        .transmission = 1,
        .refraction = 1.31f,
        .absorption = {1.5f, 0.5f, 0.2f}}},
      {"porcelain", {.colour = srgb(240, 236, 228), .roughness = 0.12f, .refraction = 1.5f}},
      {"ceramic", {.colour = srgb(205, 120, 80), .roughness = 0.25f, .refraction = 1.5f}},
      {"terracotta", {.colour = srgb(190, 98, 62), .roughness = 0.8f}},
      {"plaster", {.colour = srgb(236, 232, 224), .roughness = 0.9f}},
      {"concrete", {.colour = srgb(150, 147, 142), .roughness = 0.85f}},
      {"limestone", {.colour = srgb(214, 203, 178), .roughness = 0.8f}},
      {"granite", {.colour = srgb(118, 112, 112), .roughness = 0.4f}},
      {"brick", {.colour = srgb(160, 74, 54), .roughness = 0.9f}},
      {"oak", {.colour = srgb(176, 124, 74), .roughness = 0.55f}},
      {"rubber", {.colour = srgb(44, 44, 48), .roughness = 0.7f}},
      {"plastic", {.colour = srgb(52, 110, 190), .roughness = 0.3f}},
      {"steel", {.colour = srgb(196, 199, 204), .roughness = 0.22f, .metallic = 1}},
      {"aluminium", {.colour = srgb(222, 224, 226), .roughness = 0.3f, .metallic = 1}},
      {"gold", {.colour = srgb(255, 196, 92), .roughness = 0.2f, .metallic = 1}},
  }};
  return looks;
}

}  // namespace

float linearFromSrgb(float value) {
  return value <= 0.04045f ? value / 12.92f : std::pow((value + 0.055f) / 1.055f, 2.4f);
}

float srgbFromLinear(float value) {
  return value <= 0.0031308f ? value * 12.92f : 1.055f * std::pow(value, 1 / 2.4f) - 0.055f;
}

Look lookOf(std::string_view material) {
  for (const Named& n : catalogue())
    if (n.name == material) return n.look;
  return {};
}

Vec3f distinctColour(uint32_t number) {
  const double turn = double(number) * 0.61803398874989484820;
  const auto hue = float((turn - std::floor(turn)) * 6);
  const float value = 0.92f - 0.14f * float(number % 3), saturation = 0.62f - 0.12f * float((number / 3) % 2);
  Vec3f colour;
  for (int k = 0; k < 3; ++k) {
    const float place = std::fmod(hue + float(k == 0 ? 5 : k == 1 ? 3 : 1), 6.0f);
    const float part = std::clamp(std::min(place, 4 - place), 0.0f, 1.0f);
    colour[k] = linearFromSrgb(value - value * saturation * part);
  }
  return colour;
}

}  // namespace sunder::show
