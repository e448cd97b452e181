// OBJ, PLY, VTP, VTU and BGEO: what is in the files, frame by frame.
#include "sunder/base/bytes.h"
#include "sunder/base/error.h"

#include "export_sample.h"

#include <array>
#include <charconv>
#include <map>

#include <zlib.h>

namespace sunder::show {
namespace {

void expectSame(const std::vector<Vec3>& found, const std::vector<Vec3>& expected, const std::string& where) {
  ASSERT_EQ(found.size(), expected.size()) << where;
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_LE((found[i] - expected[i]).norm(), 1.2e-7 * (1 + expected[i].norm())) << where << " vertex " << i;
}

size_t trianglesIn(size_t frame) { return 4 * 12 + (frame >= 5 ? 4 : 0) - (frame >= 5 ? 12 : 0); }

TEST_F(ExportSample, ObjAndPlyHaveEveryBodyInItsPlace) {
  for (const auto& [format, name, ending] :
       {std::tuple(ExportFormat::Obj, "obj", ".obj"), std::tuple(ExportFormat::Ply, "ply", ".ply"),
        std::tuple(ExportFormat::Vtk, "vtk", ".vtp")}) {
    const ExportResult result = exportAs(format, name);
    EXPECT_GE(result.files, kSampleFrames);
    for (const size_t f : {0, 4, 5, 11}) {
      const auto path =
          result.output / ("frame_00" + std::string(f < 10 ? "0" : "") + std::to_string(f) + ending);
      const meshio::MeshFile file = meshio::readMesh(path);
      expectSame(file.surface.positions, expectedVertices(run(), f), path.string());
      EXPECT_EQ(file.surface.faceCount(), trianglesIn(f)) << path;
    }
  }
}

TEST_F(ExportSample, ObjHasOneObjectABodyAndItsMaterials) {
  const ExportResult result = exportAs(ExportFormat::Obj, "obj", {0, 6});
  EXPECT_EQ(result.files, 3u);
  const meshio::MeshFile file = meshio::readMesh(result.output / "frame_0006.obj");
  EXPECT_EQ(file.surface.groupNames,
            (std::vector<std::string>{"ground", "block[1]", "vase.shard", "block[2]"}));
  const std::string materials = fileText(result.output / "materials.mtl");
  EXPECT_NE(materials.find("newmtl oak\nKd 0.4 0.25 0.1\n"), std::string::npos);
  EXPECT_NE(materials.find("newmtl green_glass\n"), std::string::npos);
  const std::string frame = fileText(result.output / "frame_0006.obj");
  EXPECT_NE(frame.find("usemtl green_glass\n"), std::string::npos);
  // One face of the shard is where it broke.
  EXPECT_NE(materials.find("newmtl green_glass_inside\n"), std::string::npos);
  EXPECT_NE(frame.find("usemtl green_glass_inside\nf "), std::string::npos);
}

TEST_F(ExportSample, PlyHasColoursAndBodies) {
  const ExportResult result = exportAs(ExportFormat::Ply, "ply", {6});
  const meshio::MeshFile file = meshio::readMesh(result.openThis);
  ASSERT_EQ(file.surface.vertexColours.size(), 28u);
  // Vertices 8 to 15 are the first oak block's.
  EXPECT_NEAR(file.surface.vertexColours[8][0], srgbFromLinear(0.4f), 0.5 / 255);
  const std::string text = fileText(result.openThis);
  const size_t data = text.find("end_header\n") + 11;
  constexpr size_t kVertex = 19, kFace = 18;
  ASSERT_EQ(text.size(), data + 28 * kVertex + 40 * kFace);
  int32_t body = 0;
  std::memcpy(&body, text.data() + data + 17 * kVertex - 4, 4);
  EXPECT_EQ(body, int32_t(kShard));  // vertex 16
  std::memcpy(&body, text.data() + data + 28 * kVertex + 40 * kFace - 5, 4);
  EXPECT_EQ(body, int32_t(kTwin));
}

// An array of a VTP or VTU file with an appended block that is packed, all of it in one.
template <class T>
std::vector<T> vtkArrayOf(const std::string& text, const std::string& name, const char* type) {
  const std::string head = "<DataArray type=\"" + std::string(type) + "\" Name=\"" + name + "\"";
  const size_t at = text.find(head);
  EXPECT_NE(at, std::string::npos) << name;
  if (at == std::string::npos) return {};
  size_t offset = 0;
  const size_t digits = text.find("offset=\"", at) + 8;
  std::from_chars(text.data() + digits, text.data() + digits + 20, offset);
  const size_t block = text.find("<AppendedData encoding=\"raw\">\n_") + 31;
  std::array<uint64_t, 4> numbers{};  // of blocks, their size, that of the last, what it was packed to
  std::memcpy(numbers.data(), text.data() + block + offset, 32);
  EXPECT_EQ(numbers[0], 1u) << name;
  EXPECT_LT(numbers[2], numbers[1]) << name;
  std::vector<T> values(numbers[2] / sizeof(T));
  uLongf size = numbers[2];
  EXPECT_EQ(::uncompress(reinterpret_cast<Bytef*>(values.data()), &size,
                         reinterpret_cast<const Bytef*>(text.data() + block + offset + 32), numbers[3]),
            Z_OK)
      << name;
  EXPECT_EQ(size, numbers[2]) << name;
  return values;
}

TEST_F(ExportSample, VtkCellsKnowTheirBody) {
  const ExportResult result = exportAs(ExportFormat::Vtk, "vtk");
  EXPECT_EQ(result.openThis.filename(), "sample.pvd");
  const std::string text = fileText(result.output / "frame_0006.vtp");
  const auto bodies = vtkArrayOf<int32_t>(text, "body", "Int32"),
             parents = vtkArrayOf<int32_t>(text, "parent", "Int32"),
             materials = vtkArrayOf<int32_t>(text, "material", "Int32");
  const auto speeds = vtkArrayOf<float>(text, "speed", "Float32"),
             velocities = vtkArrayOf<float>(text, "velocity", "Float32"),
             impulses = vtkArrayOf<float>(text, "impulse", "Float32");
  ASSERT_EQ(bodies.size(), 40u);
  ASSERT_EQ(velocities.size(), 120u);
  record::Frame frame;
  run().readFrame(6, frame);
  const std::vector<int32_t> expected{0, 1, 3, 4};
  for (size_t c = 0; c < 40; ++c) {
    const auto b = size_t(expected[c < 24 ? c / 12 : c < 28 ? 2 : 3]);
    EXPECT_EQ(bodies[c], int32_t(b));
    EXPECT_EQ(parents[c], b == kShard ? int32_t(kVase) : -1);
    EXPECT_EQ(materials[c], b == kGround ? 2 : b == kShard ? 0 : 1);  // green glass, oak, steel
    EXPECT_EQ(speeds[c], frame.bodies[b].velocity.norm());
    for (size_t k = 0; k < 3; ++k)
      EXPECT_EQ(velocities[3 * c + k], frame.bodies[b].velocity[Eigen::Index(k)]);
    EXPECT_EQ(impulses[c], b == kBlock ? 6.0f : 0.0f);
  }
  EXPECT_NE(text.find("Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">0.1</DataArray>"),
            std::string::npos);
  const std::string pvd = fileText(result.openThis);
  EXPECT_NE(pvd.find("<DataSet timestep=\"0.1\" group=\"\" part=\"0\" file=\"frame_0006.vtp\"/>"),
            std::string::npos);
  EXPECT_EQ(std::count(pvd.begin(), pvd.end(), '\n'), std::ptrdiff_t(kSampleFrames + 5));
  EXPECT_NE(fileText(result.output / "bodies.csv").find("3,vase.shard,2,0,green glass,1,dynamic,0.5,5\n"),
            std::string::npos);
}

TEST_F(ExportSample, VtuHasTheTetrahedra) {
  const ExportResult result = exportAs(ExportFormat::Vtk, "vtk");
  EXPECT_TRUE(std::filesystem::exists(result.output / "sample-volume.pvd"));
  const meshio::MeshFile none = meshio::readMesh(result.output / "frame_0004.vtu"),
                         one = meshio::readMesh(result.output / "frame_0007.vtu");
  EXPECT_TRUE(none.volume.tets.empty());
  ASSERT_EQ(one.volume.tets.size(), 1u);
  const std::vector<Vec3> all = expectedVertices(run(), 7);
  expectSame(one.volume.positions, {all.begin() + 16, all.begin() + 20}, "tetrahedron");
}

TEST(ExportMeshes, AGroundWithoutEndIsTrimmedToTheAction) {
  TemporaryFolder folder;
  {
    record::RunWriter writer(folder / "run.sunder", {"sunder test", "far", kSampleScene, 60});
    record::MeshEntry plane{"plane", {}, {{0, 1, 2}, {0, 2, 3}}, {}, {}};
    for (const Vec2f& c : {Vec2f(-1, -1), Vec2f(-1, 1), Vec2f(1, 1), Vec2f(1, -1)})
      plane.positions.emplace_back(100 * c.x(), 0.0f, 100 * c.y());
    writer.addMesh(plane);
    writer.addMesh(boxMesh("block", 0.1f));
    writer.addBody({"ground", kNoIndex, "steel", 0, 0, record::BodyKind::Static, 0});
    writer.addBody({"block", kNoIndex, "oak", 1, 1, record::BodyKind::Dynamic, 0});
    writer.addBody({"wall", kNoIndex, "oak", 0, 0, record::BodyKind::Static, 0});
    std::vector<record::BodyState> states(3);
    for (record::BodyState& s : states) s.present = true;
    states[0].position = Vec3f(0, -2, 0);
    states[1].position = Vec3f(30, 1, -20);
    states[2].rotation = record::Quatf(Eigen::AngleAxisf(1.2f, Vec3f::UnitX()));
    writer.frame(0, 0, states, {}, {}, {});
    writer.finish({record::EndKind::Finished, "", 1, "{}"});
  }
  const record::RunReader run(folder / "run.sunder");
  const ExportResult result = exportRun(run, ExportFormat::Obj, {.output = folder / "obj", .frames = {0}});
  const std::vector<Vec3> p = meshio::readMesh(result.openThis).surface.positions;
  ASSERT_EQ(p.size(), 4u + 8u + 4u);
  const Box3 ground = geometry::bounds(std::span(p).first(4)), wall = geometry::bounds(std::span(p).last(4));
  EXPECT_NEAR((ground.center() - Vec3(30, -2, -20)).norm(), 0, 1e-3);
  const double diagonal = 0.2 * std::sqrt(3.0);
  EXPECT_GT(ground.extent().x(), 2 * 3 * diagonal);
  EXPECT_LT(ground.extent().x(), 2 * 10 * diagonal);
  EXPECT_LT(ground.extent().y(), 1e-3);
  EXPECT_NEAR(wall.extent().x(), 200, 1e-3);  // no ground: stays
}

TEST(ExportMeshes, VerticesThatMoveByThemselves) {
  TemporaryFolder folder;
  const ExportScene scene = deformingScene();
  const ExportResult vtk = exportScene(scene, ExportFormat::Vtk, folder / "vtk");
  const meshio::MeshFile file = meshio::readMesh(vtk.output / "frame_0003.vtp"),
                         before = meshio::readMesh(vtk.output / "frame_0001.vtp");
  EXPECT_EQ(before.surface.faceCount(), 2u + 12u);
  EXPECT_EQ(file.surface.faceCount(), 1u + 12u);
  EXPECT_EQ(file.surface.positions[0], Vec3(0, double(0.1f * 3), 0));
  EXPECT_EQ(meshio::readMesh(vtk.output / "frame_0003.vtu").volume.tets.size(), 1u);
  const ExportResult obj = exportScene(scene, ExportFormat::Obj, folder / "obj");
  EXPECT_EQ(meshio::readMesh(obj.output / "frame_0003.obj").surface.positions[0].cast<float>(),
            Vec3f(0, 0.1f * 3, 0));
}

struct BgeoFile {
  struct Attribute {
    uint16_t size = 0;
    uint32_t type = 0;
    size_t offset = 0;  // of its values, in words from the start of a point
  };
  std::map<std::string, Attribute> attributes;
  std::vector<std::vector<uint32_t>> points;
  float number(size_t point, const std::string& name, size_t k) const {
    return std::bit_cast<float>(points[point][attributes.at(name).offset + k]);
  }
  int32_t integer(size_t point, const std::string& name) const {
    return int32_t(points[point][attributes.at(name).offset]);
  }
  Vec3f position(size_t i) const {
    return {std::bit_cast<float>(points[i][0]), std::bit_cast<float>(points[i][1]),
            std::bit_cast<float>(points[i][2])};
  }
};

BgeoFile readBgeo(const std::filesystem::path& path) {
  const std::string text = fileText(path);
  ByteReader in(std::as_bytes(std::span(text)), path.string(), ByteOrder::Big);
  BgeoFile file;
  EXPECT_EQ(in.string(5, "magic"), "BgeoV");
  EXPECT_EQ(in.u32("version"), 5u);
  const uint32_t points = in.u32("points");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(in.u32("primitives and groups"), 0u);
  const uint32_t attributes = in.u32("point attributes");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(in.u32("other attributes"), 0u);
  size_t words = 4;
  for (uint32_t a = 0; a < attributes; ++a) {
    const std::string name = in.string(in.u16("length"), "name");
    BgeoFile::Attribute& attribute = file.attributes[name];
    attribute = {in.u16("size"), in.u32("type"), words};
    in.skip(4u * attribute.size, "default");
    words += attribute.size;
  }
  for (uint32_t p = 0; p < points; ++p) {
    file.points.emplace_back(words);
    in.readArray(std::span(file.points.back()), "point");
    EXPECT_EQ(std::bit_cast<float>(file.points.back()[3]), 1.0f);
  }
  EXPECT_EQ(in.u16("end"), 0x00ff);
  EXPECT_TRUE(in.atEnd());
  return file;
}

TEST_F(ExportSample, BgeoHasAPointABody) {
  const ExportResult result = exportAs(ExportFormat::Bgeo, "bgeo", {0, 6});
  EXPECT_EQ(readBgeo(result.openThis).points.size(), 4u);
  const BgeoFile file = readBgeo(result.output / "frame_0006.bgeo");
  ASSERT_EQ(file.points.size(), 4u);
  EXPECT_EQ(file.attributes.at("v").type, 5u);
  EXPECT_EQ(file.attributes.at("id").type, 1u);
  EXPECT_EQ(file.attributes.at("orient").size, 4u);
  record::Frame frame;
  run().readFrame(6, frame);
  const std::vector<uint32_t> expected{0, 1, 3, 4};
  for (size_t i = 0; i < 4; ++i) {
    const record::BodyState& state = frame.bodies[expected[i]];
    EXPECT_EQ(file.integer(i, "id"), int32_t(expected[i]));
    EXPECT_EQ(file.integer(i, "parent"), expected[i] == kShard ? int32_t(kVase) : -1);
    EXPECT_EQ(file.position(i), state.position);
    for (size_t k = 0; k < 3; ++k) EXPECT_EQ(file.number(i, "v", k), state.velocity[Eigen::Index(k)]);
    EXPECT_EQ(file.number(i, "orient", 3), state.rotation.w());
    EXPECT_EQ(file.number(i, "impulse", 0), expected[i] == kBlock ? 6.0f : 0.0f);
  }
}

TEST(ExportMeshes, BgeoHasTheParticlesWhereThereAreSome) {
  TemporaryFolder folder;
  const ExportResult result = exportScene(deformingScene(), ExportFormat::Bgeo, folder / "bgeo");
  const BgeoFile file = readBgeo(result.output / "frame_0002.bgeo");
  ASSERT_EQ(file.points.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(file.integer(i, "id"), int32_t(i));
    EXPECT_EQ(file.integer(i, "body"), 2);
    EXPECT_EQ(file.position(i), Vec3f(float(i), 0.2f, 1));
    EXPECT_EQ(file.number(i, "v", 1), float(i));
  }
}

}  // namespace
}  // namespace sunder::show
