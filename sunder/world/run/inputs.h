// Inputs of a run: from a file, and to and from recordings.
//
// A file of inputs is a JSON list; each entry has "time" (s, or text with a unit), the "part" it is for
// ("rigid"), "what" it is ("impulse"), the "body" by its id where it is for one, and "values".
// Comments are allowed, as in scenes.
//
//   [ { "time": "0.5 s", "part": "rigid", "what": "impulse", "body": "ball", "values": [0, 3, 0] } ]
#pragma once

#include "sunder/record/frame_lists.h"
#include "sunder/world/world.h"

#include <filesystem>
#include <string>
#include <vector>

namespace sunder::world {

// In the order of the file. `scene` is what readyScene() made of it: bodies with a cut are their pieces.
// Throws Error (Missing, Format) that names the file and the entry, Error (Limit) for a file that takes more
// memory than there may be. What parts refuse is found where the inputs are given to a world.
std::vector<Input> readInputs(const std::filesystem::path& path, const Scene& scene);

record::Input recorded(const Input& input);
// Throws Error (Format) for data that recorded() did not write.
Input fromRecord(const record::Input& input, const std::string& file);

}  // namespace sunder::world
