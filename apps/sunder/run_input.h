// Runs as arguments of verbs: run.sunder itself, or the folder that holds it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>

namespace sunder::cli {

// A file that begins as run files do, or a folder with a run.sunder in it.
bool isRun(const std::string& input);

// run.sunder in a folder, or the file itself; it need not be there.
std::filesystem::path runFileIn(const std::filesystem::path& path);

// The run file. Throws Error (Missing) where there is none.
std::filesystem::path runPath(const std::string& input);

// "A:B" with either end left out, both inside 0 .. count - 1. Throws Error (Usage).
std::pair<size_t, size_t> parseFrameRange(const std::string& text, size_t count);

}  // namespace sunder::cli
