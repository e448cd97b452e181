// Generalized winding number of a triangle mesh (Jacobson, Kavan and Sorkine-Hornung 2013): the solid angle
// that the mesh spans seen from a point, over 4 pi. 1 inside and 0 outside a closed mesh that winds outwards,
// something in between for open ones, the sum for meshes that overlap.
//
// exact(): the sum over all triangles by the formula of van Oosterom and Strackee 1983, O(n). fast():
// clusters whose enclosing ball is further away than beta times its radius are replaced by the expansion of
// their dipoles to second order (Barill, Dickson, Schmidt, Levin and Jacobson 2018, "Fast winding numbers for
// soups and clouds"), the others opened; the tree is the MeshQuery's, eight clusters at a time. Only the
// symmetric parts of the coefficients are kept, 3 + 6 + 10 numbers, as the others vanish in the sum.
//
// Guarantees: on the surface itself a triangle counts as zero, so a point on a closed mesh gives about one
// half (at corners the solid angle); not a number never comes out. The error of fast() is an
// estimate, not a bound: with beta = 2 the largest seen on closed meshes was 6e-4, with 4 6e-5. Results
// depend neither on threads nor on the vector unit; a batch gives the bits of single calls. Query points as
// in mesh_queries.h.
//
// Cost: fast() 2.2 us for 500,000 triangles at beta = 2, exact() 8 ms; 13 bytes a triangle besides the
// MeshQuery, which must outlive this.
#pragma once

#include "sunder/spatial/query/mesh_queries.h"

#include <span>
#include <vector>

namespace sunder::spatial {

// Eight clusters, lane by lane: centre of area, one over the radius of the ball around it that holds the
// cluster, and the integrals of n, (x - c) n and (x - c)(x - c) n over the surface, symmetrised, all in units
// of that radius, so that no size of mesh leaves the range of float.
struct alignas(64) DipoleBlock {
  float centre[3][kBlockLanes];
  float inverseRadius[kBlockLanes];
  float first[3][kBlockLanes];
  float second[6][kBlockLanes];  // xx yy zz xy yz zx
  float third[10][kBlockLanes];  // xxx yyy zzz xxy xxz yyx yyz zzx zzy xyz
};

class WindingNumber {
 public:
  explicit WindingNumber(const MeshQuery& mesh);

  double exact(const Vec3& point) const;
  double fast(const Vec3& point, double beta = 2) const;  // beta >= 1
  void fast(std::span<const Vec3> points, std::span<double> results, double beta = 2) const;

  // Winding number above one half. Decided by fast(), and by exact() where that is within 0.1 of one half:
  // next to never on a closed mesh.
  bool inside(const Vec3& point) const;
  void inside(std::span<const Vec3> points, std::span<uint8_t> results) const;  // 0 or 1

  size_t bytes() const { return sizeof(DipoleBlock) * blocks_.size(); }

 private:
  const MeshQuery* mesh_;
  LargeVector<DipoleBlock> blocks_;   // levels above the leaves, each starting with a block
  std::vector<uint32_t> firstBlock_;  // by level
};

}  // namespace sunder::spatial
