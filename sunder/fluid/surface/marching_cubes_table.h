// The triangles of a cube by which of its corners are inside, made when the program is compiled: see
// marching_cubes.h for the rule and what it guarantees.
//
// Corner c is at (c & 1, c >> 1 & 1, c >> 2). Edge 4 a + k runs along axis a; bit 0 of k is its place along
// the next axis, bit 1 along the one after.
#pragma once

#include <array>
#include <cstdint>

namespace sunder::fluid {

struct CubeTriangles {
  uint8_t count = 0;
  std::array<std::array<uint8_t, 3>, 5> edges{};
};

namespace marching {

constexpr uint8_t kNone = 255;

constexpr uint8_t edgeBetween(uint32_t a, uint32_t b) {
  const uint32_t along = a ^ b, low = a & b;
  const uint32_t axis = along == 1 ? 0 : along == 2 ? 1 : 2;
  return uint8_t(4 * axis + (low >> (axis + 1) % 3 & 1) + 2 * (low >> (axis + 2) % 3 & 1));
}

// Corners of a face, counter-clockwise from outside.
constexpr std::array<uint32_t, 4> faceCorners(uint32_t face) {
  const uint32_t axis = face / 2, a = 1u << axis, u = 1u << (axis + 1) % 3, v = 1u << (axis + 2) % 3;
  if (face % 2 == 1) return {a, a | u, a | u | v, a | v};
  return {0, v, u | v, u};
}

constexpr bool shareFace(uint8_t a, uint8_t b) {
  for (uint32_t face = 0; face < 6; ++face) {
    const auto corners = faceCorners(face);
    bool hasA = false, hasB = false;
    for (uint32_t k = 0; k < 4; ++k) {
      const uint8_t edge = edgeBetween(corners[k], corners[(k + 1) % 4]);
      hasA = hasA || edge == a;
      hasB = hasB || edge == b;
    }
    if (hasA && hasB) return true;
  }
  return false;
}

constexpr CubeTriangles trianglesOf(uint32_t code) {
  // Where the surface goes on from each edge: through a face from where its corners go inside to where they
  // go outside again.
  std::array<uint8_t, 12> next{};
  next.fill(kNone);
  for (uint32_t face = 0; face < 6; ++face) {
    const auto corners = faceCorners(face);
    const auto inside = [&](uint32_t k) { return (code >> corners[k % 4] & 1) != 0; };
    for (uint32_t k = 0; k < 4; ++k) {
      if (!inside(k) || inside(k + 3)) continue;
      uint32_t end = k;
      while (inside(end + 1)) ++end;
      next[edgeBetween(corners[(k + 3) % 4], corners[k])] =
          edgeBetween(corners[end % 4], corners[(end + 1) % 4]);
    }
  }
  CubeTriangles result;
  for (uint8_t start = 0; start < 12; ++start) {
    std::array<uint8_t, 12> loop{};
    uint32_t length = 0;
    for (uint8_t edge = start; next[edge] != kNone;) {
      loop[length++] = edge;
      const uint8_t following = next[edge];
      next[edge] = kNone;
      edge = following;
    }
    if (length == 0) continue;
    bool found = false;
    for (uint32_t tip = 0; tip < length && !found; ++tip) {
      found = true;
      for (uint32_t k = 2; k + 1 < length; ++k)
        found = found && !shareFace(loop[tip], loop[(tip + k) % length]);
      if (!found) continue;
      for (uint32_t k = 1; k + 1 < length; ++k)
        result.edges.at(result.count++) = {loop[tip], loop[(tip + k) % length], loop[(tip + k + 1) % length]};
    }
    if (!found) throw "no fan";  // not a constant then
  }
  return result;
}

constexpr std::array<CubeTriangles, 256> makeTable() {
  std::array<CubeTriangles, 256> table{};
  for (uint32_t code = 0; code < 256; ++code) table[code] = trianglesOf(code);
  return table;
}

}  // namespace marching

inline constexpr std::array<CubeTriangles, 256> kCubeTriangles = marching::makeTable();

}  // namespace sunder::fluid
