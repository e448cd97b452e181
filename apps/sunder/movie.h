// Where rendered pictures go: one PNG, numbered PNGs, or a movie through ffmpeg. A movie appears under its
// name only when it is whole. Without ffmpeg the pictures of a movie are written as numbered PNGs beside
// where it would be, with a warning.
#pragma once

#include "sunder/base/image.h"

#include <filesystem>
#include <string>

#include <sys/types.h>

namespace sunder::cli {

class PictureSink {
 public:
  // Throws Error (Usage) for a movie whose name is a folder's, a device's or a pipe's, and Error (Usage or
  // Write) where its folder cannot be written to.
  PictureSink(std::filesystem::path output, size_t width, size_t height, double rate, size_t count);
  ~PictureSink();  // takes away what is not finished
  PictureSink(const PictureSink&) = delete;
  PictureSink& operator=(const PictureSink&) = delete;

  void add(const Image& image);  // throws Error (Write)
  void finish();                 // throws Error (Write)
  std::string result() const;    // the file, or "name-0001.png ... name-0300.png"

 private:
  std::filesystem::path numbered(size_t number) const;
  void checkName() const;
  void makePartial();
  void startEncoder(size_t width, size_t height, double rate);
  [[noreturn]] void encoderFailed();

  std::filesystem::path output_;
  std::filesystem::path partial_;  // of a movie until it is whole
  size_t count_, added_ = 0;
  bool movie_ = false;
  pid_t encoder_ = -1;   // ffmpeg, while it runs
  int pictures_ = -1;    // the pipe to it
  int complaints_ = -1;  // what it writes to standard error
};

}  // namespace sunder::cli
