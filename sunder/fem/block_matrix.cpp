#include "sunder/fem/block_matrix.h"

#include "sunder/base/parallel.h"

#include <cassert>

namespace sunder::fem {

namespace {

constexpr size_t kRowGrain = 512;

// Sum of V g_a g_b^T over the tetrahedra of a slot; the volumes' sum beside it.
Mat3 gradientSum(std::span<const Element> elements, std::span<const SparsePattern::Source> sources,
                 double& volume) {
  double s[9] = {};
  volume = 0;
  for (const SparsePattern::Source source : sources) {
    const Element& e = elements[source.tet()];
    const Vec3 &p = e.gradient[source.row()], &q = e.gradient[source.column()];
    const double x = e.volume * q.x(), y = e.volume * q.y(), z = e.volume * q.z();
    s[0] += p.x() * x, s[1] += p.y() * x, s[2] += p.z() * x;
    s[3] += p.x() * y, s[4] += p.y() * y, s[5] += p.z() * y;
    s[6] += p.x() * z, s[7] += p.y() * z, s[8] += p.z() * z;
    volume += e.volume;
  }
  return Eigen::Map<const Mat3>(s);
}

}  // namespace

void BlockMatrix::setPattern(const SparsePattern& pattern) {
  pattern_ = &pattern;
  values_.assign(pattern.slots(), Mat3::Zero());
}

void BlockMatrix::multiply(std::span<const Vec3> x, std::span<Vec3> result) const {
  assert(x.size() == rows() && result.size() == rows());
  parallelFor(
      rows(),
      [&](size_t i) {
        Vec3 sum = values_[pattern_->diagonal(i)] * x[i];
        for (const SparsePattern::Neighbour& n : pattern_->neighbours(i)) {
          const Mat3& block = values_[n.slot()];
          if (n.transposed())
            sum.noalias() += block.transpose() * x[n.vertex];
          else
            sum.noalias() += block * x[n.vertex];
        }
        result[i] = sum;
      },
      kRowGrain);
}

void assemble(std::span<const Element> elements, const ElasticMaterial& material, double a, double b,
              MassKind mass, BlockMatrix& matrix, std::span<const double> masses) {
  const SparsePattern& pattern = matrix.pattern();
  const double lambda = b * material.lambda(), mu = b * material.mu();
  const bool given = mass == MassKind::Lumped && !masses.empty();
  const double share = given ? 0 : a * material.density * (mass == MassKind::Lumped ? 0.25 : 0.1);
  const double between = mass == MassKind::Lumped ? 0 : a * material.density * 0.05;
  parallelFor(
      pattern.rows(),
      [&](size_t i) {
        const uint32_t first = pattern.lowerStart(i), diagonal = pattern.diagonal(i);
        for (uint32_t slot = first; slot <= diagonal; ++slot) {
          double volume = 0;
          const Mat3 s = gradientSum(elements, pattern.sources(slot), volume);
          Mat3& block = matrix.block(slot);
          block = lambda * s + mu * s.transpose();
          block.diagonal().array() += mu * s.trace() + (slot == diagonal ? share : between) * volume;
        }
        if (given) matrix.block(diagonal).diagonal().array() += a * masses[i];
        if (pattern.star(i).empty()) matrix.block(diagonal).setIdentity();
      },
      kRowGrain);
}

}  // namespace sunder::fem
