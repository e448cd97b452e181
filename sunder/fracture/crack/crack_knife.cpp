#include "sunder/fracture/crack/crack_knife.h"

#include "sunder/geometry/adjacency.h"
#include "sunder/geometry/normals.h"
#include "sunder/spatial/query/mesh_queries.h"

#include <algorithm>
#include <cmath>

namespace sunder::fracture {

namespace {

constexpr int kSamples = 10, kRounds = 24, kEvenings = 3;

// Distances to the part of a closed mesh that lies near a box. Signs are those of the normals of the nearest
// feature: rough where the nearest triangle is not among them, which only makes a knife that is refused.
class NearbySurface {
 public:
  NearbySurface(const geometry::TriMesh& mesh, const Box3& box) {
    std::vector<uint32_t> number(mesh.positions.size(), kNoIndex);
    for (geometry::Triangle t : mesh.triangles) {
      Box3 own;
      for (const uint32_t v : t) own.grow(mesh.positions[v]);
      if (!overlap(own, box)) continue;
      for (uint32_t& v : t) {
        if (number[v] == kNoIndex) {
          number[v] = uint32_t(near_.positions.size());
          near_.positions.push_back(mesh.positions[v]);
        }
        v = number[v];
      }
      near_.triangles.push_back(t);
    }
    query_ = spatial::MeshQuery(near_);
    const geometry::MeshView view(near_);
    const geometry::EdgeAdjacency edges = geometry::edgeAdjacency(view);
    faceNormals_ = geometry::faceNormals(view);
    edgeNormals_ = geometry::edgeNormals(view, edges, faceNormals_);
    vertexNormals_ = geometry::vertexNormals(view, faceNormals_);
    edgeOfCorner_ = edges.cornerEdge;
  }

  struct Sample {
    double value = Box3::kInfinity;
    Vec3 gradient = Vec3::Zero();
  };
  std::vector<Sample> samples(std::span<const Vec3> points) const {
    std::vector<Sample> out(points.size());
    if (near_.triangles.empty()) return out;
    std::vector<spatial::ClosestPoint> closest(points.size());
    query_.closestInOrder(points, closest);
    for (size_t i = 0; i < points.size(); ++i) {
      const Vec3 way = points[i] - closest[i].point, normal = normalAt(closest[i]);
      const double distance = std::sqrt(closest[i].squaredDistance), sign = way.dot(normal) < 0 ? -1 : 1;
      out[i].value = sign * distance;
      out[i].gradient = distance > 0 ? Vec3(way * (sign / distance)) : normal;
    }
    return out;
  }

 private:
  Vec3 normalAt(const spatial::ClosestPoint& at) const {
    if (at.feature.kind == geometry::FeatureKind::Vertex)
      return vertexNormals_[near_.triangles[at.triangle][at.feature.index]];
    if (at.feature.kind == geometry::FeatureKind::Edge)
      if (const uint32_t edge = edgeOfCorner_[3 * size_t(at.triangle) + at.feature.index]; edge != kNoIndex)
        return edgeNormals_[edge];
    return faceNormals_[at.triangle];
  }

