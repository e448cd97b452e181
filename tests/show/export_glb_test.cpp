#include "sunder/base/error.h"
#include "sunder/base/json_parse.h"
#include "sunder/shapes/catalogue.h"
#include "sunder/show/corner_normals.h"
#include "sunder/show/export/export_tracks.h"

#include "export_sample.h"

#include <set>

namespace sunder::show {
namespace {

// A GLB taken apart by hand: container, JSON, and accessors inside their views inside the buffer.
struct Glb {
  Json root;
  std::string binary;

  explicit Glb(const std::filesystem::path& path) {
    const std::string text = fileText(path);
    const auto word = [&](size_t at) {
      uint32_t value = 0;
      EXPECT_LE(at + 4, text.size());
      std::memcpy(&value, text.data() + at, 4);
      return value;
    };
    EXPECT_EQ(text.substr(0, 4), "glTF");
    EXPECT_EQ(word(4), 2u);
    EXPECT_EQ(word(8), text.size());
    const size_t length = word(12);
    root = readJson(text.substr(20, length));
    binary = text.substr(28 + length);
    EXPECT_EQ(word(20 + length), binary.size());
    EXPECT_EQ(root["buffers"][0]["byteLength"].whole(), binary.size());
    EXPECT_EQ(binary.size() % 4, 0u);
    for (const Json& view : root["bufferViews"])
      EXPECT_LE(view["byteOffset"].whole() + view["byteLength"].whole(), binary.size());
    for (size_t i = 0; i < root["accessors"].size(); ++i) checkAccessor(root["accessors"][i]);
  }

  static size_t components(const Json& accessor) {
    return accessor["type"] == "SCALAR" ? 1 : size_t(accessor["type"].string()[3] - '0');
  }
  static size_t width(const Json& accessor) { return accessor["componentType"] == 5123 ? 2 : 4; }
  void checkAccessor(const Json& a) const {
    EXPECT_GT(a["count"].integer(), 0);
    EXPECT_EQ(a["count"].whole() * components(a) * width(a),
              root["bufferViews"][a["bufferView"].whole()]["byteLength"].whole());
  }
  std::vector<float> numbers(const Json& index) const {
    const Json& a = root["accessors"][index.whole()];
    EXPECT_EQ(a["componentType"].integer(), 5126);
    std::vector<float> values(a["count"].whole() * components(a));
    const size_t at = root["bufferViews"][a["bufferView"].whole()]["byteOffset"].whole();
    std::memcpy(values.data(), binary.data() + at, values.size() * 4);
    return values;
  }
  static std::vector<float> floats(const Json& list) {
    std::vector<float> values;
    for (const Json& value : list) values.push_back(static_cast<float>(value.number()));
    return values;
  }
  const Json* nodeOf(uint32_t body) const {
    for (const Json& node : root["nodes"])
      if (node["extras"]["body"] == body) return &node;
    return nullptr;
  }

