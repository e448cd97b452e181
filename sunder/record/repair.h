// Writes what can be read of a damaged recording as a new one, which is whole: every body, mesh, frame, event
// list and row of statistics whose bytes are sound, with its number. The first frame behind a lost one is
// written as a key frame. Bodies that are lost keep their place, with an empty entry; meshes that are lost
// are empty. What is missing is noted inside (info names it). Checkpoints are kept up to the first damage, so
// the recording can be resumed from there; later ones would continue a recording that is not whole.
//
// A damaged scene is the one thing nothing works without for resuming; frames can be saved without it.
#pragma once

#include "sunder/record/losses.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sunder::record {

struct Repaired {
  std::filesystem::path output;                                  // empty: nothing could be saved
  uint64_t frames = 0, bodies = 0, meshes = 0, checkpoints = 0;  // saved
  uint64_t bytes = 0;
  Losses losses;                     // of the input
  std::vector<std::string> remarks;  // on what follows from them
};

// `output` must not exist: nothing is ever replaced. Throws Error (Usage) where it does, (Write) where it
// cannot be written, and what RunReader throws for a file that is no recording. `limit`: the recording as it
// was when its file had so many bytes (RunReader::resumed()).
Repaired repairRun(const std::filesystem::path& input, const std::filesystem::path& output,
                   std::optional<uint64_t> limit = {});

}  // namespace sunder::record
