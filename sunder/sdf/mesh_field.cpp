#include "sunder/sdf/mesh_field.h"

#include "sunder/base/bounds.h"
#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/stop.h"
#include "sunder/base/work.h"
#include "sunder/geometry/adjacency.h"
#include "sunder/geometry/components.h"
#include "sunder/geometry/mass_properties.h"
#include "sunder/geometry/normals.h"
#include "sunder/geometry/vector_area.h"
#include "sunder/spatial/pairs/narrow_phase.h"
#include "sunder/spatial/pairs/overlap_pairs.h"
#include "sunder/spatial/query/ray_queries.h"

#include <cmath>

namespace sunder::sdf {

using geometry::FeatureKind;
using geometry::TriMesh;
using spatial::ClosestPoint;

namespace {

// Below this share of the distance the dot product with a unit normal says nothing.
constexpr double kDoubtful = 1e-7;
constexpr double kOnSurface = 1e-15;
constexpr size_t kMeshFieldGrain = 256;

std::string count(size_t n, const char* one, const char* many) {
  return std::to_string(n) + " " + (n == 1 ? one : many);
}

// Parts whose orientation contradicts what surrounds them: on either side of a face that bounds a solid the
// winding number is 0 and 1, on a solid part inside a solid 1 and 2, on a cavity in nothing 0 and -1.
size_t misplaced(const TriMesh& mesh, const geometry::Components& parts, double orientation,
                 const spatial::WindingNumber& winding) {
  if (parts.count < 2) return 0;
  std::vector<uint8_t> seen(parts.count, 0);
  size_t wrong = 0;
  for (size_t t = 0; t < mesh.triangles.size(); ++t) {
    const uint32_t part = parts.label[t];
    if (seen[part]) continue;
    const geometry::Triangle& v = mesh.triangles[t];
    const Vec3 a = mesh.positions[v[0]], b = mesh.positions[v[1]], c = mesh.positions[v[2]];
    const Vec3 normal = geometry::twiceVectorArea(a, b, c);
    const double size = std::sqrt(normal.norm());
    if (!(size > 0)) continue;
    seen[part] = 1;
    bool fits = true;
    for (const double side : {-1e-3, 1e-3}) {
      const double w = orientation * winding.exact((a + b + c) / 3 + side / size * normal);
      fits = fits && (std::abs(w) < 0.25 || std::abs(w - 1) < 0.25);
    }
    wrong += !fits;
  }
  return wrong;
}

}  // namespace

std::vector<std::string> SignReport::problems() const {
  std::vector<std::string> list;
  const auto add = [&](size_t n, const char* one, const char* many) {
    if (n > 0) list.push_back(count(n, one, many));
  };
  add(openEdges, "edge has only one face", "edges have only one face");
  add(crowdedEdges, "edge has more than two faces", "edges have more than two faces");
  add(flippedEdges, "edge has faces that are turned against each other",
      "edges have faces that are turned against each other");
  add(crossings, "pair of triangles crosses", "pairs of triangles cross");
  add(misplacedShells, "closed part is oriented against the parts around it",
      "closed parts are oriented against the parts around them");
  if (turned) list.emplace_back("the mesh is inside out and was turned");
  return list;
}

MeshField::MeshField(const TriMesh& mesh, SignRule rule) : bounds_(boundsOf(mesh.positions)) {
  if (mesh.triangles.empty())
    throw Error(ErrorKind::Geometry, "a distance field needs a mesh with triangles");
  const Work work("looking at the mesh");
  query_ = std::make_unique<spatial::MeshQuery>(mesh);
  winding_ = std::make_unique<spatial::WindingNumber>(*query_);
  triangles_ = mesh.triangles;
  positions_ = mesh.positions;
  inspect(mesh, rule);
}

void MeshField::inspect(const TriMesh& mesh, SignRule rule) {
  const geometry::MeshView view(mesh);
  const geometry::EdgeAdjacency edges = geometry::edgeAdjacency(view);
  for (size_t e = 0; e < edges.size(); ++e) {
    const size_t faces = edges.uses.row(e).size();
    report_.openEdges += faces == 1;
    report_.crowdedEdges += faces > 2;
    report_.flippedEdges += faces == 2 && !geometry::isRegular(view, edges, e);
  }
  const geometry::Components parts = geometry::faceComponents(view, edges);
  report_.components = parts.count;
  const bool closed = report_.openEdges + report_.crowdedEdges + report_.flippedEdges == 0;
  if (closed) {
    report_.turned = geometry::massProperties(view).volume < 0;
    sign_ = report_.turned ? -1 : 1;
    report_.misplacedShells = misplaced(mesh, parts, sign_, *winding_);
  }
  spatial::PairList pairs;
  spatial::selfOverlapPairs(query_->tree(), pairs);
  report_.crossings = spatial::selfIntersectingPairs({mesh.positions, mesh.triangles}, pairs.pairs()).size();

  const bool clean = closed && report_.crossings == 0 && report_.misplacedShells == 0;
  report_.rule = rule != SignRule::Automatic ? rule : clean ? SignRule::PseudoNormal : SignRule::Winding;
  faceNormals_ = geometry::faceNormals(view);
  edgeNormals_ = geometry::edgeNormals(view, edges, faceNormals_);
  vertexNormals_ = geometry::vertexNormals(view, faceNormals_);
  edgeOfCorner_ = edges.cornerEdge;
}

size_t MeshField::bytes() const {
  return query_->bytes() + winding_->bytes() + positions_.size() * sizeof(Vec3) +
         triangles_.size() * sizeof(geometry::Triangle) + edgeOfCorner_.size() * sizeof(uint32_t) +
         (faceNormals_.size() + edgeNormals_.size() + vertexNormals_.size()) * sizeof(Vec3);
}

MeshField::Nearest MeshField::signedNearest(const Vec3& point, const ClosestPoint& closest) const {
  Nearest result;
  result.closest = closest;
  const double distance = std::sqrt(closest.squaredDistance);
  const Vec3 way = point - closest.point;
  const size_t t = closest.triangle;
  const Vec3* normal = &faceNormals_[t];
  if (closest.feature.kind == FeatureKind::Vertex) {
    normal = &vertexNormals_[triangles_[t][closest.feature.index]];
  } else if (closest.feature.kind == FeatureKind::Edge) {
    const uint32_t edge = edgeOfCorner_[3 * t + closest.feature.index];
    if (edge != kNoIndex) normal = &edgeNormals_[edge];
  }
  const double side = sign_ * way.dot(*normal);
  // On the surface up to rounding: the way there is noise.
  const bool on =
      distance <= kOnSurface * (point.cwiseAbs().maxCoeff() + closest.point.cwiseAbs().maxCoeff());
  double sign;
  if (on && !normal->isZero(0)) {
    result.distance = side < 0 ? -distance : distance;
    result.gradient = sign_ * *normal;
    return result;
  }
  if (distance == 0) return result;
  if (report_.rule == SignRule::PseudoNormal && std::abs(side) > kDoubtful * distance) {
    sign = side < 0 ? -1 : 1;
  } else {
    const bool inside = report_.turned ? winding_->fast(point) < -0.5 : winding_->inside(point);
    sign = inside ? -1 : 1;
  }
  result.distance = sign * distance;
  result.gradient = way * (sign / distance);
  return result;
}

void MeshField::nearest(std::span<const Vec3> points, std::span<Nearest> out) const {
  requireSameSize(points.size(), out.size());
  ClosestPoint closest[kMeshFieldGrain];
  for (size_t begin = 0; begin < points.size(); begin += kMeshFieldGrain) {
    const size_t size = std::min(kMeshFieldGrain, points.size() - begin);
    query_->closestInOrder(points.subspan(begin, size), {closest, size});
    checkStop();  // where many triangles are in one place a point takes milliseconds
    for (size_t i = 0; i < size; ++i) out[begin + i] = signedNearest(points[begin + i], closest[i]);
  }
}

void MeshField::values(std::span<const Vec3> points, std::span<double> out) const {
  requireSameSize(points.size(), out.size());
  Nearest found[kMeshFieldGrain];
  for (size_t begin = 0; begin < points.size(); begin += kMeshFieldGrain) {
    const size_t size = std::min(kMeshFieldGrain, points.size() - begin);
    nearest(points.subspan(begin, size), {found, size});
    for (size_t i = 0; i < size; ++i) out[begin + i] = found[i].distance;
  }
}

void MeshField::samples(std::span<const Vec3> points, std::span<FieldSample> out) const {
  requireSameSize(points.size(), out.size());
  Nearest found[kMeshFieldGrain];
  for (size_t begin = 0; begin < points.size(); begin += kMeshFieldGrain) {
    const size_t size = std::min(kMeshFieldGrain, points.size() - begin);
    nearest(points.subspan(begin, size), {found, size});
    for (size_t i = 0; i < size; ++i) out[begin + i] = {found[i].distance, found[i].gradient};
  }
}

// Rays from points spread over the faces, about a thickness apart, to the next surface on either side.
std::vector<Vec3> MeshField::thinPlaces(double thickness) const {
  constexpr double kMostAlongAFace = 64;
  constexpr double kMostRays = 4e6;  // of a mesh: beyond that they are farther apart
  // Rays start at the centres of n * n smaller triangles, those upright.
  const auto alongFace = [&](size_t t) {
    const geometry::Triangle& v = triangles_[t];
    const Vec3 &a = positions_[v[0]], &b = positions_[v[1]], &c = positions_[v[2]];
    const double longest =
        std::sqrt(std::max({(b - a).squaredNorm(), (c - b).squaredNorm(), (a - c).squaredNorm()}));
    return std::max(1.0, std::min(std::ceil(longest / thickness), kMostAlongAFace));
  };
  double wanted = 0;
  for (size_t t = 0; t < triangles_.size(); ++t) wanted += alongFace(t) * (alongFace(t) + 1);
  const double fewer = std::min(1.0, std::sqrt(kMostRays / std::max(wanted, 1.0)));
  std::vector<spatial::Ray> rays;
  for (size_t t = 0; t < triangles_.size(); ++t) {
    const geometry::Triangle& v = triangles_[t];
    const Vec3 &a = positions_[v[0]], &b = positions_[v[1]], &c = positions_[v[2]];
    const Vec3& normal = faceNormals_[t];
    if (normal.isZero(0)) continue;
    const auto n = static_cast<uint32_t>(std::max(fewer * alongFace(t), 1.0));
    for (uint32_t i = 0; i < n; ++i)
      for (uint32_t j = 0; i + j < n; ++j) {
        const double u = (i + 1.0 / 3) / n, w = (j + 1.0 / 3) / n;
        const Vec3 p = a + u * (b - a) + w * (c - a);
        for (const double side : {-1.0, 1.0}) rays.push_back({p, side * normal, 1e-6 * thickness, thickness});
      }
  }
  std::vector<spatial::RayHit> hits(rays.size());
  spatial::firstHits(*query_, rays, hits);
  std::vector<Vec3> places;
  for (size_t i = 0; i < rays.size(); ++i)
    if (hits[i]) places.push_back(rays[i].origin + 0.5 * hits[i].t * rays[i].direction);
  return places;
}

}  // namespace sunder::sdf