  struct Pose {
    Vec3f position = Vec3f::Zero(), scale = Vec3f::Ones();
    record::Quatf rotation = record::Quatf::Identity();
  };
  // As a player finds it: keys around the time, held or interpolated.
  Pose poseAt(uint32_t body, float time) const {
    const Json& node = *nodeOf(body);
    Pose pose;
    const auto take = [&](const char* key, auto&& put) {
      if (node.contains(key)) put(floats(node[key]), std::vector<float>(), 0.0f);
    };
    const auto put3 = [](Vec3f& out) {
      return [&out](const std::vector<float>& a, const std::vector<float>& b, float part) {
        for (size_t k = 0; k < 3; ++k)
          out[Eigen::Index(k)] = b.empty() || part == 0 ? a[k] : a[k] + part * (b[k] - a[k]);
      };
    };
    const auto putTurn = [&](const std::vector<float>& a, const std::vector<float>& b, float part) {
      const record::Quatf from(a[3], a[0], a[1], a[2]);
      pose.rotation = b.empty() ? from : from.slerp(part, record::Quatf(b[3], b[0], b[1], b[2]));
    };
    take("translation", put3(pose.position));
    take("rotation", putTurn);
    take("scale", put3(pose.scale));
    if (!root.contains("animations")) return pose;
    const Json& animation = root["animations"][0];
    for (const Json& channel : animation["channels"]) {
      if (&root["nodes"][channel["target"]["node"].whole()] != &node) continue;
      const Json& sampler = animation["samplers"][channel["sampler"].whole()];
      const std::vector<float> times = numbers(sampler["input"]), values = numbers(sampler["output"]);
      const std::string path = channel["target"]["path"].string();
      const size_t width = path == "rotation" ? 4 : 3;
      EXPECT_EQ(values.size(), width * times.size());
      size_t key = 0;
      while (key + 1 < times.size() && times[key + 1] <= time) ++key;
      std::vector<float> a(values.begin() + std::ptrdiff_t(width * key),
                           values.begin() + std::ptrdiff_t(width * (key + 1))),
          b;
      float part = 0;
      if (sampler["interpolation"] == "LINEAR" && key + 1 < times.size()) {
        b.assign(values.begin() + std::ptrdiff_t(width * (key + 1)),
                 values.begin() + std::ptrdiff_t(width * (key + 2)));
        part = std::max(0.0f, (time - times[key]) / (times[key + 1] - times[key]));
      }
      if (path == "translation") put3(pose.position)(a, b, part);
      if (path == "rotation") putTurn(a, b, part);
      if (path == "scale") put3(pose.scale)(a, {}, 0);
    }
    return pose;
  }
};

TEST_F(ExportSample, GlbPosesAreThoseOfTheRun) {
  const Glb glb(exportAs(ExportFormat::Glb, "sample.glb").openThis);
  for (const Json& sampler : glb.root["animations"][0]["samplers"]) {
    const std::vector<float> times = glb.numbers(sampler["input"]);
    for (size_t i = 1; i < times.size(); ++i) EXPECT_LT(times[i - 1], times[i]);
    const Json& accessor = glb.root["accessors"][sampler["input"].whole()];
    EXPECT_EQ(accessor["min"][0].number(), times.front());
    EXPECT_EQ(accessor["max"][0].number(), times.back());
    EXPECT_FALSE(glb.root["bufferViews"][accessor["bufferView"].whole()].contains("target"));
  }
  for (size_t f = 0; f < kSampleFrames; ++f) {
    record::Frame frame;
    run().readFrame(f, frame);
    for (uint32_t b = 0; b < 5; ++b) {
      const Glb::Pose pose = glb.poseAt(b, float(frame.time));
      const record::BodyState& state = frame.bodies[b];
      EXPECT_EQ(pose.scale, state.present ? Vec3f::Ones() : Vec3f::Zero()) << b << " " << f;
      if (!state.present) continue;
      EXPECT_LE((pose.position - state.position).norm(), 1e-6) << b << " " << f;
      EXPECT_LE(pose.rotation.angularDistance(state.rotation), 2e-3) << b << " " << f;
      for (const Vec3f& p : run().mesh(run().bodies()[b].mesh).positions)
        EXPECT_LE((pose.position + pose.rotation * p - state.position - state.rotation * p).norm(), 2e-7);
    }
  }
}

TEST_F(ExportSample, GlbSharesMeshesAndNamesParents) {
  const Glb glb(exportAs(ExportFormat::Glb, "sample.glb").openThis);
  EXPECT_EQ(glb.root["nodes"].size(), 5u);
  EXPECT_EQ((*glb.nodeOf(kBlock))["mesh"].integer(), (*glb.nodeOf(kTwin))["mesh"].integer());
  EXPECT_EQ(glb.root["meshes"].size(), 4u);  // block in oak, glass and steel, and the shard
  std::set<int64_t> positions;
  for (const Json& mesh : glb.root["meshes"])
    positions.insert(mesh["primitives"][0]["attributes"]["POSITION"].integer());
  EXPECT_EQ(positions.size(), 2u);  // but two sets of vertices
  const Json& shard = *glb.nodeOf(kShard);
  // Where it broke it has a material of its own.
  const Json& parts = glb.root["meshes"][shard["mesh"].whole()]["primitives"];
  ASSERT_EQ(parts.size(), 2u);
  const auto material = [&](size_t part) {
    return glb.root["materials"][parts[part]["material"].whole()]["name"];
  };
  EXPECT_EQ(material(0), "green glass");
  EXPECT_EQ(material(1), "green glass inside");
  EXPECT_EQ(shard["extras"]["parent"].integer(), int(kVase));
  EXPECT_EQ(shard["extras"]["parentName"].string(), "vase, \"blue\"");
  EXPECT_EQ(shard["name"].string(), "vase.shard");
  EXPECT_EQ((*glb.nodeOf(kBlock))["extras"]["parent"].integer(), -1);
  // What rests has no curve.
  for (const Json& channel : glb.root["animations"][0]["channels"])
    EXPECT_NE(glb.root["nodes"][channel["target"]["node"].whole()]["extras"]["body"].whole(), kTwin);
}

TEST_F(ExportSample, GlbMaterialsAreTheLooks) {
  const Glb glb(exportAs(ExportFormat::Glb, "sample.glb", {0}).openThis);
  EXPECT_FALSE(glb.root.contains("animations"));
  std::map<std::string, Json> materials;
  for (const Json& m : glb.root["materials"]) materials[m["name"].string()] = m;
  EXPECT_NEAR(materials["oak"]["pbrMetallicRoughness"]["baseColorFactor"][1].number(), 0.25, 1e-7);
  EXPECT_EQ(materials["steel"]["pbrMetallicRoughness"]["metallicFactor"].number(), 1);
  const Json& glass = materials["green glass"]["extensions"];
  EXPECT_EQ(glass["KHR_materials_transmission"]["transmissionFactor"].number(), 1);
  EXPECT_NEAR(glass["KHR_materials_ior"]["ior"].number(), 1.52, 1e-6);
  EXPECT_NEAR(glass["KHR_materials_volume"]["attenuationColor"][0].number(), 0.5, 1e-6);
  EXPECT_EQ(glb.root["extensionsUsed"].size(), 3u);
}

TEST_F(ExportSample, GlbReadsAsAMeshOfItsFirstFrame) {
  const ExportResult result = exportAs(ExportFormat::Glb, "sample.glb", {6, 7, 8});
  const meshio::MeshFile file = meshio::readMesh(result.openThis);
  const std::vector<Vec3> expected = expectedVertices(run(), 6);
  EXPECT_EQ(file.surface.faceCount(), 40u);
  // Corners of boxes are split for their normals and welded by the reader, in another order.
  for (const Vec3& p : expected) {
    double nearest = 1;
    for (const Vec3& q : file.surface.positions) nearest = std::min(nearest, (p - q).norm());
    EXPECT_LE(nearest, 3e-7);
  }
}

TEST(ExportGlb, AFileAFrameWhereVerticesMove) {
  TemporaryFolder folder;
  const ExportResult result = exportScene(deformingScene(), ExportFormat::Glb, folder / "sheet.glb");
  EXPECT_EQ(result.output.filename(), "sheet");
  EXPECT_EQ(result.files, 4u);
  for (const size_t f : {0, 3}) {
    const auto path = result.output / ("frame_000" + std::to_string(f) + ".glb");
    const Glb glb(path);
    EXPECT_EQ(glb.root["nodes"].size(), 2u);
    EXPECT_FALSE(glb.root.contains("animations"));
    const meshio::MeshFile file = meshio::readMesh(path);
    EXPECT_EQ(file.surface.faceCount(), 12u + (f == 0 ? 2u : 1u));
    const Box3 box = geometry::bounds(file.surface.positions);
    EXPECT_EQ(box.upper.y(), 2.5);
    EXPECT_EQ(file.surface.positions[0].y(), double(0.1f * float(f)));
  }
}

TEST(ExportTracks, KeysThatStraightLinesNeed) {
  using Keys = std::vector<uint32_t>;
  EXPECT_EQ(neededKeys(std::vector{7, 7, 7, 7}), (Keys{0}));
  EXPECT_EQ(neededKeys(std::vector{1, 1, 1, 2, 2, 2}), (Keys{0, 2, 3, 5}));
  EXPECT_EQ(neededKeys(std::vector{1, 2, 3}), (Keys{0, 1, 2}));
  EXPECT_EQ(heldKeys(std::vector{1, 1, 2, 2, 1}), (Keys{0, 2, 4}));
}

TEST(CornerNormals, SmoothOnBallsSharpOnBoxes) {
  const geometry::TriMesh ball = shapes::makeShape("icosphere", {{"radius", "1"}, {"frequency", "12"}});
  const std::vector<Vec3f> smooth = cornerNormals(ball), flat = cornerNormals(ball, 0);
  double worst = 0, worstFlat = 0;
  for (size_t c = 0; c < smooth.size(); ++c) {
    const Vec3f out = ball.positions[ball.triangles[c / 3][c % 3]].normalized().cast<float>();
    worst = std::max(worst, double(std::acos(std::min(1.0f, smooth[c].dot(out)))));
    worstFlat = std::max(worstFlat, double(std::acos(std::min(1.0f, flat[c].dot(out)))));
  }
  EXPECT_LT(worst, 0.02);
  EXPECT_GT(worstFlat, 0.04);
  geometry::TriMesh box;
  const record::MeshEntry entry = boxMesh("", 1);
  for (const Vec3f& p : entry.positions) box.positions.push_back(p.cast<double>());
  box.triangles = entry.triangles;
  for (const Vec3f& n : cornerNormals(box)) EXPECT_NEAR(n.cwiseAbs().maxCoeff(), 1, 1e-6);
}

}  // namespace
}  // namespace sunder::show
