// Recordings by the name of the file or of its folder.
#pragma once

#include <filesystem>

namespace sunder::cli {

inline std::filesystem::path runFileIn(const std::filesystem::path& path) {
  return std::filesystem::is_directory(path) ? path / "run.sunder" : path;
}

}  // namespace sunder::cli
