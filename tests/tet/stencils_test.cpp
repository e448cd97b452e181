// The stencils alone, with points moved and edges cut at the extremes of what the alphas allow.
#include "sunder/base/random.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/tet/dihedral.h"
#include "sunder/tet/stuffing_stencils.h"

#include <gtest/gtest.h>

namespace sunder::tet {
namespace {

struct Extremes {
  double low = 180, high = 0, volumeError = 0;
  size_t tets = 0;
};

Extremes searchExtremes(uint64_t seed, int tries) {
  constexpr double kLong = 0.24999, kShort = 0.41189;
  const Vec3 lattice[4] = {{0, 0, 0}, {1, 0, 0}, {0.5, -0.5, -0.5}, {0.5, 0.5, -0.5}};
  std::vector<Vec3> directions;
  for (int d = 0; d < 3; ++d)
    for (const double s : {-1.0, 1.0}) directions.push_back(s * Vec3::Unit(d));
  for (int k = 0; k < 8; ++k)
    directions.push_back({k & 1 ? 0.5 : -0.5, k & 2 ? 0.5 : -0.5, k & 4 ? 0.5 : -0.5});
  RandomStream random(seed);
  const auto extreme = [&](double low, double high) {
    switch (random.below(4)) {
      case 0:
        return low;
      case 1:
        return high;
      default:
        return random.uniform(low, high);
    }
  };
  Extremes found;
  for (int attempt = 0; attempt < tries; ++attempt) {
    bool inside[4];
    int towards[4] = {-1, -1, -1, -1};
    std::array<PointState, 4> states;
    std::vector<Vec3> points(lattice, lattice + 4);
    for (size_t i = 0; i < 4; ++i) inside[i] = random.below(2) == 1;
    for (size_t i = 0; i < 4; ++i) {
      states[i] = inside[i] ? PointState::Inside : PointState::Outside;
      if (random.below(2) == 0) continue;
      // Towards a neighbour on the other side of the surface.
      const uint32_t k = random.below(uint32_t(directions.size()));
      bool possible = true;
      int towardsCorner = -1;
      for (size_t j = 0; j < 4; ++j) {
        if ((lattice[i] + directions[k] - lattice[j]).norm() > 0.1) continue;
        towardsCorner = int(j);
        // An edge has one cut point, so its ends do not both move along it.
        possible = inside[i] != inside[j] && towards[j] != int(i);
      }
      if (!possible) continue;
      towards[i] = towardsCorner;
      states[i] = PointState::Surface;
      points[i] = lattice[i] + extreme(0, k < 6 ? kLong : kShort) * directions[k];
    }
    double cuts[4][4];
    for (size_t i = 0; i < 4; ++i)
      for (size_t j = 0; j < 4; ++j) {
        const double alpha = (i ^ j) == 1 ? kLong : kShort;
        cuts[i][j] = extreme(alpha, 1 - alpha);
      }
    std::array<std::array<uint32_t, 4>, 4> cutId{};
    const auto cut = [&](uint32_t i, uint32_t j) {
      if (cutId[i][j] == 0) {
        cutId[i][j] = uint32_t(points.size());
        points.push_back(points[i] + cuts[i][j] * (points[j] - points[i]));
      }
      return cutId[i][j];
    };
    const auto even = [&](uint32_t inner, uint32_t outer) {
      int greater = 0;
      for (int d = 0; d < 3; ++d) greater += lattice[inner][d] > lattice[outer][d];
      return greater % 2 == 0;
    };
    cutTetrahedron({0, 1, 2, 3}, states, cut, even, [&](const std::array<uint32_t, 4>& t) {
      const auto [low, high] = cosineRange(points[t[0]], points[t[1]], points[t[2]], points[t[3]]);
      EXPECT_GT(geometry::signedVolume(points[t[0]], points[t[1]], points[t[2]], points[t[3]]), 0);
      found.low = std::min(found.low, degreesOf(high));
      found.high = std::max(found.high, degreesOf(low));
      ++found.tets;
    });
  }
  return found;
}

TEST(Stencils, AnglesStayWithinTheBounds) {
  const Extremes e = searchExtremes(1, 2'000'000);
  EXPECT_GT(e.tets, 1'000'000u);
  EXPECT_GE(e.low, kFillSmallestAngle);
  EXPECT_LE(e.high, kFillLargestAngle);
  // The search comes close, so the bounds are not idle.
  EXPECT_LE(e.low, kFillSmallestAngle + 0.2);
  EXPECT_GE(e.high, kFillLargestAngle - 1.5);
}

TEST(StencilsFull, AnglesStayWithinTheBounds) {
  for (uint64_t seed = 2; seed < 12; ++seed) {
    const Extremes e = searchExtremes(seed, 5'000'000);
    EXPECT_GE(e.low, kFillSmallestAngle);
    EXPECT_LE(e.high, kFillLargestAngle);
  }
}

}  // namespace
}  // namespace sunder::tet
