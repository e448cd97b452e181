// Pieces of payloads that several codecs share: texts, vectors, cells. Not for use outside this room.
#pragma once

#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/base/math.h"
#include "sunder/record/tables.h"

#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

namespace sunder::record {

// What a list of triangles has, as bits.
inline constexpr uint8_t kHasUvs = 1, kHasSlots = 2, kHasInterior = 4;

inline ByteReader readerOf(std::string_view payload, const std::string& file) {
  return ByteReader(std::as_bytes(std::span(payload.data(), payload.size())), file);
}

inline void putText(ByteWriter& out, std::string_view text) {
  out.u32(static_cast<uint32_t>(text.size()));
  out.string(text);
}

inline std::string getText(ByteReader& in, std::string_view what) {
  const uint32_t length = in.u32(what);
  return in.string(length, what);
}

// All names are in memory at once, so they are not as long as a packed chunk might make them.
inline void putName(ByteWriter& out, std::string_view name) {
  if (name.size() > kLongestName)
    throw Error(ErrorKind::Limit, fmt::format("a name of {} bytes is too long for a run file, which takes {}",
                                              name.size(), kLongestName));
  putText(out, name);
}

inline std::string getName(ByteReader& in, std::string_view what) {
  const uint32_t length = in.u32(what);
  if (length > kLongestName) in.fail(fmt::format("the {} is too long", what));
  return in.string(length, what);
}

inline void putVector(ByteWriter& out, const Vec3f& v) {
  for (int k = 0; k < 3; ++k) out.f32(v[k]);
}

inline Vec3f getVector(ByteReader& in, std::string_view what) {
  Vec3f v;
  for (int k = 0; k < 3; ++k) v[k] = in.f32(what);
  return v;
}

inline float getFinite(ByteReader& in, std::string_view what) {
  const float value = in.f32(what);
  if (!std::isfinite(value)) in.fail(fmt::format("the {} is not finite", what));
  return value;
}

inline Vec3f getFiniteVector(ByteReader& in, std::string_view what) {
  Vec3f v;
  for (int k = 0; k < 3; ++k) v[k] = getFinite(in, what);
  return v;
}

inline void getUvs(ByteReader& in, std::vector<Vec2f>& uvs, size_t triangles) {
  in.need(triangles, 24, "texture coordinates");
  uvs.resize(3 * triangles);
  for (Vec2f& uv : uvs)
    for (int k = 0; k < 2; ++k) uv[k] = getFinite(in, "texture coordinates");
}

template <size_t N>
void putCells(ByteWriter& out, const std::vector<std::array<uint32_t, N>>& cells) {
  for (const auto& cell : cells) out.writeArray(std::span<const uint32_t>(cell));
}

template <size_t N>
void getCells(ByteReader& in, std::vector<std::array<uint32_t, N>>& cells, uint32_t count, size_t vertices,
              std::string_view what) {
  in.need(count, 4 * N, what);
  cells.resize(count);
  for (auto& cell : cells) {
    in.readArray(std::span<uint32_t>(cell), what);
    for (const uint32_t v : cell)
      if (v >= vertices)
        in.fail(fmt::format("{} refer to vertex {}, but there are only {}", what, v, vertices));
  }
}

template <class Enum>
Enum getKind(ByteReader& in, Enum last, std::string_view what) {
  const uint8_t value = in.u8(what);
  if (value > static_cast<uint8_t>(last)) in.fail(fmt::format("{} {} is not known", what, value));
  return static_cast<Enum>(value);
}

}  // namespace sunder::record
