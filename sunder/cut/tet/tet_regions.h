// The polygons that bound the fragments of a tetrahedron, from its convex cells: facets on one face of the
// tetrahedron, or on one triangle of a sheet, with no sheet between them are joined, and corners that only
// the way of dividing put there are left out. What remains depends on tetrahedron and triangles alone, which
// is why two tetrahedra agree about their common face. Used by sheets_cutter.h.
#pragma once

#include "sunder/base/disjoint_sets.h"
#include "sunder/cut/tet/sheets_cutter.h"
#include "sunder/cut/tet/tet_cells.h"

namespace sunder::cut {

class TetRegions {
 public:
  // `fragmentOf` each cell. Adds pieces, corners, regions and rims; does not measure.
  void trace(TetCells& cells, std::span<const uint32_t> fragmentOf, SheetsCut& out);

 private:
  // A surface is a face of the tetrahedron, 0 to 3, or 4 and the number of a triangle.
  uint32_t surfaceOf(const CellFacet& f) const;
  void orient(TetCells& cells);
  void findIncidence(const TetCells& cells);
  void findTwins();
  void joinRegions();
  void countEdges(const TetCells& cells);
  void traceLoops(TetCells& cells);
  bool isCorner(TetCells& cells, uint32_t before, uint32_t after) const;
  void emit(TetCells& cells, std::span<const uint32_t> fragmentOf, SheetsCut& out);
  void addPiece(TetCells& cells, std::span<const uint32_t> points, TetPiece piece, SheetsCut& out);
  Vec3 positionOf(TetCells& cells, uint32_t point);
  RimCorner rimCorner(TetCells& cells, uint32_t point);
  std::span<const uint32_t> facesAlong(uint32_t edge) const {
    return {along_.data() + alongStart_[edge], alongStart_[edge + 1] - alongStart_[edge]};
  }
  uint32_t next(uint32_t place) const;

  // Corners of all facets, one facet after another: half-edges as their surface sees them.
  std::vector<uint32_t> facetStart_, halfedge_, facetOf_, twin_;
  std::vector<uint32_t> surface_, above_, below_;  // per facet; above and below: cells at a lid
  std::vector<uint32_t> edgeStart_, places_;       // per edge: corners of facets
  std::vector<uint32_t> alongStart_, along_;       // per edge: triangles that it lies in
  std::vector<std::array<uint32_t, 2>> atPoint_;   // (point, triangle), ascending
  std::vector<uint32_t> order_;                    // facets by surface
  std::vector<uint32_t> loops_, loopStart_, loopsOf_, loopCount_;
  std::vector<uint32_t> degree_, edgeSeen_;
  std::vector<uint32_t> ring_, corners_;
  std::vector<uint8_t> seen_;
  std::vector<Vec3> position_;
  std::vector<uint8_t> placed_;
  DisjointSets regions_;  // of facets
};

}  // namespace sunder::cut
