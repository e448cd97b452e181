#include "sunder/fem/parts/part_points.h"

#include "sunder/base/error.h"
#include "sunder/geometry/tet_mesh.h"

#include <algorithm>
#include <cmath>

namespace sunder::fem {

PartPoints::PartPoints(const CutMesh& cut)
    : cut_(cut),
      locator_(cut.mesh()),
      boundary_(geometry::boundarySurface(cut.mesh())),
      surface_(boundary_.surface) {}

// The part whose surface winds around the point most: solid angles (Van Oosterom and Strackee 1983). Points
// between two parts have half a turn of each, and go to the first.
uint32_t PartPoints::partOf(uint32_t tet, const Vec3& at) const {
  const uint32_t first = cut_.firstPart(tet);
  if (cut_.firstPart(tet + 1) - first == 1) return first;
  cut::SheetsCutter cutter(cut_.sheets());
  const cut::SheetsCut& cut = cutter.cut(cut_.cornersOf(tet), cut_.facesNear(tet));
  std::vector<double> angle(cut.fragments.size(), 0);
  for (const cut::TetPiece& p : cut.pieces) {
    const auto ring = cut.cornersOf(p);
    double sum = 0;
    for (size_t k = 2; k < ring.size(); ++k) {
      const Vec3 a = ring[0] - at, b = ring[k - 1] - at, c = ring[k] - at;
      const double la = a.norm(), lb = b.norm(), lc = c.norm();
      sum += std::atan2(a.dot(b.cross(c)), la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb);
    }
    angle[p.fragment] += p.reversed ? -sum : sum;
  }
  uint32_t best = kNoIndex;
  for (uint32_t f = 0; f < angle.size(); ++f)
    if (!cut_.isEmpty(cut_.parts()[first + f]) && (best == kNoIndex || angle[f] > angle[best] + 1e-9))
      best = f;
  return first + (best == kNoIndex ? 0 : best);
}

PartPoints::Place PartPoints::place(const Vec3& point) const {
  const tet::TetLocation found = locator_.locate(point);
  Vec3 at = Vec3::Zero();
  for (size_t k = 0; k < 4; ++k)
    at += found.barycentric[Eigen::Index(k)] * cut_.mesh().positions[cut_.mesh().tets[found.tet][k]];
  return {partOf(found.tet, found.inside ? point : at), found.barycentric, found.inside ? 0 : found.distance};
}

double PartPoints::addForce(const Vec3& point, const Vec3& force, std::vector<NodalForce>& forces) const {
  if (!point.allFinite() || !force.allFinite())
    throw Error(ErrorKind::Usage, "a force or the point it acts at is not finite");
  const spatial::ClosestPoint closest = surface_.closest(point);
  const uint32_t tet = boundary_.faceTet[closest.triangle];
  const geometry::Triangle& triangle = boundary_.surface.triangles[closest.triangle];
  Vec3 at = Vec3::Zero();
  for (size_t k = 0; k < 3; ++k)
    at += closest.barycentric[Eigen::Index(k)] * boundary_.surface.positions[triangle[k]];
  const ElementPart& part = cut_.parts()[partOf(tet, at)];
  const geometry::Tetrahedron& vertices = cut_.mesh().tets[tet];
  for (size_t k = 0; k < 3; ++k) {
    const double weight = closest.barycentric[Eigen::Index(k)];
    if (weight == 0) continue;
    const auto corner = std::find(vertices.begin(), vertices.end(), boundary_.vertexSource[triangle[k]]);
    forces.push_back({part.nodes[size_t(corner - vertices.begin())], weight * force});
  }
  return std::sqrt(closest.squaredDistance);
}

std::vector<ProbeValue> probe(const PartPoints& at, const CutMesh& cut, const PartMesh& parts,
                              std::span<const Vec3> displacements, const StressRecovery& recovery,
                              std::span<const Vec3> points) {
  std::vector<ProbeValue> values(points.size());
  std::vector<Stress> stresses(points.size());
  for (size_t i = 0; i < points.size(); ++i) {
    const PartPoints::Place place = at.place(points[i]);
    values[i].tet = static_cast<uint32_t>(
        std::lower_bound(parts.partOf.begin(), parts.partOf.end(), place.part) - parts.partOf.begin());
    values[i].distance = place.distance;
    for (size_t k = 0; k < 4; ++k) {
      const uint32_t node = cut.parts()[place.part].nodes[k];
      values[i].displacement += place.weights[Eigen::Index(k)] * displacements[node];
      values[i].stress += place.weights[Eigen::Index(k)] * recovery.vertices()[node];
    }
    stresses[i] = values[i].stress;
  }
  std::vector<Principal> principals(points.size());
  principalStresses(stresses, {}, principals);
  for (size_t i = 0; i < points.size(); ++i) values[i].principal = principals[i];
  return values;
}

}  // namespace sunder::fem
