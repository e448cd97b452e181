#include "sunder/soft/walls/masks.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/sdf/mesh_field.h"
#include "sunder/soft/walls/distance_texture.h"

#include "soft/wall_cases.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace sunder::soft {

namespace {

Embedded ball(int frequency = 24) {
  return {turned(shapes::makeIcosphere({.radius = 0.9, .frequency = frequency}), 4), boxCage(2)};
}

// Whether a point of a face is solid, by the winding of its loops.
bool solidAt(const Walls& walls, const WallFace& face, const Vec3& w) {
  int winding = 0;
  for (uint32_t l = face.firstLoop; l < face.firstLoop + face.loops; ++l) {
    const auto loop = walls.loop(l);
    for (size_t i = 0; i < loop.size(); ++i) {
      const Vec3 &a = loop[i], &b = loop[(i + 1) % loop.size()];
      const double turn = (b[1] - a[1]) * (w[2] - a[2]) - (b[2] - a[2]) * (w[1] - a[1]);
      if (a[2] <= w[2] && w[2] < b[2] && turn > 0) ++winding;
      if (b[2] <= w[2] && w[2] < a[2] && turn < 0) --winding;
    }
  }
  return winding != 0;
}

uint8_t texelAt(const WallMasks& masks, uint32_t half, const Vec3& w) {
  const Vec2 at = maskTexel(masks, half, w);
  const auto column = static_cast<size_t>(at.x()), row = static_cast<size_t>(at.y());
  return masks.layer(half / 2)[row * masks.width + column];
}

double linearAt(const WallMasks& masks, uint32_t half, const Vec3& w) {
  const Vec2 at = maskTexel(masks, half, w) - Vec2(0.5, 0.5);
  const Vec2 low(std::floor(at.x()), std::floor(at.y()));
  double sum = 0;
  for (int dy = 0; dy < 2; ++dy)
    for (int dx = 0; dx < 2; ++dx) {
      const double weight =
          (dx ? at.x() - low.x() : 1 + low.x() - at.x()) * (dy ? at.y() - low.y() : 1 + low.y() - at.y());
      const auto column = static_cast<size_t>(low.x()) + static_cast<size_t>(dx),
                 row = static_cast<size_t>(low.y()) + static_cast<size_t>(dy);
      sum += weight * masks.layer(half / 2)[row * masks.width + column];
    }
  return sum;
}

// Points spread over a face, not on its outline.
Vec3 spread(uint32_t i) {
  const double a = std::fmod(0.5 + 0.7548776662466927 * i, 1.0),
               b = std::fmod(0.5 + 0.5698402909980532 * i, 1.0);
  return a + b < 1 ? Vec3(1 - a - b, a, b) : Vec3(a + b - 1, 1 - a, 1 - b);
}

// Share of points of partial faces where the mask differs from the exact wall.
double wrongShare(const Embedded& e, const WallMasks& masks, uint32_t points) {
  size_t wrong = 0, all = 0;
  for (uint32_t f = 0; f < e.walls.faces.size(); ++f) {
    if (masks.halfOf[f] == kNoIndex) continue;
    RandomStream random(41, f);
    for (uint32_t i = 0; i < points; ++i, ++all) {
      const double a = random.uniform(), b = random.uniform();
      const Vec3 w = a + b < 1 ? Vec3(1 - a - b, a, b) : Vec3(a + b - 1, 1 - a, 1 - b);
      const bool shown = masks.kind == MaskKind::Coverage ? texelAt(masks, masks.halfOf[f], w) > 0
                                                          : linearAt(masks, masks.halfOf[f], w) > 127.5;
      if (shown != solidAt(e.walls, e.walls.faces[f], w)) ++wrong;
    }
  }
  return static_cast<double>(wrong) / static_cast<double>(all);
}

}  // namespace

