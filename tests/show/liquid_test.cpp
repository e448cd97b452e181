#include "sunder/show/liquid.h"

#include "sunder/base/error.h"
#include "sunder/base/file.h"
#include "sunder/geometry/mesh_report.h"
#include "sunder/record/run_reader.h"
#include "sunder/show/export/export.h"
#include "sunder/show/picture/run_pictures.h"

#include "show/particle_sample.h"
#include "temporary_folder.h"

#include <limits>

#include <gtest/gtest.h>

namespace sunder::show {
namespace {

geometry::MeshReport reportOf(std::span<const Vec3f> positions, std::span<const geometry::Triangle> faces) {
  geometry::TriMesh mesh;
  for (const Vec3f& p : positions) mesh.positions.push_back(p.cast<double>());
  mesh.triangles.assign(faces.begin(), faces.end());
  return geometry::meshReport(geometry::toSoup(mesh));
}

TEST(Liquid, PicturesShowItsSurface) {
  const TemporaryFolder folder;
  writeParticleRun(folder / "run.sunder", 500, 3);
  const record::RunReader run(folder / "run.sunder");
  RunPictures pictures(run);
  for (const ColourBy colour : {ColourBy::Material, ColourBy::Body}) {
    const Shot shot = pictures.shot(2, {.colourBy = colour});
    EXPECT_TRUE(shot.spheres.empty());
    ASSERT_EQ(shot.meshes.size(), 2u);  // water and sheet
    const Image image = pictures.render(shot, {.width = 48, .height = 32, .samples = 2});
    size_t shown = 0;
    for (size_t y = 0; y < 32; ++y)
      for (size_t x = 0; x < 48; ++x) shown += image.at(x, y)[2] != image.at(0, 0)[2];
    EXPECT_GT(shown, 40u);
  }
  // Colours of single particles need particles.
  EXPECT_EQ(pictures.shot(2, {.colourBy = ColourBy::Speed}).spheres.size(), 500u);
}

TEST(Liquid, ParticlesThatAreNotFiniteAreLeftOut) {
  record::BodyPoints points = sampleParticles(200, 0);
  const size_t whole = surfaceOf(points).mesh.triangles.size();
  EXPECT_GT(whole, 500u);
  for (size_t i = 0; i < 100; ++i) points.positions[i].x() = std::numeric_limits<float>::quiet_NaN();
  const fluid::LiquidSurface half = surfaceOf(points);
  EXPECT_LT(half.mesh.triangles.size(), whole);
  EXPECT_EQ(half.velocities.size(), half.mesh.positions.size());
  points.positions.clear();
  EXPECT_TRUE(surfaceOf(points).mesh.triangles.empty());
}

TEST(Liquid, ExportsGetAClosedMeshInEveryFrame) {
  const TemporaryFolder folder;
  writeParticleRun(folder / "run.sunder", 500, 3);
  const record::RunReader run(folder / "run.sunder");
  const ExportScene scene = exportSceneOf(run, {0, 1, 2}, {.surfaces = true});
  EXPECT_TRUE(scene.deforming);
  EXPECT_FALSE(scene.particles);
  ExportFrame frame;
  for (const size_t f : {0, 2}) {
    scene.readFrame(f, frame);
    const std::vector<BodySurface> surfaces = surfacesOf(scene, frame);
    ASSERT_EQ(surfaces.size(), 3u);
    const geometry::MeshReport report = reportOf(surfaces[1].positions, surfaces[1].triangles);
    EXPECT_TRUE(report.watertight);
    EXPECT_TRUE(report.manifold());
    EXPECT_EQ(surfaces[1].own->velocities.size(), surfaces[1].positions.size());
  }
  for (const ExportFormat format :
       {ExportFormat::Vtk, ExportFormat::Glb, ExportFormat::Usda, ExportFormat::Obj, ExportFormat::Ply}) {
    const auto size = [&](bool surfaces) {
      ExportSettings settings{.output = folder / "out", .frames = {0, 2}, .liquids = {.surfaces = surfaces}};
      if (!info(format).folder) settings.output += std::string(".") + info(format).name;
      return exportRun(run, format, settings).bytes;
    };
    EXPECT_GT(size(true), size(false) + 50'000) << info(format).name;
  }
  for (const ExportFormat format : {ExportFormat::Bgeo, ExportFormat::Csv, ExportFormat::Html})
    EXPECT_THROW(
        exportRun(run, format, {.output = folder / "no", .frames = {0}, .liquids = {.surfaces = true}}),
        Error);
}

}  // namespace
}  // namespace sunder::show
