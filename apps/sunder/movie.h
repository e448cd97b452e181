// Where rendered pictures go: one PNG, numbered PNGs, or a movie through ffmpeg. A movie appears under its
// name only when it is whole. Without ffmpeg the pictures of a movie are written as numbered PNGs beside
// where it would be, with a warning.
#pragma once

#include "sunder/base/image.h"

#include <cstdio>
#include <filesystem>
#include <string>

namespace sunder::cli {

class PictureSink {
 public:
  PictureSink(std::filesystem::path output, size_t width, size_t height, double rate, size_t count);
  ~PictureSink();  // takes away what is not finished
  PictureSink(const PictureSink&) = delete;
  PictureSink& operator=(const PictureSink&) = delete;

  void add(const Image& image);  // throws Error (Write)
  void finish();
  std::string result() const;  // the file, or "name-0001.png ... name-0300.png"

 private:
  std::filesystem::path numbered(size_t number) const;

  std::filesystem::path output_, partial_;
  size_t count_, added_ = 0;
  std::FILE* pipe_ = nullptr;
  bool finished_ = false;
};

}  // namespace sunder::cli
