// How good a tetrahedral mesh is, how well it fits the surface it was made from, who is next to whom, and
// reading one from a file with everything wrong with it named by index.
//
// Numbers are sums and extremes in a fixed order: same bits for any number of threads. Cost: O(tets); the
// distances take one closest-point query (spatial/mesh_queries.h) a sample.
#pragma once

#include "sunder/geometry/mesh.h"

#include <array>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace sunder::tet {

inline constexpr size_t kAngleBins = 36;  // of five degrees

struct TetQuality {
  size_t vertices = 0, tets = 0;
  size_t inverted = 0, flat = 0;                   // negative and zero volume, by exact predicates
  double smallestAngle = 180, largestAngle = 0;    // dihedral, degrees; flat tetrahedra are left out
  std::array<uint64_t, kAngleBins> angles{};       // six of each tetrahedron
  double worstRadiusEdge = 0, meanRadiusEdge = 0;  // circumradius by shortest edge; 0.612 is regular
  double shortestEdge = 0, longestEdge = 0;
  double volume = 0, smallestVolume = 0, largestVolume = 0;  // signed
};
TetQuality tetQuality(const geometry::TetMesh& mesh);

// Volume of the tetrahedra beside that of a closed surface.
struct VolumeComparison {
  double tets = 0, surface = 0;
  double relative() const { return surface != 0 ? (tets - surface) / surface : 0; }
};
VolumeComparison compareVolumes(const geometry::TetMesh& mesh, const geometry::TriMesh& surface);

// Distances between two surfaces, sampled no farther apart than `spacing` (0: a two-hundredth of the
// diagonal), corners included: lower bounds of the Hausdorff distance, off by at most the spacing.
struct SurfaceDistance {
  double fromFirst = 0, fromSecond = 0;          // largest distance of a sample to the other surface
  double meanFromFirst = 0, meanFromSecond = 0;  // over samples
  size_t samples = 0;
  double hausdorff() const { return fromFirst > fromSecond ? fromFirst : fromSecond; }
};
SurfaceDistance surfaceDistance(const geometry::TriMesh& first, const geometry::TriMesh& second,
                                double spacing = 0);
// Between the mesh's boundary and a surface.
SurfaceDistance boundaryDistance(const geometry::TetMesh& mesh, const geometry::TriMesh& surface,
                                 double spacing = 0);

struct TetFaceRef {
  uint32_t tet;
  uint8_t side;  // opposite to that vertex
  bool operator==(const TetFaceRef&) const = default;
};

struct TetAdjacency {
  std::vector<std::array<uint32_t, 4>> neighbours;  // across each side; kNoIndex at the boundary
  std::vector<TetFaceRef> boundary;                 // by ascending (tet, side)
  uint32_t components = 0;                          // connected across faces
  std::vector<uint32_t> component;                  // per tetrahedron, numbered by their first
};
TetAdjacency tetAdjacency(const geometry::TetMesh& mesh);

enum class InvertedTets { Turn, Refuse };

// Everything that is wrong or was changed, by index.
struct TetDefects {
  std::vector<uint32_t> inverted;                          // negative volume
  std::vector<uint32_t> flat;                              // zero volume or a repeated vertex
  std::vector<std::array<uint32_t, 2>> duplicateVertices;  // (vertex, the earlier one at the same place)
  std::vector<uint32_t> unusedVertices;
  std::vector<uint32_t> duplicateTets;  // with the vertices of an earlier one
  std::vector<std::pair<geometry::Triangle, std::vector<uint32_t>>> crowdedFaces;  // with more than two

  // In sentences, for people, with the first few numbers of each; empty: nothing found.
  std::vector<std::string> problems() const;
};
TetDefects findDefects(const geometry::TetMesh& mesh);

struct TetFileReport {
  TetDefects defects;  // of the file as it was
  size_t turned = 0;
  std::vector<std::string> notes;  // of the reader
};

// Throws what readMesh throws, Error (Geometry) for a file without tetrahedra, with flat or duplicate ones or
// crowded faces, which nothing here can mend, or with inverted ones where those are refused: the message has
// the numbers of the first few.
geometry::TetMesh readTetMesh(const std::filesystem::path& path, InvertedTets inverted,
                              TetFileReport& report);

}  // namespace sunder::tet
