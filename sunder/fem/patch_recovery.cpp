// The weights of superconvergent patch recovery.
#include "sunder/fem/recovery.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <Eigen/Cholesky>

namespace sunder::fem {

namespace {

// A boundary vertex is one of a face that a single tetrahedron has.
std::vector<uint8_t> boundaryVertices(const geometry::TetMesh& mesh, const SparsePattern& pattern) {
  std::vector<uint8_t> result(mesh.positions.size(), 0);
  for (uint32_t t = 0; t < mesh.tets.size(); ++t)
    for (size_t side = 0; side < 4; ++side) {
      geometry::Triangle face;
      for (size_t k = 0, n = 0; k < 4; ++k)
        if (k != side) face[n++] = mesh.tets[t][k];
      bool shared = false;
      for (const uint32_t entry : pattern.star(face[0])) {
        const geometry::Tetrahedron& other = mesh.tets[entry / 4];
        const auto has = [&](uint32_t v) { return std::find(other.begin(), other.end(), v) != other.end(); };
        if (entry / 4 != t && has(face[1]) && has(face[2])) {
          shared = true;
          break;
        }
      }
      if (!shared)
        for (const uint32_t v : face) result[v] = 1;
    }
  return result;
}

// Tetrahedra around a vertex, ring by ring.
class Patch {
 public:
  Patch(const geometry::TetMesh& mesh, const SparsePattern& pattern)
      : mesh_(mesh),
        pattern_(pattern),
        tetMark_(mesh.tets.size(), kNoIndex),
        vertexMark_(mesh.positions.size(), kNoIndex) {}

  void start(uint32_t vertex) {
    centre_ = vertex;
    tets.clear();
    front_.assign(1, vertex);
    vertexMark_[vertex] = vertex;
    grow();
  }
  void grow() {
    const size_t first = tets.size();
    for (const uint32_t v : front_)
      for (const uint32_t entry : pattern_.star(v))
        if (tetMark_[entry / 4] != centre_) {
          tetMark_[entry / 4] = centre_;
          tets.push_back(entry / 4);
        }
    front_.clear();
    for (size_t k = first; k < tets.size(); ++k)
      for (const uint32_t v : mesh_.tets[tets[k]])
        if (vertexMark_[v] != centre_) {
          vertexMark_[v] = centre_;
          front_.push_back(v);
        }
  }
  std::vector<uint32_t> tets;

 private:
  const geometry::TetMesh& mesh_;
  const SparsePattern& pattern_;
  std::vector<uint32_t> tetMark_, vertexMark_, front_;
  uint32_t centre_ = 0;
};

Vec3 centroid(const geometry::TetMesh& mesh, uint32_t t) {
  const geometry::Tetrahedron& tet = mesh.tets[t];
  return 0.25 *
         (mesh.positions[tet[0]] + mesh.positions[tet[1]] + mesh.positions[tet[2]] + mesh.positions[tet[3]]);
}

// Weights of the linear fit's value at `at`; false where the centroids do not determine it well.
bool fitWeights(const geometry::TetMesh& mesh, const Vec3& at, std::span<const uint32_t> tets,
                std::vector<double>& weights) {
  constexpr size_t kFewest = 6;
  if (tets.size() < kFewest) return false;
  double squares = 0;
  for (const uint32_t t : tets) squares += (centroid(mesh, t) - at).squaredNorm();
  const double scale = std::sqrt(double(tets.size()) / squares);
  Mat4 normal = Mat4::Zero();
  const auto row = [&](uint32_t t) {
    const Vec3 r = scale * (centroid(mesh, t) - at);
    return Vec4(1, r.x(), r.y(), r.z());
  };
  for (const uint32_t t : tets) {
    const Vec4 p = row(t);
    normal += p * p.transpose();
  }
  const Eigen::LDLT<Mat4> ldlt(normal);
  constexpr double kFlattest = 1e-3;
  if (ldlt.info() != Eigen::Success || !(ldlt.vectorD().minCoeff() > kFlattest * ldlt.vectorD().maxCoeff()))
    return false;
  const Vec4 value = ldlt.solve(Vec4::UnitX());
  weights.resize(tets.size());
  double all = 0;
  for (size_t k = 0; k < tets.size(); ++k) {
    weights[k] = value.dot(row(tets[k]));
    all += std::abs(weights[k]);
  }
  return all <= PatchRecovery::kMostWeight;
}

}  // namespace

void PatchRecovery::build(const ElasticBody& body) {
  const geometry::TetMesh& mesh = body.mesh();
  const SparsePattern& pattern = body.pattern();
  const std::vector<uint8_t> boundary = boundaryVertices(mesh, pattern);
  Patch patch(mesh, pattern);
  std::vector<double> weights;
  offsets_.assign(1, 0);
  entries_.clear();
  means_ = 0;
  constexpr int kMostRings = 3;
  for (uint32_t i = 0; i < body.vertices(); ++i) {
    patch.start(i);
    int rings = 1;
    if (boundary[i]) patch.grow(), ++rings;
    bool found = fitWeights(mesh, mesh.positions[i], patch.tets, weights);
    for (; !found && rings < kMostRings; ++rings) {
      patch.grow();
      found = fitWeights(mesh, mesh.positions[i], patch.tets, weights);
    }
    if (found) {
      for (size_t k = 0; k < patch.tets.size(); ++k) entries_.push_back({patch.tets[k], weights[k]});
    } else {
      ++means_;
      double volume = 0;
      for (const uint32_t entry : pattern.star(i)) volume += body.elements()[entry / 4].volume;
      for (const uint32_t entry : pattern.star(i))
        entries_.push_back({entry / 4, body.elements()[entry / 4].volume / volume});
    }
    offsets_.push_back(static_cast<uint32_t>(entries_.size()));
  }
}

}  // namespace sunder::fem
