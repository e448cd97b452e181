// Specification 10, check 19 and H.4: in two dimensions, a circle of radius 1 with support 0.1, linear cells
// against cubic Serendipity cells with as many nodes. A square cell of twelve nodes is the face of ours.
#include "sunder/fluid/boundary/serendipity.h"
#include "sunder/fluid/kernel.h"
#include "sunder/sdf/hp/legendre.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace sunder::fluid {
namespace {

constexpr double kHalf = 1.2, kPlanarSupport = 0.1;

// Boundary density of the disc at a distance from its centre.
double discDensity(double distance) {
  static const sdf::GaussRule rule = sdf::gaussLegendre(24);
  const CubicKernel kernel(kPlanarSupport, 2);
  constexpr int kAround = 96;
  double sum = 0;
  for (int panel = 0; panel < 2; ++panel)
    for (size_t i = 0; i < rule.nodes.size(); ++i) {
      const double s = kPlanarSupport * (0.25 * (rule.nodes[i] + 1) + 0.5 * panel);
      double ring = 0;
      for (int k = 0; k < kAround; ++k) {
        const double phi = 2 * kPi * (k + 0.5) / kAround;
        const double at = std::hypot(distance + s * std::cos(phi), s * std::sin(phi));
        ring += std::max(0.0, 1 - (at - 1) / kPlanarSupport) * 2 * kPi / kAround;
      }
      sum += 0.25 * kPlanarSupport * rule.weights[i] * s * kernel.value(s) * ring;
    }
  return sum;
}

// discDensity() from a table that is fine enough to be exact here.
class Exact {
 public:
  Exact() {
    for (size_t i = 0; i <= kSteps; ++i) table_.push_back(discDensity(double(i) * kEnd / kSteps));
  }
  double operator()(double x, double y) const {
    const double u = std::hypot(x, y) * kSteps / kEnd;
    const auto i = std::min(size_t(u), kSteps - 1);
    return table_[i] + (u - double(i)) * (table_[i + 1] - table_[i]);
  }

 private:
  static constexpr size_t kSteps = 4000;
  static constexpr double kEnd = 1.75;
  std::vector<double> table_;
};

// Mean error over the square, by points of a lattice in each cell.
template <class Cell>
double meanError(const Exact& exact, int cells, const Cell& interpolate) {
  const double edge = 2 * kHalf / cells;
  constexpr int kPoints = 6;
  double sum = 0;
  for (int j = 0; j < cells; ++j)
    for (int i = 0; i < cells; ++i) {
      const double x = -kHalf + i * edge, y = -kHalf + j * edge;
      for (int b = 0; b < kPoints; ++b)
        for (int a = 0; a < kPoints; ++a) {
          const double u = (a + 0.5) / kPoints, v = (b + 0.5) / kPoints;
          sum += std::abs(interpolate(x, y, edge, u, v) - exact(x + u * edge, y + v * edge));
        }
    }
  return sum / (double(cells) * cells * kPoints * kPoints);
}

TEST(PlanarMap, CubicCellsAreTenTimesAsExactAsLinearOnes) {
  const Exact exact;
  const double linear = meanError(exact, 101, [&](double x, double y, double edge, double u, double v) {
    return (1 - v) * ((1 - u) * exact(x, y) + u * exact(x + edge, y)) +
           v * ((1 - u) * exact(x, y + edge) + u * exact(x + edge, y + edge));
  });
  const double cubic = meanError(exact, 45, [&](double x, double y, double edge, double u, double v) {
    const SerendipityWeights w = serendipityWeights(Vec3(2 * u - 1, 2 * v - 1, -1));
    double value = 0;
    for (size_t n = 0; n < kCellNodes; ++n) {
      const auto at = serendipityNode(n);
      if (at[2] == 0) value += w.value[n] * exact(x + at[0] * edge / 3, y + at[1] * edge / 3);
    }
    return value;
  });
  EXPECT_NEAR(linear, 1.05e-3, 0.1 * 1.05e-3);
  EXPECT_GT(linear / cubic, 8) << linear << " " << cubic;
  EXPECT_NEAR(cubic, 9.4e-5, 0.2 * 9.4e-5);
}

}  // namespace
}  // namespace sunder::fluid
