#include "sunder/sdf/mesh_field.h"

#include "sunder/base/bounds.h"
#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/geometry/adjacency.h"
#include "sunder/geometry/components.h"
#include "sunder/geometry/mass_properties.h"
#include "sunder/geometry/normals.h"
#include "sunder/spatial/narrow_phase.h"
#include "sunder/spatial/overlap_pairs.h"

#include <cmath>

namespace sunder::sdf {

using geometry::FeatureKind;
using geometry::TriMesh;
using spatial::ClosestPoint;

namespace {

// Below this share of the distance the dot product with a unit normal says nothing.
constexpr double kDoubtful = 1e-7;
constexpr size_t kGrain = 256;

std::string count(size_t n, const char* one, const char* many) {
  return std::to_string(n) + " " + (n == 1 ? one : many);
}

// Signed volume of each component.
std::vector<double> volumes(const TriMesh& mesh, const geometry::Components& parts) {
  std::vector<double> volume(parts.count, 0.0);
  const Vec3 origin = boundsOf(mesh.positions).center();
  for (size_t t = 0; t < mesh.triangles.size(); ++t) {
    const geometry::Triangle& v = mesh.triangles[t];
    const Vec3 a = mesh.positions[v[0]] - origin, b = mesh.positions[v[1]] - origin,
               c = mesh.positions[v[2]] - origin;
    volume[parts.label[t]] += a.dot(b.cross(c)) / 6;
  }
  return volume;
}

// Parts whose orientation contradicts what surrounds them: a solid part inside a solid, a cavity in nothing.
size_t misplaced(const TriMesh& mesh, const geometry::Components& parts, const std::vector<double>& volume,
                 double orientation, const spatial::WindingNumber& winding) {
  if (parts.count < 2) return 0;
  std::vector<uint8_t> seen(parts.count, 0);
  size_t wrong = 0;
  for (size_t t = 0; t < mesh.triangles.size(); ++t) {
    const uint32_t part = parts.label[t];
    if (seen[part]) continue;
    const geometry::Triangle& v = mesh.triangles[t];
    const Vec3 a = mesh.positions[v[0]], b = mesh.positions[v[1]], c = mesh.positions[v[2]];
    if (!((b - a).cross(c - a).squaredNorm() > 0)) continue;
    seen[part] = 1;
    // On a face the part itself counts one half of its orientation; the rest is what surrounds it.
    const double own = volume[part] > 0 ? 0.5 : -0.5;
    const double around = orientation * (winding.exact((a + b + c) / 3) - own);
    const double expected = orientation * volume[part] > 0 ? 0 : 1;
    wrong += std::abs(around - expected) > 0.25;
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
  query_ = std::make_unique<spatial::MeshQuery>(mesh);
  winding_ = std::make_unique<spatial::WindingNumber>(*query_);
  triangles_ = mesh.triangles;
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
    const std::vector<double> volume = volumes(mesh, parts);
    double total = 0;
    for (const double v : volume) total += v;
    sign_ = total < 0 ? -1 : 1;
    report_.turned = total < 0;
    report_.misplacedShells = misplaced(mesh, parts, volume, sign_, *winding_);
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
  return query_->bytes() + winding_->bytes() + triangles_.size() * sizeof(geometry::Triangle) +
         edgeOfCorner_.size() * sizeof(uint32_t) +
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
  double sign;
  if (distance == 0) {
    result.gradient = sign_ * *normal;
    return result;
  }
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
  if (points.size() != out.size()) throw Error(ErrorKind::Usage, "a field needs as many results as points");
  ClosestPoint closest[kGrain];
  for (size_t begin = 0; begin < points.size(); begin += kGrain) {
    const size_t size = std::min(kGrain, points.size() - begin);
    query_->closestInOrder(points.subspan(begin, size), {closest, size});
    for (size_t i = 0; i < size; ++i) out[begin + i] = signedNearest(points[begin + i], closest[i]);
  }
}

void MeshField::values(std::span<const Vec3> points, std::span<double> out) const {
  if (points.size() != out.size()) throw Error(ErrorKind::Usage, "a field needs as many results as points");
  Nearest found[kGrain];
  for (size_t begin = 0; begin < points.size(); begin += kGrain) {
    const size_t size = std::min(kGrain, points.size() - begin);
    nearest(points.subspan(begin, size), {found, size});
    for (size_t i = 0; i < size; ++i) out[begin + i] = found[i].distance;
  }
}

void MeshField::samples(std::span<const Vec3> points, std::span<FieldSample> out) const {
  if (points.size() != out.size()) throw Error(ErrorKind::Usage, "a field needs as many results as points");
  Nearest found[kGrain];
  for (size_t begin = 0; begin < points.size(); begin += kGrain) {
    const size_t size = std::min(kGrain, points.size() - begin);
    nearest(points.subspan(begin, size), {found, size});
    for (size_t i = 0; i < size; ++i) out[begin + i] = {found[i].distance, found[i].gradient};
  }
}

}  // namespace sunder::sdf
