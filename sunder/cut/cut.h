// Cutting a polygon mesh with another: fragments, booleans, incisions. The cutter may be a sheet or a solid;
// polygons may be concave; the meshes may touch, share faces or be equal.
//
//   const CutResult halves = cut(body, sheet);                                        // all fragments
//   const CutResult rest = cut(body, tool, {.op = Op::Difference, .triangles = true});
//
// Guarantees. Decisions are exact: the cutter is taken as moved by an infinitely small fixed vector
// (shifted.h), so nothing is degenerate, and results are the limits of results in general position. If the
// mesh is closed, so is every fragment: each directed edge has one opposite. Faces that the cut does not
// touch keep their bits, vertices and order. The bytes of the result do not depend on the number of threads.
// Positions of new vertices are rounded once; faces without area can come out of degenerate input, and
// fragments without volume are dropped.
//
// Throws Error (Geometry), naming faces: what kernel_mesh.h refuses; an open mesh where the operation needs
// closed ones; a mesh that is inside out; meshes that cross themselves where that spoils the sides. Error
// (Limit) where `mostPairs` does not suffice.
//
// Cost: O(n) with n faces of both plus the length of the seam; 0.15 to 0.3 us a triangle, see
// docs/cutting.md. About 100 bytes a triangle of both.
//
// Follows chapter 7 of Chitalu's thesis, with the points of Sifakis, Der and Fedkiw 2007 known by the
// features they lie on. Ours: the exact signs, loops as cycles of a permutation, holes, and fragments that
// are made by pairing half-edges instead of duplicating vertices on the way.
#pragma once

#include "sunder/cut/kernel/types.h"
#include "sunder/geometry/mesh_view.h"

#include <span>
#include <vector>

namespace sunder::cut {

CutResult cut(const geometry::MeshView& mesh, const geometry::MeshView& cutter,
              const CutOptions& options = {});

// Several cutters, one after the other on what the ones before have left: all fragments between them, what is
// above (below) all of them, the mesh less all of them, and so on. Attributes are carried along. Positions
// are rounded after each cutter; fragments are cut on their own, so lids that lie on each other do not meet.
// `above` and `below` are of the last cutter. A cutter's vertices count in the cutter of the faces around.
CutResult cut(const geometry::PolygonSoup& mesh, std::span<const geometry::PolygonSoup> cutters,
              const CutOptions& options = {});

// The fragments as meshes of their own, in order.
std::vector<geometry::PolygonSoup> separate(const CutResult& result);

// The result's triangles; polygons are triangulated.
geometry::TriMesh triangleMesh(const CutResult& result);

}  // namespace sunder::cut
