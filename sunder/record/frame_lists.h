// Lists that belong to a frame, besides its events: what users did on the way to it, and where its crack
// fronts are. docs/file-formats.md has the bytes.
#pragma once

#include "sunder/record/recording.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sunder::record {

enum class FrontState : uint8_t { Growing, Arrested, Left };  // Left: outside the body
const char* name(FrontState state);

// A point of a crack front, in the frame of the body.
struct FrontPoint {
  Vec3f position = Vec3f::Zero();
  Vec3f forward = Vec3f::UnitX();   // in the plane of the crack, away from it
  Vec3f normal = Vec3f::UnitY();    // of the crack; the third vector of the local frame is forward x normal
  Vec3f intensity = Vec3f::Zero();  // stress intensity factors K_I, K_II, K_III, Pa m^1/2
  float release = 0;                // energy release rate, J/m^2
  FrontState state = FrontState::Growing;
  bool operator==(const FrontPoint&) const = default;
};

// One chain of a crack's front.
struct CrackFront {
  uint32_t body = 0;
  uint32_t crack = 0;   // number of the crack among those of the body
  bool closed = false;  // the last point is joined to the first
  std::vector<FrontPoint> points;
  bool operator==(const CrackFront&) const = default;
};

// To bytes and back. Decoders throw Error (Format) for bytes that do not fit: also for sequence numbers that
// do not increase, numbers that are not finite, and bodies from `bodyLimit` on.
std::string encode(std::span<const Input> inputs);
std::vector<Input> decodeInputs(std::string_view payload, const std::string& file);
std::string encode(std::span<const CrackFront> fronts);
std::vector<CrackFront> decodeFronts(std::string_view payload, size_t bodyLimit, const std::string& file);

}  // namespace sunder::record
