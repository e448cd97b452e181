// What a cut is asked for and what it gives: options, result, statistics. The functions that use them are in
// cut.h; everything below it knows only these.
#pragma once

#include "sunder/base/math.h"
#include "sunder/geometry/mesh.h"

#include <array>
#include <cstddef>
#include <cstdint>
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

}  // namespace sunder::cut
