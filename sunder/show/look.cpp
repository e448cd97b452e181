#include "sunder/show/look.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace sunder::show {

float linearFromSrgb(float value) {
  return value <= 0.04045f ? value / 12.92f : std::pow((value + 0.055f) / 1.055f, 2.4f);
}

float srgbFromLinear(float value) {
  return value <= 0.0031308f ? value * 12.92f : 1.055f * std::pow(value, 1 / 2.4f) - 0.055f;
}

Look lookOf(const material::Material& material) {
  Look look;
  look.roughness = float(material.roughness);
  look.metallic = float(material.metallic);
  look.refraction = float(material.refraction);
  if (material.transparency > 0) {
    // A pane that lets 95 % through is clear, not a mixture with paint.
    look.transmission = material.transparency > 0.5 ? 1.0f : float(material.transparency);
    look.colour = Vec3f::Ones();
    for (int k = 0; k < 3; ++k)
      look.absorption[k] = float(-std::log(std::clamp(material.colour[k], 1e-3, 1.0)) / kTintDepth);
  } else {
    look.colour = material.colour.cast<float>();
  }
  return look;
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

Vec3f scaleColour(float value) {
  static const std::array<Vec3f, 5> stops = {Vec3f(0.05f, 0.08f, 0.35f), Vec3f(0.03f, 0.35f, 0.55f),
                                             Vec3f(0.08f, 0.6f, 0.25f), Vec3f(0.85f, 0.7f, 0.08f),
                                             Vec3f(0.75f, 0.08f, 0.04f)};
  const float place = value > 0 ? std::min(value, 1.0f) * 4 : 0;  // what is no number is 0
  const size_t i = std::min(size_t(place), size_t(3));
  return stops[i] + (stops[i + 1] - stops[i]) * (place - float(i));
}

}  // namespace sunder::show
