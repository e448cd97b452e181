// The sheets that cut the tetrahedra of one body: triangles of all of them, numbered one sheet after another.
// What the cuts of single tetrahedra need of a triangle is made once, when its sheet is added. Used by
// sheets_cutter.h.
//
// A sheet is any set of triangles: it may end inside the body, have holes, cross or touch itself and others,
// and branch along an edge of three triangles. Which side of a triangle is above is for each triangle to say.
// Triangles without area do not cut. Equal positions are one point, of whichever sheet.
//
// Cost: some microseconds a triangle, once; 400 bytes each.
#pragma once

#include "sunder/cut/kernel/shifted.h"
#include "sunder/geometry/mesh.h"

#include <array>
#include <deque>
#include <map>
#include <span>
#include <vector>

namespace sunder::cut {

class CutSheets {
 public:
  // Returns the number of the sheet. Throws Error (Geometry) for indices that are not there and coordinates
  // that are not finite or beyond 1e37, with the triangle or vertex; nothing has changed then.
  uint32_t add(const geometry::TriMesh& sheet);
  void removeLast();

  uint32_t sheets() const { return static_cast<uint32_t>(first_.size() - 1); }
  uint32_t faces() const { return first_.back(); }
  uint32_t firstFace(uint32_t sheet) const { return first_[sheet]; }  // up to sheets()
  uint32_t sheetOf(uint32_t face) const;
  bool hasArea(uint32_t face) const { return axis_[face] >= 0; }

  // By numbers of different points.
  const geometry::Triangle& triangle(uint32_t face) const { return triangles_[face]; }
  const Vec3& point(uint32_t p) const { return points_[p]; }
  std::span<const geometry::Triangle> triangles() const { return triangles_; }
  Corners3 corners(uint32_t face) const {
    const geometry::Triangle& t = triangles_[face];
    return {&points_[t[0]], &points_[t[1]], &points_[t[2]]};
  }
  // An axis that the triangle's plane is not parallel to; -1 for a triangle without area.
  int axis(uint32_t face) const { return axis_[face]; }
  // Whether the triangle runs counter-clockwise seen against that axis: 1, or -1.
  int turn(uint32_t face) const { return turn_[face]; }
  const AccuratePlane& plane(uint32_t face) const { return planes_[face]; }
  // Is the tetrahedron clearly on one side of the triangle's plane? To leave triangles out before a cut.
  bool clearlyMisses(uint32_t face, const std::array<Vec3, 4>& tet) const;

 private:
  std::deque<Vec3> points_;  // planes_ point into it
  std::map<std::array<double, 3>, uint32_t> numberOf_;
  std::vector<geometry::Triangle> triangles_;
  std::vector<int8_t> axis_, turn_;
  std::vector<AccuratePlane> planes_;
  std::vector<uint32_t> first_{0};
};

}  // namespace sunder::cut
