#include "sunder/fluid/surface/surface.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/random.h"
#include "sunder/fluid/fill.h"
#include "sunder/geometry/mesh_report.h"
#include "sunder/sdf/analytic_field.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace sunder::fluid {
namespace {

constexpr double kSpacing = 0.02, kSurfaceRadius = kSpacing / 2;
constexpr double kSurfaceVolume = kSpacing * kSpacing * kSpacing;

SurfaceSettings surfaceSettingsOf(SurfaceMethod method = SurfaceMethod::Anisotropic, double cell = 0) {
  return {.radius = kSurfaceRadius, .cell = cell, .method = method};
}

geometry::MeshReport reportOf(const LiquidSurface& surface) {
  return geometry::meshReport(geometry::toSoup(surface.mesh));
}

geometry::MeshReport closedReport(const LiquidSurface& surface) {
  const geometry::MeshReport report = reportOf(surface);
  EXPECT_TRUE(report.watertight);
  EXPECT_TRUE(report.manifold());
  EXPECT_FALSE(report.insideOut);
  EXPECT_EQ(report.degenerateFaces, 0u);
  EXPECT_EQ(surface.normals.size(), surface.mesh.positions.size());
  return report;
}

std::vector<Vec3> ball(double spacings, const Vec3& centre = Vec3(0.001, 0.003, 0.002)) {
  const double r = spacings * kSpacing;
  const Vec3 half = Vec3::Constant(r + kSpacing);
  return fillField(*sdf::makeSphereField(centre, r), {centre - half, centre + half}, kSpacing, 0, false);
}

// A pool of 40 x 15 x 40, its particles moved at random by up to `shake` spacings.
std::vector<Vec3> pool(double shake) {
  std::vector<Vec3> points = fillBox({Vec3::Zero(), kSpacing * Vec3(40, 15, 40)}, kSpacing);
  RandomStream random(5, 0);
  for (Vec3& p : points)
    for (int k = 0; k < 3; ++k) p[k] += shake * kSpacing * (2 * random.uniform() - 1);
  return points;
}

TEST(LiquidSurface, ABallOfParticlesKeepsItsVolume) {
  for (const auto& [spacings, share] : {std::pair{5.0, 0.03}, {10.0, 0.01}}) {
    const std::vector<Vec3> points = ball(spacings);
    const LiquidSurface surface = liquidSurface(points, {}, surfaceSettingsOf());
    const geometry::MeshReport report = closedReport(surface);
    EXPECT_EQ(report.components, 1u);
    EXPECT_EQ(report.genus, 0);
    const double volume = double(points.size()) * kSurfaceVolume;
    EXPECT_NEAR(report.volume, volume, share * volume);
    for (size_t v = 0; v < surface.normals.size(); ++v) {
      const Vec3 out = (surface.mesh.positions[v] - Vec3(0.001, 0.003, 0.002)).normalized();
      EXPECT_GT(surface.normals[v].cast<double>().dot(out), 0.9);
      EXPECT_NEAR(surface.normals[v].norm(), 1, 1e-5);
    }
  }
}

struct Top {
  double mean = 0, rms = 0, span = 0;  // heights in radii
};

// Away from the walls.
Top topOf(const LiquidSurface& surface) {
  Top top;
  double count = 0, squares = 0, lowest = 1e9, highest = -1e9;
  for (const Vec3& p : surface.mesh.positions) {
    const Vec3 x = p / kSpacing;
    if (x.y() < 7 || x.x() < 6 || x.x() > 34 || x.z() < 6 || x.z() > 34) continue;
    const double height = 2 * x.y();
    ++count;
    top.mean += height;
    squares += height * height;
    lowest = std::min(lowest, height);
    highest = std::max(highest, height);
  }
  top.mean /= count;
  top.rms = std::sqrt(std::max(squares / count - top.mean * top.mean, 0.0));
  top.span = highest - lowest;
  return top;
}

TEST(LiquidSurface, TheTopOfAPoolIsFlat) {
  const Top still = topOf(liquidSurface(pool(0), {}, surfaceSettingsOf()));
  EXPECT_NEAR(still.mean, 30, 0.2);
  EXPECT_LT(still.span, 0.02);
  const Top shaken = topOf(liquidSurface(pool(0.2), {}, surfaceSettingsOf()));
  EXPECT_NEAR(shaken.mean, 30, 0.2);
  EXPECT_LT(shaken.rms, 0.12);
  EXPECT_LT(shaken.span, 0.8);
}

TEST(LiquidSurface, ALoneParticleIsABallOfItsVolume) {
  for (const SurfaceMethod method : {SurfaceMethod::Anisotropic, SurfaceMethod::Averaged}) {
    const std::vector<Vec3> one = {Vec3(0.3, -2, 5)};
    const auto coarse = closedReport(liquidSurface(one, {}, surfaceSettingsOf(method)));
    EXPECT_EQ(coarse.components, 1u);
    EXPECT_GT(coarse.volume, 0.6 * kSurfaceVolume);
    EXPECT_LT(coarse.volume, kSurfaceVolume);
    const auto fine = closedReport(liquidSurface(one, {}, surfaceSettingsOf(method, kSurfaceRadius / 8)));
    EXPECT_NEAR(fine.volume, kSurfaceVolume, 0.02 * kSurfaceVolume);
    EXPECT_LT((fine.centre - one[0]).norm(), 0.01 * kSpacing);
  }
}

TEST(LiquidSurface, DropsApartAreApartAndSheetsAreWhole) {
  std::vector<Vec3> drops = ball(4), other = ball(4, Vec3(10.5 * kSpacing, 0, 0));
  drops.insert(drops.end(), other.begin(), other.end());
  EXPECT_EQ(closedReport(liquidSurface(drops, {}, surfaceSettingsOf())).components, 2u);

  // A layer, two, three; neither holes nor pieces.
  for (const int layers : {1, 2, 3}) {
    const std::vector<Vec3> sheet = fillBox({Vec3::Zero(), kSpacing * Vec3(30, layers, 30)}, kSpacing);
    for (const SurfaceMethod method : {SurfaceMethod::Anisotropic, SurfaceMethod::Averaged}) {
      const auto report = closedReport(liquidSurface(sheet, {}, surfaceSettingsOf(method)));
      EXPECT_EQ(report.components, 1u);
      EXPECT_EQ(report.genus, 0);
      EXPECT_NEAR(report.volume / (double(sheet.size()) * kSurfaceVolume), 1, 0.2);
    }
  }
}

TEST(LiquidSurface, ClosedForAnyParticles) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    RandomStream random(seed, 1);
    std::vector<Vec3> points;
    const double side = kSpacing * (2 + double(seed));
    for (int k = 0; k < 300; ++k)
      points.push_back(side * Vec3(random.uniform(), random.uniform(), random.uniform()));
    points.push_back(points[0]);  // one twice
    for (const SurfaceMethod method : {SurfaceMethod::Anisotropic, SurfaceMethod::Averaged}) {
      closedReport(liquidSurface(points, {}, surfaceSettingsOf(method)));
      closedReport(liquidSurface(points, {}, surfaceSettingsOf(method, 4 * kSurfaceRadius)));
    }
  }
}

