// A surface as it is shown in its cage: vertices that are fixed in tetrahedra, made once and never changed
// however the cage deforms and tears. Vertices and triangles are sorted by tetrahedron.
//
// Two forms. Copies: every triangle whole, once for each tetrahedron that holds a part of it; the parts
// outside its tetrahedron are left to whoever draws (weights below zero: do not show). Clipped: only the
// parts inside, as triangles; right with any way of drawing, for some more triangles.
//
// Guarantees: a point on a face of the cage has the same weights, bit for bit, from both tetrahedra, and
// exactly zero for the corner opposite; placed by skin.h it has the same position from both while they share
// the face. Every vertex has the covector of its normal: a_i = n . (X_i - X_0) for i = 1..3, from which the
// normal in a deformed tetrahedron is a_1 e_2 x e_3 + a_2 e_3 x e_1 + a_3 e_1 x e_2 with e_i = x_i - x_0,
// times the sign of the tetrahedron's volume: parallel to F^-T n (skin.h).
#pragma once

#include "sunder/geometry/mesh.h"
#include "sunder/soft/cage/cage.h"
#include "sunder/soft/embed/surface_copies.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder::soft {

enum class EmbedMode : uint8_t { Copies, Clipped };

// What a surface has beside its shape; arrays are empty or complete.
struct SurfaceAttributes {
  std::vector<Vec2f> uvs = {};       // by corner, three a triangle
  std::vector<uint16_t> slots = {};  // material, by triangle
  double crease = 40;                // degrees: edges sharper than that are shown sharp
};

struct EmbeddedSurface {
  EmbedMode mode = EmbedMode::Clipped;
  // By vertex.
  std::vector<uint32_t> tets;    // ascending
  std::vector<Vec4> weights;     // by corner of the tetrahedron, in the order of the cage
  std::vector<Vec3> rest;        // position at rest
  std::vector<Vec3f> normals;    // at rest, unit; zero where a surface has none
  std::vector<Vec3f> covectors;  // of the normals
  // By triangle.
  std::vector<geometry::Triangle> triangles;
  std::vector<uint32_t> source;  // triangle of the surface
  std::vector<Vec2f> uvs;        // by corner, three a triangle; or empty
  std::vector<uint16_t> slots;   // or empty
  // By tetrahedron, and one more: where its vertices and triangles begin.
  std::vector<uint32_t> vertexStart{0}, triangleStart{0};

  uint32_t tetOf(uint32_t triangle) const { return tets[triangles[triangle][0]]; }
};

// Throws Error (Geometry) as assignSurface() does, and (Usage) for attributes whose length does not fit.
EmbeddedSurface embedSurface(const geometry::TriMesh& surface, const Cage& cage, EmbedMode mode,
                             const SurfaceAttributes& attributes = {});
// The same from copies that are known already.
EmbeddedSurface embedSurface(const geometry::TriMesh& surface, const Cage& cage, const SurfaceCopies& copies,
                             EmbedMode mode, const SurfaceAttributes& attributes = {});

}  // namespace sunder::soft
