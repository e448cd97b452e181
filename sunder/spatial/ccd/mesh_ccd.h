// The earliest contact of moving meshes over one time step: of one mesh with itself, or of two. Vertices move
// on straight lines. Swept triangle boxes go through the tree; each vertex and edge belongs to one triangle
// ("representative triangles", Curtis et al. 2008), so every vertex-face and edge-edge pair is found from
// exactly one pair of triangles; pairs whose own swept boxes miss each other are dropped; the rest is decided
// by ccd.h.
//
// Guarantee: the reported time is never later than the first exact contact, and "no contact" is always true
// (ccd.h). Features that share a vertex are not tested against each other. Same result for any number of
// threads.
#pragma once

#include "sunder/spatial/ccd/ccd.h"
#include "sunder/spatial/pairs/feature_boxes.h"
#include "sunder/spatial/pairs/narrow_phase.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder::spatial {

struct MovingMesh {
  std::span<const Vec3> start, end;  // positions at the ends of the step
  std::span<const geometry::Triangle> triangles;
};

enum class ContactKind : uint8_t { None, VertexFace, EdgeEdge };

struct EarliestContact {
  ContactKind kind = ContactKind::None;
  double time = 1;  // fraction of the step that is free
  // VertexFace: a vertex, then a face's corners. EdgeEdge: an edge's ends, then the other's. Indices of the
  // mesh; in contacts of two meshes those of the second count on from the first's vertices.
  CcdPair vertices{};
};

struct CcdStatistics {
  uint64_t trianglePairs = 0;                       // overlapping swept boxes
  uint64_t vertexFacePairs = 0, edgeEdgePairs = 0;  // that were tested
  uint64_t hits = 0;
};

class MeshCcd {
 public:
  // Throws Error (Usage) when start and end differ in size or an index is out of range, Error (Geometry) for
  // coordinates that are not finite, Error (Limit) for more than `mostPairs` pairs of swept boxes.
  EarliestContact self(const MovingMesh& mesh, const CcdSettings& settings = {},
                       uint64_t mostPairs = kMostPairs);
  EarliestContact between(const MovingMesh& a, const MovingMesh& b, const CcdSettings& settings = {},
                          uint64_t mostPairs = kMostPairs);

  const CcdStatistics& statistics() const { return statistics_; }

 private:
  // What is kept of a mesh from one step to the next.
  struct Moving {
    OiTreeBuilder builder;
    OiTree tree;
    uint32_t vertexCount = 0;
    std::vector<geometry::Triangle> triangles;       // that `owned` was made for
    ReusableArray<kernels::PaddedTriangle> corners;  // the same, for the kernels
    std::vector<uint8_t> owned;                      // per triangle: bits 0-2 its corners, bits 3-5 its edges
    std::vector<uint8_t> needed;                     // per triangle: it is in a pair
    ReusableArray<BoxBlock> features;                // per triangle
  };
  static void build(const MovingMesh& mesh, double margin, Moving& moving);
  static void boxFeatures(Moving& moving, std::span<const PrimitivePair> pairs,
                          uint32_t PrimitivePair::*side);
  static void own(std::span<const geometry::Triangle> triangles, size_t vertexCount,
                  std::vector<uint8_t>& owned);
  void collect(const Moving& a, const Moving& b, std::span<const PrimitivePair> pairs, bool same);
  void decide(std::span<const Vec3> start, std::span<const Vec3> end, const CcdSettings& settings,
              EarliestContact& earliest);
  EarliestContact search(const Moving& a, const Moving& b, bool same, std::span<const Vec3> start,
                         std::span<const Vec3> end, const CcdSettings& settings);

  Moving a_, b_;
  PairList pairs_;
  struct PairLists {
    std::vector<CcdPair> vertexFace, edgeEdge;
  };
  std::vector<PairLists> found_;  // by block of pairs of triangles
  std::vector<CcdPair> vertexFace_, edgeEdge_;
  std::vector<Vec3> start_, end_;  // of two meshes joined
  std::vector<CcdHit> hits_;
  CcdStatistics statistics_;
};

}  // namespace sunder::spatial
