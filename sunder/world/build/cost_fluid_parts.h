// What the estimates for blocks, maps and emitters of liquids have in common. Private to cost_fluid.cpp and
// cost_emitters.cpp.
#pragma once

#include "sunder/world/build/cost_parts.h"

namespace sunder::world {

// Bytes of a particle: state, grid and recording; neighbours with their gradients, which grow where blocks
// overlap.
inline constexpr double kBytesAParticle = 500, kBytesOfNeighbours = 900;
inline constexpr double kPartOfContainer = 0.55;  // of the box of a vessel up to the level: what liquid fills

double particlesAlong(double length, double spacing);
double particlesInBox(const Vec3& extent, double spacing);

std::string lengthText(double value);  // six digits
CostLever radiusLever(double radius, std::function<double(double)> bytesAtRadius);

// The particles of an emitter that are there at the same time.
void addEmitter(const Scene& scene, std::span<const ShapeSize> sizes, const LiquidSpec& liquid, size_t index,
                Cost& cost);

}  // namespace sunder::world
