// What a rigid body looks like to contacts. Exact primitives (sphere, capsule, box, convex hull, half-space)
// and solids: any closed surface, through its distance field and a tree of spheres over points of its surface
// and inside. Immutable once made and shared by bodies.
//
// A shape lives in its own model frame, the frame of the mesh file. massFrame() is the frame at the centre of
// mass along the principal axes, in which the simulation keeps a body.
//
// Every shape has a field (exact for primitives; for solids a lattice that is fine near the surface,
// band_field.h: a query costs a third of that of an hp-adaptive field, and its making less where walls are
// thin) and points to test against other
// fields, each point standing for a ball of pointRadius(): a sphere is one point, a capsule a few points on
// its axis, a box, a hull or a solid points on the surface with radius 0. A half-space has none.
//
// Cost: primitives nothing; a solid the construction of its field and tree, 0.1 to 0.5 s of one core for 2000
// to 9000 triangles.
#pragma once

#include "sunder/base/box.h"
#include "sunder/geometry/mass_properties.h"
#include "sunder/geometry/mesh.h"
#include "sunder/rigid/shape/pose.h"
#include "sunder/sdf/field.h"
#include "sunder/sdf/sphere_tree.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sunder::rigid {

enum class ShapeKind : uint8_t { Sphere, Capsule, Box, Hull, Plane, Solid };

// Faces of a convex polyhedron with what contact tests ask for. Corners counter-clockwise seen from outside.
struct HullTopology {
  std::vector<Vec3> vertices;
  std::vector<Vec3> faceNormals;
  std::vector<double> faceOffsets;                // normal . p <= offset inside
  std::vector<uint32_t> faceStart, faceVertices;  // CSR; coplanar triangles are one face
  std::vector<std::array<uint32_t, 4>> edges;     // two vertices, left and right face; each edge once
};

// The tree of a shape's points as searches walk it: without occurrences that only repeat a point, children
// side by side. Coarse points come before fine ones.
struct PointNode {
  uint32_t rank = 0;
  float radius = 0;                // to the farthest point below
  uint32_t first = 0;              // of the children
  uint32_t count : 31, fresh : 1;  // fresh: the point's first node
};

struct Ball {
  Vec3 centre = Vec3::Zero();
  double radius = 0;
};

// A flat side: all of the shape's points lie below the plane, and the field is nowhere less than the height
// above it less `slack`. No point is farther from the axis through `centre`, which is on the plane, than
// `radius` and kFlatSlope times its depth.
struct FlatSide {
  Vec3 normal;  // outward, unit
  Vec3 centre;
  double radius, slack;
  std::vector<uint32_t> points = {};  // ranks of some on the plane, those that span it first
};
inline constexpr double kFlatSlope = 4;

class Shape {
 public:
  virtual ~Shape() = default;
  Shape(const Shape&) = delete;
  Shape& operator=(const Shape&) = delete;

  ShapeKind kind() const { return kind_; }

  // Sizes of primitives, in the model frame. Sphere: radius about the origin. Capsule: radius about the
  // segment from -halfExtent.y to +halfExtent.y on the y axis. Box: half sides. Plane: all points with y <=
  // 0.
  double radius() const { return radius_; }
  const Vec3& halfExtent() const { return halfExtent_; }
  const HullTopology* hull() const { return hull_.get(); }  // of boxes, hulls and convex pieces, else nullptr

  // At density 1, in the model frame; without meaning for planes, whose volume is 0.
  const geometry::MassProperties& mass() const { return mass_; }
  const Pose& massFrame() const { return massFrame_; }
  const Vec3& principalInertia() const { return principalInertia_; }  // at density 1, along massFrame's axes

  const sdf::Field& field() const { return *field_; }
  // Bounds on |field - distance|: where |field| is at most fieldBand(), and everywhere in fieldDomain().
  // Beyond the domain it is known only that the solid lies in localBounds(). Primitives are exact everywhere.
  double fieldError() const { return fieldError_; }
  double fieldErrorFar() const { return fieldErrorFar_; }
  double fieldBand() const { return fieldBand_; }
  // A bound on field - distance where the field is `value`. Far outside, where searches ask most, it is much
  // less than the error that is made where the field of a wall has its kink.
  double fieldErrorAt(double value) const {
    if (std::abs(value) <= fieldBand_) return fieldError_;
    return value > 0 ? fieldAbove_ : fieldErrorFar_;
  }
  const Box3& fieldDomain() const { return fieldDomain_; }
  const sdf::SphereTree& points() const { return points_; }  // empty for planes
  double pointRadius() const { return pointRadius_; }
  const std::vector<PointNode>& pointNodes() const { return pointNodes_; }  // the tree of points()
  // Outward, by rank; zero for points inside. Empty where points are not on a surface (spheres, capsules).
  const std::vector<Vec3>& pointNormals() const { return pointNormals_; }

  const std::vector<FlatSide>& flatSides() const { return flatSides_; }  // those known, of pieces

