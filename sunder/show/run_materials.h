// The materials of a recording, as everything that shows it takes them: its table (record/run_reader.h).
// Recordings of earlier programs have none; there the looks are read from the text of the scene, and here
// only.
#pragma once

#include "sunder/material/material.h"
#include "sunder/record/run_reader.h"
#include "sunder/show/look.h"

#include <optional>
#include <string>
#include <vector>

namespace sunder::show {

// Rows that are lost are left out. Throws Error (Format) for a recording without a table whose scene cannot
// be read.
std::vector<material::Material> materialsOf(const record::RunReader& run);

// How faces of a body look.
struct BodyLooks {
  Look outside;
  // Of faces that breaking or cutting made, where the material names one for them (`inside`). Else these look
  // like the outside, a little darker and rougher.
  std::optional<Look> inside;
};

// A grey look for a material that the table does not have.
BodyLooks looksOf(const std::vector<material::Material>& table, const std::string& material);

}  // namespace sunder::show
