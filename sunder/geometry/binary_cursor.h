// Reading binary blocks in memory, in either byte order. loadValue() takes one number from an unaligned
// place; BinaryCursor walks over a block, knows where it is in the file and never reads past its end. Private
// to the room.
#pragma once

#include "sunder/base/error.h"
#include "sunder/geometry/mesh_formats.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace sunder::geometry {

inline constexpr bool kHostIsBigEndian = std::endian::native == std::endian::big;

template <class T>
T loadValue(const std::byte* at, bool swap) {
  std::array<std::byte, sizeof(T)> raw;
  std::memcpy(raw.data(), at, sizeof(T));
  if (swap) std::reverse(raw.begin(), raw.end());
  return std::bit_cast<T>(raw);
}

class BinaryCursor {
 public:
  // `fileOffset` is where `bytes` starts in the file, for messages.
  BinaryCursor(Bytes bytes, uint64_t fileOffset, const std::string& name, bool swap)
      : bytes_(bytes), fileOffset_(fileOffset), name_(&name), swap_(swap) {}

  size_t position() const { return position_; }
  size_t remaining() const { return bytes_.size() - position_; }
  const std::string& fileName() const { return *name_; }
  uint64_t fileOffset() const { return fileOffset_ + position_; }

  template <class T>
  T read(std::string_view what) {
    if (remaining() < sizeof(T)) throw error("the file ends before " + std::string(what));
    const T value = loadValue<T>(bytes_.data() + position_, swap_);
    position_ += sizeof(T);
    return value;
  }
  void skip(size_t count, std::string_view what) {
    if (remaining() < count) throw error("the file ends before " + std::string(what));
    position_ += count;
  }

  Error error(std::string message) const {
    return Error(ErrorKind::Format, std::move(message)).inFile(*name_).atByte(fileOffset());
  }

 private:
  Bytes bytes_;
  uint64_t fileOffset_;
  const std::string* name_;
  size_t position_ = 0;
  bool swap_;
};

}  // namespace sunder::geometry
