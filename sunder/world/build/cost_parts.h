// The parts of an estimate, one for each kind of thing. Private to cost.cpp.
#pragma once

#include "sunder/world/build/cost.h"
#include "sunder/world/build/cost_shapes.h"

#include <span>

namespace sunder::world {

// Each adds its items and what it knows of steps and recording.
void addShapeCost(const Scene& scene, std::span<const ShapeSize> sizes, Cost& cost);
void addBodyCost(const Scene& scene, std::span<const ShapeSize> sizes, uint64_t memory, Cost& cost);
void addFractureCost(const Scene& scene, std::span<const ShapeSize> sizes, Cost& cost);
void addSoftCost(const Scene& scene, std::span<const ShapeSize> sizes, Cost& cost);
void addFluidCost(const Scene& scene, std::span<const ShapeSize> sizes, Cost& cost);

// The box of a shape at a pose, and of a body of the scene where it starts; infinite for planes.
Box3 startBox(const rigid::Pose& pose, const ShapeSize& size);
Box3 startBox(const BodySpec& body, const ShapeSize& size);

}  // namespace sunder::world
