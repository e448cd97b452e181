// Where the pieces of a broken body meet: polygons of its cracks, each with one piece on either side, and the
// surfaces that they make between pieces.
//
// The two sides of a crack may be cut further by other cracks, each in its own way. The polygons of a piece
// are faces of its cells, cut by the cells of the other side, and a corner on the edge of one is a corner of
// every other one that has this edge: a surface between pieces has no gaps. Corners are known by what makes
// them (cut_cell.h), in numbers of the mesh before it ever broke.
//
// Cost: a cell for each pair of cells that meet in a tetrahedron, about a microsecond each.
#pragma once

#include "sunder/fracture/crack/cracked_mesh.h"

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace sunder::fracture {

// A surface between two groups of pieces and its rim: where it ends at the body's surface or at a crack
// beyond which there is neither group.
struct CrackSheet {
  struct RimVertex {
    uint32_t vertex;
    Vec3 outward;             // along the sheet, away from it; unit
    bool atSurface, atCrack;  // where it ends: at the body's surface, at a crack, or both
  };
  geometry::TriMesh mesh;  // normals point out of the first group
  std::vector<RimVertex> rim;
  std::vector<std::array<uint32_t, 2>> rimEdges;  // of `rim`, the way the sheet's triangles run
};

class CrackSheets {
 public:
  // `piece`: that of each tetrahedron. Sources: numbers before the body ever broke.
  CrackSheets(const CrackedMesh& mesh, std::span<const uint32_t> tetSource,
              std::span<const uint32_t> vertexSource, std::span<const uint32_t> piece, uint32_t pieces);

  uint32_t pieces() const { return pieces_; }

  enum class Group : uint8_t { None, First, Second };
  // The surface of the first group towards the second, made of polygons of the first. Rims at the body's
  // surface have `parts` edges for each edge of a polygon.
  CrackSheet between(std::span<const Group> groups, uint32_t parts) const;

  // How many pieces of a group it meets, and on which area.
  struct Contact {
    uint32_t pieces = 0;
    double area = 0;
  };
  Contact contact(uint32_t piece, std::span<const Group> groups) const;
  // The piece, of those in a group, that has the cell nearest to a point by its middle.
  uint32_t nearest(const Vec3& point, std::span<const Group> groups) const;

 private:
  struct Corner {
    uint32_t id;
    uint32_t line;  // of the edge to the next corner, kNoIndex: unknown
    bool atFace;    // that edge lies on a face of the tetrahedron
  };
  struct Polygon {
    uint32_t inner, outer;  // piece that it belongs to, piece beyond
    uint32_t first, count;
  };
  void meet(const CrackedMesh& mesh, const std::array<uint32_t, 4>& vertices, uint32_t source, uint32_t a,
            uint32_t b, std::span<const uint32_t> piece);
  std::vector<std::vector<Corner>> loops(std::span<const Group> groups) const;

  uint32_t pieces_;
  std::vector<Vec3> positions_;
  std::vector<Polygon> polygons_;
  std::vector<Corner> corners_;
  std::map<CornerKey, uint32_t> known_;
  std::map<std::array<uint32_t, 4>, uint32_t> lines_;
  std::vector<std::map<uint32_t, double>> meets_;  // by piece: areas
  std::vector<Vec3> middles_;                      // of cells, with
  std::vector<uint32_t> middlePiece_;
};

}  // namespace sunder::fracture
