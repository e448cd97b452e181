#include "sunder/soft/embed/skin.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/soft/embed/skin_kernel.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sunder::soft {

namespace {

constexpr size_t kVerticesAtOnce = 32768;  // vertices

}  // namespace

Skin::Skin(const EmbeddedSurface& surface, const Cage& cage) {
  const size_t tets = cage.rest.tets.size(), n = surface.weights.size();
  if (surface.vertexStart.size() != tets + 1 || surface.vertexStart.back() != n ||
      surface.covectors.size() != n || surface.normals.size() != n)
    throw Error(ErrorKind::Usage, "the embedded surface is of another cage");
  vertices_ = uint32_t(cage.rest.positions.size());
  first_ = surface.vertexStart;
  order_.resize(tets);
  for (auto& w : weights_) w.resize(n);
  for (auto& a : covectors_) a.resize(n);
  for (auto& a : normals_) a.resize(n);
  restEdges_.resize(tets);
  parallelFor(
      tets,
      [&](size_t t) {
        const geometry::Tetrahedron& tet = cage.rest.tets[t];
        for (size_t k = 0; k < 4; ++k) {
          size_t rank = 0;
          for (size_t j = 0; j < 4; ++j) rank += tet[j] < tet[k];
          order_[t][rank] = uint8_t(k);
        }
        for (int k = 0; k < 3; ++k)
          restEdges_[t].col(k) = cage.rest.positions[tet[size_t(k) + 1]] - cage.rest.positions[tet[0]];
        for (size_t v = first_[t]; v < first_[t + 1]; ++v) {
          for (size_t k = 0; k < 4; ++k) weights_[k][v] = float(surface.weights[v][order_[t][k]]);
          for (size_t k = 0; k < 3; ++k) normals_[k][v] = surface.normals[v][int(k)];
          // Only the direction counts: of one length, so that no size of body leaves the range of float.
          const Vec3f& a = surface.covectors[v];
          const float largest = a.cwiseAbs().maxCoeff();
          for (size_t k = 0; k < 3; ++k) covectors_[k][v] = largest > 0 ? a[int(k)] / largest : 0.0f;
        }
      },
      16);
}

void Skin::check(std::span<const Vec3> positions, std::span<const geometry::Tetrahedron> tets,
                 size_t out) const {
  if (tets.size() != order_.size() || positions.size() < vertices_ || out != vertexCount())
    throw Error(
        ErrorKind::Usage,
        fmt::format(
            "a skin of {} vertices in {} tetrahedra and a cage of {} vertices was given {}, {} and {}",
            vertexCount(), order_.size(), vertices_, out, tets.size(), positions.size()));
  for (size_t t = 0; t < tets.size(); ++t)
    for (const uint32_t v : tets[t])
      if (v >= positions.size())
        throw Error(ErrorKind::Usage,
                    fmt::format("tetrahedron {} has the corner {}, but there are {} vertices", t, v,
                                positions.size()));
}

void Skin::place(std::span<const Vec3> positions, std::span<const geometry::Tetrahedron> tets,
                 const Vec3& origin, std::span<Vec3f> out) const {
  check(positions, tets, out.size());
  std::vector<float> corners(12 * tets.size());
  for (size_t t = 0; t < tets.size(); ++t)
    for (size_t k = 0; k < 4; ++k) {
      const Vec3 p = positions[tets[t][order_[t][k]]] - origin;
      for (size_t axis = 0; axis < 3; ++axis) corners[12 * t + 3 * k + axis] = float(p[int(axis)]);
    }
  const float* weights[4] = {weights_[0].data(), weights_[1].data(), weights_[2].data(), weights_[3].data()};
  parallelBlocks(out.size(), kVerticesAtOnce, [&](size_t begin, size_t end) {
    const size_t tet = size_t(std::upper_bound(first_.begin(), first_.end(), begin) - first_.begin()) - 1;
    kernels::place({first_.data(), tet, begin, end}, weights, corners.data(), out.data()->data());
  });
}

