#include "bench/published/grid_field.h"

#include "sunder/base/error.h"
#include "sunder/base/random.h"
#include "sunder/sdf/field_combine.h"

#include <cmath>

namespace sunder::published {
using namespace sdf;
namespace {

const Box3 kBox{Vec3(-1, -0.8, -1.2), Vec3(1, 1.1, 0.9)};

// Any polynomial as a field, to see which are kept exactly.
class Polynomial : public Field {
 public:
  explicit Polynomial(int degree) : degree_(degree) {}
  void values(std::span<const Vec3> points, std::span<double> out) const override {
    for (size_t i = 0; i < points.size(); ++i) {
      const Vec3& p = points[i];
      out[i] = 0.3 + p.x() - 2 * p.y() + 0.5 * p.z();
      if (degree_ >= 2) out[i] += p.x() * p.y() + 0.7 * p.y() * p.z() - 0.4 * p.x() * p.y() * p.z();
      if (degree_ >= 3) out[i] += p.x() * p.x() - 0.6 * p.z() * p.z() + p.y() * p.y() * p.x();
    }
  }
  void samples(std::span<const Vec3>, std::span<FieldSample>) const override { FAIL(); }
  Box3 bounds() const override { return {}; }

 private:
  int degree_;
};

double largestError(const Field& exact, const Field& field, const Box3& box) {
  RandomStream random(1);
  double largest = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const Vec3 p = random.pointIn(box);
    largest = std::max(largest, std::abs(field.value(p) - exact.value(p)));
  }
  return largest;
}

TEST(GridField, NodesKeepTheirValues) {
  const FieldPtr torus = makeTorusField(Vec3::Zero(), Vec3(1, 1, 0), 0.6, 0.2);
  const FieldGrid grid = sampleGrid(*torus, kBox, std::array{9u, 12u, 10u});
  for (const Interpolation kind : {Interpolation::Trilinear, Interpolation::Tricubic}) {
    const GridField field(grid, kind);
    for (uint32_t k = 0; k < 10; ++k)
      for (uint32_t j = 0; j < 12; ++j)
        for (uint32_t i = 0; i < 9; ++i) {
          const Vec3 p = grid.lattice.position(i, j, k);
          ASSERT_NEAR(field.value(p), torus->value(p), 1e-12);
          ASSERT_EQ(grid.values[grid.lattice.number(i, j, k)], torus->value(p));
        }
  }
}

TEST(GridField, PolynomialsAreKept) {
  const std::array nodes{5u, 7u, 6u};
  const Box3 middle{Vec3(-0.45, -0.45, -0.75), Vec3(0.45, 0.75, 0.45)};  // away from the border
  for (const int degree : {1, 2}) {
    const Polynomial p(degree);
    EXPECT_LT(largestError(p, GridField(sampleGrid(p, kBox, nodes)), kBox), 1e-12) << degree;
    EXPECT_LT(largestError(p, GridField(sampleGrid(p, kBox, nodes), Interpolation::Tricubic), kBox), 1e-12);
  }
  const Polynomial quadratic(3);
  EXPECT_GT(largestError(quadratic, GridField(sampleGrid(quadratic, kBox, nodes)), middle), 1e-2);
  EXPECT_LT(
      largestError(quadratic, GridField(sampleGrid(quadratic, kBox, nodes), Interpolation::Tricubic), middle),
      1e-12);
}

TEST(GridField, ErrorsFallAtTheirOrders) {
  const FieldPtr ball = makeSphereField({-3, 0, 0}, 2.9);  // smooth in the box
  const Box3 inner{Vec3::Constant(-0.5), Vec3::Constant(0.5)};
  double linear[2], cubic[2];
  for (const uint32_t level : {0u, 1u}) {
    const uint32_t n = level == 0 ? 9 : 17;
    const FieldGrid grid = sampleGrid(*ball, {Vec3::Constant(-1), Vec3::Constant(1)}, std::array{n, n, n});
    linear[level] = largestError(*ball, GridField(grid), inner);
    cubic[level] = largestError(*ball, GridField(grid, Interpolation::Tricubic), inner);
  }
  EXPECT_GT(linear[0] / linear[1], 3.5);
  EXPECT_GT(cubic[0] / cubic[1], 7);
  EXPECT_LT(cubic[1], linear[1] / 20);
}

TEST(GridField, GradientsAreTheDerivativesOfTheValues) {
  const FieldPtr torus = makeTorusField(Vec3::Zero(), Vec3(1, 1, 0), 0.6, 0.2);
  const FieldGrid grid = sampleGrid(*torus, kBox, 0.23);
  for (int d = 0; d < 3; ++d) EXPECT_LE(grid.lattice.step[d], 0.23);
  for (const Interpolation kind : {Interpolation::Trilinear, Interpolation::Tricubic}) {
    const GridField field(grid, kind);
    RandomStream random(2);
    int kinks = 0;
    for (int trial = 0; trial < 3000; ++trial) {
      const Vec3 p = random.pointIn({kBox.lower - Vec3::Constant(0.5), kBox.upper + Vec3::Constant(0.5)});
      const FieldSample s = field.sample(p);
      ASSERT_EQ(s.value, field.value(p));
      if (!field.domain().contains(p)) {
        const Vec3 inside = p.cwiseMax(kBox.lower).cwiseMin(kBox.upper);
        ASSERT_NEAR(s.value, field.value(inside) + (p - inside).norm(), 1e-12);
        ASSERT_TRUE(s.gradient.isApprox((p - inside).normalized(), 1e-12));
        continue;
      }
      Vec3 differences;
      for (int d = 0; d < 3; ++d)
        differences[d] =
            (field.value(p + 1e-6 * Vec3::Unit(d)) - field.value(p - 1e-6 * Vec3::Unit(d))) / 2e-6;
      kinks += !((differences - s.gradient).norm() < 1e-6);
    }
    EXPECT_LE(kinks, kind == Interpolation::Trilinear ? 2 : 0);
  }
}

TEST(GridField, TricubicGradientsAreContinuous) {
  const FieldPtr torus = makeTorusField(Vec3::Zero(), Vec3(1, 1, 0), 0.6, 0.2);
  const FieldGrid grid = sampleGrid(*torus, kBox, std::array{9u, 12u, 10u});
  const GridField field(grid, Interpolation::Tricubic);
  RandomStream random(3);
  for (int trial = 0; trial < 500; ++trial) {
    Vec3 p = random.pointIn(kBox);
    const int d = trial % 3;
    p[d] = grid.lattice.position(4, 4, 4)[d];  // on a plane of nodes
    const Vec3 h = 1e-9 * Vec3::Unit(d);
    EXPECT_LT((field.sample(p + h).gradient - field.sample(p - h).gradient).norm(), 1e-6);
  }
}

TEST(GridField, BoundsHoldTheInside) {
  const FieldPtr ball = makeSphereField({0.3, 0.2, 0.4}, 0.7);
  // The second box cuts the ball off: the field goes on beyond its domain.
  for (const Box3& box :
       {Box3{Vec3::Constant(-1.5), Vec3::Constant(1.5)}, Box3{Vec3::Constant(-1), Vec3::Constant(0.5)}}) {
    for (const Interpolation kind : {Interpolation::Trilinear, Interpolation::Tricubic}) {
      const GridField field(sampleGrid(*ball, box, 0.2), kind);
      RandomStream random(4);
      for (int trial = 0; trial < 20000; ++trial) {
        const Vec3 p = random.pointIn({Vec3::Constant(-2), Vec3::Constant(2)});
        ASSERT_TRUE(field.value(p) >= 0 || field.bounds().contains(p));
      }
      EXPECT_LT(field.bounds().extent().maxCoeff(), box.upper.x() > 1 ? 1.9 : 3.0);
    }
  }
}

TEST(GridField, BadGridsAreRefused) {
  const FieldPtr ball = makeSphereField(Vec3::Zero(), 1);
  EXPECT_THROW(sampleGrid(*ball, kBox, std::array{1u, 5u, 5u}), Error);
  EXPECT_THROW(sampleGrid(*ball, Box3{}, std::array{5u, 5u, 5u}), Error);
  EXPECT_THROW(sampleGrid(*ball, kBox, 0.0), Error);
  EXPECT_THROW(sampleGrid(*ball, kBox, 1e-9), Error);
  EXPECT_THROW(sampleGrid(*makePlaneField(Vec3::UnitY(), 0), makePlaneField(Vec3::UnitY(), 0)->bounds(), 0.1),
               Error);
  FieldGrid grid = sampleGrid(*ball, kBox, 0.5);
  grid.values.pop_back();
  EXPECT_THROW(GridField{grid}, Error);
}

}  // namespace
}  // namespace sunder::published
