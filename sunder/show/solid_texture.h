// Solid textures: colour as a function of where a point is at rest. It goes on over all faces of a piece,
// also those that a tear opens, and sticks to the material while it deforms. The page has the same formulas
// with the same noise (viewer/src/solid_textures.ts).
#pragma once

#include "sunder/base/math.h"
#include "sunder/show/solid_depths.h"

#include <memory>
#include <string_view>

namespace sunder::show {

enum class Solid : uint8_t { Plain, Grain, Wood, Marble, Flesh };

// By words in the name of a material: oak, pine and log are wood, granite and concrete grain, ...
Solid solidOf(std::string_view material);

// Value noise that repeats itself after a length of 1 in each direction, linear between 32 cells; 0 to 1.
float solidNoise(const Vec3f& place);

struct SolidTexture {
  Solid kind = Solid::Plain;
  Vec3f middle = Vec3f::Zero();                   // of the body at rest
  float scale = 1;                                // 1 over its longest side
  std::shared_ptr<const SoftDepths> depths = {};  // for layers by depth

  // `within`: on a face that a tear opened. Of flesh only these show layers.
  Vec3f colour(const Vec3f& base, const Vec3f& rest, bool within) const;
};

}  // namespace sunder::show
