// A tetrahedron divided into convex cells by the triangles of sheets. Each triangle divides the cells that it
// reaches: first along its walls, so that nothing is divided beyond its edges, then along its plane; the
// facets between cells that are on a triangle then lie in it as a whole, and are marked with it. Cells that
// have an unmarked facet in common belong to one fragment (sheets_cutter.h).
//
// Facets and edges are shared and conforming: a point on an edge is a corner of all facets there. All
// decisions are signs of plane_points.h, so triangles may cross, touch, lie on each other or end anywhere.
//
// Cost: O(cells) a triangle, about 0.3 us for each cell that is divided; memory is kept. Used by
// sheets_cutter.h.
#pragma once

#include "sunder/cut/tet/plane_points.h"

#include <array>
#include <span>
#include <vector>

namespace sunder::cut {

// On the line of two planes, from one point to the other.
struct CellEdge {
  std::array<uint32_t, 2> points;
  std::array<uint32_t, 2> planes;
  uint32_t child = kNoIndex;  // the first of the two that it was divided into
};

// A convex polygon between two cells, or between a cell and the outside. Half-edges are 2 * edge, plus 1 for
// the way back; they run counter-clockwise seen from outside the first cell.
struct CellFacet {
  uint32_t plane = 0;
  std::array<uint32_t, 2> cells{kNoIndex, kNoIndex};
  std::vector<uint32_t> ring;
  std::vector<uint32_t> cover;  // triangles that it lies in, ascending where they were inserted so
};

struct Cell {
  std::vector<uint32_t> facets;
  uint32_t origin = 0;  // the cell that it was at the last mark()
};

class TetCells {
 public:
  TetCells() = default;
  TetCells(const TetCells&) = delete;

  // One cell. `faces` are all triangles that may be inserted.
  void reset(const std::array<Vec3, 4>& tet, const CutSheets& sheets, std::span<const uint32_t> faces);
  // False where the triangle does not reach the tetrahedron.
  bool insert(uint32_t face);
  void mark();  // cells know from here on which one of now they are part of

  PlanePoints& points() { return points_; }
  uint32_t cells() const { return cellCount_; }
  uint32_t facets() const { return facetCount_; }
  uint32_t edges() const { return static_cast<uint32_t>(edges_.size()); }
  const Cell& cell(uint32_t c) const { return cells_[c]; }
  const CellFacet& facet(uint32_t f) const { return facets_[f]; }
  const CellEdge& edge(uint32_t e) const { return edges_[e]; }
  uint32_t from(uint32_t h) const { return edges_[h >> 1].points[h & 1]; }
  uint32_t to(uint32_t h) const { return edges_[h >> 1].points[(h & 1) ^ 1]; }
  // The plane of an inserted triangle, and its walls.
  struct Inserted {
    uint32_t face, plane;
    std::array<uint32_t, 3> walls;
    std::array<int, 3> inside;
  };
  const Inserted& inserted(uint32_t face) const;
  // Is a cell above the plane? It must be on one side.
  bool isAbove(uint32_t cell, uint32_t plane);

 private:
  enum class Part : uint8_t { Outside, Whole, Divided };

  uint32_t newCell();
  uint32_t newFacet();
  Part partInside(uint32_t cell, uint32_t plane, int inside);
  bool meetsPlane(uint32_t cell, uint32_t plane, bool& divided);
  bool reaches(uint32_t cell, const Inserted& t);
  bool isOn(const CellFacet& f, uint32_t plane);
  void split(uint32_t plane, std::span<const uint32_t> cells);
  void splitEdge(uint32_t e, uint32_t plane);
  void renewRings();
  void splitFacet(uint32_t f, uint32_t plane);
  void splitCell(uint32_t c, uint32_t plane);

  PlanePoints points_;
  std::vector<CellEdge> edges_;
  std::vector<CellFacet> facets_;  // the first facetCount_
  std::vector<Cell> cells_;        // the first cellCount_
  uint32_t facetCount_ = 0, cellCount_ = 0;
  std::vector<Inserted> inserted_;
  std::vector<uint32_t> near_, kept_, divided_, ring_, chain_;
};

}  // namespace sunder::cut
