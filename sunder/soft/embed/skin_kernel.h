// The inner loops of skin.h: vertices begin to end - 1 of tetrahedra that follow each other. Whole vectors
// are written, over the vertices of the next tetrahedron too, which come later; nothing is written from `end`
// on.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sunder::soft::kernels {

struct SkinRange {
  const uint32_t* first;  // by tetrahedron and one more: its first vertex
  size_t tet;             // that holds vertex `begin`
  size_t begin, end;      // vertices
};

// corners: twelve numbers a tetrahedron, x y z of its four corners in the order of the weights.
void place(const SkinRange& range, const float* const weights[4], const float* corners, float* out);
// cofactors: nine numbers a tetrahedron, the vectors that the three components of a covector multiply.
void normals(const SkinRange& range, const float* const covectors[3], const float* cofactors, float* out);
// maps: 36 numbers a tetrahedron, a matrix by rows for each corner in the order of the weights.
void smoothNormals(const SkinRange& range, const float* const weights[4], const float* const normals[3],
                   const float* maps, float* out);

}  // namespace sunder::soft::kernels
