// Planes of one tetrahedron and of the sheets that cut it, the points in which three of them meet, and on
// which side of a plane a point is: the only question that sheets_cutter.h asks of coordinates, and the
// answer is always right.
//
// There are planes of the tetrahedron's faces, planes of the sheets' triangles, and walls: planes through an
// edge of a triangle along an axis, which bound the triangle sideways. All sheets count as moved by one
// infinitely small vector (shifted.h), so no triangle, edge or corner of a sheet ever touches the
// tetrahedron's faces, edges or vertices. Among each other sheets stay as they are: what touches, touches,
// and the side is 0.
//
// A side is the sign of the determinant of four planes, which is linear in the offsets of the planes and so
// in the shift. Cost: a few nanoseconds where doubles decide by a bound of their error, some microseconds
// where integers do.
#pragma once

#include "sunder/cut/kernel/exact_point.h"
#include "sunder/cut/tet/cut_sheets.h"

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace sunder::cut {

class PlanePoints {
 public:
  enum class Kind : uint8_t { Tet, Face, Wall };

  // Planes 0 to 3 are the faces of the tetrahedron, points 0 to 3 its vertices. `faces` of the sheets are
  // all that will be asked for. Both must stay where they are.
  void reset(const std::array<Vec3, 4>& tet, const CutSheets& sheets, std::span<const uint32_t> faces);

  uint32_t addFace(uint32_t face);
  uint32_t wall(uint32_t face, size_t k);  // through the edge from corner k; the same one for both directions
  // 1 or -1: on which side of that wall the triangle is.
  int inside(uint32_t face, size_t k) const;
  uint32_t addPoint(uint32_t p, uint32_t q, uint32_t r);  // planes that meet in one point

  // -1, 0 or 1. Positive is where the normal points to: out of the tetrahedron for its faces, above for
  // triangles.
  int side(uint32_t point, uint32_t plane);

  const std::array<Vec3, 4>& tet() const { return tet_; }
  const CutSheets& sheets() const { return *sheets_; }
  size_t points() const { return points_.size(); }
  Kind kind(uint32_t plane) const { return planes_[plane].kind; }
  // Bits of the tetrahedron's faces that a point is on.
  unsigned onFaces(uint32_t point) const;
  // Correctly rounded where doubles are not good enough, and the same whatever the order of the planes.
  Vec3 position(uint32_t point);
  Vec3 meetingPoint(uint32_t p, uint32_t q, uint32_t r);
  bool areParallel(uint32_t p, uint32_t q) { return isDependent(p, q); }

  // For rough tests: distances in plain doubles, and bounds of their errors for points of the tetrahedron.
  double distance(uint32_t plane, const Vec3& from) const {
    return planes_[plane].normal.dot(from - tet_[0]) - planes_[plane].offset;
  }
  Vec3 nearPosition(uint32_t point) const { return tet_[0] + points_[point].at; }
  double planeError(uint32_t plane) const { return planes_[plane].error; }
  double pointError(uint32_t point) const { return points_[point].error; }
  double reach() const { return reach_; }

 private:
  struct Plane {
    Kind kind;
    uint32_t face = kNoIndex;                                      // of the tetrahedron or of the sheets
    std::array<uint32_t, 3> points{kNoIndex, kNoIndex, kNoIndex};  // of the sheets, that it runs through
    int8_t axis = -1;                                              // of walls
    Vec3 normal = Vec3::Zero();                                    // unit
    double offset = 0;                                             // from the first vertex of the tetrahedron
    double error = 0;  // of distances to points of the tetrahedron
    uint32_t exact = kNoIndex;
  };
  struct Point {
    std::array<uint32_t, 3> planes;
    Vec3 at = Vec3::Zero();  // from the first vertex of the tetrahedron
    double error = 0;
  };

  uint32_t addPlane(const Plane& plane);
  int sideOf(uint32_t point, uint32_t plane);
  bool areOnePoint(const Point& x, const Plane& h) const;
  const ExactPlane3& exact(uint32_t plane);
  int exactSide(const Point& x, uint32_t plane);
  bool isDependent(uint32_t p, uint32_t q);

  std::array<Vec3, 4> tet_;
  const CutSheets* sheets_ = nullptr;
  std::span<const uint32_t> faces_;
  double reach_ = 0;
  std::vector<Plane> planes_;
  std::vector<Point> points_;
  std::vector<std::vector<int8_t>> signs_;  // by plane and point
  std::optional<geometry::FixedPoint> fixed_;
  std::vector<std::unique_ptr<ExactPlane3>> exact_;
  uint32_t exactCount_ = 0;
};

}  // namespace sunder::cut
