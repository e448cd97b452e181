// Pictures in memory, eight bits a channel, and PNG files of them (libpng). Row 0 is the top row.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace sunder {

using Rgb = std::array<uint8_t, 3>;

struct Image {
  size_t width = 0, height = 0;
  std::vector<Rgb> pixels;  // by rows

  Image() = default;
  Image(size_t w, size_t h, Rgb colour = {255, 255, 255}) : width(w), height(h), pixels(w * h, colour) {}

  Rgb& at(size_t x, size_t y) { return pixels[y * width + x]; }
  const Rgb& at(size_t x, size_t y) const { return pixels[y * width + x]; }
};

// Throws Error (Usage) for an empty picture, Error (Write) when the file cannot be written.
void writePng(const std::filesystem::path& path, const Image& image);

}  // namespace sunder
