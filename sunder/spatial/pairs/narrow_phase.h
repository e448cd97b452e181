// From pairs of boxes to pairs of triangles: which candidates of the broad phase really meet, and where.
// Decisions come from exact predicates (geometry/triangle_triangle.h), so a pair is reported if and only if
// its triangles share a point. Order of the candidates is kept; the result does not depend on the number of
// threads.
//
// Cost: about 0.1 us a candidate, most of them told apart by the plane of one triangle.
#pragma once

#include "sunder/geometry/mesh.h"
#include "sunder/geometry/triangle_triangle.h"
#include "sunder/spatial/pairs/overlap_pairs.h"

#include <span>
#include <vector>

namespace sunder::spatial {

// What to do with pairs of triangles of one mesh that share vertices, and so always touch.
enum class Neighbours {
  Skip,   // leave out pairs that share a vertex
  Exact,  // report them when they meet beyond what they share: a fold, a fin, a doubled face
};

struct TriangleSet {
  std::span<const Vec3> positions;
  std::span<const geometry::Triangle> triangles;
};

struct TriangleContact {
  PrimitivePair pair;
  geometry::TriangleMeeting meeting;  // point, segment or polygon, with the features it lies on
};

// Candidates between two meshes.
std::vector<PrimitivePair> intersectingPairs(const TriangleSet& a, const TriangleSet& b,
                                             std::span<const PrimitivePair> candidates);
std::vector<TriangleContact> triangleContacts(const TriangleSet& a, const TriangleSet& b,
                                              std::span<const PrimitivePair> candidates);

// Candidates within one mesh.
std::vector<PrimitivePair> selfIntersectingPairs(const TriangleSet& mesh,
                                                 std::span<const PrimitivePair> candidates,
                                                 Neighbours neighbours = Neighbours::Skip);
std::vector<TriangleContact> selfTriangleContacts(const TriangleSet& mesh,
                                                  std::span<const PrimitivePair> candidates,
                                                  Neighbours neighbours = Neighbours::Skip);

}  // namespace sunder::spatial
