// A solid of tetrahedra with cracks in it: the virtual node method with exact pieces (specification 07, M9,
// M11, M12).
//
// A crack cuts tetrahedra in two copies, each with all four vertices; what is really there of a copy is its
// cell (cut_cell.h). Copies share a vertex only where their cells hang together, so the mesh is fit for
// elasticity as it is, and parts that are not connected are bodies of their own. Coordinates are those of the
// body before it broke and never change: all pieces of a body live in one rest space.
//
// Guarantees: cells of all pieces fill the input, whatever cracks cross (volumes add up to rounding); the
// surface of a piece is closed, each edge shared by two triangles, also where a crack ends inside.
// Everything is a function of the input and the list of cracks. Linear in the tetrahedra.
#pragma once

#include "sunder/base/index.h"
#include "sunder/fracture/crack/cut_cell.h"
#include "sunder/geometry/mesh.h"
#include "sunder/geometry/rows.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder::fracture {

struct CrackedMesh {
  geometry::TetMesh mesh;              // positive; vertices of copies may lie outside of what is there
  std::vector<std::vector<Cut>> cuts;  // per tetrahedron, ascending cracks; most have none

  CrackedMesh() = default;
  explicit CrackedMesh(geometry::TetMesh tets);  // without cracks
  size_t size() const { return mesh.tets.size(); }
  std::array<Vec3, 4> corners(size_t tet) const;
};

// Cells of all tetrahedra with cuts; others have none (empty), as theirs is the tetrahedron.
std::vector<CutCell> cellsOf(const CrackedMesh& mesh);
// How much of each tetrahedron is there, 1 for those without cuts.
std::vector<double> fractionsOf(const CrackedMesh& mesh, std::span<const CutCell> cells);

// Faces across which tetrahedra hang together: those on which their cells overlap. A face has up to two
// tetrahedra where no crack ends in it; else more.
struct Link {
  uint32_t a, b;         // tetrahedra
  uint8_t sideA, sideB;  // which of their faces
  bool operator==(const Link&) const = default;
};
std::vector<Link> linksOf(const CrackedMesh& mesh, std::span<const CutCell> cells);

// Which connected part each tetrahedron is in, numbered by first tetrahedron; the count.
std::vector<uint32_t> partsOf(size_t tets, std::span<const Link> links, uint32_t& count);
// How much of each part is there.
std::vector<double> volumesOf(const CrackedMesh& mesh, std::span<const CutCell> cells,
                              std::span<const uint32_t> parts, uint32_t count);
// One part; vertices in their order. `tetSource` receives each tetrahedron's old number.
CrackedMesh partOf(const CrackedMesh& mesh, std::span<const uint32_t> parts, uint32_t part,
                   std::vector<uint32_t>* tetSource = nullptr, std::vector<uint32_t>* vertexSource = nullptr);

// The surface of what is there, outward, closed.
struct CrackedSurface {
  geometry::TriMesh mesh;
  std::vector<uint32_t> crack;  // per triangle: the crack that made it, kNoIndex for the input's surface
  std::vector<uint32_t> tet;    // per triangle: the tetrahedron it belongs to
};
CrackedSurface surfaceOf(const CrackedMesh& mesh, std::span<const CutCell> cells,
                         std::span<const Link> links);

// Where a crack cuts: tetrahedra with the values of its function at their vertices, ascending.
struct Mark {
  uint32_t tet = 0;
  std::array<double, 4> phi{};
};

// Cuts the marked tetrahedra. `crack` must be above all cracks so far; every marked cell must have corners on
// both sides. The copy on the positive side has the number of the original, negative copies follow in the
// order of marks. Each new vertex comes from an old one at the same place: `vertexSource`. Throws Error
// (Usage) for marks that do not fit.
struct Dissection {
  CrackedMesh mesh;
  std::vector<CutCell> cells;  // and what links them: the same as cellsOf and linksOf would find
  std::vector<Link> links;
  std::vector<uint32_t> vertexSource, tetSource;
};
Dissection dissect(CrackedMesh mesh, std::vector<CutCell> cells, std::span<const Link> links, uint32_t crack,
                   std::span<const Mark> marks);

// All parts of a dissected mesh with what is known of them: the same as partOf, cellsOf and linksOf would
// find (links in another order), at the cost of copying. `label`: the part of each tetrahedron.
struct MeshPart {
  CrackedMesh mesh;
  std::vector<CutCell> cells;
  std::vector<Link> links;
  std::vector<uint32_t> tetSource, vertexSource;  // where those of the dissection come from
};
std::vector<MeshPart> splitParts(Dissection dissected, std::span<const uint32_t> label, uint32_t count);

}  // namespace sunder::fracture
