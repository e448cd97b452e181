// Where two triangle meshes cross, as topology: the points where an edge of one pierces a face of the other,
// and the segments between them, one for each pair of faces that cross. No coordinate decides anything but
// through the exact signs of shifted.h, so the seam is right for any input, and with the shift nothing is
// degenerate: two triangles share no point or one segment with two ends, each on an edge of one of the two.
//
// Candidates come from box trees over the faces within reach of the other mesh, or, for a cutter of few
// faces, from the sides of all vertices. Points are known by (edge, face) alone and numbered in order of
// (mesh, edge, place along it); segments in order of (face of the mesh, face of the cutter). All of it is the
// same for any number of threads.
//
// Cost: O(n) for the trees, then six to fifteen exact signs a candidate pair.
#pragma once

#include "sunder/cut/kernel/kernel_mesh.h"
#include "sunder/cut/kernel/shifted.h"
#include "sunder/cut/kernel/types.h"

namespace sunder::cut {

enum MeshId : uint8_t { kMesh = 0, kCutter = 1 };

// Edge of one mesh through face of the other. The edge is named by the lower of its two half-edges.
struct SeamPoint {
  uint32_t halfedge, face;
  MeshId edgeOf;
  bool border;  // the edge has one face only
  Vec3 position;
  double t;  // place along the half-edge
};

// Runs from `start` to `end` along normal(face[kMesh]) x normal(face[kCutter]).
struct SeamSegment {
  uint32_t face[2];
  uint32_t start, end;  // points
};

// The points on one edge are a run, in the order along its half-edge.
struct EdgeRun {
  uint32_t halfedge, first, count;
};

struct Seam {
  std::vector<SeamPoint> points;
  std::vector<SeamSegment> segments;  // by (face of the mesh, face of the cutter)
  std::vector<EdgeRun> runs[2];       // by mesh, ascending half-edges
  size_t candidates = 0;              // pairs of faces that were looked at

  // Points on the edge of half-edge h (either of the two); an empty run where there are none.
  EdgeRun run(MeshId mesh, uint32_t lowerHalfedge) const;
};

inline Corners3 cornersOf(const KernelMesh& mesh, uint32_t f) {
  const Triangle& t = mesh.triangles[f];
  return {&mesh.positions[t[0]], &mesh.positions[t[1]], &mesh.positions[t[2]]};
}
inline uint32_t edgeOf(const KernelMesh& mesh, uint32_t h) { return std::min(h, mesh.twin[h]); }

// Throws Error (Limit) where more than `most` pairs of faces would have to be looked at.
Seam findSeam(const KernelMesh& mesh, const KernelMesh& cutter, uint64_t most = kMostCandidates);

// Where an edge from p to q crosses a face, rounded, with a bound of the error.
struct Place {
  double t = 0, error = 0;
  Corners3 face{};
};
// Does it cross the first of two faces of one mesh before the second? Exact where rounded places are too
// close.
bool comesBefore(const Vec3& p, const Vec3& q, const Place& first, const Place& second, bool cutterEdge);

// How a segment from a vertex to `far` crosses a triangle of the other mesh: 1 along its normal, -1 against
// it, 0 not at all.
int crossingOf(const Vec3& vertex, const Vec3& far, MeshId vertexOf, const Corners3& triangle);

// How often a closed mesh winds around a vertex of the other: 1 inside, 0 outside. By a ray along x, exact
// with the shift. O(faces). `vertexOf` says which of the two has the vertex.
int windingAround(const Vec3& vertex, MeshId vertexOf, const KernelMesh& closed);

}  // namespace sunder::cut
