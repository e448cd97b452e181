// A surface in a cage as the page draws it: buffers that the graphics card gets once and that never change,
// and the corners of the cage's tetrahedra, of which a tear changes some. The shader places the vertices
// (viewer/src/soft_shaders.ts). docs/file-formats.md has the bytes.
#pragma once

#include "sunder/record/body_meshes.h"
#include "sunder/show/solid_depths.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sunder::show {

// Weights, covectors and faces go by the corners of the tetrahedron in their order (CornerOrder). What a
// vertex belongs to, in bits: 0 to 2 the corner opposite to the face of a wall, 4 for none; 3 inside
// of a broken body; 4 and 5 how many tetrahedra hold parts of its triangle, at most 3, 0 where that is not
// known; 6 a wall whose neighbour has a larger number; 7 a tetrahedron whose order of corners (CornerOrder)
// is odd; from 16 on the material slot.
struct SoftVertices {
  std::vector<Vec4f> weights;
  std::vector<Vec3f> covectors;  // of the normal at rest (caged_normals.h)
  std::vector<Vec3f> rest;
  std::vector<uint32_t> tets, flags;
  std::vector<geometry::Triangle> triangles;
};

struct SoftAsset {
  SoftVertices outside;  // the surface, clipped by its tetrahedra
  SoftVertices walls;    // also those that are hidden
  SoftVertices copies;   // the source's triangles whole, once for each tetrahedron; empty: it is not known
  SoftDepths depths;
};

// Corners of each tetrahedron by ascending vertex at rest. The page has them in this order, also after tears:
// sums over them have the same bits from both sides of a face.
using CornerOrder = std::vector<std::array<uint8_t, 4>>;
CornerOrder cornerOrder(std::span<const geometry::Tetrahedron> rest);

// `caged` before any tear. Throws Error (Limit) for a cage of more than 2^28 vertices. Cost: microseconds a
// vertex, and the depths some tens of milliseconds.
SoftAsset softAsset(const record::CagedSurface& caged);
std::string bytesOf(const SoftAsset& asset, const record::MeshEntry& cage);

// The four corners of each tetrahedron, with the bits of its open faces (record::exposedFaces) above bit 28
// of the last: what the page has in a texture.
using TetTexel = std::array<uint32_t, 4>;
std::vector<TetTexel> tetTexels(std::span<const geometry::Tetrahedron> tets, const CornerOrder& order);

// u32 how many tetrahedra differ, then the number and the texel of each.
std::string texelChanges(std::span<const TetTexel> before, std::span<const TetTexel> now);

}  // namespace sunder::show
