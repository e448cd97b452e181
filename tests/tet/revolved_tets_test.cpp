#include "sunder/tet/revolved_tets.h"

#include "sunder/base/error.h"
#include "sunder/base/random.h"
#include "sunder/geometry/mass_properties.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/shapes/catalogue.h"
#include "sunder/tet/plane_triangles.h"
#include "sunder/tet/tet_report.h"

#include "geometry/closedness.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include <gtest/gtest.h>

namespace sunder::tet {
namespace {

using shapes::Loft;

// The corners of a surface's triangles by place, each turned so that the least comes first.
std::multiset<std::array<double, 9>> placesOf(const geometry::TriMesh& mesh) {
  std::multiset<std::array<double, 9>> places;
  for (const geometry::Triangle& t : mesh.triangles) {
    std::array<std::array<double, 3>, 3> corners;
    for (size_t i = 0; i < 3; ++i) {
      const Vec3& p = mesh.positions[t[i]];
      corners[i] = {p.x() + 0.0, p.y() + 0.0, p.z() + 0.0};  // no negative zeros
    }
    std::rotate(corners.begin(), std::min_element(corners.begin(), corners.end()), corners.end());
    std::array<double, 9> flat;
    for (size_t i = 0; i < 9; ++i) flat[i] = corners[i / 3][i % 3];
    places.insert(flat);
  }
  return places;
}

double volumeOf(const geometry::TriMesh& surface) { return geometry::massProperties(surface).volume; }

struct Case {
  const char* name;
  shapes::ShapeValues values = {};
};

class RevolvedTets : public ::testing::TestWithParam<Case> {};

// No edge is divided: the boundary is the surface, triangle by triangle and bit by bit.
TEST_P(RevolvedTets, BoundaryIsTheSurfaceItself) {
  const auto loft = shapes::shapeLoft(GetParam().name, GetParam().values);
  ASSERT_TRUE(loft);
  const geometry::TriMesh surface = shapes::makeShape(GetParam().name, GetParam().values);
  const geometry::TetMesh mesh = revolvedTets(*loft, 1000);
  const geometry::TetReport report = geometry::tetReport(mesh);
  EXPECT_TRUE(report.sound());
  EXPECT_EQ(report.components, 1u);
  EXPECT_EQ(report.isolatedVertices, 0u);
  const TetQuality quality = tetQuality(mesh);
  EXPECT_EQ(quality.inverted + quality.flat, 0u);
  EXPECT_NEAR(report.volume / volumeOf(surface), 1, 1e-12);
  EXPECT_EQ(placesOf(geometry::boundarySurface(mesh).surface), placesOf(surface));
  std::printf("%-10s %6zu tetrahedra on %5zu triangles, dihedral angles %.2f to %.2f degrees\n",
              GetParam().name, mesh.tets.size(), surface.triangles.size(), quality.smallestAngle,
              quality.largestAngle);
  EXPECT_GT(quality.smallestAngle, 0.3);
  EXPECT_LT(quality.largestAngle, 179.5);
}

// Edges are divided: more vertices, all of them on the surface, which stays where it was.
TEST_P(RevolvedTets, DividedEdgesMoveNothing) {
  const auto loft = shapes::shapeLoft(GetParam().name, GetParam().values);
  ASSERT_TRUE(loft);
  const geometry::TriMesh surface = shapes::makeShape(GetParam().name, GetParam().values);
  const double size = geometry::bounds(surface.positions).extent().maxCoeff();
  const geometry::TetMesh mesh = revolvedTets(*loft, size / 40);
  const geometry::TetReport report = geometry::tetReport(mesh);
  EXPECT_TRUE(report.sound());
  EXPECT_EQ(report.components, 1u);
  EXPECT_NEAR(report.volume / volumeOf(surface), 1, 1e-12);
  const geometry::TriMesh boundary = geometry::boundarySurface(mesh).surface;
  EXPECT_GT(boundary.triangles.size(), surface.triangles.size());
  EXPECT_EQ(geometry::closedness(boundary).open, 0u);
  EXPECT_EQ(geometry::closedness(boundary).euler, geometry::closedness(surface).euler);
  EXPECT_LT(boundaryDistance(mesh, surface, size / 100).hausdorff(), 1e-12 * size);
  for (const geometry::Triangle& t : boundary.triangles)
    for (size_t i = 0; i < 3; ++i)  // the diagonal of a square of edges that are not divided
      EXPECT_LT((boundary.positions[t[i]] - boundary.positions[t[(i + 1) % 3]]).norm(),
                1.5 * std::sqrt(2.0) * size / 40 * (1 + 1e-9));
}

INSTANTIATE_TEST_SUITE_P(Shapes, RevolvedTets,
                         ::testing::Values(Case{"bowl"}, Case{"wine-glass"}, Case{"vase"}, Case{"bottle"},
                                           Case{"cylinder"}, Case{"cone"}, Case{"capsule"}, Case{"torus"},
                                           Case{"plate"}, Case{"uv-sphere"},
                                           Case{"plate", {{"corner", "0.2"}}},
                                           Case{"cone", {{"topRadius", "0.2"}}},
                                           Case{"wine-glass", {{"segments", "7"}, {"resolution", "9"}}},
                                           Case{"bottle", {{"wall", "0.0004"}, {"segments", "31"}}},
                                           Case{"torus", {{"sides", "3"}, {"segments", "3"}}}),
                         [](const auto& one) {
                           std::string name = one.param.name + std::to_string(one.index);
                           std::erase(name, '-');
                           return name;
                         });

// A vertex in the middle of the wall all along: bending is not left to one layer.
TEST(RevolvedTetsWalls, AreTwoTetrahedraThick) {
  const Loft loft = shapes::loftOf(shapes::BottleShape{.wall = 0.002});
  const geometry::TetMesh mesh = revolvedTets(loft, 0.02);
  const std::vector<std::array<uint32_t, 4>> neighbours = geometry::tetNeighbours(mesh);
  std::vector<uint8_t> onSurface(mesh.positions.size(), 0);
  for (const auto& t : geometry::boundarySurface(mesh).vertexSource) onSurface[t] = 1;
  size_t across = 0;  // tetrahedra in the straight wall with all their vertices on the surface
  for (const geometry::Tetrahedron& t : mesh.tets) {
    const bool straight = std::all_of(t.begin(), t.end(), [&](uint32_t v) {
      return mesh.positions[v].y() > 0.03 && mesh.positions[v].y() < 0.17;
    });
    across += straight && std::all_of(t.begin(), t.end(), [&](uint32_t v) { return onSurface[v]; });
  }
  EXPECT_EQ(across, 0u);
}

TEST(RevolvedTetsProfiles, HollowBallAndRingOfAnyOutline) {
  std::vector<Vec2> profile;  // two stretches on the axis
  for (int k = 0; k <= 10; ++k)
    profile.emplace_back(k % 10 == 0 ? 0 : std::sin(kPi * k / 10), -std::cos(kPi * k / 10));
  for (int k = 10; k >= 0; --k)
    profile.emplace_back(k % 10 == 0 ? 0 : 0.8 * std::sin(kPi * k / 10), -0.8 * std::cos(kPi * k / 10));
  const std::vector<Vec2> outline{{1, 0}, {0.3, 0.4}, {-0.2, 1.1}, {-0.9, -0.1}, {0.1, -0.7}};
  for (const bool ring : {false, true}) {
    const std::vector<Vec2> points =
        ring ? std::vector<Vec2>{{1, 0}, {2, 0}, {2, 1}, {1.4, 0.2}, {1, 1}} : profile;
    const Loft loft = shapes::makeLoft(points, outline);
    const geometry::TriMesh surface = shapes::loft(points, outline);
    const geometry::TetMesh mesh = revolvedTets(loft, 100);
    EXPECT_TRUE(geometry::tetReport(mesh).sound());
    EXPECT_NEAR(geometry::tetReport(mesh).volume / volumeOf(surface), 1, 1e-12);
    EXPECT_EQ(placesOf(geometry::boundarySurface(mesh).surface), placesOf(surface));
  }
}

// Whatever a vessel's parameters are: it is refused as a surface, or filled.
TEST(RevolvedTetsProfiles, VesselsOfAnyMeasure) {
  RandomStream random(7, 1);
  const auto between = [&](double low, double high) { return low + (high - low) * random.uniform(); };
  const auto whole = [&](int low, int high) { return low + int((high - low) * random.uniform()); };
  size_t filled = 0;
  for (int i = 0; i < 200; ++i) {
    Loft loft;
    const int segments = whole(3, 24), resolution = whole(8, 40);
    const double wall = std::pow(10, between(-4, -2));
    try {
      switch (i % 4) {
        case 0:
          loft = shapes::loftOf(shapes::BowlShape{between(0.05, 0.2), between(0.03, 0.2), between(0.02, 0.1),
                                                  wall, segments, resolution});
          break;
        case 1:
          loft = shapes::loftOf(shapes::WineGlassShape{
              between(0.1, 0.4), between(0.05, 0.2), between(0.02, 0.1), between(0.02, 0.1),
              between(0.002, 0.01), between(0.02, 0.08), wall, segments, resolution});
          break;
        case 2:
          loft = shapes::loftOf(shapes::VaseShape{between(0.1, 0.5), between(0.03, 0.2), between(0.02, 0.1),
                                                  between(0.01, 0.1), between(0.02, 0.1), wall, segments,
                                                  resolution});
          break;
        default:
          loft =
              shapes::loftOf(shapes::BottleShape{between(0.1, 0.5), between(0.02, 0.1), between(0.008, 0.03),
                                                 between(0.3, 0.8), wall, segments, resolution});
      }
    } catch (const Error&) {
      continue;  // measures that do not go together
    }
    ++filled;
    SCOPED_TRACE(i);
    const geometry::TriMesh surface = shapes::loft(loft.profile, loft.outline);
    const geometry::TetMesh mesh = revolvedTets(loft, 10);
    const TetQuality quality = tetQuality(mesh);
    EXPECT_EQ(quality.inverted + quality.flat, 0u);
    EXPECT_TRUE(geometry::tetReport(mesh).sound());
    EXPECT_NEAR(quality.volume / volumeOf(surface), 1, 1e-11);
    EXPECT_EQ(placesOf(geometry::boundarySurface(mesh).surface), placesOf(surface));
  }
  EXPECT_GT(filled, 80u);
}

TEST(RevolvedTetsProfiles, BadOnesAreRefused) {
  const std::vector<Vec2> round{{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
  const auto says = [&](const std::vector<Vec2>& profile, double edge, const char* what) {
    try {
      revolvedTets({profile, round}, edge);
      ADD_FAILURE() << "not refused: " << what;
    } catch (const Error& error) {
      EXPECT_NE(error.message().find(what), std::string::npos) << error.message();
    }
  };
  const std::vector<Vec2> good{{0, 0}, {1, 0}, {1, 1}, {0, 1}};
  EXPECT_NO_THROW(revolvedTets({good, round}, 0.3));
  EXPECT_NO_THROW(revolvedTets({{good.rbegin(), good.rend()}, round}, 0.3));  // the other way around
  says(good, 0, "edge length above 0");
  says(good, -1, "edge length above 0");
  says(good, NAN, "edge length above 0");
  says(good, 1e-5, "too many");
  says({{0, 0}, {1, 0}}, 1, "at least 3");
  says({{0, 0}, {1, 1}, {1, 0}, {0, 1}}, 1, "crosses or touches itself");
  says({{0, 0}, {1, 0}, {-0.5, 1}}, 1, "negative radius");
  says({{0, 0.5}, {1, 0}, {2, 0.5}, {1, 1}}, 1, "pinch");
  says({{0, 0}, {1, 0}, {1, 0}, {0, 1}}, 1, "equal");
  says({{0, 0}, {1, NAN}, {1, 1}, {0, 1}}, 1, "not finite");
  EXPECT_THROW(revolvedTets({good, {{1, 0}, {0, 1}}}, 0.3), Error);
  EXPECT_THROW(revolvedTets({good, {{1, 0}, {2, 0}, {3, 0}}}, 0.3), Error);
}

TEST(PlaneTriangles, FillASolidEvenly) {
  const std::vector<Vec2> square{{0, 0}, {1, 0}, {1, 1}, {0, 1}};
  std::vector<Vec2> polygon;
  for (size_t k = 0; k < 4; ++k)
    for (int i = 0; i < 10; ++i)
      polygon.push_back(square[k] + (square[(k + 1) % 4] - square[k]) * (i / 10.0));
  const PlaneTriangles plane = fillPolygon(polygon, {.edge = 0.1});
  double area = 0, smallest = 180;
  for (const geometry::Triangle& t : plane.triangles) {
    std::array<Vec2, 3> p;
    for (size_t i = 0; i < 3; ++i) p[i] = plane.points[t[i]];
    const Vec2 u = p[1] - p[0], v = p[2] - p[0];
    area += 0.5 * (u.x() * v.y() - u.y() * v.x());
    for (size_t i = 0; i < 3; ++i) {
      const Vec2 a = p[(i + 1) % 3] - p[i], b = p[(i + 2) % 3] - p[i];
      smallest = std::min(smallest, std::acos(a.normalized().dot(b.normalized())) * 180 / kPi);
    }
  }
  EXPECT_NEAR(area, 1, 1e-13);
  EXPECT_GT(smallest, 20);
  EXPECT_GT(plane.triangles.size(), 150u);
  EXPECT_LT(plane.triangles.size(), 500u);
  EXPECT_THROW(fillPolygon(std::vector<Vec2>{square.rbegin(), square.rend()}, {.edge = 0.1}), Error);
  EXPECT_THROW(fillPolygon(polygon, {.edge = 0}), Error);
  EXPECT_THROW(fillPolygon(polygon, {.edge = 0.001, .mostTriangles = 1000}), Error);
}

}  // namespace
}  // namespace sunder::tet
