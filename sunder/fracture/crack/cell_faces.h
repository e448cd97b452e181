// Faces of a cracked mesh as its tetrahedra share them. Not for use outside this room.
#pragma once

#include "sunder/fracture/crack/cracked_mesh.h"
#include "sunder/geometry/tet_mesh.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

namespace sunder::fracture {

// A face of a tetrahedron; `turned` says which way it looks, compared with its sorted vertices.
struct FaceSide {
  uint32_t middle, high;  // of the face's vertices; the lowest is that of the group
  uint32_t tet;
  uint8_t side;
  bool turned;
};

// Calls visit(span<const FaceSide>) for each set of three vertices that is a face of some tetrahedron, with
// all of those, ascending.
template <class Visit>
void eachFaceGroup(const geometry::TetMesh& mesh, const Visit& visit) {
  const size_t vertices = mesh.positions.size();
  std::vector<uint32_t> start(vertices + 1, 0);
  const auto sorted = [&](size_t t, size_t side, std::array<uint32_t, 3>& v) {
    v = geometry::tetFace(mesh.tets[t], side);
    bool turned = false;
    const auto order = [&](size_t i, size_t j) {
      if (v[i] > v[j]) {
        std::swap(v[i], v[j]);
        turned = !turned;
      }
    };
    order(0, 1);
    order(1, 2);
    order(0, 1);
    return turned;
  };
  std::array<uint32_t, 3> v;
  for (size_t t = 0; t < mesh.tets.size(); ++t)
    for (size_t side = 0; side < 4; ++side) {
      sorted(t, side, v);
      ++start[v[0] + 1];
    }
  for (size_t i = 0; i < vertices; ++i) start[i + 1] += start[i];
  std::vector<FaceSide> sides(4 * mesh.tets.size());
  std::vector<uint32_t> next(start.begin(), start.end() - 1);
  for (uint32_t t = 0; t < mesh.tets.size(); ++t)
    for (uint8_t side = 0; side < 4; ++side) {
      const bool turned = sorted(t, side, v);
      sides[next[v[0]]++] = {v[1], v[2], t, side, turned};
    }
  for (size_t i = 0; i < vertices; ++i) {
    const auto begin = sides.begin() + start[i], end = sides.begin() + start[i + 1];
    std::sort(begin, end, [](const FaceSide& a, const FaceSide& b) {
      return a.middle != b.middle ? a.middle < b.middle : a.high != b.high ? a.high < b.high : a.tet < b.tet;
    });
    for (auto first = begin; first != end;) {
      auto last = first;
      while (last != end && last->middle == first->middle && last->high == first->high) ++last;
      visit(std::span<const FaceSide>(&*first, size_t(last - first)));
      first = last;
    }
  }
}

// Whether cells of two tetrahedra with a common face overlap on it.
class FaceOverlap {
 public:
  FaceOverlap(const CrackedMesh& mesh, std::span<const CutCell> cells) : mesh_(mesh), cells_(cells) {}
  bool operator()(uint32_t a, uint8_t sideA, uint32_t b, uint8_t sideB) const;

 private:
  const CrackedMesh& mesh_;
  std::span<const CutCell> cells_;
};

}  // namespace sunder::fracture