TEST(WallMasks, AreaConvergesToThatOfTheSection) {
  for (const bool round : {true, false}) {
    const Embedded e = round ? ball() : Embedded(turned(shapes::makeBox(), 3), boxCage(2));
    for (const uint32_t width : {64u, 128u, 256u}) {
      const WallMasks masks = makeMasks(e.walls, e.cage, width);
      const uint32_t n = masks.texelsOfEdge;
      for (uint32_t f = 0; f < e.walls.faces.size(); ++f) {
        if (masks.halfOf[f] == kNoIndex) continue;
        const WallFace& face = e.walls.faces[f];
        double inside = 0, all = 0;
        for (uint32_t v = 0; v < n; ++v)
          for (uint32_t u = 0; u <= v; ++u) {
            const double share = u == v ? 0.5 : 1;  // of the texel that is in the face
            const Vec3 w(1 - (v + 0.5) / n, (u + 0.5) / n, (v - static_cast<double>(u)) / n);
            all += share;
            if (texelAt(masks, masks.halfOf[f], w) > 0) inside += share;
          }
        double length = 0;  // of the contour in texels
        for (const ContourSegment& s : contourOf(e.walls, face))
          length += n * Vec2(s.b[1] - s.a[1], s.b[0] - s.a[0]).norm();
        double area = 0;
        for (const geometry::Triangle& t : e.walls.trianglesOf(face)) {
          const Vec3 &a = e.walls.points[t[0]], &b = e.walls.points[t[1]], &c = e.walls.points[t[2]];
          area += (b[1] - a[1]) * (c[2] - a[2]) - (b[2] - a[2]) * (c[1] - a[1]);
        }
        EXPECT_NEAR(inside / all, area, 0.71 * (length + 4) / all) << width;
      }
    }
  }
}

TEST(WallMasks, GapsShrinkWithTheTexels) {
  const Embedded e = ball();
  std::vector<double> wrong;
  for (const uint32_t width : {64u, 128u, 256u})
    wrong.push_back(wrongShare(e, makeMasks(e.walls, e.cage, width), 5000));
  for (size_t i = 0; i + 1 < wrong.size(); ++i) {
    EXPECT_GT(wrong[i] / wrong[i + 1], 1.5);
    EXPECT_LT(wrong[i] / wrong[i + 1], 2.7);
  }
}

TEST(WallMasks, OfDistancesFollowTheContourBelowATexel) {
  const Embedded e = ball(48);
  const WallMasks coverage = makeMasks(e.walls, e.cage, 64),
                  distance = makeMasks(e.walls, e.cage, 64, MaskKind::Distance);
  EXPECT_LT(wrongShare(e, distance, 5000), 0.25 * wrongShare(e, coverage, 5000));
}

TEST(WallMasks, OfTheSameContourAndOppositeCornersAreComplements) {
  const uint32_t n = 63;
  const std::vector<ContourSegment> across{{Vec3(0.7, 0.3, 0), Vec3(0.4, 0.3, 0.3)},
                                           {Vec3(0.4, 0.3, 0.3), Vec3(0.6, 0, 0.4)}};
  const std::vector<ContourSegment> loop{{Vec3(0.6, 0.2, 0.2), Vec3(0.2, 0.6, 0.2)},
                                         {Vec3(0.2, 0.6, 0.2), Vec3(0.2, 0.2, 0.6)},
                                         {Vec3(0.2, 0.2, 0.6), Vec3(0.6, 0.2, 0.2)}};
  for (const auto& [contour, corners] :
       {std::pair(across, std::array<bool, 3>{true, false, false}),
        std::pair(loop, std::array<bool, 3>{false, false, false}),
        std::pair(std::vector<ContourSegment>{}, std::array<bool, 3>{true, true, true})}) {
    std::vector<uint8_t> a(n * n), b(n * n);
    EXPECT_TRUE(fillMask(contour, corners, n, a));
    EXPECT_TRUE(fillMask(contour, {!corners[0], !corners[1], !corners[2]}, n, b));
    size_t solid = 0;
    for (uint32_t v = 0; v < n; ++v)
      for (uint32_t u = 0; u <= v; ++u) {
        EXPECT_EQ(a[v * n + u] + b[v * n + u], 255);
        solid += a[v * n + u] > 0 ? 1 : 0;
      }
    if (!contour.empty()) {
      EXPECT_GT(solid, 0u);
      EXPECT_LT(solid, size_t(n) * (n + 1) / 2);
    }
  }
}

TEST(WallMasks, SayWhereTheContourDoesNotFitTheCorners) {
  std::vector<uint8_t> texels(32 * 32);
  EXPECT_TRUE(fillMask({}, {false, false, false}, 32, texels));
  EXPECT_FALSE(fillMask({}, {true, false, false}, 32, texels));
  EXPECT_FALSE(fillMask({}, {false, true, false}, 32, texels));
  // The contour crosses the outline once.
  EXPECT_FALSE(fillMask(std::vector<ContourSegment>{{Vec3(0.6, 0, 0.4), Vec3(0.4, 0.3, 0.3)}},
                        {true, true, true}, 32, texels));
  EXPECT_THROW(fillMask({}, {false, false, false}, 31, texels), Error);
}

