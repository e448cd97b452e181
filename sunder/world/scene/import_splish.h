// Scenes of SPlisHSPlasH: its JSON layout of boxes, blocks, rigid bodies and emitters as a scene of ours.
// What has no counterpart is left out and named; the physics is ours, so results are alike, not equal.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sunder::world {

struct ImportedScene {
  std::string text;                // JSON, mesh files relative to `folder`
  std::vector<std::string> notes;  // what was left out or taken differently
};

// `folder`: where the scene will lie. Throws Error (Format) for a file that is no such scene, with the key,
// and (Unsupported) for scenes of two dimensions.
ImportedScene importSplish(const std::filesystem::path& file, const std::filesystem::path& folder);

}  // namespace sunder::world
