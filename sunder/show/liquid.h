// Liquids of recordings as surfaces: what pictures and exports show instead of particles.
#pragma once

#include "sunder/fluid/surface/surface.h"
#include "sunder/record/recording.h"

namespace sunder::show {

// Whether the points of a body are particles of a liquid.
bool isLiquid(const record::BodyEntry& body, const record::BodyPoints& points);

// In the frame of the body, with the velocities of its particles where they were recorded. The radius of the
// settings is that of the particles. Particles that are not finite are left out, as a run that diverged has
// them. Throws as liquidSurface() does.
fluid::LiquidSurface surfaceOf(const record::BodyPoints& points, fluid::SurfaceSettings settings = {});

}  // namespace sunder::show
