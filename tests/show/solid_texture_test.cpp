// Solid textures of pictures. The page computes the same noise; viewer/test/parts.test.mjs has the same
// numbers.
#include "sunder/show/solid_texture.h"

#include "sunder/show/picture/run_pictures.h"

#include "record/soft_run.h"
#include "temporary_folder.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace sunder::show {
namespace {

TEST(SolidTexture, HasTheNoiseOfThePage) {
  // In the middles of cells the noise is their number.
  const int cells[] = {198, 93, 206, 243, 38, 186, 57, 177};
  for (int i = 0; i < 8; ++i)
    EXPECT_NEAR(solidNoise(Vec3f(float(i) + 0.5f, 0.5f, 0.5f) / 32), float(cells[i]) / 255, 1e-5f) << i;
  EXPECT_NEAR(solidNoise(Vec3f(0.1f, 0.2f, 0.3f)), 0.6160588f, 1e-5f);
  EXPECT_NEAR(solidNoise(Vec3f(-0.37f, 1.61f, 0.05f)), 0.3343837f, 1e-4f);
  EXPECT_NEAR(solidNoise(Vec3f(0.63f, 0.61f, 7.05f)), 0.3343837f, 1e-4f) << "it repeats itself";
}

TEST(SolidTexture, GoesByTheNameOfTheMaterial) {
  EXPECT_EQ(solidOf("Oak"), Solid::Wood);
  EXPECT_EQ(solidOf("log"), Solid::Wood);
  EXPECT_EQ(solidOf("green marble"), Solid::Marble);
  EXPECT_EQ(solidOf("flesh"), Solid::Flesh);
  EXPECT_EQ(solidOf("granite"), Solid::Grain);
  EXPECT_EQ(solidOf("jelly"), Solid::Plain);
}

TEST(SolidTexture, OfWoodFollowsTheGrain) {
  const SolidTexture wood{.kind = Solid::Wood};
  const Vec3f base(0.6f, 0.4f, 0.2f);
  // Along the grain colours change little, across it from early to late wood.
  double along = 0, across = 0;
  for (int i = 0; i < 400; ++i) {
    const Vec3f p(0.4f * float(i) / 400, -0.2f, 0.1f);
    const Vec3f here = wood.colour(base, p, true);
    along += double((wood.colour(base, p + Vec3f(0, 0.02f, 0), true) - here).norm());
    across += double((wood.colour(base, p + Vec3f(0.02f, 0, 0), true) - here).norm());
  }
  EXPECT_LT(along, 0.5 * across);
  EXPECT_EQ(wood.colour(base, Vec3f(0.1f, 0.2f, 0.3f), true),
            wood.colour(base, Vec3f(0.1f, 0.2f, 0.3f), false));
}

TEST(SolidTexture, OfFleshHasLayersByDepth) {
  auto depths = std::make_shared<SoftDepths>();
  depths->count = {2, 2, 2};
  depths->lower = Vec3f::Zero();
  depths->upper = Vec3f::Ones();
  depths->deepest = 0.3f;
  depths->shares = {0, 255, 0, 255, 0, 255, 0, 255};  // deeper along x
  EXPECT_NEAR(depths->share(Vec3f(0.25f, 0.3f, 0.9f)), 0.25f, 1e-6f);
  EXPECT_EQ(depths->share(Vec3f(7, 0, 0)), 1);
  EXPECT_EQ(SoftDepths().share(Vec3f(7, 0, 0)), 0);
  const SolidTexture flesh{.kind = Solid::Flesh, .depths = depths};
  const Vec3f skin(0.8f, 0.5f, 0.4f);
  EXPECT_EQ(flesh.colour(skin, Vec3f(0.6f, 0.5f, 0.5f), false), skin) << "the outside is skin";
  EXPECT_EQ(flesh.colour(skin, Vec3f(0, 0.5f, 0.5f), true), skin);
  EXPECT_NEAR((flesh.colour(skin, Vec3f(0.1f, 0.5f, 0.5f), true) - Vec3f(0.86f, 0.68f, 0.42f)).norm(), 0,
              1e-5);
  const Vec3f muscle = flesh.colour(skin, Vec3f(0.6f, 0.5f, 0.5f), true);
  EXPECT_GT(muscle.x(), 4 * muscle.y());
}

// A ball of gel, which is flesh inside: where it came apart the picture shows muscle, and pieces agree.
TEST(SolidTexture, IsOnTheWallsOfATornBody) {
  const TemporaryFolder folder;
  record::writeSoft(folder / "run.sunder");
  const record::RunReader run(folder / "run.sunder");
  RunPictures pictures(run);
  Shot shot = pictures.shot(run.frameCount() - 1);
  ASSERT_EQ(shot.meshes.size(), 1u);
  ASSERT_TRUE(shot.meshes[0].solid);
  EXPECT_EQ(shot.meshes[0].solid->kind, Solid::Flesh);
  EXPECT_NEAR(double(shot.meshes[0].solid->scale), 1 / 1.8, 1e-3);
  const auto red = [&] {
    const Image image = pictures.render(shot, {.width = 120, .height = 120, .samples = 4});
    size_t count = 0;
    for (size_t y = 0; y < image.height; ++y)
      for (size_t x = 0; x < image.width; ++x) {
        const auto& c = image.at(x, y);
        count += c[0] > 2 * c[1] && c[0] > 2 * c[2] && c[0] > 60;
      }
    return count;
  };
  const size_t textured = red();
  shot.meshes[0].solid = nullptr;
  EXPECT_GT(textured, red() + 50);
}

}  // namespace
}  // namespace sunder::show
