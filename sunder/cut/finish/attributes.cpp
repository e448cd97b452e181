#include "sunder/cut/finish/attributes.h"

#include "sunder/base/index.h"
#include "sunder/base/parallel.h"
#include "sunder/cut/kernel/flip_diagonals.h"
#include "sunder/geometry/mesh_view.h"
#include "sunder/geometry/rows.h"

#include <algorithm>
#include <cmath>

namespace sunder::cut {

namespace {

using geometry::PolygonSoup;
using geometry::u32;

// The faces that the result was made of.
class Sources {
 public:
  Sources(const PolygonSoup& mesh, const PolygonSoup& cutter, const CutResult& result)
      : soups_{&mesh, &cutter}, result_(result) {}

  const PolygonSoup& soupOf(size_t face) const { return *soups_[result_.fromCutter[face]]; }

  // Weights of the source face's corners at a corner of the result.
  std::vector<double> weights(size_t face, uint32_t vertex) const {
    const PolygonSoup& soup = soupOf(face);
    const auto ring = soup.face(result_.sourceFace[face]);
    const VertexFrom own = result_.fromCutter[face] ? VertexFrom::Cutter : VertexFrom::Mesh;
    if (result_.vertexFrom[vertex] == own)
      for (size_t i = 0; i < ring.size(); ++i)
        if (ring[i] == result_.sourceVertex[vertex]) {
          std::vector<double> one(ring.size(), 0.0);
          one[i] = 1;
          return one;
        }
    std::vector<Vec3> positions;
    for (const uint32_t v : ring) positions.push_back(soup.positions[v]);
    return meanValueWeights(flattened(positions), flatView(positions)(result_.mesh.positions[vertex]));
  }

 private:
  const PolygonSoup* soups_[2];
  const CutResult& result_;
};

template <class T>
T mean(const std::vector<double>& weights, const T* values) {
  for (size_t i = 0; i < weights.size(); ++i)
    if (weights[i] == 1) return values[i];
  T sum = values[0] * typename T::Scalar(weights[0]);
  for (size_t i = 1; i < weights.size(); ++i) sum += values[i] * typename T::Scalar(weights[i]);
  return sum;
}

void groupFaces(const PolygonSoup& mesh, const PolygonSoup& cutter, CutResult& result) {
  const PolygonSoup* const soups[] = {&mesh, &cutter};
  const char* const names[] = {"mesh", "cut"};
  uint32_t first[2] = {};
  for (size_t m = 0; m < 2; ++m) {
    first[m] = u32(result.mesh.groupNames.size());
    if (soups[m]->faceGroup.empty())
      result.mesh.groupNames.push_back(names[m]);
    else
      result.mesh.groupNames.insert(result.mesh.groupNames.end(), soups[m]->groupNames.begin(),
                                    soups[m]->groupNames.end());
  }
  for (size_t f = 0; f < result.sourceFace.size(); ++f) {
    const size_t m = result.fromCutter[f];
    result.mesh.faceGroup.push_back(
        first[m] + (soups[m]->faceGroup.empty() ? 0 : soups[m]->faceGroup[result.sourceFace[f]]));
  }
}

}  // namespace

std::vector<double> meanValueWeights(std::span<const Vec2> polygon, const Vec2& point) {
  const size_t n = polygon.size();
  std::vector<double> weights(n, 0.0);
  std::vector<double> tangent(n);
  for (size_t i = 0; i < n; ++i) {
    const size_t j = (i + 1) % n;
    const Vec2 a = polygon[i] - point, b = polygon[j] - point;
    const double ra = a.norm(), rb = b.norm();
    if (ra == 0) {
      weights.assign(n, 0.0);
      weights[i] = 1;
      return weights;
    }
    const double area = a.x() * b.y() - a.y() * b.x(), dot = a.dot(b);
    if (std::abs(area) <= 1e-12 * ra * rb && dot <= 0) {
      weights.assign(n, 0.0);
      weights[i] = rb / (ra + rb);
      weights[j] = ra / (ra + rb);
      return weights;
    }
    tangent[i] = area != 0 ? (ra * rb - dot) / area : 0;
  }
  double sum = 0;
  for (size_t i = 0; i < n; ++i) {
    weights[i] = (tangent[(i + n - 1) % n] + tangent[i]) / (polygon[i] - point).norm();
    sum += weights[i];
  }
  for (double& w : weights) w = sum != 0 ? w / sum : 1.0 / double(n);
  return weights;
}

void transferAttributes(const PolygonSoup& mesh, const PolygonSoup& cutter, CutResult& result) {
  PolygonSoup& out = result.mesh;
  const bool normals = !mesh.cornerNormals.empty() || !cutter.cornerNormals.empty();
  const bool uvs = !mesh.cornerUvs.empty() || !cutter.cornerUvs.empty();
  const bool colours = !mesh.vertexColours.empty() || !cutter.vertexColours.empty();
  if (!mesh.faceGroup.empty() || !cutter.faceGroup.empty()) groupFaces(mesh, cutter, result);
  if (!normals && !uvs && !colours) return;
  const Sources sources(mesh, cutter, result);
  if (normals) out.cornerNormals.resize(out.corners.size());
  if (uvs) out.cornerUvs.resize(out.corners.size());
  parallelFor(
      out.faceCount(),
      [&](size_t f) {
        if (!normals && !uvs) return;
        const PolygonSoup& soup = sources.soupOf(f);
        const uint32_t begin = soup.faceOffsets[result.sourceFace[f]];
        const Vec3 area = geometry::vectorArea(soup, result.sourceFace[f]), up = area.stableNormalized();
        const double turned = geometry::vectorArea(out, f).dot(area) < 0 ? -1 : 1;
        const Vec3 u = up.unitOrthogonal(), v = up.cross(u);
        for (uint32_t c = out.faceOffsets[f]; c < out.faceOffsets[f + 1]; ++c) {
          const std::vector<double> w = sources.weights(f, out.corners[c]);
          if (normals) {
            Vec3 n = soup.cornerNormals.empty() ? up : mean(w, soup.cornerNormals.data() + begin);
            // Only mixed ones lose their length.
            if (std::find(w.begin(), w.end(), 1.0) == w.end()) n = n.stableNormalized();
            out.cornerNormals[c] = turned * n;
          }
          if (uvs) {
            const Vec3& p = out.positions[out.corners[c]];
            out.cornerUvs[c] =
                soup.cornerUvs.empty() ? Vec2(p.dot(u), p.dot(v)) : mean(w, soup.cornerUvs.data() + begin);
          }
        }
      },
      256);
  if (!colours) return;
  out.vertexColours.assign(out.positions.size(), Vec4f::Ones());
  // A vertex of the seam is in faces of both; the mesh's come first, and its colour wins.
  std::vector<uint8_t> done(out.positions.size(), 0);
  std::vector<Vec4f> ring;
  for (size_t f = 0; f < out.faceCount(); ++f) {
    const PolygonSoup& soup = sources.soupOf(f);
    if (soup.vertexColours.empty()) continue;
    for (const uint32_t v : out.face(f)) {
      if (done[v]) continue;
      done[v] = 1;
      ring.clear();
      for (const uint32_t s : soup.face(result.sourceFace[f])) ring.push_back(soup.vertexColours[s]);
      out.vertexColours[v] = mean(sources.weights(f, v), ring.data());
    }
  }
}

}  // namespace sunder::cut
