// Bodies whose meshes change, deform, are embedded or have values at vertices, in all that shows recordings.
#include "sunder/base/error.h"
#include "sunder/base/json_parse.h"
#include "sunder/meshio/mesh_file.h"
#include "sunder/show/corner_normals.h"
#include "sunder/show/export/export.h"
#include "sunder/show/picture/run_pictures.h"
#include "sunder/show/readable.h"
#include "sunder/show/view/view_data.h"

#include "record/changing_run.h"
#include "record/sample_run.h"
#include "temporary_folder.h"

#include <cstring>

#include <gtest/gtest.h>

namespace sunder::show {
namespace {

using namespace record;

class ChangingShown : public testing::Test {
 protected:
  ChangingShown() { writeChanging(path_); }
  std::string exported(ExportFormat format, const char* name, std::vector<size_t> frames) {
    const RunReader run(path_);
    const ExportResult result =
        exportRun(run, format, {.output = folder_ / "out", .frames = std::move(frames)});
    EXPECT_TRUE(result.lost.empty());
    return fileBytes(*name ? result.output / name : result.output);
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "run.sunder";
};

TEST_F(ChangingShown, ExportsSeeTheMeshOfTheFrame) {
  const RunReader run(path_);
  std::vector<size_t> frames;
  for (size_t f = 0; f < kChangingFrames; ++f) frames.push_back(f);
  const ExportScene scene = exportSceneOf(run, frames);
  EXPECT_TRUE(scene.deforming && scene.particles);
  ExportFrame frame;
  for (const size_t f : {0, 4, 6, 8, 3}) {
    scene.readFrame(f, frame);
    const std::vector<BodySurface> surfaces = surfacesOf(scene, frame);
    ASSERT_EQ(surfaces.size(), size_t(kChangingBodies));
    const BodySurface &cloth = surfaces[kCloth], &box = surfaces[kBox], &cube = surfaces[kJelly];
    const uint32_t side = f >= kRemeshedAt ? kFineSide : kClothSide;
    EXPECT_EQ(cloth.triangles.size(), 2 * (side - 1) * (side - 1)) << f;
    EXPECT_EQ(cloth.positions.size(), clothPoints(f).positions.size());
    EXPECT_LT((cloth.positions[8] - clothPoints(f).positions[8]).norm(), 1e-4f);
    EXPECT_EQ(cloth.uvs.size(), 3 * cloth.triangles.size());
    EXPECT_EQ(cloth.material(scene.bodies[kCloth], 0), "red");
    EXPECT_EQ(cloth.material(scene.bodies[kCloth], cloth.triangles.size() - 1), "white");
    EXPECT_EQ(box.triangles.size(), f >= kBoxChangesAt ? 14u : 12u);
    EXPECT_EQ(box.fields.size(), 1u);
    EXPECT_EQ(box.fields[0].values.size(), box.positions.size());
    const auto inner = std::count(cube.interior.begin(), cube.interior.end(), uint8_t(1));
    EXPECT_EQ(inner, f >= kCageTornAt ? 4 * kJellyCells * kJellyCells : 0) << f;
    EXPECT_EQ(surfaces[kGrains].own->fields[0].values[0], 0.0625f);
  }
}

TEST_F(ChangingShown, PicturesHaveSlotsInsidesAndSizes) {
  const RunReader run(path_);
  RunPictures pictures(run);
  for (const size_t f : {0, 5, 9}) {
    const Shot shot = pictures.shot(f);
    ASSERT_EQ(shot.meshes.size(), 3u);
    EXPECT_EQ(shot.meshes[0].slots.size(), 2u);
    EXPECT_GT(shot.meshes[0].slots[0].look.colour.x(), 2 * shot.meshes[0].slots[0].look.colour.y());
    ASSERT_TRUE(shot.meshes[2].inside.has_value());
    ASSERT_EQ(shot.spheres.size(), size_t(kGrainCount));
    EXPECT_EQ(shot.spheres[0].radius, 0.0625f);
    EXPECT_EQ(shot.spheres[1].radius, 0.03125f);
    EXPECT_NO_THROW(pictures.render(shot, {.width = 16, .height = 9, .samples = 1}));
  }
  const size_t balls = pictures.shot(3).spheres.size();
  EXPECT_GT(pictures.shot(3, {.fronts = true}).spheres.size(), balls + 4) << "a crack front";
  EXPECT_EQ(pictures.shot(9, {.fronts = true}).spheres.size(), balls);
  // Values at vertices give colours to triangles, also of rigid bodies.
  const Shot stress = pictures.shot(3, {.colourBy = ColourBy::Field, .field = "stress"});
  EXPECT_GT(stress.meshes[1].slots.size(), 2u);
}

// A cut through the picture: the red and the white stripes of the cloth are there, and where the cube has
// come apart its yellow inside.
TEST_F(ChangingShown, ThePictureShowsWhatIsInside) {
  const RunReader run(path_);
  RunPictures pictures(run);
  const auto yellow = [&](size_t frame) {
    Shot shot = pictures.shot(frame);
    std::erase_if(shot.meshes, [](const PlacedMesh& m) { return !m.slots.empty(); });  // the cloth is above
    shot.camera = frameBox(Box3{Vec3(-0.4, 0, 0.9), Vec3(0.8, 1.6, 1.9)}, 1);
    const Image image = pictures.render(shot, {.width = 48, .height = 48, .samples = 4});
    size_t count = 0;
    for (size_t y = 0; y < 48; ++y)
      for (size_t x = 0; x < 48; ++x) {
        const Rgb c = image.at(x, y);
        count += c[0] > c[2] + 50 && c[1] > c[2] + 25;
      }
    return count;
  };
  EXPECT_EQ(yellow(4), 0u);
  EXPECT_GT(yellow(11), 20u);
}

TEST_F(ChangingShown, ObjAndPlyCarryTextureCoordinatesAndSlots) {
  const std::string obj = exported(ExportFormat::Obj, "frame_0004.obj", {4});
  EXPECT_NE(obj.find("\nvt "), std::string::npos);
  EXPECT_NE(obj.find("usemtl red"), std::string::npos);
  EXPECT_NE(obj.find("usemtl white"), std::string::npos);
  const geometry::PolygonSoup soup = meshio::readMesh(folder_ / "out/frame_0004.obj").surface;
  size_t faces = 2 + 2 * (kClothSide - 1) * (kClothSide - 1) + 12;
  for (const uint32_t wall : jelly().second.walls) faces += wall == kNoIndex;
  EXPECT_EQ(soup.faceCount(), faces);
  const std::string ply = exported(ExportFormat::Ply, "frame_0004.ply", {4});
  EXPECT_NE(ply.find("property float s\n"), std::string::npos);
  EXPECT_NE(ply.find("property int material\n"), std::string::npos);
  EXPECT_EQ(meshio::readMesh(folder_ / "out/frame_0004.ply").surface.faceCount(), faces);
}

TEST_F(ChangingShown, GlbHasAPrimitiveForEachMaterial) {
  const std::string glb = exported(ExportFormat::Glb, "frame_0006.glb", {6});
  uint32_t length = 0;
  std::memcpy(&length, glb.data() + 12, 4);
  const auto json = readJson(glb.substr(20, length));
  std::map<std::string, size_t> primitives;
  for (const auto& node : json["nodes"])
    if (node.contains("mesh"))
      primitives[node["name"].string()] = json["meshes"][node["mesh"].whole()]["primitives"].size();
  EXPECT_EQ(primitives["cloth"], 2u);
  EXPECT_EQ(primitives["box"], 2u) << "the outside and the notch";
  EXPECT_EQ(primitives["jelly"], 2u) << "the outside and what the tear has opened";
  const auto& cloth = json["meshes"][json["nodes"][1]["mesh"].whole()]["primitives"][0];
  EXPECT_TRUE(cloth["attributes"].contains("TEXCOORD_0"));
}

TEST_F(ChangingShown, VtkHasFieldsAndFronts) {
  const RunReader run(path_);
  exportRun(run, ExportFormat::Vtk, {.output = folder_ / "vtk", .frames = {3, 8}});
  const std::string surfaces = fileBytes(folder_ / "vtk/frame_0003.vtp");
  for (const char* name : {"\"tension\"", "\"strain\"", "\"stress\"", "\"TCoords\"", "\"interior\""})
    EXPECT_NE(surfaces.find(name), std::string::npos) << name;
  EXPECT_NE(fileBytes(folder_ / "vtk/particles-frame_0003.vtp").find("\"radius\""), std::string::npos);
  const std::string fronts = fileBytes(folder_ / "vtk/fronts-frame_0003.vtp");
  EXPECT_NE(fronts.find("NumberOfLines=\"1\""), std::string::npos);
  EXPECT_NE(fronts.find("\"stressIntensity\""), std::string::npos);
  EXPECT_NE(fileBytes(folder_ / "vtk/fronts-frame_0008.vtp").find("NumberOfLines=\"0\""), std::string::npos);
}

TEST_F(ChangingShown, CsvHasEnergiesInputsAndFronts) {
  std::vector<size_t> all;
  for (size_t f = 0; f < kChangingFrames; ++f) all.push_back(f);
  const std::string events = exported(ExportFormat::Csv, "events.csv", all);
  EXPECT_NE(events.find("approach,text,energy\n"), std::string::npos);
  EXPECT_NE(events.find(",cut,1,-1,"), std::string::npos);
  EXPECT_NE(events.find("knife,0.75\n"), std::string::npos);
  EXPECT_NE(events.find(",fracture,2,1,0,0.3,0,0,1,0,2.5,3,,12.5\n"), std::string::npos);
  const std::string inputs = fileBytes(folder_ / "out/inputs.csv");
  EXPECT_NE(inputs.find("3,30,6,grip,\"{\"\"body\"\": 1}\"\n"), std::string::npos);
  const std::string fronts = fileBytes(folder_ / "out/fronts.csv");
  EXPECT_EQ(std::count(fronts.begin(), fronts.end(), '\n'), 1 + 4 * 5);
  EXPECT_NE(fronts.find(",arrested\n"), std::string::npos);
}

TEST_F(ChangingShown, UsdHasNormalsAndSubsetsOfEachFrame) {
  const std::string usda = exported(ExportFormat::Usda, "", {3, 4, 5, 8});
  EXPECT_NE(usda.find("normal3f[] normals.timeSamples"), std::string::npos);
  EXPECT_NE(usda.find("def GeomSubset \"Of_gel_inside\""), std::string::npos);
  EXPECT_NE(usda.find("def GeomSubset \"Of_white\""), std::string::npos);
  EXPECT_NE(usda.find("int[] indices.timeSamples"), std::string::npos);
}

TEST_F(ChangingShown, ThePageGetsVersionsOfMeshes) {
  ViewData data(path_);
  const auto info = readJson(data.info());
  EXPECT_EQ(info["bodies"][size_t(kCloth)]["changes"], Json({kTornAt, kRemeshedAt}));
  EXPECT_EQ(info["bodies"][size_t(kBox)]["changes"], Json({kBoxChangesAt}));
  EXPECT_EQ(info["bodies"][size_t(kJelly)]["changes"], Json({kCageTornAt}));
  EXPECT_FALSE(info["bodies"][size_t(kGroundBody)].contains("changes"));
  EXPECT_EQ(info["slots"]["1"], Json({"red", "white"}));
  const auto counts = [](const std::string& mesh) {
    uint32_t head[2];
    std::memcpy(head, mesh.data(), 8);
    return std::pair(head[0], head[1]);
  };
  const uint32_t side = kClothSide, triangles = 2 * (side - 1) * (side - 1);
  EXPECT_EQ(counts(data.shape(kCloth, 0)), (std::pair(side * side, triangles)));
  EXPECT_EQ(counts(data.shape(kCloth, 1)), (std::pair(side * side + side - 2, triangles)));
  EXPECT_EQ(counts(data.shape(kCloth, 2)).first, kFineSide * kFineSide);
  EXPECT_GT(counts(data.shape(kJelly, 1)).second, counts(data.shape(kJelly, 0)).second);
  EXPECT_THROW(data.shape(kCloth, 3), Error);
  EXPECT_THROW(data.shape(99, 0), Error);
  // Points of the jelly are those of its cage, which the page places its surface by; the box rests.
  const std::string points = data.points(4);
  size_t at = 8;
  for (int body = 0; body < 4; ++body) {
    uint32_t head[4];
    std::memcpy(head, points.data() + at, 16);
    if (head[0] == kJelly) {
      EXPECT_EQ(head[1], cageMesh().positions.size());
    }
    EXPECT_EQ(head[3], head[0] == kBox ? 1u : head[0] == kJelly ? 2u : 0u);
    at += 16 + (head[3] & 1 ? 0 : 12 * head[1]) + 4 * head[1] * info["pointFields"].size();
  }
  EXPECT_EQ(at, points.size());
  const auto fronts = readJson(data.fronts(3));
  ASSERT_EQ(fronts.size(), 1u);
  EXPECT_EQ(fronts[0]["body"], uint32_t(kBox));
  EXPECT_EQ(fronts[0]["points"].size(), 5u);
  EXPECT_EQ(fronts[0]["states"][0], "left");
  EXPECT_EQ(data.fronts(9), "[]");
}

TEST_F(ChangingShown, ALostChangeCostsItsBodyOnly) {
  std::string bytes = fileBytes(path_);
  {
    const RunReader run(path_);
    for (const Chunk& chunk : run.chunks())
      if (chunk.head.type == ChunkType::Embedding) bytes[chunk.payloadAt() + 9] ^= 1;
  }
  writeBytes(path_, bytes);
  const RunReader run(path_);
  const std::vector<size_t> frames{0, 5, 11};
  EXPECT_NO_THROW(readableOf(run, frames));
  RunPictures pictures(run);
  for (const size_t f : frames) EXPECT_GE(pictures.shot(f).meshes.size(), 2u);
}

TEST(CornerNormalsOfBentBodies, CreasesAreThoseOfTheBodyAtRest) {
  // Two squares that meet in an edge: flat at rest and bent to 60 degrees, and the other way round.
  const auto strip = [](double angle) {
    geometry::TriMesh mesh;
    for (const double z : {0.0, 1.0})
      for (const Vec3& p : {Vec3(-1, 0, 0), Vec3(0, 0, 0), Vec3(std::cos(angle), std::sin(angle), 0)})
        mesh.positions.push_back(p + z * Vec3::UnitZ());
    mesh.triangles = {{0, 3, 1}, {1, 3, 4}, {1, 4, 2}, {2, 4, 5}};
    return mesh;
  };
  const auto restOf = [](const geometry::TriMesh& mesh) {
    std::vector<Vec3f> rest;
    for (const Vec3& p : mesh.positions) rest.push_back(p.cast<float>());
    return rest;
  };
  const geometry::TriMesh flat = strip(0), bent = strip(kPi / 3);
  const auto across = [](const std::vector<Vec3f>& normals) {  // at vertex 1, of either side
    return double(normals[2].dot(normals[6]));
  };
  EXPECT_LT(across(cornerNormals(bent)), 0.6) << "an edge of 60 degrees is sharp";
  EXPECT_GT(across(cornerNormals(bent, kCreaseAngle, restOf(flat))), 0.999) << "but not where it is bent";
  EXPECT_GT(across(cornerNormals(flat)), 0.999);
  EXPECT_GT(across(cornerNormals(flat, kCreaseAngle, restOf(bent))), 0.999);
  const geometry::TriMesh less = strip(kPi / 9);
  EXPECT_LT(across(cornerNormals(less, kCreaseAngle, restOf(bent))), 0.95) << "a crease stays one";
}

}  // namespace
}  // namespace sunder::show
