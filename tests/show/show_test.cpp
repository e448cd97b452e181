#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/shapes/catalogue.h"
#include "sunder/show/picture/path_tracer.h"
#include "sunder/show/picture/reflection.h"
#include "sunder/show/picture/sampler.h"

#include <gtest/gtest.h>

namespace sunder::show {
namespace {

const Look kPlaster{.colour = {0.85f, 0.82f, 0.78f}, .roughness = 0.95f};
const Look kPorcelain{.colour = {0.9f, 0.88f, 0.84f}, .roughness = 0.15f};
const Look kSteel{.colour = {0.68f, 0.69f, 0.71f}, .roughness = 0.25f, .metallic = 1};
const Look kWater{.colour = {1, 1, 1}, .roughness = 0, .transmission = 1, .refraction = 1.33f};

TEST(Sampler, FillsSquaresEvenly) {
  // The first 256 samples of a pair put exactly one point into each cell of 16 x 16, whatever the pair.
  for (const uint32_t pixel : {0u, 77u, 1234567u}) {
    for (int pair = 0; pair < 5; ++pair) {
      std::vector<int> count(256, 0);
      for (uint32_t s = 0; s < 256; ++s) {
        Sampler sampler(3, pixel, s);
        Vec2f u = Vec2f::Zero();
        for (int k = 0; k <= pair; ++k) u = sampler.next2();
        ++count[size_t(u.x() * 16) * 16 + size_t(u.y() * 16)];
      }
      for (const int c : count) EXPECT_EQ(c, 1);
    }
  }
}

// The share of light that leaves, by drawn directions and by directions spread over the hemisphere.
TEST(Reflection, DrawnDirectionsAgreeWithIntegration) {
  for (const Look& look : {kPlaster, kPorcelain, kSteel, Look{.roughness = 1}}) {
    for (const float height : {0.9f, 0.5f, 0.15f}) {
      const Vec3f out(std::sqrt(1 - height * height), 0, height);
      Vec3 drawn = Vec3::Zero(), spread = Vec3::Zero();
      const uint32_t n = 1 << 17;
      for (uint32_t i = 0; i < n; ++i) {
        Sampler sampler(1, 5, i);
        const Vec2f u = sampler.next2(), v = sampler.next2(), w = sampler.next2();
        drawn += sampleReflected(look, out, u, v.x()).weight.cast<double>();
        const float z = w.x(), r = std::sqrt(1 - z * z), phi = 2 * float(kPi) * w.y();
        spread += reflected(look, out, {r * std::cos(phi), r * std::sin(phi), z}).cast<double>() * 2 * kPi;
      }
      drawn /= n, spread /= n;
      for (int k = 0; k < 3; ++k) {
        EXPECT_NEAR(drawn[k], spread[k], 0.03 * spread[k] + 0.002) << height << " " << look.roughness;
        EXPECT_LE(drawn[k], 1.001);
        EXPECT_GE(drawn[k], 0.3 * look.colour[k]);
      }
    }
  }
}

TEST(Reflection, FresnelHasItsKnownValues) {
  EXPECT_NEAR(fresnel(1, 1 / 1.5f), 0.04, 1e-6);
  EXPECT_NEAR(fresnel(0, 1 / 1.5f), 1, 1e-5);
  EXPECT_EQ(fresnel(0.5f, 1.5f), 1);  // beyond the angle of total reflection, 41.8 degrees
  EXPECT_LT(fresnel(0.8f, 1.5f), 1);
}

TEST(Camera, FramesEveryCorner) {
  const Box3 box{Vec3(-1, 0, 2), Vec3(5, 3, 4)};
  for (const double aspect : {0.5, 1.0, 16.0 / 9}) {
    const Camera camera = frameBox(box, aspect);
    const CameraFrame frame = cameraFrame(camera, aspect);
    double outermost = 0;
    for (int c = 0; c < 8; ++c) {
      const Vec3 p((c & 1 ? box.upper : box.lower).x(), (c & 2 ? box.upper : box.lower).y(),
                   (c & 4 ? box.upper : box.lower).z());
      const Vec3 from = p - camera.eye;
      const double depth = from.dot(frame.forward);
      ASSERT_GT(depth, 0);
      const double x = from.dot(frame.right) / frame.right.squaredNorm() / depth;
      const double y = from.dot(frame.up) / frame.up.squaredNorm() / depth;
      outermost = std::max({outermost, std::abs(x), std::abs(y)});
    }
    EXPECT_NEAR(outermost, 0.9, 1e-9);
  }
  EXPECT_THROW(parseCamera("eye 1 2", {}), Error);
  EXPECT_THROW(parseCamera("zoom 3", {}), Error);
  EXPECT_EQ(parseCamera("fov 40 eye 1 2 3", {}).eye, Vec3(1, 2, 3));
}

Shot furnace(PathTracer& tracer, const Look& look) {
  Shot shot;
  shot.meshes.push_back(
      {.mesh = tracer.addMesh(shapes::makeShape("icosphere", {{"radius", "1"}, {"frequency", "16"}})),
       .look = look});
  shot.ground = false;
  shot.sunLight.setZero();
  shot.lamp = 0;
  shot.skyZenith = shot.skyHorizon = Vec3f::Constant(0.5f);
  shot.camera = frameBox({Vec3(-1, -1, -1), Vec3(1, 1, 1)}, 1);
  return shot;
}

TEST(PathTracer, WhiteThingsVanishInAnEvenSky) {
  // A surface that loses no light looks like the sky around it wherever that is the same: glass does, and a
  // white matt one but for the coat's inner reflections, which are left out.
  for (const auto& [look, loss] :
       {std::pair(Look{.colour = {1, 1, 1}, .roughness = 0, .transmission = 1}, 0.01),
        std::pair(Look{.colour = {1, 1, 1}, .roughness = 1}, 0.12)}) {
    PathTracer tracer;
    PictureSettings settings{.width = 24, .height = 24, .samples = 64, .bounces = 64};
    const Image image = tracer.render(furnace(tracer, look), settings);
    const double background = image.at(0, 0)[1], middle = image.at(12, 12)[1];
    EXPECT_NEAR(middle / background, 1, loss);
  }
}

TEST(PathTracer, TheSamePictureForAnyNumberOfThreads) {
  PathTracer tracer;
  Shot shot = furnace(tracer, kPorcelain);
  shot.ground = true;
  shot.sunLight = {2, 2, 2};
  shot.sphereLooks = {kWater};
  shot.spheres = {{.centre = {1, 0.5f, 1}, .radius = 0.5f}};
  const PictureSettings settings{.width = 40, .height = 30, .samples = 4};
  Image first;
  for (const unsigned threads : {1u, 2u, 4u}) {
    const ThreadLimit limit(threads);
    const Image image = tracer.render(shot, settings);
    if (first.pixels.empty()) first = image;
    EXPECT_EQ(image.pixels, first.pixels);
  }
}

TEST(PathTracer, ShadowsFallAwayFromTheSun) {
  PathTracer tracer;
  Shot shot = furnace(tracer, kPlaster);
  shot.ground = true;
  shot.groundHeight = -1;
  shot.sunLight = {3, 3, 3};
  shot.skyZenith = shot.skyHorizon = Vec3f::Constant(0.2f);
  shot.sunDirection = Vec3(1, 1, 0);
  shot.camera = {.eye = {0, 12, 0.01}, .target = {0, -1, 0}, .up = {0, 0, -1}, .fieldOfView = 30};
  const Image image = tracer.render(shot, {.width = 60, .height = 60, .samples = 16});
  // Seen from above: the shadow lies at x = -2, as far to the other side it is light.
  EXPECT_LT(image.at(18, 30)[1] + 40, image.at(42, 30)[1]);
}

TEST(PathTracer, BadShotsAreNamed) {
  PathTracer tracer;
  Shot shot;
  shot.meshes.push_back({.mesh = 7});
  EXPECT_THROW(tracer.render(shot, {}), Error);
  EXPECT_THROW(tracer.render({}, {.width = 0}), Error);
  EXPECT_THROW(tracer.addMesh({{Vec3(0, 0, std::nan("")), Vec3(1, 0, 0), Vec3(0, 1, 0)}, {{0, 1, 2}}}),
               Error);
}

TEST(Look, TintOfGlassIsThatOfTwoCentimetres) {
  material::Material material;
  material.colour = {0.5, 0.9, 1};
  material.transparency = 0.95;
  const Look glass = lookOf(material);
  EXPECT_EQ(glass.transmission, 1);
  EXPECT_NEAR(std::exp(-glass.absorption.x() * 0.02), 0.5, 1e-6);
  EXPECT_EQ(glass.absorption.z(), 0);
  material.transparency = 0;
  EXPECT_EQ(lookOf(material).colour, Vec3f(0.5f, 0.9f, 1));
}

TEST(Look, ColoursByNumberDiffer) {
  for (uint32_t a = 0; a < 12; ++a)
    for (uint32_t b = 0; b < a; ++b)
      EXPECT_GT((distinctColour(a) - distinctColour(b)).norm(), 0.04) << a << " " << b;
  for (const float v : {0.0f, 0.02f, 0.5f, 1.0f}) EXPECT_NEAR(srgbFromLinear(linearFromSrgb(v)), v, 1e-6);
}

}  // namespace
}  // namespace sunder::show
