// sunder surface RUN --fluid: the liquids of a run as meshes, one a frame.
#pragma once

#include "sunder/fluid/surface/surface.h"

#include "command.h"

#include <string>

namespace sunder::cli {

struct FluidSurfaceOptions {
  std::string input, output, frames, method = "anisotropic";
  size_t every = 1;
  fluid::SurfaceSettings settings;
  bool ascii = false;
};

int runFluidSurface(const FluidSurfaceOptions& options, const Settings& settings);

}  // namespace sunder::cli
