#include "run_input.h"

#include "sunder/base/error.h"
#include "sunder/record/chunk.h"

#include <array>
#include <charconv>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

namespace sunder::cli {

bool isRun(const std::string& input) {
  std::error_code ignored;
  if (std::filesystem::is_directory(input, ignored))
    return std::filesystem::exists(std::filesystem::path(input) / "run.sunder", ignored);
  if (std::filesystem::path(input).extension() == ".sunder") return true;
  // Only a regular file is looked into: opening a pipe would wait for its writer.
  if (!std::filesystem::is_regular_file(input, ignored)) return false;
  std::array<char, 8> start{};
  std::ifstream file(input, std::ios::binary);
  return file.read(start.data(), start.size()) &&
         std::memcmp(start.data(), record::fileHeader().data(), start.size()) == 0;
}

std::filesystem::path runFileIn(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored) ? path / "run.sunder" : path;
}

std::filesystem::path runPath(const std::string& input) {
  const std::filesystem::path path = runFileIn(input);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    throw Error(ErrorKind::Missing, "there is no run here")
        .inFile(path.string())
        .hint("'sunder run SCENE' makes one");
  return path;
}

std::pair<size_t, size_t> parseFrameRange(const std::string& text, size_t count) {
  size_t first = 0, last = count ? count - 1 : 0;
  const size_t colon = text.find(':');
  const auto number = [&](const char* from, const char* to, size_t& out) {
    return from == to ||
           (std::from_chars(from, to, out).ec == std::errc() && std::from_chars(from, to, out).ptr == to);
  };
  const char* begin = text.data();
  if (colon == std::string::npos || !number(begin, begin + colon, first) ||
      !number(begin + colon + 1, begin + text.size(), last) || first > last)
    throw Error(ErrorKind::Usage, fmt::format("'{}' is not a range of frames", text))
        .hint("write it as 10:99, 10: or :99");
  if (last >= count)
    throw Error(ErrorKind::Usage, fmt::format("there is no frame {}", last))
        .hint(count ? fmt::format("the run has the frames 0 to {}", count - 1) : "the run has no frames");
  return {first, last};
}

}  // namespace sunder::cli
