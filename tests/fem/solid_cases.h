// Solids and states of them for tests.
#pragma once

#include "sunder/fem/solid/solid.h"

#include "fem_cases.h"

#include <cmath>
#include <string>
#include <vector>

namespace sunder::fem {

inline constexpr ElasticModel kModels[] = {ElasticModel::Linear, ElasticModel::Corotated,
                                           ElasticModel::SaintVenantKirchhoff, ElasticModel::NeoHookean};

inline SolidMaterial rubber(ElasticModel model, double poisson = 0.3, double fibreYoung = 0) {
  return {{1e5, poisson, 1000}, model, Vec3(1, 2, -0.5), fibreYoung};
}

// All models, with and without fibres and averaged volumes.
inline std::vector<SolidMaterial> allMaterials() {
  std::vector<SolidMaterial> all;
  for (const ElasticModel model : kModels)
    for (const double poisson : {-0.2, 0.3, 0.49})
      for (const double fibre : {0.0, 3e5}) all.push_back(rubber(model, poisson, fibre));
  return all;
}
inline std::string nameOf(const SolidMaterial& m) {
  return "model " + std::to_string(static_cast<int>(m.model)) + ", Poisson " +
         std::to_string(m.elastic.poisson) + ", fibres " + std::to_string(m.fibreYoung);
}

inline Solid solidOf(const geometry::TetMesh& mesh, const SolidMaterial& material) {
  Solid solid;
  solid.set(mesh, {&material, 1});
  return solid;
}

// An affine image of the rest, each vertex moved by up to `noise` beside.
inline std::vector<Vec3> deformed(const geometry::TetMesh& mesh, const Mat3& f, double noise, uint64_t seed) {
  RandomStream random(seed, 5);
  std::vector<Vec3> x;
  for (const Vec3& p : mesh.positions)
    x.push_back(f * p + noise * random.pointIn({Vec3::Constant(-1), Vec3::Constant(1)}));
  return x;
}
inline Mat3 stretchedAndTurned() {
  const Mat3 stretch = (Mat3() << 1.2, 0.1, -0.05, 0.02, 0.9, 0.15, 0, -0.1, 1.05).finished();
  return Eigen::AngleAxisd(1.1, Vec3(1, -2, 0.5).normalized()).toRotationMatrix() * stretch;
}

inline std::vector<Vec3> directions(size_t vertices, uint64_t seed) {
  RandomStream random(seed, 6);
  std::vector<Vec3> d(vertices);
  for (Vec3& v : d) v = random.unitVector();
  return d;
}
inline std::vector<Vec3> moved(const std::vector<Vec3>& x, const std::vector<Vec3>& d, double h) {
  std::vector<Vec3> r = x;
  for (size_t i = 0; i < x.size(); ++i) r[i] += h * d[i];
  return r;
}

inline std::vector<Vec3> forcesOf(const Solid& solid, const std::vector<Vec3>& x) {
  std::vector<Vec3> f(x.size(), Vec3::Zero());
  solid.addForces(x, f);
  return f;
}
inline double norm(const std::vector<Vec3>& v) {
  double sum = 0;
  for (const Vec3& a : v) sum += a.squaredNorm();
  return std::sqrt(sum);
}
inline double dot(const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i].dot(b[i]);
  return sum;
}

struct TangentOf {
  BlockMatrix matrix;
  OuterTerms outer;

  TangentOf(const Solid& solid, const std::vector<Vec3>& x, Tangent kind, double scale = 1) {
    matrix.setPattern(solid.pattern());
    solid.addTangent(x, kind, scale, matrix, outer);
  }
  std::vector<Vec3> times(const std::vector<Vec3>& d) const {
    std::vector<Vec3> r(d.size());
    matrix.multiply(d, r);
    for (size_t i = 0; i < outer.size(); ++i) {
      double along = 0;
      for (uint32_t k = outer.starts[i]; k < outer.starts[i + 1]; ++k)
        along += outer.blocks[k].dot(d[outer.rows[k]]);
      for (uint32_t k = outer.starts[i]; k < outer.starts[i + 1]; ++k)
        r[outer.rows[k]] += outer.weights[i] * along * outer.blocks[k];
    }
    return r;
  }
  Eigen::MatrixXd dense() const {
    Eigen::MatrixXd k = full(matrix);
    for (size_t i = 0; i < outer.size(); ++i)
      for (uint32_t a = outer.starts[i]; a < outer.starts[i + 1]; ++a)
        for (uint32_t b = outer.starts[i]; b < outer.starts[i + 1]; ++b)
          k.block<3, 3>(3 * outer.rows[a], 3 * outer.rows[b]) +=
              outer.weights[i] * outer.blocks[a] * outer.blocks[b].transpose();
    return k;
  }
};

}  // namespace sunder::fem
