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

#include "sunder/geometry/mesh_view.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace sunder::cut {

enum class Op : uint8_t {
  Split,  // all fragments; a sheet that ends inside leaves an incision
  Above,  // the fragments on the side that the cutter's normals point to; outside a closed cutter
  Below,  // those on the other side; inside a closed cutter
  Union,  // from here on both meshes must be closed
  Intersection,
  Difference,
  SymmetricDifference,
};

// Pairs of faces whose boxes overlap, by default; they take some 40 bytes each.
inline constexpr uint64_t kMostCandidates = 250'000'000;

struct CutOptions {
  Op op = Op::Split;
  bool triangles =
      false;  // else polygons: faces of the input that are whole again after the cut are one face
  bool keepEmpty = false;      // also fragments without volume (below 1e-12 of the mesh's box)
  bool checkInput = false;     // refuse meshes that cross themselves, with the pairs of faces; costs a search
  bool resolve = false;        // closed meshes that cross themselves count by winding number (resolve.h)
  bool checkRounding = false;  // look for faces that cross because positions were rounded (rounding.h)
  bool mendRounding = false;   // and move their vertices by some last digits until they do not
  // The budget of work: pairs of faces whose boxes overlap, of the mesh and all cutters together, and of each
  // search for faces of one mesh that cross. More are refused (Error, Limit) with the budget that would do.
  uint64_t mostPairs = kMostCandidates;
};

enum class VertexFrom : uint8_t { Mesh, Cutter, Seam };

struct CutStatistics {
  size_t candidates = 0, seamPoints = 0, seamSegments = 0;  // pairs of faces tested, points, segments
  double prepare = 0, intersect = 0, trace = 0, sort = 0, write = 0;  // seconds
  CutStatistics& operator+=(const CutStatistics& other);
};

struct CutResult {
  // A face with a hole is one ring that runs along a bridge twice.
  geometry::PolygonSoup mesh;
  std::vector<uint32_t> sourceFace;  // per face: the face of the mesh, or of the cutter
  std::vector<uint8_t> fromCutter;   // per face: 1 where that is the cutter's
  std::vector<uint32_t> cutter;      // per face, of several cutters: which one; 0 for faces of the mesh
  std::vector<uint32_t> fragment;    // per face
  uint32_t fragments = 0;
  std::vector<double> volume;         // per fragment, m^3, cavities taken off; 0 where the mesh is open
  std::vector<uint8_t> above, below;  // per fragment: it has faces at the seam on that side of the cutter, or
                                      // is there as a whole; both: the cutter ends in it
  std::vector<VertexFrom> vertexFrom;  // per vertex
  // Per vertex: that of the mesh or the cutter, or the seam point; kNoIndex for the middle of an edge that
  // was split because the two sides of an incision would share it.
  std::vector<uint32_t> sourceVertex;
  std::vector<Vec3> seamPoints;
  std::vector<std::array<uint32_t, 2>> seam;  // segments between seam points
  // With checkRounding or mendRounding: faces of one fragment that cross.
  std::vector<std::array<uint32_t, 2>> crossings;
  CutStatistics statistics;
};

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
