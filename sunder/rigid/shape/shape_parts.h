// A shape under construction: what the makers of shape.h fill in. Not for use outside this room.
#pragma once

#include "sunder/rigid/shape/shape.h"

namespace sunder::rigid {

struct SurfacePoint {
  Vec3 position, normal;
};

class ShapeParts final : public Shape {
 public:
  using Shape::cores_;
  using Shape::field_;
  using Shape::fieldAbove_;
  using Shape::fieldBand_;
  using Shape::fieldDomain_;
  using Shape::fieldError_;
  using Shape::fieldErrorFar_;
  using Shape::flatSides_;
  using Shape::halfExtent_;
  using Shape::hull_;
  using Shape::innerRadius_;
  using Shape::kind_;
  using Shape::localBounds_;
  using Shape::mass_;
  using Shape::massFrame_;
  using Shape::outerRadius_;
  using Shape::pointNodes_;
  using Shape::pointNormals_;
  using Shape::pointRadius_;
  using Shape::points_;
  using Shape::principalInertia_;
  using Shape::radius_;
  using Shape::surface_;

  explicit ShapeParts(ShapeKind kind) { kind_ = kind; }

  // The frame along the principal axes, from mass_. Axes of the model frame stay where they are principal.
  void setMassFrame();
  // From the surface's vertices, about the centre of mass.
  void setOuterRadius();
  // The tree of the points and their normals; points inside have none.
  void setPoints(std::span<const SurfacePoint> surface, std::span<const Vec3> inside = {});
  // Searches walk to no more than the first `inside` points that are not on the surface.
  void setTree(sdf::SphereTree tree, size_t inside = SIZE_MAX);
  // The centre of mass where it is inside, then those of the candidates that are far from the ones before.
  void setCores(std::span<const Vec3> candidates);
};

// Faces, edges and vertices of the convex hull of points. Throws Error (Geometry) where they lie in a plane.
HullTopology hullTopology(std::span<const Vec3> points);
HullTopology boxTopology(const Vec3& halfExtent);
geometry::TriMesh hullSurface(const HullTopology& hull);
// Exact inside and outside; `hull` must outlive it.
std::shared_ptr<const sdf::Field> makeHullField(const HullTopology& hull);

// Points of a surface that stand for it in contacts: corners and convex sharp edges first, then points spread
// evenly between them; about `count`, never fewer than the corners that fit into half of it. Normals of
// corners and edges are half-way between those of their faces.
std::vector<SurfacePoint> contactPoints(const geometry::TriMesh& mesh, size_t count, uint64_t seed);

}  // namespace sunder::rigid
