#include "sunder/show/run_materials.h"

#include "sunder/base/error.h"
#include "sunder/base/json_parse.h"
#include "sunder/record/run_writer.h"
#include "sunder/show/export/export.h"
#include "sunder/show/picture/run_pictures.h"
#include "sunder/show/view/view_data.h"

#include "folders.h"
#include "show/export_sample.h"
#include "temporary_folder.h"

#include <gtest/gtest.h>

namespace sunder::show {
namespace {

const Vec3 kRed{0.8, 0.02, 0.02}, kGreen{0.02, 0.7, 0.02};

material::Material painted(const std::string& name, const Vec3& colour, const std::string& inside = "") {
  material::Material m;
  m.name = name;
  m.colour = colour;
  m.roughness = 1;
  m.inside = inside;
  return m;
}

// A box whose top was made by breaking.
record::MeshEntry brokenBox() {
  record::MeshEntry mesh = boxMesh("block", 0.5f);
  mesh.interior.assign(mesh.triangles.size(), 0);
  for (size_t t = 0; t < mesh.triangles.size(); ++t) {
    Vec3f centre = Vec3f::Zero();
    for (const uint32_t v : mesh.triangles[t]) centre += mesh.positions[v] / 3;
    mesh.interior[t] = centre.y() > 0.4f;
  }
  return mesh;
}

class RunMaterials : public testing::Test {
 protected:
  void write(const std::string& scene, const std::vector<material::Material>& table) {
    record::RunWriter writer(path_, {"sunder test", "sample", scene, 60});
    for (const material::Material& m : table) writer.addMaterial(m);
    writer.addMesh(brokenBox());
    writer.addBody({"block", kNoIndex, "shell", 0, 1, record::BodyKind::Dynamic, 0});
    record::BodyState state;
    state.present = true;
    writer.frame(0, 0, std::span(&state, 1), {}, {}, {});
    writer.finish({record::EndKind::Finished, "", 1, "{}"});
  }
  // Pixels of the first frame that are much more red than green, or the other way round.
  struct Shares {
    size_t red = 0, green = 0;
  };
  Shares picture() const {
    const record::RunReader run(path_);
    RunPictures pictures(run);
    Shot shot = pictures.shot(0, {});
    shot.ground = false;
    const Image image = pictures.render(shot, {.width = 48, .height = 36, .samples = 4});
    Shares shares;
    for (const Rgb& pixel : image.pixels) {
      shares.red += pixel[0] > 2 * pixel[1];
      shares.green += pixel[1] > 2 * pixel[0];
    }
    return shares;
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "run.sunder";
};

TEST_F(RunMaterials, AreTheTableWhateverTheSceneSays) {
  for (const char* scene : {"", "{}", R"({"materials": {"shell": {"colour": [0, 0, 1]}}})", "no JSON {"}) {
    write(scene, {painted("shell", kRed)});
    const auto table = materialsOf(record::RunReader(path_));
    ASSERT_EQ(table.size(), 1u);
    EXPECT_EQ(table[0], painted("shell", kRed));
    EXPECT_GT(picture().red, 100u);
    EXPECT_EQ(picture().green, 0u);
    const auto info = readJson(ViewData(path_).info());
    EXPECT_EQ(info["materials"]["shell"]["colour"][0], 0.8);
    EXPECT_FALSE(info["materials"]["shell"].contains("inside"));
  }
}

TEST_F(RunMaterials, OfARecordingWithoutATableAreThoseOfTheScene) {
  write(R"({"materials": {"shell": {"colour": [0.02, 0.7, 0.02], "roughness": 0.25, "young": "7 GPa"}}})",
        {});
  const auto table = materialsOf(record::RunReader(path_));
  ASSERT_EQ(table.size(), 1u);
  EXPECT_EQ(table[0].colour, kGreen);
  EXPECT_EQ(table[0].roughness, 0.25);
  EXPECT_GT(picture().green, 100u);
  write(R"({"materials": {"shell": {"roughness": "much"}}})", {});
  EXPECT_THROW(materialsOf(record::RunReader(path_)), Error);
  // Recordings of earlier programs, as they are kept for the tests.
  size_t known = 0;
  for (const auto& entry : std::filesystem::directory_iterator(sourceFolder() / "tests/record/old")) {
    if (entry.path().extension() != ".sunder") continue;
    const record::RunReader run(entry.path());
    EXPECT_TRUE(run.materials().empty());
    const auto old = materialsOf(run);
    for (size_t b = 0; b < run.bodies().size(); ++b)
      if (!run.bodyLost(b)) known += material::find(old, run.bodies()[b].material) != nullptr;
  }
  EXPECT_GT(known, 3u);
}

TEST_F(RunMaterials, InnerFacesHaveTheLookOfTheInsideMaterial) {
  write("", {painted("shell", kRed, "core"), painted("core", kGreen)});
  const Shares shares = picture();
  EXPECT_GT(shares.red, 50u);
  EXPECT_GT(shares.green, 10u);
  const auto info = readJson(ViewData(path_).info());
  EXPECT_EQ(info["materials"]["shell"]["inside"], "core");
  // One that the table does not have is the material itself.
  write("", {painted("shell", kRed, "nothing")});
  EXPECT_EQ(picture().green, 0u);
}

TEST_F(RunMaterials, ExportsGiveInnerFacesTheInsideMaterial) {
  write("", {painted("shell", kRed, "core"), painted("core", kGreen)});
  const record::RunReader run(path_);
  const ExportScene scene = exportSceneOf(run, {0});
  EXPECT_EQ(lookOfMaterial(scene, "shell", false).colour, kRed.cast<float>());
  EXPECT_EQ(lookOfMaterial(scene, "shell", true).colour, kGreen.cast<float>());
  EXPECT_EQ(lookOfMaterial(scene, "core", true).colour, 0.86f * kGreen.cast<float>());
  const auto text = [&](ExportFormat format, const char* output, const char* file) {
    const ExportResult result = exportScene(scene, format, folder_ / output);
    return fileText(std::string(file).empty() ? result.openThis : result.output / file);
  };
  const std::string mtl = text(ExportFormat::Obj, "obj", "materials.mtl");
  EXPECT_NE(mtl.find("newmtl shell\nKd 0.8 0.02 0.02\n"), std::string::npos) << mtl;
  EXPECT_NE(mtl.find("newmtl shell_inside\nKd 0.02 0.7 0.02\n"), std::string::npos) << mtl;
  const std::string usda = text(ExportFormat::Usda, "run.usda", "");
  EXPECT_NE(usda.find("def GeomSubset \"Inside\""), std::string::npos);
  EXPECT_NE(usda.find("rel material:binding = </World/Materials/shell_inside>"), std::string::npos);
  const size_t inside = usda.find("def Material \"shell_inside\"");
  ASSERT_NE(inside, std::string::npos);
  EXPECT_EQ(usda.substr(usda.find("diffuseColor = ", inside) + 15, 17), "(0.02, 0.7, 0.02)");
  const std::string glb = text(ExportFormat::Glb, "run.glb", "");
  EXPECT_NE(glb.find("\"shell inside\""), std::string::npos);
}

}  // namespace
}  // namespace sunder::show
