// Drag of the air (FluidPhase::drag, FluidSettings::wind): a particle is a ball of its volume, as much of it
// in the wind as no neighbour shelters (after Gissler, Band, Peer, Ihmsen and Teschner 2017, without the
// flattening of drops), with drag by the square of the speed, implicitly, so that no step reverses it. The
// air takes the momentum.
//
// Cost: a look at the directions of all neighbours; nothing where no liquid has drag.
#pragma once

#include "sunder/base/math.h"
#include "sunder/fluid/state/fluid_neighbours.h"

#include <span>

namespace sunder::fluid {

void applyAirDrag(const FluidModel& model, const FluidNeighbours& neighbours, std::span<const uint8_t> phases,
                  double dt, std::span<Vec4f> motion);

}  // namespace sunder::fluid
