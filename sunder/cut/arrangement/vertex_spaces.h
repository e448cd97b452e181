// The vertices of a result: those of the mesh, two copies of the cutter's, two copies of the seam's points,
// as far as the chosen parts use them. Which copy a corner gets follows from its side of the seam alone.
#pragma once

#include "sunder/cut/arrangement/emit.h"

#include <array>
#include <span>

namespace sunder::cut {

// The fragment of an untouched face, or kNoIndex for touched ones and those that are left out.
inline uint32_t fragmentOfFace(const Scene& scene, const Use& u, uint32_t f) {
  const Parts& p = *scene.parts[u.mesh];
  return p.touched(f) ? kNoIndex : u.fragment[p.ofComponent[p.component[f]]];
}

class VertexSpaces {
 public:
  explicit VertexSpaces(const Scene& scene) : scene_(scene) {}

  // Numbers the vertices that the uses need, `regions` of each among them, and writes them into the result.
  void number(const std::vector<Use>& uses, std::span<const std::span<const uint32_t>> regions,
              CutResult& result);

  uint32_t vertex(const Use& u, uint32_t v) const { return map_[spaceOfVertex(u, v)][v]; }
  uint32_t corner(const Use& u, const RingCorner& c) const { return map_[spaceOf(u, c)][c.id]; }
  // The vertices of a seam point, kNoIndex where it has none.
  std::array<uint32_t, 2> copiesOf(uint32_t point) const {
    std::array<uint32_t, 2> copies{kNoIndex, kNoIndex};
    if (used_[kPoints][point]) copies[0] = map_[kPoints][point];
    if (used_[kPointCopies][point]) copies[1] = map_[kPointCopies][point];
    return copies;
  }
  // Do the lids of a sheet share vertices, because it ends inside?
  bool lidsMeet() const;

 private:
  enum Space { kMeshVertices, kCutterVertices, kCutterCopies, kPoints, kPointCopies, kSpaces };

  size_t spaceSize(int space) const;
  Space spaceOf(const Use& u, const RingCorner& c) const {
    if (!c.point) return spaceOfVertex(u, c.id);
    if (u.bySide) return (c.sides & kPlus) != 0 ? kPoints : kPointCopies;
    const SeamPoint& x = scene_.seam->points[c.id];
    return u.copy == 0 || (x.border && x.edgeOf == kCutter) ? kPoints : kPointCopies;
  }
  Space spaceOfVertex(const Use& u, uint32_t v) const {
    if (u.mesh == kMesh) return kMeshVertices;
    return u.copy == 0 || onBorder_[v] ? kCutterVertices : kCutterCopies;
  }
  void mark(const Use& use, std::span<const uint32_t> regions);

  const Scene& scene_;
  std::vector<uint8_t> onBorder_;  // per vertex of the cutter
  std::vector<uint8_t> used_[kSpaces];
  std::vector<uint32_t> map_[kSpaces];
};

}  // namespace sunder::cut