TEST(WallMasks, OfAllSolidsFitTheirCorners) {
  for (const NamedMesh& solid : solids()) {
    const Embedded e(turned(solid.mesh, 12), boxCage(3, 0.2));
    for (const WallFace& face : e.walls.faces) {
      if (face.section != Section::Partial) continue;
      std::vector<uint8_t> texels(64 * 64);
      EXPECT_TRUE(fillMask(contourOf(e.walls, face), cornersInside(e.walls, face), 64, texels)) << solid.name;
    }
  }
}

TEST(WallMasks, OfTwoFacesNeverMeet) {
  const Embedded e = ball(8);
  for (const MaskKind kind : {MaskKind::Coverage, MaskKind::Distance}) {
    const WallMasks masks = makeMasks(e.walls, e.cage, 32, kind);
    std::vector<int> owner(32 * 32, -1);
    for (uint32_t half = 0; half < 2; ++half)
      for (uint32_t i = 0; i < 20000; ++i) {
        const Vec2 at = maskTexel(masks, half, spread(i + 1));
        const Vec2 from = kind == MaskKind::Coverage ? at : Vec2(at - Vec2(0.5, 0.5));
        for (int dy = 0; dy < (kind == MaskKind::Coverage ? 1 : 2); ++dy)
          for (int dx = 0; dx < (kind == MaskKind::Coverage ? 1 : 2); ++dx) {
            const int column = static_cast<int>(std::floor(from.x())) + dx,
                      row = static_cast<int>(std::floor(from.y())) + dy;
            ASSERT_TRUE(column >= 0 && column < 32 && row >= 0 && row < 32);
            int& who = owner[static_cast<size_t>(row * 32 + column)];
            EXPECT_TRUE(who < 0 || who == static_cast<int>(half));
            who = static_cast<int>(half);
          }
      }
    // Two faces to a layer, and only those that have a contour.
    EXPECT_EQ(masks.layers, (e.walls.counts.partial + 1) / 2);
    EXPECT_EQ(masks.texels.size(), size_t(masks.layers) * 32 * 32);
  }
}

TEST(WallMasks, HaveTheSameBitsForAnyNumberOfThreads) {
  const Embedded e = ball(8);
  for (const MaskKind kind : {MaskKind::Coverage, MaskKind::Distance}) {
    std::vector<std::vector<uint8_t>> texels;
    for (const unsigned threads : {1u, 2u, 4u}) {
      const ThreadLimit limit(threads);
      texels.push_back(makeMasks(e.walls, e.cage, 64, kind).texels);
    }
    EXPECT_EQ(texels[0], texels[1]);
    EXPECT_EQ(texels[0], texels[2]);
  }
}

TEST(WallMasks, RefuseWidthsThatCannotBe) {
  const Embedded e = ball(4);
  EXPECT_THROW(makeMasks(e.walls, e.cage, 8), Error);
  EXPECT_THROW(makeMasks(e.walls, e.cage, 5000), Error);
  EXPECT_THROW(makeMasks(e.walls, boxCage(1), 64), Error);
}

TEST(DistanceTexture, IsATenthOfACellFromASmoothSurface) {
  const geometry::TriMesh surface = shapes::makeIcosphere({.radius = 0.5, .frequency = 32});
  const sdf::MeshField field(surface);
  const DistanceTexture texture = makeDistanceTexture(field, field.bounds(), 24);
  double worst = 0;
  for (const Vec3& p : surface.positions) worst = std::max(worst, std::abs(texture.at(p)));
  EXPECT_LT(worst, 0.1 * texture.spacing);
  EXPECT_LT(texture.at(Vec3::Zero()), -0.4);
  EXPECT_GT(texture.at(Vec3(0.5, 0.5, 0.5)), 0.2);
  EXPECT_GT(texture.at(Vec3(50, 0, 0)), 0);
}

TEST(DistanceTexture, RefusesWhatHasNoExtent) {
  const sdf::MeshField field(shapes::makeBox());
  EXPECT_THROW(makeDistanceTexture(field, field.bounds(), 2), Error);
  EXPECT_THROW(makeDistanceTexture(field, field.bounds(), 1000), Error);
  EXPECT_THROW(makeDistanceTexture(field, Box3{}, 64), Error);
}

}  // namespace sunder::soft
