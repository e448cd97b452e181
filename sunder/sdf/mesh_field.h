// Exact signed distance to a triangle mesh: the distance is that of spatial/mesh_queries.h, to rounding; the
// sign comes from one of two rules.
//
// PseudoNormal: the angle-weighted normal of the nearest feature (Bærentzen and Aanæs 2005), which is right
// for every point when the mesh is closed, consistently oriented, free of self-intersections, and nested
// shells alternate. Winding: the generalized winding number above one half, for all other meshes: open,
// flipped, crossing. Automatic looks at the mesh, takes the first rule where it is right and says in the
// report why it did not. A closed mesh that is inside out is turned, not refused.
//
// Where the nearest feature's normal cannot tell (a face without area, a point in its plane up to rounding),
// the winding number decides. Points on the surface have distance 0 and the normal as gradient.
//
// Cost: about 2 us a point in random order for 500,000 triangles, less for points near each other; 0.5 s to
// make. Memory: 230 bytes a triangle.
#pragma once

#include "sunder/geometry/mesh.h"
#include "sunder/sdf/field.h"
#include "sunder/spatial/query/mesh_queries.h"
#include "sunder/spatial/query/winding_number.h"

#include <memory>
#include <string>
#include <vector>

namespace sunder::sdf {

enum class SignRule { Automatic, PseudoNormal, Winding };

struct SignReport {
  SignRule rule = SignRule::PseudoNormal;                    // that is used
  bool turned = false;                                       // the mesh was inside out
  size_t openEdges = 0, flippedEdges = 0, crowdedEdges = 0;  // with one face; two that run the same way; more
  size_t crossings = 0;        // pairs of triangles that cross without sharing a vertex
  size_t components = 0;       // connected parts
  size_t misplacedShells = 0;  // parts whose orientation does not fit the parts around them
  // In sentences, for people; empty for a mesh without defects.
  std::vector<std::string> problems() const;
};

class MeshField : public Field {
 public:
  // Throws Error (Geometry) for a mesh without triangles, or with coordinates that are not finite.
  explicit MeshField(const geometry::TriMesh& mesh, SignRule rule = SignRule::Automatic);

  void values(std::span<const Vec3> points, std::span<double> out) const override;
  void samples(std::span<const Vec3> points, std::span<FieldSample> out) const override;
  Box3 bounds() const override { return bounds_; }
  std::vector<Vec3> thinPlaces(double thickness) const override;
  std::unique_ptr<NearField> near(const Box3& domain, double spacing) const override;

  const SignReport& sign() const { return report_; }
  const spatial::MeshQuery& query() const { return *query_; }
  const spatial::WindingNumber& winding() const { return *winding_; }
  size_t bytes() const;

  // Nearest point with its signed distance.
  struct Nearest {
    spatial::ClosestPoint closest;
    double distance = 0;
    Vec3 gradient = Vec3::Zero();
  };
  void nearest(std::span<const Vec3> points,
               std::span<Nearest> out) const;  // in the calling thread, in order
  // The same from a closest point that is known already.
  Nearest signedNearest(const Vec3& point, const spatial::ClosestPoint& closest) const;

 private:
  void inspect(const geometry::TriMesh& mesh, SignRule rule);

  std::unique_ptr<spatial::MeshQuery> query_;
  std::unique_ptr<spatial::WindingNumber> winding_;
  SignReport report_;
  Box3 bounds_;
  double sign_ = 1;  // of the orientation
  std::vector<geometry::Triangle> triangles_;
  std::vector<Vec3> positions_;
  std::vector<uint32_t> edgeOfCorner_;  // three a triangle
  std::vector<Vec3> faceNormals_, edgeNormals_, vertexNormals_;
};

}  // namespace sunder::sdf
