// Binary data in either byte order: a reader over bytes in memory that never reads past their end, and a
// writer that appends to a string. A read that does not fit throws Error (Format) with the file, the byte
// offset and what was being read:  part.stl:byte 84: the file ends inside triangle count (needs 4 bytes, 2
// left)
//
// Cost: one comparison and one (possibly swapped) copy per value. Arrays are copied in one go when the byte
// order is the machine's own.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace sunder {

class Error;

enum class ByteOrder { Little, Big };

inline constexpr ByteOrder kNativeOrder =
    std::endian::native == std::endian::little ? ByteOrder::Little : ByteOrder::Big;

// Numbers with a fixed meaning in files: integers of 1 to 8 bytes, float and double.
template <class T>
concept BinaryScalar = (std::is_integral_v<T> && !std::is_same_v<T, bool>) || std::is_same_v<T, float> ||
                       std::is_same_v<T, double>;

template <BinaryScalar T>
T swapBytes(T value) {
  std::array<std::byte, sizeof(T)> bytes;
  std::memcpy(bytes.data(), &value, sizeof(T));
  for (size_t i = 0; i < sizeof(T) / 2; ++i) std::swap(bytes[i], bytes[sizeof(T) - 1 - i]);
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

// One number from any place, aligned or not.
template <BinaryScalar T>
T loadValue(const std::byte* at, bool swap) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return swap ? swapBytes(value) : value;
}

// Positions, speeds, impulses, pressures of more than this are not of a simulation; squares of them are still
// finite in double precision.
inline constexpr double kMostInState = 1e30;

class ByteReader {
 public:
  // `fileName` is for messages; `firstOffset` is added to the offsets in them, for a reader over part of a
  // file.
  ByteReader(std::span<const std::byte> bytes, std::string fileName, ByteOrder order = ByteOrder::Little,
             uint64_t firstOffset = 0);

  ByteOrder order() const { return order_; }
  void setOrder(ByteOrder order) { order_ = order; }

  size_t size() const { return bytes_.size(); }
  size_t position() const { return position_; }
  uint64_t fileOffset() const { return firstOffset_ + position_; }
  size_t remaining() const { return bytes_.size() - position_; }
  bool atEnd() const { return position_ == bytes_.size(); }
  const std::string& fileName() const { return fileName_; }

  // One number. `what` names it in the message: "vertex count", "the header".
  template <BinaryScalar T>
  T read(std::string_view what) {
    return loadValue<T>(take(sizeof(T), what), order_ != kNativeOrder);
  }
  uint8_t u8(std::string_view what) { return read<uint8_t>(what); }
  uint16_t u16(std::string_view what) { return read<uint16_t>(what); }
  uint32_t u32(std::string_view what) { return read<uint32_t>(what); }
  uint64_t u64(std::string_view what) { return read<uint64_t>(what); }
  int8_t i8(std::string_view what) { return read<int8_t>(what); }
  int16_t i16(std::string_view what) { return read<int16_t>(what); }
  int32_t i32(std::string_view what) { return read<int32_t>(what); }
  int64_t i64(std::string_view what) { return read<int64_t>(what); }
  float f32(std::string_view what) { return read<float>(what); }
  double f64(std::string_view what) { return read<double>(what); }
  // A number of a saved state: throws unless its magnitude is at most kMostInState.
  float boundedF32(std::string_view what) { return bounded(f32(what), what); }
  double boundedF64(std::string_view what) { return bounded(f64(what), what); }

  template <BinaryScalar T>
  void readArray(std::span<T> out, std::string_view what) {
    const std::byte* from = takeArray(out.size(), sizeof(T), what);
    if (out.empty()) return;
    std::memcpy(out.data(), from, out.size_bytes());
    if (order_ != kNativeOrder && sizeof(T) > 1) {
      for (T& value : out) value = swapBytes(value);
    }
  }

  // A view of the next bytes, not copied.
  std::span<const std::byte> bytes(size_t count, std::string_view what) { return {take(count, what), count}; }
  std::string string(size_t length, std::string_view what);

  void skip(size_t count, std::string_view what) { take(count, what); }
  void seek(size_t position, std::string_view what);  // from the start of the bytes

  // Throws unless `count` items of `itemSize` bytes are still there. Call it before making room for a count
  // that a file claims.
  void need(uint64_t count, size_t itemSize, std::string_view what) const;

  // Error (Format) for the current position, to throw after adding to it, or thrown.
  Error error(std::string message) const;
  [[noreturn]] void fail(std::string message) const;

 private:
  template <class Number>
  Number bounded(Number value, std::string_view what) const {
    if (!(std::abs(value) <= Number(kMostInState))) failBeyond(double(value), what);
    return value;
  }
  [[noreturn]] void failBeyond(double value, std::string_view what) const;
  const std::byte* take(size_t count, std::string_view what) {
    if (count > remaining()) failPastEnd(count, 1, what);
    const std::byte* start = bytes_.data() + position_;
    position_ += count;
    return start;
  }
  const std::byte* takeArray(size_t count, size_t itemSize, std::string_view what);
  [[noreturn]] void failPastEnd(uint64_t count, size_t itemSize, std::string_view what) const;

  std::span<const std::byte> bytes_;
  size_t position_ = 0;
  ByteOrder order_;
  uint64_t firstOffset_;
  std::string fileName_;
};

// Appends to `out`, which the caller owns.
class ByteWriter {
 public:
  explicit ByteWriter(std::string& out, ByteOrder order = ByteOrder::Little) : out_(out), order_(order) {}

  ByteOrder order() const { return order_; }
  size_t size() const { return out_.size(); }

  template <BinaryScalar T>
  void write(T value) {
    if (order_ != kNativeOrder) value = swapBytes(value);
    append(&value, sizeof(T));
  }
  void u8(uint8_t value) { write(value); }
  void u16(uint16_t value) { write(value); }
  void u32(uint32_t value) { write(value); }
  void u64(uint64_t value) { write(value); }
  void i8(int8_t value) { write(value); }
  void i16(int16_t value) { write(value); }
  void i32(int32_t value) { write(value); }
  void i64(int64_t value) { write(value); }
  void f32(float value) { write(value); }
  void f64(double value) { write(value); }

  template <class T>
  requires BinaryScalar<std::remove_const_t<T>>
  void writeArray(std::span<T> values) {
    if (order_ == kNativeOrder || sizeof(T) == 1) {
      append(values.data(), values.size_bytes());
    } else {
      for (T value : values) write(value);
    }
  }
  void bytes(std::span<const std::byte> values) { append(values.data(), values.size()); }
  void string(std::string_view text) { out_.append(text); }
  void zeros(size_t count) { out_.append(count, '\0'); }

  // Overwrites a number written earlier, for sizes that are known only at the end. offset + sizeof(T) <=
  // size().
  template <BinaryScalar T>
  void overwrite(size_t offset, T value) {
    if (order_ != kNativeOrder) value = swapBytes(value);
    std::memcpy(out_.data() + offset, &value, sizeof(T));
  }

 private:
  void append(const void* data, size_t count) {
    if (count) out_.append(static_cast<const char*>(data), count);
  }

  std::string& out_;
  ByteOrder order_;
};

}  // namespace sunder