  const Box3& localBounds() const { return localBounds_; }
  Box3 bounds(const Pose& pose) const;  // tight for primitives; infinite sides for planes
  double outerRadius() const {
    return outerRadius_;
  }  // of a ball about the centre of mass; infinite for planes
  double innerRadius() const { return innerRadius_; }  // of the largest ball found inside; for fast motion

  // A few balls inside, spread out, none larger than half the largest there is: what must not pass through
  // another body whatever the contacts say. Empty for planes.
  const std::vector<Ball>& cores() const { return cores_; }

  // What is drawn and exported: the mesh given, or one of the primitive. A plane is drawn as a large square.
  const geometry::TriMesh& surface() const { return surface_; }

 protected:
  Shape() = default;

  ShapeKind kind_ = ShapeKind::Sphere;
  double radius_ = 0;
  Vec3 halfExtent_ = Vec3::Zero();
  std::unique_ptr<const HullTopology> hull_;
  geometry::MassProperties mass_;
  Pose massFrame_;
  Vec3 principalInertia_ = Vec3::Zero();
  std::shared_ptr<const sdf::Field> field_;
  double fieldError_ = 0, fieldErrorFar_ = 0, fieldAbove_ = 0, fieldBand_ = Box3::kInfinity;
  Box3 fieldDomain_{Vec3::Constant(-Box3::kInfinity), Vec3::Constant(Box3::kInfinity)};
  sdf::SphereTree points_;
  std::vector<Vec3> pointNormals_;
  std::vector<PointNode> pointNodes_;
  std::vector<FlatSide> flatSides_;
  double pointRadius_ = 0;
  Box3 localBounds_ = {};
  double outerRadius_ = 0, innerRadius_ = 0;
  std::vector<Ball> cores_;
  geometry::TriMesh surface_;
};

using ShapePtr = std::shared_ptr<const Shape>;

// What every step asks of a shape. Shapes lie all over the memory; heads are kept side by side.
struct ShapeHead {
  ShapeKind kind;
  double inner;
  Vec3 half;  // of boxes
  const Shape* shape;

  explicit ShapeHead(const Shape& s)
      : kind(s.kind()), inner(s.innerRadius()), half(s.halfExtent()), shape(&s) {}
  Box3 bounds(const Pose& pose) const {
    if (kind != ShapeKind::Box) return shape->bounds(pose);
    const Vec3 reach = pose.rotation.toRotationMatrix().cwiseAbs() * half;
    return {pose.position - reach, pose.position + reach};
  }
};

// Each throws Error (Usage) for sizes that are not positive and finite, naming the value.
ShapePtr makeSphere(double radius);
ShapePtr makeCapsule(double halfLength, double radius);
ShapePtr makeBox(const Vec3& halfExtent);
ShapePtr makePlane();
// The convex hull of the points. Throws Error (Geometry) where they lie in a plane.
ShapePtr makeHull(std::span<const Vec3> points);

struct SolidSettings {
  double fieldError = 0.002;   // root mean square, as a part of the shape's radius
  size_t surfacePoints = 800;  // corners and sharp edges of the mesh first, then spread evenly
  size_t insidePoints = 50;
  uint32_t cells = 64;  // of the surface of a field, along its longest side
  uint64_t seed = 1;
};
struct SolidReport {
  std::vector<std::string> problems;  // of the mesh, in sentences: which sign rule was used and why
  double measuredError = 0;           // of the field, length
  size_t coefficients = 0, points = 0;
};
// Throws Error (Geometry) for a surface that encloses nothing.
ShapePtr makeSolid(const geometry::TriMesh& mesh, const SolidSettings& settings = {},
                   SolidReport* report = nullptr);
// The solid where the field is negative; its surface is an isosurface.
ShapePtr makeSolid(std::shared_ptr<const sdf::Field> field, const SolidSettings& settings = {},
                   SolidReport* report = nullptr);

// A solid whose parts are there already, as those of the pieces of something that broke.
struct SolidParts {
  geometry::TriMesh surface;      // closed, outward
  geometry::MassProperties mass;  // at density 1, of that surface
  std::shared_ptr<const sdf::Field> field;
  double fieldError = 0, fieldErrorFar = 0, fieldAbove = 0;  // as Shape states them; above: of large values
  double fieldBand = Box3::kInfinity;
  Box3 fieldDomain{Vec3::Constant(-Box3::kInfinity), Vec3::Constant(Box3::kInfinity)};
  sdf::SphereTree points;          // may have several roots
  std::vector<Vec3> pointNormals;  // outward, by rank; zero for points inside
  double innerRadius = 0;          // of the largest ball known inside
  std::vector<Vec3> inside;        // candidates for the middles of cores
  std::vector<FlatSide> flatSides;
  std::vector<Vec3> corners;       // where it is convex: exact tests of polyhedra do for contacts then
  size_t insidePoints = SIZE_MAX;  // points off the surface that searches come to; others are only kept
};
// Cost: linear in the surface and the points. Throws Error (Usage) where something is missing or does not
// fit, Error (Geometry) for a surface that encloses nothing.
ShapePtr makeSolid(SolidParts parts);

}  // namespace sunder::rigid