void Skin::normals(std::span<const Vec3> positions, std::span<const geometry::Tetrahedron> tets,
                   std::span<Vec3f> out) const {
  check(positions, tets, out.size());
  std::vector<float> cofactors(9 * tets.size());
  for (size_t t = 0; t < tets.size(); ++t) {
    const Vec3& x0 = positions[tets[t][0]];
    const Vec3 e1 = positions[tets[t][1]] - x0, e2 = positions[tets[t][2]] - x0,
               e3 = positions[tets[t][3]] - x0;
    Vec3 c[3] = {e2.cross(e3), e3.cross(e1), e1.cross(e2)};
    // Of length one, as the covectors are.
    const double largest = std::sqrt(std::max({c[0].squaredNorm(), c[1].squaredNorm(), c[2].squaredNorm()}));
    const double sign = e1.dot(c[0]) < 0 ? -1 : 1;
    for (size_t k = 0; k < 3; ++k)
      for (size_t axis = 0; axis < 3; ++axis)
        cofactors[9 * t + 3 * k + axis] = largest > 0 ? float(sign * c[k][int(axis)] / largest) : 0.0f;
  }
  const float* covectors[3] = {covectors_[0].data(), covectors_[1].data(), covectors_[2].data()};
  parallelBlocks(out.size(), kVerticesAtOnce, [&](size_t begin, size_t end) {
    const size_t tet = size_t(std::upper_bound(first_.begin(), first_.end(), begin) - first_.begin()) - 1;
    kernels::normals({first_.data(), tet, begin, end}, covectors, cofactors.data(), out.data()->data());
  });
}

void Skin::smoothNormals(std::span<const Vec3> positions, std::span<const geometry::Tetrahedron> tets,
                         std::span<Vec3f> out) const {
  check(positions, tets, out.size());
  std::vector<Mat3> sum(positions.size(), Mat3::Zero());
  std::vector<double> volume(positions.size(), 0);
  for (size_t t = 0; t < tets.size(); ++t) {
    Mat3 edges;
    for (int k = 0; k < 3; ++k) edges.col(k) = positions[tets[t][size_t(k) + 1]] - positions[tets[t][0]];
    Mat3 cofactors;
    for (int k = 0; k < 3; ++k) cofactors.col(k) = edges.col((k + 1) % 3).cross(edges.col((k + 2) % 3));
    const double sign = edges.col(0).dot(cofactors.col(0)) < 0 ? -1 : 1;
    // The cofactor matrix of the deformation, times six volumes at rest.
    const Mat3 map = sign * cofactors * restEdges_[t].transpose();
    const double weight = restEdges_[t].col(0).dot(restEdges_[t].col(1).cross(restEdges_[t].col(2)));
    for (const uint32_t v : tets[t]) {
      sum[v] += map;
      volume[v] += weight;
    }
  }
  // One scale for the whole body, so that both sides of a face have the same numbers.
  double largest = 0;
  for (size_t v = 0; v < sum.size(); ++v) {
    if (volume[v] > 0) sum[v] /= volume[v];
    largest = std::max(largest, sum[v].cwiseAbs().maxCoeff());
  }
  std::vector<float> maps(36 * tets.size());
  for (size_t t = 0; t < tets.size(); ++t)
    for (size_t k = 0; k < 4; ++k) {
      const Mat3& m = sum[tets[t][order_[t][k]]];
      for (size_t i = 0; i < 9; ++i)
        maps[36 * t + 9 * k + i] = largest > 0 ? float(m(int(i / 3), int(i % 3)) / largest) : 0.0f;
    }
  const float* weights[4] = {weights_[0].data(), weights_[1].data(), weights_[2].data(), weights_[3].data()};
  const float* normals[3] = {normals_[0].data(), normals_[1].data(), normals_[2].data()};
  parallelBlocks(out.size(), kVerticesAtOnce, [&](size_t begin, size_t end) {
    const size_t tet = size_t(std::upper_bound(first_.begin(), first_.end(), begin) - first_.begin()) - 1;
    kernels::smoothNormals({first_.data(), tet, begin, end}, weights, normals, maps.data(),
                           out.data()->data());
  });
}

}  // namespace sunder::soft
