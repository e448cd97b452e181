// How a material looks in pictures: a physically based surface (diffuse under a clear coat, metal, or glass).
#pragma once

#include "sunder/base/math.h"
#include "sunder/material/material.h"

namespace sunder::show {

struct Look {
  Vec3f colour{0.75f, 0.75f, 0.75f};  // linear, of light reflected; of a metal's highlight
  float roughness = 0.5f;             // 0 mirror .. 1 chalk
  float metallic = 0;                 // 0 or 1, or a mixture
  float transmission = 0;             // 1: clear glass or water
  float refraction = 1.5f;            // index of refraction
  Vec3f absorption{0, 0, 0};          // 1/m, inside a transmitting body
  bool operator==(const Look&) const = default;
};

inline constexpr double kTintDepth = 0.02;  // m of a transparent material, which its colour is the tint of

// The optical values of a material. The colour is linear; that of a transparent material is what two
// centimetres of it let through.
Look lookOf(const material::Material& material);

// A colour by number that is easily told from its neighbours: hues by the golden angle.
Vec3f distinctColour(uint32_t number);

// Dark blue over green and yellow to red, for values in 0..1.
Vec3f scaleColour(float value);

// Linear light from an sRGB value in 0..1, and back.
float linearFromSrgb(float value);
float srgbFromLinear(float value);

}  // namespace sunder::show
