#include "sunder/base/bytes.h"

#include "sunder/base/error.h"

#include <utility>

#include <fmt/core.h>

namespace sunder {

ByteReader::ByteReader(std::span<const std::byte> bytes, std::string fileName, ByteOrder order,
                       uint64_t firstOffset)
    : bytes_(bytes), order_(order), firstOffset_(firstOffset), fileName_(std::move(fileName)) {}

std::string ByteReader::string(size_t length, std::string_view what) {
  const std::byte* start = take(length, what);
  return length ? std::string(reinterpret_cast<const char*>(start), length) : std::string();
}

void ByteReader::seek(size_t position, std::string_view what) {
  if (position > bytes_.size()) {
    fail(fmt::format("{} would be at byte {}, but the file has only {} bytes", what, firstOffset_ + position,
                     firstOffset_ + bytes_.size()));
  }
  position_ = position;
}

void ByteReader::need(uint64_t count, size_t itemSize, std::string_view what) const {
  if (itemSize != 0 && count > remaining() / itemSize) failPastEnd(count, itemSize, what);
}

const std::byte* ByteReader::takeArray(size_t count, size_t itemSize, std::string_view what) {
  need(count, itemSize, what);
  return take(count * itemSize, what);
}

Error ByteReader::error(std::string message) const {
  return Error(ErrorKind::Format, std::move(message)).inFile(fileName_).atByte(fileOffset());
}

void ByteReader::fail(std::string message) const { throw error(std::move(message)); }

void ByteReader::failBeyond(double value, std::string_view what) const {
  fail(fmt::format("{} is {}", what, value));
}

void ByteReader::failPastEnd(uint64_t count, size_t itemSize, std::string_view what) const {
  const std::string needed =
      itemSize == 1 ? fmt::format("{} bytes", count) : fmt::format("{} x {} bytes", count, itemSize);
  fail(fmt::format("the file ends inside {} (needs {}, {} left)", what, needed, remaining()));
}

}  // namespace sunder
