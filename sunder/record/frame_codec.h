// Frames as bytes. A frame has sections, each with a number and a length, so that a reader steps over those
// it does not know. Poses are written as differences of quantised numbers
// to the body's last ones, sorted into planes of bytes, which zstd then packs well: at most 27 bytes a moving
// body. Bodies whose numbers did not change are left out.
//
// Exact: what decodeFrame gives for a chain of frames does not depend on where in the chain one starts.
#pragma once

#include "sunder/record/points_codec.h"
#include "sunder/record/recording.h"

#include <array>
#include <span>
#include <string>
#include <vector>

namespace sunder::record {

// A body's state in the whole numbers of the file. Positions: bits of the float, ordered; rotation: the three
// smaller components in 20 bits and which is the largest; velocities: half floats.
struct QuantisedState {
  std::array<uint32_t, 3> position{};
  std::array<uint32_t, 3> rotation{};  // 20 bits each; the largest's number in the top bits of the first
  std::array<uint16_t, 6> velocity{};
  bool present = false;
  bool operator==(const QuantisedState&) const = default;
};

QuantisedState quantise(const BodyState& state);
BodyState restore(const QuantisedState& state);

uint16_t halfFromFloat(float value);  // nearest; beyond 65504 the largest
float floatFromHalf(uint16_t bits);

// A frame in the numbers of the file.
struct QuantisedFrame {
  std::vector<QuantisedState> states;
  std::vector<BodyField> fields;
  std::vector<QuantisedPoints> points;  // by ascending body
};

// The bytes that lead from `previous` to `current`; with `key` everything is written and `previous` is not
// used.
std::string encodeFrame(const QuantisedFrame& previous, const QuantisedFrame& current, bool key);

// Applies a frame (to nothing where it is a key frame). Bodies above `bodyLimit` are an error (Format), as is
// anything that does not fit.
void decodeFrame(std::string_view payload, bool key, size_t bodyLimit, QuantisedFrame& frame,
                 const std::string& fileName);

}  // namespace sunder::record
