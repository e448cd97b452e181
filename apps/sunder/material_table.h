// Materials as the verbs print them.
#pragma once

#include "sunder/material/material.h"

#include "command.h"

#include <string>

namespace sunder::cli {

// All values of a material, by names such as "surface_energy"; those that are not known are null.
Json materialJson(const material::Material& material);

// The presets as a table, or all values of one. Throws Error (Usage) with the nearest name.
void describeMaterials(const std::string& name, const Settings& settings);

}  // namespace sunder::cli
