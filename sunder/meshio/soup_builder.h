// Small helpers that the surface readers and writers share: size limits of 32-bit indices, notes, and welding
// of positions that are equal to the last bit. Private to the room.
#pragma once

#include "sunder/base/error.h"
#include "sunder/meshio/mesh_file.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sunder::meshio {

// Error (Limit) when `count` does not fit a 32-bit index with kNoIndex kept free.
void checkIndexable(uint64_t count, std::string_view what, const std::string& file);

// "3 faces", "1 face".
std::string counted(uint64_t count, std::string_view one, std::string_view many);

// The note on faces that have fewer than 3 corners and were left out; nothing when `count` is 0.
void noteDroppedFaces(std::vector<std::string>& notes, uint64_t count);
void noteWelded(std::vector<std::string>& notes, uint64_t corners, uint64_t vertices);

// Drops normals or uvs that are not complete or not finite, with a note.
void dropBrokenAttributes(geometry::PolygonSoup& soup, std::vector<std::string>& notes);

// Positions rounded to float, with a note when that changed any. Error (Limit) when one does not fit.
std::vector<Vec3f> floatPositions(const std::vector<Vec3>& positions, const char* format,
                                  std::vector<std::string>& notes);

inline bool isFinite(const Vec3& v) {
  return std::isfinite(v.x()) && std::isfinite(v.y()) && std::isfinite(v.z());
}

// 64 bits that depend on all three numbers; 0 and -0 give the same.
inline uint64_t hashPosition(const Vec3& p) {
  constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15u;
  uint64_t h = 0;
  for (int i = 0; i < 3; ++i) {
    h = (h ^ std::bit_cast<uint64_t>(p[i] + 0.0)) * kMultiplier;
    h ^= h >> 32;
  }
  return h;
}

// Gives equal positions the same index, in order of first appearance; 0 and -0 are equal. Open addressing
// with linear probing, at most half full. Cost: O(1) per add, 8 bytes a slot besides the positions
// themselves.
class ExactWelder {
 public:
  // Positions are appended to `positions`; those already in it are not looked at.
  explicit ExactWelder(std::vector<Vec3>& positions) : positions_(positions), slots_(kFirstSlots) {}

  uint32_t add(const Vec3& p) {
    const uint64_t h = hashPosition(p);
    const uint32_t tag = static_cast<uint32_t>(h >> 32);
    const size_t mask = slots_.size() - 1;
    size_t at = h & mask;
    while (slots_[at].index != kNoIndex) {
      if (slots_[at].tag == tag && positions_[slots_[at].index] == p) return slots_[at].index;
      at = (at + 1) & mask;
    }
    const uint32_t index = static_cast<uint32_t>(positions_.size());
    positions_.push_back(p);
    slots_[at] = {index, tag};
    if (2 * ++used_ > slots_.size()) grow();
    return index;
  }

 private:
  struct Slot {
    uint32_t index = kNoIndex;
    uint32_t tag = 0;
  };
  static constexpr size_t kFirstSlots = 256;
  void grow();

  std::vector<Vec3>& positions_;
  std::vector<Slot> slots_;
  size_t used_ = 0;
};

}  // namespace sunder::meshio
