// How hard the brittle bodies of a scene will be struck, from its numbers: heights that bodies fall, speeds
// that they start with, what lies in their way. An impact is judged as a run judges it, by the nominal stress
// of its force on the smallest cross-section (AdaptiveFracture::hopeless); nothing is built or stepped.
//
// Boxes stand for bodies, so a forecast can be wrong both ways. Only `worst` has a bound behind it: energy
// alone, whoever is in the way. Cost: brittle bodies times all bodies, at most kMostImpactTests.
#pragma once

#include "sunder/world/build/cost_shapes.h"
#include "sunder/world/scene/scene.h"

#include <span>
#include <vector>

namespace sunder::world {

enum class Fate {
  Whole,     // no impact is strong enough to be analysed
  Analysed,  // but nothing breaks
  Broken,
};

struct FateForecast {
  Fate likely = Fate::Whole;
  Fate worst = Fate::Whole;
};

// By body of the scene; meaningless for those that have no `fracture`.
std::vector<FateForecast> forecastFates(const Scene& scene, std::span<const ShapeSize> sizes);

}  // namespace sunder::world
