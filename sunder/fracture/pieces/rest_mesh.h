// What all fragments of one object share: the tetrahedra of the body before it broke, where each point of
// rest space is among them, and the distance field of the body's own surface. Never touched by fracture,
// because fragments keep the rest coordinates (Glondu et al. 2012, sections 1 and 3.3).
//
// Location: a uniform grid with, per cell, the tetrahedra that reach into it (faces of the tetrahedron
// against the cell, conservative). Points on faces belong to the tetrahedron with the lowest number;
// barycentric coordinates down to -kOnFace count as inside, so that no point between two is lost.
//
// Cost: a handful of tetrahedra tested a point, some 200 bytes a tetrahedron. Queries are const and run at
// once.
#pragma once

#include "sunder/base/box.h"
#include "sunder/base/index.h"
#include "sunder/geometry/mesh.h"
#include "sunder/geometry/rows.h"
#include "sunder/rigid/shape/shape.h"
#include "sunder/sdf/field.h"

#include <array>
#include <memory>
#include <span>
#include <vector>

namespace sunder::fracture {

// Bounds on what a field says, as rigid::Shape states them.
struct FieldErrors {
  double near = 0, far = 0,
         above = 0;  // |error| within the band, |error| anywhere, field - distance above it
  double band = Box3::kInfinity;
  Box3 domain{Vec3::Constant(-Box3::kInfinity), Vec3::Constant(Box3::kInfinity)};
};

// How pieces that flat cracks cut off are known: by the polygons of the cracks, like others, as the body
// within half-spaces, or, where that is convex, by its corners too.
enum class FlatPieces { Polygons, HalfSpaces, Hulls };

// Throws Error (Geometry) for tetrahedra in parts that share no face: they would be one body until the first
// break, and pieces after it.
void requireOnePart(const geometry::TetMesh& mesh);

class RestMesh {
 public:
  static constexpr double kOnFace = 1e-9;

  // `field`: signed distance of the surface of the tetrahedra, in the same coordinates. Throws Error
  // (Geometry) for a mesh that is empty, has flat or inverted tetrahedra or several parts.
  RestMesh(geometry::TetMesh mesh, sdf::FieldPtr field, const FieldErrors& errors = {},
           FlatPieces pieces = FlatPieces::Hulls);
  // With the field of a shape made of that surface.
  RestMesh(geometry::TetMesh mesh, const rigid::ShapePtr& solid);

  struct Place {
    uint32_t tet = kNoIndex;  // kNoIndex: in none
    std::array<double, 4> weights{};
  };
  Place locate(const Vec3& point) const;
  std::array<double, 4> weights(uint32_t tet, const Vec3& point) const {
    const Vec3 w = frames_[tet].rows * (point - frames_[tet].origin);
    return {1 - w.sum(), w[0], w[1], w[2]};
  }
  // Of a function that is linear in the tetrahedron.
  Vec3 gradient(uint32_t tet, const std::array<double, 4>& values) const {
    return frames_[tet].rows.transpose() *
           Vec3(values[1] - values[0], values[2] - values[0], values[3] - values[0]);
  }

  const geometry::TetMesh& mesh() const { return mesh_; }
  const sdf::Field& field() const { return *field_; }
  const FieldErrors& errors() const { return errors_; }
  const std::array<uint32_t, 4>& neighbours(uint32_t tet) const { return neighbours_[tet]; }
  std::span<const std::array<uint32_t, 4>> neighbours() const { return neighbours_; }
  double depth(uint32_t vertex) const { return depth_[vertex]; }  // below the body's surface, at least 0
  bool onSurface(uint32_t vertex) const { return onSurface_[vertex] != 0; }
  // Outward, weighted by angle; zero for vertices inside.
  const Vec3& normal(uint32_t vertex) const { return normals_[vertex]; }
  // Planes of flat sides that have all of the body below them: those of boxes. Few or none.
  struct Side {
    Vec3 normal;  // outward
    double offset;
  };
  std::span<const Side> flatSides() const { return flatSides_; }
  double edge() const { return edge_; }  // mean length
  bool halfSpaces() const { return pieces_ != FlatPieces::Polygons; }
  // Pieces within half-spaces are convex polyhedra: flat sides are all there is of its surface.
  bool hulls() const { return convex_ && pieces_ == FlatPieces::Hulls; }
  const Box3& bounds() const { return bounds_; }

 private:
  struct Frame {  // of barycentric coordinates: the last three are rows times (p - origin)
    Mat3 rows;
    Vec3 origin;
  };
  void makeGrid();
  void findSurface();
  void findFlatSides();

  geometry::TetMesh mesh_;
  sdf::FieldPtr field_;
  FieldErrors errors_;
  FlatPieces pieces_;
  std::vector<Frame> frames_;
  std::vector<std::array<uint32_t, 4>> neighbours_;
  std::vector<double> depth_;
  std::vector<uint8_t> onSurface_;
  std::vector<Vec3> normals_;
  std::vector<Side> flatSides_;
  bool convex_ = false;
  Box3 bounds_;
  double edge_ = 0, cell_ = 0;
  std::array<uint32_t, 3> cells_{};
  std::vector<uint32_t> start_, list_;  // tetrahedra by cell
};

using RestMeshPtr = std::shared_ptr<const RestMesh>;

}  // namespace sunder::fracture
