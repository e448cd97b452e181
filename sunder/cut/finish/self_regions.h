// The faces of one mesh divided along all lines in which they meet each other, exactly: the regions that
// self_crossing.h chooses from. Faces that meet no others are one region each.
//
// Lines belong to several faces, and all of them have the points that any of them finds on one, so regions
// meet edge to edge.
#pragma once

#include "sunder/cut/kernel/face_graph.h"
#include "sunder/cut/kernel/kernel_mesh.h"
#include "sunder/spatial/pairs/overlap_pairs.h"

#include <map>
#include <set>

namespace sunder::cut {

// A line that several faces have: an edge, by its vertices, or where two faces cross, by the faces.
struct Line {
  uint32_t low, high;
  bool crossing = false;
  auto operator<=>(const Line&) const = default;
};

class SelfRegions {
 public:
  SelfRegions(const KernelMesh& mesh, const std::string& name, uint64_t most);
  SelfRegions(const SelfRegions&) = delete;

  size_t size() const { return regionFace.size(); }
  std::span<const uint32_t> ring(size_t r) const {
    return {corners.data() + offsets[r], offsets[r + 1] - offsets[r]};
  }
  const Vec3& at(uint32_t vertex) const { return kernel.positions[vertex]; }
  bool isFlat(uint32_t t) const { return axis[t] < 0; }
  bool isDivided(uint32_t t) const { return faces_.count(t) != 0; }
  ExactPlane3 planeOf(uint32_t t) const;
  // A corner of a ring; those from kernel.positions.size() on are points.
  ExactPoint exact(uint32_t id) const;

  const KernelMesh& kernel;
  ExactGrid grid;
  ExactPoints points;
  std::vector<uint32_t> vertexName;  // per vertex: the lowest in the same place
  std::vector<Triangle> triangles;   // by names
  std::vector<int8_t> axis;          // per triangle: the largest component of its normal, -1 without area
  std::vector<uint32_t> regionFace, corners, offsets{0};

 private:
  using PointsOnLines = std::map<Line, std::set<uint32_t>>;
  using Rows = std::vector<std::vector<uint32_t>>;

  void nameVertices();
  std::vector<spatial::PrimitivePair> overlappingPairs(const std::string& name, uint64_t most) const;
  uint32_t pointOfVertex(uint32_t vertex);
  FaceGraph& faceOf(uint32_t t);
  void crossPair(uint32_t s, uint32_t t);
  bool areFolded(uint32_t s, uint32_t t) const;
  void overlapPair(uint32_t s, uint32_t t);
  bool isStrictlyBetween(uint32_t p, uint32_t from, uint32_t to) const;
  bool passThroughFlatFaces(PointsOnLines& on);
  bool takePoints(const FaceGraph& face, const std::vector<Line>& lines, const PointsOnLines& on,
                  Rows& rows) const;
  void divideFaces();
  uint32_t idOf(uint32_t point) const;
  void addRegion(uint32_t t, std::span<const uint32_t> ring);

  std::map<uint32_t, uint32_t> pointOf_, vertexOf_;  // between vertices and points
  std::map<uint32_t, FaceGraph> faces_;              // that others meet
  std::map<uint32_t, std::vector<Line>> lines_;      // the lines of their segments and edges
};

}  // namespace sunder::cut
