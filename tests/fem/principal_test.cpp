#include "sunder/fem/principal.h"

#include "sunder/base/parallel.h"
#include "sunder/base/simd.h"

#include "fem_cases.h"

#include <Eigen/Eigenvalues>
#include <gtest/gtest.h>

namespace sunder::fem {

namespace {

Stress randomStress(RandomStream& random) {
  const Mat3 m = randomMatrix(random);
  return voigt(0.5 * (m + m.transpose()));
}

Mat3 randomRotation(RandomStream& random) {
  return Eigen::AngleAxisd(random.uniform(0, 2 * kPi), random.unitVector()).toRotationMatrix();
}

// A tensor with these eigenvalues, turned.
Stress withValues(const Vec3& values, const Mat3& r) {
  return voigt(r * values.asDiagonal() * r.transpose());
}

Principal principalOf(const Stress& stress, const Stress& rate) {
  Principal result;
  principalStresses({&stress, 1}, {&rate, 1}, {&result, 1});
  return result;
}

}  // namespace

TEST(Principal, EigenvaluesAreThoseOfEigen) {
  RandomStream random(1);
  for (int trial = 0; trial < 5000; ++trial) {
    Stress s = randomStress(random);
    if (trial % 5 == 1) s *= 1e-150;
    if (trial % 5 == 2) s *= 1e120;
    if (trial % 5 == 3)
      s = withValues({1, 1 - std::pow(10, -random.uniform(3, 17)), -1}, randomRotation(random));
    if (trial % 5 == 4) s[3] *= 1e-9, s[4] = 0;
    const SymmetricEigen e = symmetricEigen(s);
    const Vec3 expected = Eigen::SelfAdjointEigenSolver<Mat3>(tensor(s)).eigenvalues().reverse();
    const double scale = tensor(s).norm();
    EXPECT_LT((e.values - expected).norm(), 1e-14 * scale);
    EXPECT_LT((e.vectors.transpose() * e.vectors - Mat3::Identity()).norm(), 1e-14);
    EXPECT_LT((tensor(s) * e.vectors - e.vectors * e.values.asDiagonal()).norm(), 2e-15 * 4 * scale);
  }
}

TEST(Principal, BatchesHaveTheBitsOfSingleOnes) {
  RandomStream random(2);
  std::vector<Stress> all(2051);
  for (Stress& s : all) s = randomStress(random);
  for (const std::string& target : simdTargets()) {
    const SimdTargetOverride override(target);
    for (const unsigned threads : {1u, 3u}) {
      const ThreadLimit limit(threads);
      std::vector<SymmetricEigen> results(all.size());
      symmetricEigen(all, results);
      for (size_t i = 0; i < all.size(); i += 7) {
        const SymmetricEigen one = symmetricEigen(all[i]);
        ASSERT_EQ(one.values, results[i].values) << target;
        ASSERT_EQ(one.vectors, results[i].vectors) << target;
      }
    }
  }
}

// The difference quotient of the largest eigenvalue tends to the rate as fast as the step.
TEST(Principal, RateIsTheDerivative) {
  RandomStream random(3);
  for (int trial = 0; trial < 300; ++trial) {
    const Mat3 r = randomRotation(random);
    const Stress p = withValues({random.uniform(1, 2), random.uniform(-0.5, 0.5), random.uniform(-2, -1)}, r);
    const Stress rate = randomStress(random);
    const Principal now = principalOf(p, rate);
    double before = 0;
    for (const double dt : {1e-3, 1e-4}) {
      const double later = symmetricEigen(Stress(p + dt * rate)).values[0];
      const double error = std::abs((later - now.value) / dt - now.rate);
      // The second-order term is at most |rate|^2 dt / gap.
      EXPECT_LT(error, 2 * tensor(rate).squaredNorm() * dt / 0.5);
      if (before > 1e-6) {
        EXPECT_NEAR(error / before, 0.1, 0.02);
      }
      before = error;
    }
  }
}

// Where eigenvalues are equal the largest one grows in the direction that the rate picks.
TEST(Principal, EqualEigenvalues) {
  RandomStream random(4);
  for (int trial = 0; trial < 300; ++trial) {
    const Mat3 r = randomRotation(random);
    const Stress rate = randomStress(random);
    const bool three = trial % 2;
    const Vec3 values = three ? Vec3(2, 2, 2) : Vec3(2, 2, -1);
    const Principal now = principalOf(withValues(values, r), rate);
    constexpr double kStep = 1e-6;
    const Stress later = withValues(values, r) + kStep * rate;
    const SymmetricEigen then = symmetricEigen(later);
    EXPECT_NEAR((then.values[0] - 2) / kStep, now.rate, 1e-4);
    EXPECT_NEAR(std::abs(then.vectors.col(0).dot(now.direction)), 1, 1e-4);
    EXPECT_NEAR(now.direction.norm(), 1, 1e-14);
    EXPECT_NEAR(now.direction.dot(tensor(rate) * now.direction), now.rate, 1e-9);
  }
}

// Uniaxial compression: the two largest are zero up to rounding and count as equal.
TEST(Principal, EqualToRoundingOfTheLargest) {
  RandomStream random(5);
  for (int trial = 0; trial < 50; ++trial) {
    const Mat3 r = randomRotation(random);
    const Stress rate = withValues({3, -1, 0}, r);
    const Principal now = principalOf(withValues({0, 0, -1e7}, r), rate);
    EXPECT_NEAR(now.rate, 3, 1e-9);
    EXPECT_NEAR(std::abs(now.direction.dot(r.col(0))), 1, 1e-9);
  }
}

TEST(Principal, NoStressAtAll) {
  const Stress rate = (Stress() << 1, 5, -2, 0, 0, 0).finished();
  const Principal now = principalOf(Stress::Zero(), rate);
  EXPECT_EQ(now.value, 0);
  EXPECT_EQ(now.rate, 5);
  EXPECT_NEAR(std::abs(now.direction.y()), 1, 1e-15);
  const Stress zero = Stress::Zero();
  Principal still;
  principalStresses({&zero, 1}, {}, {&still, 1});
  EXPECT_EQ(still.rate, 0);
  EXPECT_NEAR(still.direction.norm(), 1, 1e-15);
}

}  // namespace sunder::fem
