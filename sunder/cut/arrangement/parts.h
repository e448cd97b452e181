// The parts of one mesh between the seams: faces and regions that hang together across edges without crossing
// the seam, and the side of the other mesh that each is on. The side comes from the seam itself (regions.h);
// parts that no seam touches ask how often the other mesh winds around one of their vertices.
//
// Cost: one pass over the faces, a few nanoseconds each, then O(regions).
#pragma once

#include "sunder/cut/arrangement/regions.h"

namespace sunder::cut {

struct Parts {
  static constexpr uint32_t kTouched = 0x80000000u;

  std::vector<uint32_t> component;  // per face: an untouched component, or kTouched + index in Regions::faces
  uint32_t components = 0;
  std::vector<uint32_t> firstFace;    // per component
  std::vector<uint32_t> ofComponent;  // the part of each component
  std::vector<uint32_t> ofRegion;     // the part of each region
  uint32_t count = 0;
  std::vector<uint8_t> sides;    // per part: SideBits; both where the seam ends inside
  std::vector<uint8_t> met;      // per part: the seam touches it
  std::vector<uint8_t> border;   // per part: it has an edge of the mesh with one face
  std::vector<uint32_t> vertex;  // per part: one of its vertices, of parts that are not met

  bool touched(uint32_t face) const { return (component[face] & kTouched) != 0; }
};

Parts findParts(const KernelMesh& mesh, MeshId id, const Seam& seam, const Regions& regions);

// Gives parts that no seam touches their side of `other`: by winding where it is closed, else by the face
// that is nearest.
void placeUnmetParts(Parts& parts, MeshId id, const KernelMesh& mesh, const KernelMesh& other);

// Per part: six times the volume between its faces and the level plane through a point. Parts that close a
// surface together add up to its volume.
std::vector<double> volumes6(const KernelMesh& mesh, const Seam& seam, const Regions& regions,
                             const Parts& parts, const Vec3& centre);

}  // namespace sunder::cut
