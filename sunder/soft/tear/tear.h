// Tears of a mesh of tetrahedra along its faces. A vertex that is pulled apart becomes two: the tetrahedra on
// one side of the plane through it keep the old one, those on the other get a new one. Tetrahedra are neither
// cut nor removed, vertices are only added, and what is in the tetrahedra never changes.
//
// Two tetrahedra that shared a face at rest are open there as soon as they disagree in one of its three
// vertices, and apart once they disagree in all three. Tetrahedra that hang together by an edge or a vertex
// only are a hinge; vertices of hinges are split once more, so that pieces part.
//
// Guarantees: numbers of old vertices stay; a tetrahedron keeps its number and its shape at rest; the outcome
// depends on nothing but the arguments.
#pragma once

#include "sunder/geometry/rows.h"
#include "sunder/geometry/topology_change.h"
#include "sunder/soft/cage/cage.h"
#include "sunder/soft/tear/separation.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder {
class ByteReader;
class ByteWriter;
}  // namespace sunder

namespace sunder::soft {

struct TearSettings {
  double strength = 1e5;  // Pa: the stress that separates a vertex
  double force = 0;  // N: above zero, the published criterion instead, which depends on the elements' size
  uint32_t mostSplits = 16;  // vertices in a step, those furthest beyond their strength first
  bool partHinges = true;
};

// A corner of a tetrahedron given to another vertex.
struct TornCorner {
  uint32_t tet = 0;
  uint8_t corner = 0;
  uint32_t vertex = 0;
  bool operator==(const TornCorner&) const = default;
};

// What one call did.
struct TearOutcome {
  uint32_t splits = 0, hinges = 0;  // vertices split: by force, and because only a hinge held them
  uint32_t firstNew = 0;            // vertices from here on are new
  std::vector<uint32_t> sources;  // of each new vertex: the one it was; its position and velocity are copied
  std::vector<TornCorner> corners;  // in order; a corner may change more than once
  std::vector<uint32_t>
      opened;  // faces that opened: 4 * tetrahedron + corner opposite, the smaller of both sides
  bool any() const { return !sources.empty(); }
};

class Torn {
 public:
  Torn() = default;
  // `cage` must outlive it.
  explicit Torn(const Cage& cage);

  std::span<const geometry::Tetrahedron> tets() const { return tets_; }
  size_t vertices() const { return origin_.size(); }
  // Vertex of the cage at rest that this one comes from.
  std::span<const uint32_t> origins() const { return origin_; }

  // Splits a vertex by the plane through `point` with that normal: tetrahedra whose centre lies on the side
  // that the normal points to keep it. Nothing happens where all are on one side. `positions` of all
  // vertices.
  TearOutcome split(uint32_t vertex, const Vec3& normal, std::span<const Vec3> positions,
                    bool partHinges = true);

  // Splits those vertices that are beyond their strength. `positions` are where the vertices are now.
  TearOutcome tear(const TearSettings& settings, std::span<const Separation> separations,
                   std::span<const Vec3> positions);

  // Bit k of tetrahedron t: its face opposite to corner k has nothing behind it, or disagrees with what is
  // there in at least one vertex.
  std::span<const uint8_t> exposed() const { return exposed_; }
  // Which of the three vertices of a face disagree: bits by corner of the tetrahedron. 0 where it has no
  // neighbour.
  uint8_t disagrees(uint32_t tet, int face) const;
  // Area at rest of the faces that are open, a third for each vertex that disagrees, once for both sides.
  double openArea() const { return openArea_; }

  // Pieces: tetrahedra that share faces with three equal vertices. Numbered by their first tetrahedron.
  struct Pieces {
    uint32_t count = 0;
    std::vector<uint32_t> of;  // by tetrahedron
  };
  Pieces pieces() const;

  // The record of a change from a state with `oldVertices` vertices to this one, of a body that stays itself.
  // Faces are the four of each tetrahedron.
  geometry::TopologyChange change(uint64_t body, const TearOutcome& outcome) const;

  void save(ByteWriter& out) const;
  // Throws Error (Format) for what cannot be a state of this cage.
  void load(ByteReader& in);

 private:
  void give(uint32_t tet, int corner, uint32_t vertex, TearOutcome& outcome);
  void splitOff(uint32_t vertex, std::span<const uint32_t> corners, TearOutcome& outcome);
  bool splitByPlane(uint32_t vertex, const Vec3& normal, std::span<const Vec3> positions,
                    TearOutcome& outcome);
  void partHinges(std::vector<uint32_t> vertices, TearOutcome& outcome);
  void expose(std::span<const uint32_t> tets, TearOutcome& outcome);
  void finish(TearOutcome& outcome);
  std::vector<uint32_t> starOf(uint32_t vertex) const;

  const Cage* cage_ = nullptr;
  geometry::Rows stars_;  // at rest: corners 4 t + k of each vertex
  std::vector<geometry::Tetrahedron> tets_;
  std::vector<uint32_t> origin_;
  std::vector<uint8_t> exposed_;
  double openArea_ = 0;
};

}  // namespace sunder::soft
