// Fragments that are the object within half-spaces, one a crack: what flat cracks that run right through
// leave. Their distance field needs no polygons. Not for use outside this room.
//
// A fragment is one where the cuts of each of its cracks lie on one plane, the fragment on one side of every
// such plane, and all other tetrahedra of the object beyond one of them. Cracks bend by up to kNearestVertex
// of an edge around vertices (crack.h); that much is allowed and stated (`bend`).
#pragma once

#include "sunder/base/index.h"
#include "sunder/fracture/crack/cracked_mesh.h"
#include "sunder/fracture/pieces/rest_mesh.h"

#include <span>
#include <vector>

namespace sunder::fracture {

struct HalfSpace {
  Vec3 normal;     // out of the material
  double offset;   // normal . p on it
  uint32_t crack;  // that made it
  double height(const Vec3& p) const { return normal.dot(p) - offset; }
};

class HalfSpaces {
 public:
  // Of the part `mesh` with its cells; `rootTets`: where its tetrahedra come from. False where the part is
  // not such a fragment; then there are none.
  bool find(const RestMesh& rest, const CrackedMesh& mesh, std::span<const CutCell> cells,
            std::span<const uint32_t> rootTets);

  std::span<const HalfSpace> all() const { return planes_; }
  const HalfSpace* of(uint32_t crack) const;
  double bend() const { return bend_; }  // how far the cracks are off their planes

  // The one that the point is highest above; the height is -infinity where there are none.
  double highest(const Vec3& p, uint32_t& plane) const {
    double most = -Box3::kInfinity;
    for (uint32_t k = 0; k < planes_.size(); ++k) {
      const double h = planes_[k].height(p);
      if (h > most) {
        most = h;
        plane = k;
      }
    }
    return most;
  }
  // Corners of a fragment of a convex object: where three of its sides meet, whoever made them.
  std::vector<Vec3> corners(const RestMesh& rest) const;
  // For a point `height` above that one, which is positive: the distance of the half-spaces' common part,
  // where a plane or an edge of two is nearest; else a bound below. The way to the point has unit length.
  double distance(const Vec3& p, double height, uint32_t plane, Vec3& way) const;

 private:
  bool findPlanes(const RestMesh& rest, const CrackedMesh& mesh, std::span<const uint32_t> rootTets);
  bool holds(const CrackedMesh& mesh, std::span<const CutCell> cells, double slack) const;
  // By point, a bit for each plane that it is at least so high above.
  std::vector<uint64_t> above(std::span<const Vec3> points, double height) const;
  bool rulesOut(const RestMesh& rest, uint32_t tet, double slack) const;
  bool rulesOutOthers(const RestMesh& rest, std::span<const uint32_t> rootTets, double slack) const;

  std::vector<HalfSpace> planes_;  // ascending cracks
  double bend_ = 0;
};

}  // namespace sunder::fracture
