#include "sunder/fem/principal.h"

#include "sunder/base/parallel.h"
#include "sunder/fem/eigen_kernel.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

namespace sunder::fem {

namespace {

constexpr size_t kBatch = 64, kPrincipalGrain = 1024;

// The larger eigenvalue of the rate on the plane of the first two eigenvectors, and its direction.
void onPlane(const SymmetricEigen& eigen, const Mat3& rate, Principal& out) {
  const Vec3 a = eigen.vectors.col(0), b = eigen.vectors.col(1);
  const double aa = a.dot(rate * a), bb = b.dot(rate * b), ab = a.dot(rate * b);
  const double half = 0.5 * (aa - bb), root = std::hypot(half, ab);
  out.rate = 0.5 * (aa + bb) + root;
  if (root == 0) return;
  const double angle = 0.5 * std::atan2(ab, half);
  out.direction = (std::cos(angle) * a + std::sin(angle) * b).normalized();
}

Principal principalOf(const SymmetricEigen& eigen, const Stress* rate) {
  Principal out;
  out.value = eigen.values[0];
  out.direction = eigen.vectors.col(0);
  if (!rate) return out;
  const double equal = kEqualEigenvalues * std::max(std::abs(eigen.values[0]), std::abs(eigen.values[2]));
  const Mat3 change = tensor(*rate);
  if (eigen.values[0] - eigen.values[2] <= equal) {
    const SymmetricEigen own = symmetricEigen(*rate);
    out.rate = own.values[0];
    out.direction = own.vectors.col(0);
  } else if (eigen.values[0] - eigen.values[1] <= equal) {
    onPlane(eigen, change, out);
  } else {
    out.rate = out.direction.dot(change * out.direction);
  }
  return out;
}

}  // namespace

SymmetricEigen symmetricEigen(const Stress& matrix) {
  SymmetricEigen result;
  kernels::jacobi(&matrix, 1, &result);
  return result;
}

void symmetricEigen(std::span<const Stress> matrices, std::span<SymmetricEigen> results) {
  assert(matrices.size() == results.size());
  parallelBlocks(matrices.size(), kPrincipalGrain, [&](size_t begin, size_t end) {
    kernels::jacobi(matrices.data() + begin, end - begin, results.data() + begin);
  });
}

void principalStresses(std::span<const Stress> stresses, std::span<const Stress> rates,
                       std::span<Principal> results) {
  assert(stresses.size() == results.size() && (rates.empty() || rates.size() == stresses.size()));
  parallelBlocks(stresses.size(), kPrincipalGrain, [&](size_t begin, size_t end) {
    std::array<SymmetricEigen, kBatch> eigen;
    for (size_t first = begin; first < end; first += kBatch) {
      const size_t count = std::min(kBatch, end - first);
      kernels::jacobi(stresses.data() + first, count, eigen.data());
      for (size_t k = 0; k < count; ++k)
        results[first + k] = principalOf(eigen[k], rates.empty() ? nullptr : &rates[first + k]);
    }
  });
}

}  // namespace sunder::fem
