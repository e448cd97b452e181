// Walls as textures: squares that hold two faces each, one on either side of the diagonal (Clack 2012,
// "Displaying high-resolution surfaces in coarse tetrahedra").
//
// A face with corners 0, 1, 2 is mapped to u = w1, v = w1 + w2 in the first half and to v = w1, u = w1 + w2
// in the second, where w are the weights of its corners: corner 0 is at (0, 0), corner 1 at (1, 1), corner 2
// at (0, 1) or (1, 0). We deviate in moving the halves apart, so that no texel of one is ever read for the
// other; maskTexel() has the formula.
//
// Coverage: 255 inside and 0 outside at the middle of the texel, to be read without filtering; the gap along
// contours is at most 0.71 texel. Distance: signed distance to the contour in the plane of the face, positive
// inside, 127.5 + 31.875 d with d in texels up to 4, where a texel is the face's longest edge over its
// texels; to be read with linear filtering, solid where above 0.5. Faces that are Empty or Full have no
// texture.
//
// Cost: O(w^2) a face to write, and what the contours cross.
#pragma once

#include "sunder/soft/walls/walls.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace sunder::soft {

enum class MaskKind : uint8_t { Coverage, Distance };

struct WallMasks {
  MaskKind kind = MaskKind::Coverage;
  uint32_t width = 0;            // of a square
  uint32_t texelsOfEdge = 0;     // of an edge of a face
  std::vector<uint32_t> halfOf;  // by face of the walls: 2 * layer + half; kNoIndex: has no texture
  uint32_t layers = 0;
  std::vector<uint8_t> texels;  // by layer, row (v), column (u)

  std::span<const uint8_t> layer(size_t i) const {
    return {texels.data() + i * width * width, size_t(width) * width};
  }
};

// `width` from 16 to 4096. Throws Error (Usage) for other widths and Error (Limit) above 2 GiB of texels.
WallMasks makeMasks(const Walls& walls, const Cage& cage, uint32_t width, MaskKind kind = MaskKind::Coverage);

// Where a point of a face lies in its square, in texels: column, row. Texel (i, j) covers i to i + 1.
Vec2 maskTexel(const WallMasks& masks, uint32_t half, const Vec3& weights);

// The coverage of one face from its contour and from whether its corners are inside, as published: rows are
// filled from left to right, each crossing turns the state over. Contours need no direction. `texels` has
// n * n entries, row by row; those above the diagonal (column > row) are left alone. Returns whether the
// states reached at the corners 1 and 2 are those given; where not, the contour has gaps.
struct ContourSegment {
  Vec3 a, b;  // weights of the corners of the face
};
bool fillMask(std::span<const ContourSegment> contour, std::array<bool, 3> cornerInside, uint32_t n,
              std::span<uint8_t> texels);

// Of a face: what fillMask() takes. A corner that lies on the contour counts as the outline beside it that
// fillMask() comes or goes along.
std::vector<ContourSegment> contourOf(const Walls& walls, const WallFace& face);
std::array<bool, 3> cornersInside(const Walls& walls, const WallFace& face);

}  // namespace sunder::soft