TEST(LiquidSurface, SameBitsForAnyNumberOfThreads) {
  const std::vector<Vec3> points = pool(0.2);
  std::vector<Vec3f> velocities;
  for (const Vec3& p : points) velocities.push_back(p.cast<float>());
  SurfaceSettings settings = surfaceSettingsOf();
  settings.smoothing = 2;
  std::vector<LiquidSurface> made;
  for (const unsigned threads : {1u, 2u, 4u}) {
    const ThreadLimit limit(threads);
    made.push_back(liquidSurface(points, velocities, settings));
  }
  for (const LiquidSurface& other : {made[1], made[2]}) {
    EXPECT_EQ(made[0].mesh.triangles, other.mesh.triangles);
    EXPECT_EQ(made[0].mesh.positions, other.mesh.positions);
    EXPECT_EQ(made[0].normals, other.normals);
    EXPECT_EQ(made[0].velocities, other.velocities);
  }
}

TEST(LiquidSurface, VerticesMoveAsTheParticlesAround) {
  const std::vector<Vec3> points = ball(8, Vec3::Zero());
  const Vec3f spin(0, 3, 0), drift(1, -2, 0.5f);
  std::vector<Vec3f> even(points.size(), drift), turning;
  for (const Vec3& p : points) turning.push_back(spin.cross(Vec3f(p.cast<float>())));
  const LiquidSurface drifts = liquidSurface(points, even, surfaceSettingsOf());
  ASSERT_EQ(drifts.velocities.size(), drifts.mesh.positions.size());
  for (const Vec3f& v : drifts.velocities) EXPECT_LT((v - drift).norm(), 1e-5f);
  const LiquidSurface turns = liquidSurface(points, turning, surfaceSettingsOf());
  // Particles are inside, so what a vertex gets is slower than its own place would be, by a spacing's worth.
  for (size_t v = 0; v < turns.velocities.size(); ++v)
    EXPECT_LT((turns.velocities[v] - spin.cross(Vec3f(turns.mesh.positions[v].cast<float>()))).norm(),
              3 * 1.2 * kSpacing);
}

