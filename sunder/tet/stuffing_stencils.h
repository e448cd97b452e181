// The stencils of isosurface stuffing: what is left of a lattice tetrahedron when its outside is cut away.
// Private to the room; stuffing.h has the story.
//
// Corners 0 and 1 are joined by a long edge, so are 2 and 3; the other four edges are short. A face with two
// corners inside and one outside leaves a quadrilateral, which must be halved the same way from both sides:
// where one of the cut edges is long, the diagonal starts at that edge's cut point; where both are short, at
// the inner corner with an even number of coordinates greater than the outer corner's (the paper's parity
// rule).
#pragma once

#include "sunder/tet/stuffing_lattice.h"

#include <array>

namespace sunder::tet {

// cut(i, j): id of the cut point between inner corner i and outer corner j. even(i, j): of those corners, the
// parity rule. emit(array of four ids): a positive tetrahedron.
template <class Cut, class Even, class Emit>
void cutTetrahedron(const std::array<uint32_t, 4>& ids, const std::array<PointState, 4>& states, Cut&& cut,
                    Even&& even, Emit&& emit) {
  uint32_t in[4], out[4], ins = 0, outs = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    if (states[i] == PointState::Inside) in[ins++] = i;
    if (states[i] == PointState::Outside) out[outs++] = i;
  }
  if (ins == 0) return;
  using Ids = std::array<uint32_t, 4>;
  const auto isLong = [](uint32_t a, uint32_t b) { return (a ^ b) == 1; };

  if (outs == 0) {
    emit(ids);
    return;
  }
  if (ins == 1) {
    Ids t = ids;
    for (uint32_t k = 0; k < outs; ++k) t[out[k]] = cut(in[0], out[k]);
    emit(t);
    return;
  }
  // Does the diagonal of the quadrilateral in face (a, b, n) start at corner a?
  const auto fromFirst = [&](uint32_t a, uint32_t b, uint32_t n) {
    if (isLong(a, n)) return false;
    if (isLong(b, n)) return true;
    return even(a, n);
  };
  // The pyramid over that quadrilateral; `t` has its tip in the fourth place.
  const auto pyramid = [&](const Ids& t, uint32_t a, uint32_t b, uint32_t n) {
    if (!fromFirst(a, b, n)) std::swap(a, b);
    Ids one = t, two = t;
    one[n] = cut(b, n);
    two[b] = cut(b, n);
    two[n] = cut(a, n);
    emit(one);
    emit(two);
  };
  if (ins == 2 && outs == 1) {
    pyramid(ids, in[0], in[1], out[0]);
    return;
  }
  if (ins == 3) {
    const uint32_t n = out[0], far = n ^ 1;
    const uint32_t a = n < 2 ? 2 : 0, b = a + 1;
    Ids one = ids;
    one[n] = cut(far, n);
    emit(one);
    Ids rest = ids;
    rest[far] = cut(far, n);
    pyramid(rest, a, b, n);
    return;
  }
  // Two and two: a wedge. The diagonals of its two inner quadrilaterals start at different corners, by either
  // rule, which decides the one on the surface.
  const uint32_t a = in[0], b = in[1];
  uint32_t first = out[0], second = out[1];
  if (!fromFirst(a, b, first)) std::swap(first, second);
  Ids one = ids, two = ids, three = ids;
  one[first] = cut(b, first);
  one[second] = cut(a, second);
  two[b] = cut(b, first);
  two[first] = cut(a, first);
  two[second] = cut(a, second);
  three[a] = cut(a, second);
  three[first] = cut(b, first);
  three[second] = cut(b, second);
  emit(one);
  emit(two);
  emit(three);
}

}  // namespace sunder::tet
