// What is doubtful in soft bodies, from numbers and the files of cages; nothing is built.
#pragma once

#include "sunder/world/build/cost_shapes.h"
#include "sunder/world/check/check.h"

#include <span>

namespace sunder::world {

// Errors: cages that cannot be read, have flat tetrahedra, or do not reach around their shape. Warnings:
// cages with inverted tetrahedra and with empty ones; collision spheres that are few for the tetrahedra;
// stiffness whose waves cross very many tetrahedra in a step; strength below the stress of the own weight;
// pins and glue that hold nothing. Bodies of an array are looked at once.
void checkSoftBodies(const Scene& scene, std::span<const ShapeSize> sizes, CheckReport& report);

}  // namespace sunder::world