TEST(LiquidSurface, SmoothingKeepsTheVolume) {
  const std::vector<Vec3> points = pool(0.2);
  SurfaceSettings settings = surfaceSettingsOf();
  const auto before = closedReport(liquidSurface(points, {}, settings));
  settings.smoothing = 10;
  const LiquidSurface surface = liquidSurface(points, {}, settings);
  const geometry::MeshReport after = reportOf(surface);
  EXPECT_TRUE(after.watertight);
  EXPECT_TRUE(after.manifold());
  EXPECT_NEAR(after.volume, before.volume, 0.005 * before.volume);
  EXPECT_LT(after.area, before.area);
}

TEST(LiquidSurface, MemoryGoesWithTheParticlesNotTheBox) {
  const std::vector<Vec3> far = {Vec3::Zero(), Vec3(3000, 2000, -4000)};
  SurfaceSettings settings = surfaceSettingsOf();
  settings.mostCells = 100'000;
  EXPECT_EQ(closedReport(liquidSurface(far, {}, settings)).components, 2u);
}

TEST(LiquidSurface, BadInputIsRefusedWithAdvice) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Vec3> points = ball(3);
  const auto refused = [&](std::vector<Vec3> at, std::vector<Vec3f> velocities, SurfaceSettings settings,
                           ErrorKind kind, const char* says) {
    try {
      liquidSurface(at, velocities, settings);
      ADD_FAILURE() << "accepted; " << says;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), kind) << e.what();
      EXPECT_NE(std::string(e.what()).find(says), std::string::npos) << e.what();
    }
  };
  EXPECT_TRUE(liquidSurface({}, {}, surfaceSettingsOf()).mesh.triangles.empty());
  refused(points, {}, {.radius = 0}, ErrorKind::Usage, "radius of its particles");
  refused(points, {}, {.radius = nan}, ErrorKind::Usage, "radius of its particles");
  refused(points, {}, {.radius = kSurfaceRadius, .cell = -1}, ErrorKind::Usage, "positive size");
  refused(points, {}, {.radius = kSurfaceRadius, .cell = 1}, ErrorKind::Usage, "at most two diameters");
  refused(points, {}, {.radius = kSurfaceRadius, .cell = 1e-7}, ErrorKind::Limit, "take larger cells");
  refused(points, {}, {.radius = kSurfaceRadius, .cell = 1e-300}, ErrorKind::Limit, "take larger cells");
  refused(points, {Vec3f::Zero()}, surfaceSettingsOf(), ErrorKind::Usage, "velocity of each particle");
  std::vector<Vec3> broken = points;
  broken[7].y() = nan;
  refused(broken, {}, surfaceSettingsOf(), ErrorKind::Geometry, "particle 7");
  EXPECT_THROW(surfaceMethodNamed("marching"), Error);
  EXPECT_EQ(surfaceMethodNamed("averaged"), SurfaceMethod::Averaged);
}

}  // namespace
}  // namespace sunder::fluid
