#include "sunder/sdf/hp/hp_fit.h"

#include "sunder/base/error.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace sunder::sdf {

int pointsPerAxis(int degree, Quadrature quadrature) {
  switch (quadrature) {
    case Quadrature::Lean:
      return degree + 1;
    case Quadrature::Source:
      return std::max(4 * degree, degree + 1);
    case Quadrature::Standard:
      break;
  }
  return 2 * degree + 1;
}

double shellError(std::span<const double> c, int degree, double guard) {
  double before = 0, last = 0;
  for (size_t i = degree < 2 ? 0 : coefficientCount(degree - 2); i < coefficientCount(degree - 1); ++i)
    before += c[i] * c[i];
  for (size_t i = coefficientCount(degree - 1); i < coefficientCount(degree); ++i) last += c[i] * c[i];
  return std::max(last, guard * before);
}

HpFit fitCell(const Field& source, const Box3& box, int degree, Quadrature quadrature, double guard) {
  const FitRule& rule = fitRule(pointsPerAxis(degree, quadrature));
  const auto n = static_cast<size_t>(rule.count);
  const size_t terms = static_cast<size_t>(degree) + 1;
  const Vec3 middle = box.center(), half = 0.5 * box.extent();
  std::vector<Vec3> points(n * n * n);
  std::vector<double> samples(points.size());
  size_t at = 0;
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j)
      for (size_t k = 0; k < n; ++k)
        points[at++] = {middle.x() + half.x() * rule.nodes[i], middle.y() + half.y() * rule.nodes[j],
                        middle.z() + half.z() * rule.nodes[k]};
  source.values(points, samples);
  for (size_t s = 0; s < samples.size(); ++s)
    if (!std::isfinite(samples[s]))
      throw Error(ErrorKind::Numerical,
                  "the source of a field is not finite at (" + std::to_string(points[s].x()) + ", " +
                      std::to_string(points[s].y()) + ", " + std::to_string(points[s].z()) + ")");

  // Sum factorisation: one axis after the other, the last first.
  std::vector<double> alongZ(n * n * terms), alongY(n * terms * terms);
  for (size_t ij = 0; ij < n * n; ++ij)
    for (size_t c = 0; c < terms; ++c) {
      double sum = 0;
      for (size_t k = 0; k < n; ++k) sum += rule.table[c * n + k] * samples[ij * n + k];
      alongZ[ij * terms + c] = sum;
    }
  for (size_t i = 0; i < n; ++i)
    for (size_t b = 0; b < terms; ++b) {
      double* out = &alongY[(i * terms + b) * terms];
      for (size_t j = 0; j < n; ++j) {
        const double w = rule.table[b * n + j];
        const double* in = &alongZ[(i * n + j) * terms];
        for (size_t c = 0; c + b < terms; ++c) out[c] += w * in[c];
      }
    }
  HpFit fit;
  fit.coefficients.resize(coefficientCount(degree));
  const double scale = std::sqrt(box.extent().prod()) / 8;
  const std::span<const MultiIndex> indices = multiIndices();
  for (size_t q = 0; q < fit.coefficients.size(); ++q) {
    const auto [a, b, c] = indices[q];
    double sum = 0;
    for (size_t i = 0; i < n; ++i) sum += rule.table[a * n + i] * alongY[(i * terms + b) * terms + c];
    fit.coefficients[q] = scale * sum;
  }
  fit.error = shellError(fit.coefficients, degree, guard);
  return fit;
}

}  // namespace sunder::sdf
