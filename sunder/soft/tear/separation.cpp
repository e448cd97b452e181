#include "sunder/soft/tear/separation.h"

#include "sunder/base/parallel.h"
#include "sunder/fem/principal.h"

namespace sunder::soft {

namespace {

constexpr size_t kTetGrain = 512, kVertexGrain = 256;

void addLoad(const Vec3& f, double sign, Mat3& sum) {
  const double length = f.norm();
  if (length > 0) sum += f * (f.transpose() * (sign / length));
}

struct Split {
  Mat3 tensile, compressive;
};

}  // namespace

Mat3 separationTensor(std::span<const Vec3> tensile, std::span<const Vec3> compressive) {
  Mat3 sum = Mat3::Zero();
  Vec3 all = Vec3::Zero();
  for (const Vec3& f : tensile) {
    all += f;
    addLoad(f, 1, sum);
  }
  addLoad(all, -1, sum);
  all.setZero();
  for (const Vec3& f : compressive) {
    all += f;
    addLoad(f, -1, sum);
  }
  addLoad(all, 1, sum);
  return sum / 2;
}

void separations(const fem::SparsePattern& pattern, std::span<const fem::Element> elements,
                 std::span<const Mat3> biot, std::span<const Mat3> rotations, std::span<Separation> result) {
  // Q s+ and Q s-, so that a corner's force is a product with its face.
  std::vector<Split> splits(elements.size());
  parallelBlocks(elements.size(), kTetGrain, [&](size_t begin, size_t end) {
    std::vector<fem::Stress> stresses(end - begin);
    std::vector<fem::SymmetricEigen> eigen(end - begin);
    for (size_t t = begin; t < end; ++t) stresses[t - begin] = fem::voigt(biot[t]);
    fem::symmetricEigen(stresses, eigen);
    for (size_t t = begin; t < end; ++t) {
      const fem::SymmetricEigen& e = eigen[t - begin];
      Split& split = splits[t];
      split.tensile.setZero();
      split.compressive.setZero();
      for (int k = 0; k < 3; ++k) {
        const Vec3 v = e.vectors.col(k);
        (e.values[k] > 0 ? split.tensile : split.compressive) += v * (v.transpose() * e.values[k]);
      }
      split.tensile = rotations[t] * split.tensile;
      split.compressive = rotations[t] * split.compressive;
    }
  });
  parallelBlocks(pattern.rows(), kVertexGrain, [&](size_t begin, size_t end) {
    std::vector<Vec3> tensile, compressive;
    std::vector<fem::Stress> tensors(end - begin);
    std::vector<fem::SymmetricEigen> eigen(end - begin);
    for (size_t v = begin; v < end; ++v) {
      tensile.clear();
      compressive.clear();
      for (const uint32_t corner : pattern.star(v)) {
        const fem::Element& e = elements[corner >> 2];
        const Vec3 face = e.gradient[corner & 3] * -e.volume;  // a third of it, pointing outwards
        tensile.push_back(splits[corner >> 2].tensile * face);
        compressive.push_back(splits[corner >> 2].compressive * face);
      }
      tensors[v - begin] = fem::voigt(separationTensor(tensile, compressive));
    }
    fem::symmetricEigen(tensors, eigen);
    for (size_t v = begin; v < end; ++v) {
      Separation& s = result[v];
      s = {};
      if (pattern.star(v).size() < 2 || !(eigen[v - begin].values[0] > 0)) continue;
      s.force = eigen[v - begin].values[0];
      s.normal = eigen[v - begin].vectors.col(0).normalized();
      // Half of what all faces project to: each side of the plane has the whole.
      for (const uint32_t corner : pattern.star(v)) {
        const fem::Element& e = elements[corner >> 2];
        s.area += e.volume / 2 * std::abs(s.normal.dot(rotations[corner >> 2] * e.gradient[corner & 3]));
      }
    }
  });
}

}  // namespace sunder::soft
