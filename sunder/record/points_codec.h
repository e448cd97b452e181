// Points of bodies as bytes: particles, and vertices of bodies that deform. Positions are whole multiples of
// a resolution; what is written is the difference to the same point in the frame before (in key frames, and
// for points that are new, to the point before it), as planes of bytes, which zstd packs. Values are half
// floats. About 5 bytes a moving particle after packing, and 2 a value.
#pragma once

#include "sunder/base/bytes.h"
#include "sunder/record/recording.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sunder::record {

struct QuantisedPoints {
  uint32_t body = 0;
  float resolution = 0, radius = 0;
  std::vector<std::array<int32_t, 3>> positions;  // kNotFinite where a coordinate is not finite
  std::vector<PointField> fields;                 // as they come back from half floats
  bool operator==(const QuantisedPoints&) const = default;
};

inline constexpr int32_t kNotFinite = INT32_MIN;

// Throws Error (Usage) for a resolution that is not positive, or a field that does not fit the points, or,
// where there are no positions, the other fields.
QuantisedPoints quantise(const BodyPoints& points);
BodyPoints restore(const QuantisedPoints& points);

// Of a body, or null; `points` by ascending body.
const QuantisedPoints* pointsOf(std::span<const QuantisedPoints> points, uint32_t body);

// `previous`: the same body's in the frame before, or null.
void encodePoints(ByteWriter& out, const QuantisedPoints* previous, const QuantisedPoints& now);
// `known`: by ascending body, of the frame before; the body's entry is replaced or added. Throws Error
// (Format) for what does not fit.
void decodePoints(ByteReader& in, bool key, size_t bodyLimit, std::vector<QuantisedPoints>& known);

// The same for fields of vertices without positions, which never build on another frame.
void encodeVertexFields(ByteWriter& out, const QuantisedPoints& now);
void decodeVertexFields(ByteReader& in, size_t bodyLimit, std::vector<QuantisedPoints>& known);

}  // namespace sunder::record
