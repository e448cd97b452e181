#include "sunder/record/run_reader.h"
#include "sunder/show/export/export_scene.h"
#include "sunder/show/picture/run_pictures.h"
#include "sunder/show/view/view_data.h"

#include "show/particle_sample.h"
#include "temporary_folder.h"

#include <cstring>

#include <gtest/gtest.h>

namespace sunder::show {
namespace {

TEST(Particles, PicturesHaveASphereForEachAndTheSheetAsItIs) {
  const TemporaryFolder folder;
  writeParticleRun(folder / "run.sunder", 500, 6);
  const record::RunReader run(folder / "run.sunder");
  RunPictures pictures(run);
  const Box3& action = pictures.summary().action;
  EXPECT_GT(action.upper.y(), 1.2);
  EXPECT_LT(action.upper.y(), 1.4);
  EXPECT_EQ(pictures.summary().ground, 0.0);
  for (const size_t frame : {0, 5}) {
    const Shot shot = pictures.shot(frame, {.particles = true});
    ASSERT_EQ(shot.spheres.size(), 500u);
    ASSERT_EQ(shot.meshes.size(), 1u);
    const record::BodyPoints want = sampleParticles(500, frame);
    for (size_t i = 0; i < 500; ++i) {
      EXPECT_LT((shot.spheres[i].centre - want.positions[i]).norm(), 1e-4f);
      EXPECT_EQ(shot.spheres[i].radius, want.radius);
    }
    const Image image = pictures.render(shot, {.width = 48, .height = 32, .samples = 2});
    size_t blue = 0;
    for (size_t y = 0; y < 32; ++y)
      for (size_t x = 0; x < 48; ++x) blue += image.at(x, y)[2] > image.at(x, y)[0] + 60;
    EXPECT_GT(blue, 40u);
  }
  const Shot fast = pictures.shot(3, {.colourBy = ColourBy::Speed});
  EXPECT_GT(fast.sphereLooks.size(), 2u);
  // The innermost are the slowest.
  EXPECT_LT(fast.spheres.front().look, fast.spheres.back().look);
}

TEST(Particles, ExportsAndThePageGetThem) {
  const TemporaryFolder folder;
  writeParticleRun(folder / "run.sunder", 40, 3);
  const record::RunReader run(folder / "run.sunder");
  const ExportScene scene = exportSceneOf(run, {0, 1, 2});
  EXPECT_TRUE(scene.deforming);
  ExportFrame frame;
  scene.readFrame(2, frame);
  const std::vector<BodySurface> surfaces = surfacesOf(scene, frame);
  ASSERT_EQ(surfaces.size(), 3u);
  EXPECT_EQ(surfaces[1].positions.size(), 40u);
  EXPECT_TRUE(surfaces[1].triangles.empty());
  ASSERT_EQ(surfaces[1].own->velocities.size(), 40u);
  const record::BodyPoints want = sampleParticles(40, 2);
  EXPECT_NEAR(surfaces[1].own->velocities[7].z(), want.fields[0].values[23], 1e-3);
  EXPECT_EQ(surfaces[2].triangles.size(), 128u);
  EXPECT_LT((surfaces[2].positions[40] - sampleSheet(2).positions[40]).norm(), 1e-4f);

  ViewData data(folder / "run.sunder");
  EXPECT_NE(data.info().find(R"("pointFields":["speed","density"])"), std::string::npos);
  const std::string bytes = data.points(2);
  // Two bodies, two numbers a point.
  EXPECT_EQ(bytes.size(), 8 + (16 + 40 * 20) + (16 + 81 * 20u));
  float x;
  std::memcpy(&x, bytes.data() + 8 + 16 + 12 * 7, 4);
  EXPECT_NEAR(x, want.positions[7].x(), 1e-4);
}

}  // namespace
}  // namespace sunder::show