  geometry::TriMesh near_;
  spatial::MeshQuery query_;
  std::vector<uint32_t> edgeOfCorner_;
  std::vector<Vec3> faceNormals_, edgeNormals_, vertexNormals_;
};

// Which way rims go on: the shortest one out of the mesh, seen from a little further on, mixed with that of
// the sheet. Where cracks cross and a piece beyond is gone already, the way straight on would run along the
// face of the next one; this one turns away from it. Made even along the rim, so that a skirt does not cross
// itself.
std::vector<Vec3> directions(const CrackSheet& sheet, const NearbySurface& surface,
                             const KnifeSettings& settings) {
  std::vector<Vec3> out, sum;
  for (const CrackSheet::RimVertex& v : sheet.rim)
    out.push_back(sheet.mesh.positions[v.vertex] + 0.5 * settings.margin * v.outward);
  const std::vector<NearbySurface::Sample> shortest = surface.samples(out);
  for (size_t r = 0; r < out.size(); ++r)
    out[r] = (shortest[r].gradient + settings.straight * sheet.rim[r].outward).normalized();
  for (int round = 0; round < kEvenings; ++round) {
    sum = out;
    for (const auto& [a, b] : sheet.rimEdges) {
      sum[a] += 0.5 * out[b];
      sum[b] += 0.5 * out[a];
    }
    for (size_t r = 0; r < out.size(); ++r)
      if (sum[r].squaredNorm() > 0) out[r] = sum[r].normalized();
  }
  return out;
}

}  // namespace

geometry::TriMesh crackKnife(const CrackSheet& sheet, const geometry::TriMesh& mesh,
                             const KnifeSettings& settings) {
  Box3 box;
  for (const CrackSheet::RimVertex& v : sheet.rim) box.grow(sheet.mesh.positions[v.vertex]);
  box.lower.array() -= settings.farthest;
  box.upper.array() += settings.farthest;
  const NearbySurface surface(mesh, box);
  const double margin = settings.margin;
  geometry::TriMesh out = sheet.mesh;
  const auto first = uint32_t(out.positions.size());
  const std::vector<Vec3> outward = directions(sheet, surface, settings);
  for (size_t r = 0; r < outward.size(); ++r)
    out.positions.push_back(sheet.mesh.positions[sheet.rim[r].vertex] + margin * outward[r]);
  // What is still inside goes on along its own shortest way.
  struct Push {
    double way = 0;
    Vec3 along = Vec3::Zero();
  };
  std::vector<Push> pushes(outward.size());
  std::vector<uint8_t> moved(outward.size(), 1);
  std::vector<uint32_t> edges;  // with an end that moved
  std::vector<Vec3> points;
  for (int round = 0; round < kRounds; ++round) {
    edges.clear();
    points.clear();
    for (uint32_t e = 0; e < sheet.rimEdges.size(); ++e) {
      const auto& [a, b] = sheet.rimEdges[e];
      if (!moved[a] && !moved[b]) continue;
      edges.push_back(e);
      for (int k = 0; k < kSamples; ++k) {  // the other end is the next edge's
        const double part = double(k) / kSamples;
        points.push_back((1 - part) * out.positions[first + a] + part * out.positions[first + b]);
      }
    }
    const std::vector<NearbySurface::Sample> samples = surface.samples(points);
    std::fill(pushes.begin(), pushes.end(), Push{});
    bool some = false;
    for (size_t i = 0; i < samples.size(); ++i) {
      const NearbySurface::Sample& at = samples[i];
      if (at.value >= 0.5 * margin) continue;
      const auto& [a, b] = sheet.rimEdges[edges[i / kSamples]];
      const double way = margin - at.value;
      if (way > pushes[a].way) pushes[a] = {way, at.gradient};
      if (i % kSamples > 0 && way > pushes[b].way) pushes[b] = {way, at.gradient};
      some = true;
    }
    if (!some) break;
    for (size_t r = 0; r < pushes.size(); ++r) {
      moved[r] = pushes[r].way > 0;
      if (!moved[r]) continue;
      const Vec3 from = sheet.mesh.positions[sheet.rim[r].vertex];
      Vec3& p = out.positions[first + r];
      p += pushes[r].way * (pushes[r].along + settings.straight * outward[r]).normalized();
      if ((p - from).norm() > settings.farthest) p = from + settings.farthest * (p - from).normalized();
    }
  }
  for (const auto& [a, b] : sheet.rimEdges) {
    const uint32_t u = sheet.rim[a].vertex, v = sheet.rim[b].vertex;
    out.triangles.push_back({v, u, first + a});
    out.triangles.push_back({v, first + a, first + b});
  }
  return out;
}

}  // namespace sunder::fracture
