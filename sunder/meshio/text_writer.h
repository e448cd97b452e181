// Writing text formats: numbers as the shortest decimals that read back to the same bits (std::to_chars),
// gathered in a buffer that goes to the file in large pieces. Used by mesh writers and exporters.
#pragma once

#include "sunder/base/file.h"

#include <charconv>
#include <concepts>
#include <cstring>
#include <memory>
#include <string_view>

namespace sunder::meshio {

class TextWriter {
 public:
  explicit TextWriter(OutputFile& out) : out_(out), buffer_(new char[kCapacity]) {}
  ~TextWriter() = default;
  TextWriter(const TextWriter&) = delete;
  TextWriter& operator=(const TextWriter&) = delete;

  TextWriter& operator<<(char c) {
    room(1);
    buffer_[used_++] = c;
    return *this;
  }
  TextWriter& operator<<(std::string_view text) {
    if (text.size() > kCapacity / 2) {
      flush();
      out_.write(text);
      return *this;
    }
    room(text.size());
    std::memcpy(buffer_.get() + used_, text.data(), text.size());
    used_ += text.size();
    return *this;
  }
  template <class Number>
  requires(std::floating_point<Number> || std::integral<Number>) TextWriter& operator<<(Number value) {
    room(kLongestNumber);
    char* const at = buffer_.get() + used_;
    used_ += static_cast<size_t>(std::to_chars(at, at + kLongestNumber, value).ptr - at);
    return *this;
  }

  // Call it once at the end: what is still buffered does not reach the file otherwise.
  void flush() {
    out_.write(std::string_view(buffer_.get(), used_));
    used_ = 0;
  }

 private:
  static constexpr size_t kCapacity = size_t(1) << 16;
  static constexpr size_t kLongestNumber = 64;

  void room(size_t bytes) {
    if (kCapacity - used_ < bytes) flush();
  }

  OutputFile& out_;
  std::unique_ptr<char[]> buffer_;
  size_t used_ = 0;
};

}  // namespace sunder::meshio
