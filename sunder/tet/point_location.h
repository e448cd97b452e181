// Which tetrahedron holds a point, its barycentric coordinates there, and the nearest tetrahedron for points
// that none holds.
//
// Guarantee: the signs of exact predicates decide (geometry/predicates.h), so every point of a mesh without
// gaps is found, and points on faces, edges and vertices go to the smallest index of those that hold them.
// Answers depend neither on the tree nor on the number of threads. Inverted tetrahedra count like positive
// ones, flat ones hold nothing. Points outside get the tetrahedron of the nearest boundary face
// (spatial/mesh_queries.h), the smallest where several are as near.
//
// Method: a tree over the tetrahedra's boxes (spatial/oi_tree.h); boxes are rounded outwards, so none that
// holds the point is missed. Cost: about 1.3 us a point in a mesh of 800,000 tetrahedra; some 55
// bytes a tetrahedron and 150 a boundary face. All queries are const and may run at the same time.
#pragma once

#include "sunder/base/index.h"
#include "sunder/geometry/mesh.h"
#include "sunder/spatial/query/mesh_queries.h"
#include "sunder/spatial/tree/oi_tree.h"

#include <span>
#include <vector>

namespace sunder::tet {

struct TetLocation {
  uint32_t tet = kNoIndex;          // kNoIndex only for a mesh without tetrahedra
  bool inside = false;              // held by it; else it is the nearest
  Vec4 barycentric = Vec4::Zero();  // of the point, or of the nearest point of the boundary; sum is 1
  double distance = 0;              // to the boundary for points outside
};

class PointLocator {
 public:
  // Throws Error (Geometry) for tetrahedra that refer to vertices that are not there, or coordinates that are
  // not finite or beyond the range of float.
  explicit PointLocator(const geometry::TetMesh& mesh);

  // kNoIndex for points that no tetrahedron holds. Throws Error (Usage) for points that are not finite.
  uint32_t holder(const Vec3& point) const;
  TetLocation locate(const Vec3& point) const;
  // Many points in parallel; spans of the same size.
  void locate(std::span<const Vec3> points, std::span<TetLocation> results) const;

  size_t tetCount() const { return tets_.size(); }

 private:
  uint32_t holder(const Vec3& point, std::vector<uint32_t>& candidates) const;
  bool holds(uint32_t tet, const Vec3& point) const;
  TetLocation outside(const Vec3& point) const;
  TetLocation answer(const Vec3& point, std::vector<uint32_t>& candidates) const;

  std::vector<Vec3> positions_;
  std::vector<geometry::Tetrahedron> tets_;
  std::vector<int8_t> sign_;  // of each tetrahedron's volume
  spatial::OiTree tree_;
  spatial::MeshQuery boundary_;
  std::vector<uint32_t> boundaryTet_;
  std::vector<uint8_t> boundarySide_;
};

// Barycentric coordinates of a point in a tetrahedron that is not flat.
Vec4 barycentric(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d, const Vec3& point);

}  // namespace sunder::tet
