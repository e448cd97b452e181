#include "sunder/geometry/mass_properties.h"

#include "sunder/base/parallel.h"
#include "sunder/geometry/tet_mesh.h"

#include "geometry/test_meshes.h"

#include <gtest/gtest.h>

namespace sunder::geometry {

using namespace test;

namespace {

void expectClose(const MassProperties& a, const MassProperties& b, double tolerance) {
  EXPECT_NEAR(a.volume, b.volume, tolerance * std::abs(b.volume));
  EXPECT_NEAR(a.mass, b.mass, tolerance * std::abs(b.mass));
  EXPECT_LE((a.centre - b.centre).norm(), tolerance * (1 + b.centre.norm()));
  EXPECT_LE((a.inertia - b.inertia).norm(), tolerance * b.inertia.norm());
}

PolygonSoup moved(PolygonSoup soup, const Mat3& rotation, const Vec3& shift) {
  for (Vec3& p : soup.positions) p = rotation * p + shift;
  return soup;
}

Mat3 someRotation() { return Eigen::AngleAxisd(1.1, Vec3(1, -2, 0.5).normalized()).toRotationMatrix(); }

}  // namespace

TEST(MassProperties, Box) {
  const Vec3 size(2, 3, 5);
  const MassProperties m = massProperties(box(Vec3(1, 1, 1), Vec3(1, 1, 1) + size), 7);
  EXPECT_DOUBLE_EQ(m.volume, 30);
  EXPECT_DOUBLE_EQ(m.mass, 210);
  EXPECT_LE((m.centre - Vec3(2, 2.5, 3.5)).norm(), 1e-14);
  const Mat3 expected = 210.0 / 12 * Vec3(9 + 25, 4 + 25, 4 + 9).asDiagonal().toDenseMatrix();
  EXPECT_LE((m.inertia - expected).norm(), 1e-12);
  EXPECT_DOUBLE_EQ(surfaceArea(box(Vec3(1, 1, 1), Vec3(1, 1, 1) + size)), 2 * (6 + 10 + 15));
}

TEST(MassProperties, CornerTetrahedron) {
  // Integrals over the simplex: x^2 gives 1/60, x y gives 1/120.
  const MassProperties m = massProperties(tetrahedron());
  EXPECT_NEAR(m.volume, 1.0 / 6, 1e-16);
  EXPECT_LE((m.centre - Vec3::Constant(0.25)).norm(), 1e-15);
  const Mat3 about = inertiaAbout(m, Vec3::Zero());
  EXPECT_NEAR(about(0, 0), 2.0 / 60, 1e-16);
  EXPECT_NEAR(about(0, 1), -1.0 / 120, 1e-16);
  EXPECT_NEAR(surfaceArea(tetrahedron()), 1.5 + std::sqrt(3) / 2, 1e-15);
}

TEST(MassProperties, SphereConvergesWithSecondOrder) {
  const double radius = 1.5, volume = 4.0 / 3 * kPi * std::pow(radius, 3),
               inertia = 0.4 * volume * radius * radius;
  const double area = 4 * kPi * radius * radius;
  Vec3 previous = Vec3::Zero();
  for (uint32_t n : {16u, 32u, 64u}) {
    const MassProperties m = massProperties(sphere(n, radius));
    EXPECT_LE(m.centre.norm(), 1e-13);
    // An inscribed polyhedron falls short of all three, four times less with every halving.
    const Vec3 errors(1 - m.volume / volume, 1 - m.inertia(1, 1) / inertia,
                      1 - surfaceArea(sphere(n, radius)) / area);
    EXPECT_GT(errors.minCoeff(), 0);
    if (n > 16) {
      for (int i = 0; i < 3; ++i) EXPECT_NEAR(previous[i] / errors[i], 4, 0.1);
    }
    previous = errors;
  }
  EXPECT_LT(previous.maxCoeff(), 2e-3);
}

TEST(MassProperties, TorusMatchesPappus) {
  const MassProperties m = massProperties(torus(400, 300));
  EXPECT_NEAR(m.volume, 2 * kPi * kPi * 2 * 1 * 1, 5e-3);
  // About the axis: m (R^2 + 3/4 r^2).
  EXPECT_NEAR(m.inertia(1, 1), m.mass * (4 + 0.75), 5e-4 * m.inertia(1, 1));
}

TEST(MassProperties, FarFromTheOriginNothingIsLost) {
  const MassProperties here = massProperties(sphere(20));
  const Vec3 far(1e6, -2e6, 3e6);
  const MassProperties there = massProperties(moved(sphere(20), Mat3::Identity(), far));
  // Positions themselves are rounded to 2^-31 there.
  EXPECT_NEAR(there.volume, here.volume, 1e-9 * here.volume);
  EXPECT_LE((there.centre - far).norm(), 2e-9);
  EXPECT_LE((there.inertia - here.inertia).norm(), 1e-9 * here.inertia.norm());
  // Where rounding cannot touch the positions the result is exact.
  EXPECT_DOUBLE_EQ(massProperties(box(far, far + Vec3(1, 1, 1))).volume, 1);
}

TEST(MassProperties, TurnWithTheBody) {
  const PolygonSoup soup = box(Vec3(0, 0, 0), Vec3(1, 2, 4));
  const Vec3 shift(3, -1, 2);
  expectClose(massProperties(moved(soup, someRotation(), shift)),
              transformed(massProperties(soup), someRotation(), shift), 1e-13);
}

TEST(MassProperties, AddUp) {
  const PolygonSoup a = box(Vec3(0, 0, 0), Vec3(1, 2, 4)), b = moved(box(), someRotation(), Vec3(5, 1, 1));
  const MassProperties both = massProperties(test::both(a, b));
  expectClose(combine(massProperties(a), massProperties(b)), both, 1e-13);
  expectClose(subtract(both, massProperties(b)), massProperties(a), 1e-12);
  // A cavity: an inner shell turned inward.
  PolygonSoup inner = box(Vec3(0.25, 0.25, 0.25), Vec3(0.75, 0.75, 0.75));
  for (size_t f = 0; f < inner.faceCount(); ++f) reverseFace(inner, f);
  EXPECT_DOUBLE_EQ(massProperties(test::both(box(), inner)).volume, 1 - 0.125);
}

TEST(MassProperties, TetrahedraAgreeWithTheirBoundary) {
  TetMesh mesh = tetBlock(5);
  for (Vec3& p : mesh.positions)
    p = someRotation() * Vec3(p.x() + 0.1 * p.y() * p.y(), 2 * p.y(), p.z() * 3) + Vec3(9, 9, 9);
  ASSERT_TRUE(tetReport(mesh).sound());
  expectClose(massProperties(mesh, 3), massProperties(boundarySurface(mesh).surface, 3), 1e-12);
}

TEST(MassProperties, DensityScalesMassAndInertia) {
  expectClose(withDensity(massProperties(box(), 2), 5), massProperties(box(), 5), 1e-15);
}

TEST(MassProperties, InsideOutIsNegativeAndNothingIsZero) {
  PolygonSoup soup = box();
  for (size_t f = 0; f < 6; ++f) reverseFace(soup, f);
  EXPECT_DOUBLE_EQ(massProperties(soup).volume, -1);
  const MassProperties none = massProperties(PolygonSoup{});
  EXPECT_EQ(none.volume, 0);
  EXPECT_TRUE(none.centre.allFinite());
  const MassProperties flat = massProperties(grid(3));
  EXPECT_TRUE(flat.centre.allFinite() && flat.inertia.allFinite());
}

TEST(MassProperties, SameBitsForAnyNumberOfThreads) {
  const PolygonSoup soup = torus(150, 100, true);
  const auto [a, areaA] = withThreads(1, [&] { return std::pair(massProperties(soup), surfaceArea(soup)); });
  const auto [b, areaB] = withThreads(4, [&] { return std::pair(massProperties(soup), surfaceArea(soup)); });
  EXPECT_EQ(a.volume, b.volume);
  EXPECT_EQ(a.centre, b.centre);
  EXPECT_EQ(a.inertia, b.inertia);
  EXPECT_EQ(areaA, areaB);
}

}  // namespace sunder::geometry
