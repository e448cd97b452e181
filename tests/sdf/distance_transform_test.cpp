#include "sunder/sdf/voxel/distance_transform.h"

#include "sunder/base/parallel.h"

#include "sdf/fast_marching.h"
#include "sdf/voxel_cases.h"

#include <gtest/gtest.h>

namespace sunder::sdf {
namespace {

using namespace cases;

struct BruteSites {
  std::vector<size_t> sites;
  std::vector<double> own;  // per voxel, infinite where it is no site
};

BruteSites bruteSites(const VoxelGrid& grid) {
  BruteSites result;
  const auto [nx, ny, nz] = grid.dims();
  for (int k = 0; k < int(nz); ++k) {
    for (int j = 0; j < int(ny); ++j) {
      for (int i = 0; i < int(nx); ++i) {
        double nearest = std::numeric_limits<double>::infinity();
        for (int dk = -1; dk <= 1; ++dk) {
          for (int dj = -1; dj <= 1; ++dj) {
            for (int di = -1; di <= 1; ++di) {
              const int x = i + di, y = j + dj, z = k + dk;
              if (x < 0 || y < 0 || z < 0 || x >= int(nx) || y >= int(ny) || z >= int(nz)) continue;
              if (grid.at(uint32_t(x), uint32_t(y), uint32_t(z)) ==
                  grid.at(uint32_t(i), uint32_t(j), uint32_t(k)))
                continue;
              nearest = std::min(nearest, 0.5 * std::sqrt(double(di * di + dj * dj + dk * dk)));
            }
          }
        }
        if (std::isfinite(nearest)) result.sites.push_back(result.own.size());
        result.own.push_back(nearest);
      }
    }
  }
  return result;
}

int64_t squaredSteps(const std::array<uint32_t, 3>& a, const std::array<uint32_t, 3>& b) {
  int64_t sum = 0;
  for (size_t d = 0; d < 3; ++d) sum += (int64_t(a[d]) - b[d]) * (int64_t(a[d]) - b[d]);
  return sum;
}

// Every voxel against all sites; returns how many voxels there were.
size_t compareWithBruteForce(const VoxelGrid& grid) {
  const DistanceVolume volume = distanceTransform(grid);
  const BruteSites brute = bruteSites(grid);
  EXPECT_EQ(volume.hasSites(), !brute.sites.empty());
  size_t wrong = 0, wrongSide = 0;
  for (size_t v = 0; v < grid.voxelCount(); ++v) {
    const auto place = grid.frame().place(v);
    const bool inside = grid.at(place[0], place[1], place[2]);
    int64_t best = std::numeric_limits<int64_t>::max();
    size_t nearest = kNoSite;
    for (const size_t s : brute.sites) {
      const int64_t d = squaredSteps(place, grid.frame().place(s));
      if (d < best) {
        best = d;
        nearest = s;
      }
    }
    if (volume.site[v] != nearest) {
      ++wrong;
      continue;
    }
    if (nearest == kNoSite) {
      wrong += volume.phi[v] != (inside ? -INFINITY : INFINITY);
      continue;
    }
    const double phi = (inside ? -1 : 1) * (std::sqrt(double(best)) + brute.own[nearest]);
    wrong += !(std::abs(volume.phi[v] - phi) < 1e-5);
    const auto site = grid.frame().place(nearest);
    wrongSide += grid.at(site[0], site[1], site[2]) != inside;
  }
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(wrongSide, 0u);
  return grid.voxelCount();
}

TEST(DistanceTransform, EqualsBruteForceOnEveryVoxel) {
  size_t voxels = 0;
  uint64_t seed = 0;
  for (const auto& n : {std::array{16u, 16u, 16u},
                        {5u, 16u, 9u},
                        {16u, 3u, 7u},
                        {1u, 13u, 16u},
                        {70u, 5u, 6u},
                        {1u, 1u, 1u}}) {
    for (const double filled : {0.002, 0.03, 0.5, 0.9, 0.998})
      voxels += compareWithBruteForce(randomGrid(unitFrame(n[0], n[1], n[2]), filled, ++seed));
  }
  RandomStream random(3);
  for (int shape = 0; shape < 12; ++shape) {
    const VoxelFrame frame = unitFrame(16, 15, 14);
    const Vec3 a = random.pointIn(frame.box()), b = random.pointIn(frame.box());
    const double r = random.uniform(1, 7);
    voxels += compareWithBruteForce(gridWhere(frame, [&](const Vec3& p) {
      return (p - a).norm() < r || std::abs((p - b).dot(Vec3(1, 2, 2))) < r / 2;
    }));
  }
  EXPECT_GT(voxels, 60000u);
}

TEST(DistanceTransform, EmptyAndFullVolumesHaveNoSites) {
  compareWithBruteForce(VoxelGrid(unitFrame(7, 8, 9)));
  compareWithBruteForce(randomGrid(unitFrame(7, 8, 9), 2, 1));
  EXPECT_FALSE(distanceTransform(VoxelGrid(unitFrame(3, 3, 3))).hasSites());
  EXPECT_TRUE(distanceTransform(VoxelGrid()).phi.empty());
}

TEST(DistanceTransform, BoxHasWholeStepsAndAxisNormals) {
  const uint32_t n = 32, p = 2;
  const DistanceVolume volume = distanceTransform(boxGrid(n, p));
  const uint32_t middle = p + n / 2;
  for (uint32_t depth = 0; depth < n / 2; ++depth) {
    EXPECT_EQ(volume.phi[volume.frame.number(p + depth, middle, middle)], -0.5f - float(depth));
    EXPECT_EQ(volume.phi[volume.frame.number(middle, n + p - 1 - depth, middle)], -0.5f - float(depth));
    EXPECT_EQ(volume.phi[volume.frame.number(middle, middle, p + depth)], -0.5f - float(depth));
  }
  EXPECT_EQ(volume.phi[volume.frame.number(1, middle, middle)], 0.5f);
  EXPECT_EQ(volume.phi[volume.frame.number(0, middle, middle)], 1.5f);
  EXPECT_EQ(volume.gradient(p, middle, middle), Vec3(-1, 0, 0));
  EXPECT_EQ(volume.gradient(n + p - 1, middle, middle), Vec3(1, 0, 0));
  EXPECT_EQ(volume.gradient(middle, p, middle), Vec3(0, -1, 0));
  EXPECT_EQ(volume.gradient(middle, middle, n + p - 1), Vec3(0, 0, 1));
  EXPECT_EQ(volume.gradient(0, middle, middle), Vec3(-1, 0, 0));  // one-sided at the border
}

// The published table for balls: over-estimate against the surface of the cubes, error against the formula
// and of the normals.
struct BallErrors {
  double overMean = 0, overMax = 0, overMin = 1e9;
  double rms = 0, mean = 0, min = 1e9, max = -1e9;
  double normalMean = 0, normalMax = 0;
};

BallErrors ballErrors(uint32_t n, size_t stride) {
  const uint32_t padding = 2;
  const VoxelGrid grid = ballGrid(n, padding);
  const DistanceVolume volume = distanceTransform(grid);
  const Vec3 middle = Vec3::Constant(0.5 * n + padding);
  std::vector<Vec3> outer;  // outside sites
  for (size_t v = 0; v < volume.phi.size(); ++v) {
    const auto q = volume.frame.place(v);
    if (volume.isSite(v) && volume.phi[v] > 0) outer.push_back(volume.frame.centre(q[0], q[1], q[2]));
  }
  BallErrors e;
  size_t inside = 0, sampled = 0, normals = 0;
  for (size_t v = 0; v < volume.phi.size(); ++v) {
    if (volume.phi[v] > 0) continue;
    const auto q = volume.frame.place(v);
    const Vec3 p = volume.frame.centre(q[0], q[1], q[2]);
    const double r = (p - middle).norm(), depth = -double(volume.phi[v]);
    const double error = (0.5 * n - r) - depth;  // of the signed value
    e.rms += error * error;
    e.mean += error;
    e.min = std::min(e.min, error);
    e.max = std::max(e.max, error);
    if (r > 3) {
      const double cosine = volume.gradient(q[0], q[1], q[2]).dot((p - middle) / r);
      const double angle = std::acos(std::clamp(cosine, -1.0, 1.0)) * 180 / kPi;
      e.normalMean += angle;
      e.normalMax = std::max(e.normalMax, angle);
      ++normals;
    }
    if (inside++ % stride != 0) continue;
    double surface = std::numeric_limits<double>::infinity();
    for (const Vec3& c : outer)
      surface = std::min(surface, ((p - c).cwiseAbs() - Vec3::Constant(0.5)).cwiseMax(0).squaredNorm());
    const double over = depth - std::sqrt(surface);
    e.overMean += over;
    e.overMax = std::max(e.overMax, over);
    e.overMin = std::min(e.overMin, over);
    ++sampled;
  }
  e.rms = std::sqrt(e.rms / double(inside));
  e.mean /= double(inside);
  e.normalMean /= double(normals);
  e.overMean /= double(sampled);
  return e;
}

TEST(DistanceTransform, BallOf32HasThePublishedErrors) {
  const BallErrors e = ballErrors(32, 1);
  EXPECT_GE(e.overMin, -1e-5);
  EXPECT_LE(e.overMax, 0.3661);
  EXPECT_NEAR(e.overMax, 0.366, 0.0006);
  EXPECT_NEAR(e.overMean, 0.077, 0.0006);
  EXPECT_NEAR(e.rms, 0.439, 0.0006);
  EXPECT_NEAR(e.mean, 0.332, 0.0006);
  EXPECT_NEAR(e.min, -0.588, 0.0006);
  EXPECT_NEAR(e.max, 0.825, 0.0006);
  EXPECT_NEAR(e.normalMean, 9.99, 0.02);
  EXPECT_NEAR(e.normalMax, 39.2, 0.06);
}

TEST(DistanceTransformFull, BallOf96HasThePublishedErrors) {
  const BallErrors e = ballErrors(96, 200);
  EXPECT_GE(e.overMin, -1e-5);
  EXPECT_LE(e.overMax, 0.3661);
  EXPECT_NEAR(e.overMean, 0.088, 0.01);
  EXPECT_NEAR(e.rms, 0.510, 0.0006);
  EXPECT_NEAR(e.mean, 0.457, 0.0006);
  EXPECT_NEAR(e.min, -0.693, 0.0006);
  EXPECT_NEAR(e.max, 0.823, 0.0006);
  EXPECT_NEAR(e.normalMean, 5.66, 0.02);
  EXPECT_NEAR(e.normalMax, 44.2, 0.06);
}

double largestDifferenceToFastMarching(const VoxelGrid& grid) {
  const DistanceVolume volume = distanceTransform(grid);
  const std::vector<double> marched = fastMarching(volume);
  double largest = 0;
  for (size_t v = 0; v < marched.size(); ++v)
    largest = std::max(largest, std::abs(marched[v] - std::abs(double(volume.phi[v]))));
  return largest;
}

TEST(DistanceTransform, FastMarchingAgrees) {
  EXPECT_LT(largestDifferenceToFastMarching(boxGrid(32, 2)), 1.0);
  EXPECT_LT(largestDifferenceToFastMarching(ballGrid(32, 2)), 1.0);
}

TEST(DistanceTransformFull, FastMarchingAgreesAt96) {
  EXPECT_LT(largestDifferenceToFastMarching(boxGrid(96, 2)), 1.2);
  EXPECT_LT(largestDifferenceToFastMarching(ballGrid(96, 2)), 1.2);
}

TEST(DistanceTransform, SameBitsForAnyNumberOfThreads) {
  const VoxelGrid grid = randomGrid(unitFrame(67, 41, 39), 0.01, 9);
  const auto run = [&](unsigned threads) {
    const ThreadLimit limit(threads);
    return distanceTransform(grid);
  };
  const DistanceVolume one = run(1), three = run(3);
  EXPECT_EQ(one.phi, three.phi);
  EXPECT_EQ(one.site, three.site);
}

}  // namespace
}  // namespace sunder::sdf
