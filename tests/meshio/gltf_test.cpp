#include "sunder/base/json_parse.h"

#include "meshio/files_common.h"

#include <numbers>

namespace sunder::meshio::files {
using namespace geometry;

namespace {

std::string base64(std::string_view bytes) {
  static const char* kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t v = 0;
    const size_t n = std::min<size_t>(3, bytes.size() - i);
    for (size_t k = 0; k < 3; ++k) v = v << 8 | (k < n ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (size_t k = 0; k < 4; ++k) out += k <= n ? kAlphabet[v >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

// A document put together accessor by accessor.
struct Builder {
  std::string buffer;
  Json root = {{"asset", {{"version", "2.0"}}},
               {"accessors", Json::array()},
               {"bufferViews", Json::array()},
               {"meshes", Json::array()},
               {"nodes", Json::array()}};

  template <class T>
  size_t view(const std::vector<T>& values, size_t stride = 0) {
    buffer.resize((buffer.size() + 3) / 4 * 4);
    Json v = {{"buffer", 0}, {"byteOffset", buffer.size()}, {"byteLength", values.size() * sizeof(T)}};
    if (stride) v["byteStride"] = stride;
    root["bufferViews"].push_back(v);
    buffer.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    return root["bufferViews"].size() - 1;
  }
  template <class T>
  size_t accessor(const std::vector<T>& values, const char* type, int component, size_t count,
                  size_t stride = 0) {
    root["accessors"].push_back({{"bufferView", view(values, stride)},
                                 {"componentType", component},
                                 {"count", count},
                                 {"type", type}});
    return root["accessors"].size() - 1;
  }
  size_t mesh(Json primitives) {
    root["meshes"].push_back({{"primitives", std::move(primitives)}});
    return root["meshes"].size() - 1;
  }
  std::string text() {
    Json copy = root;
    copy["buffers"] = Json::array({Json{{"byteLength", buffer.size()},
                                        {"uri", "data:application/octet-stream;base64," + base64(buffer)}}});
    return copy.text();
  }
  MeshFile read() { return readGltf(bytesOf(text()), "a.gltf", {}); }
};

const std::vector<float> kTriangle{0, 0, 0, 1, 0, 0, 0, 1, 0};

Builder triangle() {
  Builder b;
  const size_t positions = b.accessor(kTriangle, "VEC3", 5126, 3);
  b.mesh(Json::array({Json{{"attributes", {{"POSITION", positions}}}}}));
  b.root["nodes"].push_back({{"mesh", 0}, {"name", "one"}});
  return b;
}

}  // namespace

TEST(FilesGltf, ReadsTrianglesWithoutIndices) {
  const MeshFile file = triangle().read();
  EXPECT_EQ(file.surface.positions[1], Vec3(1, 0, 0));
  EXPECT_EQ(file.surface.corners, (std::vector<uint32_t>{0, 1, 2}));
  EXPECT_EQ(file.surface.groupNames, (std::vector<std::string>{"one"}));
  EXPECT_EQ(file.format, MeshFormat::Gltf);
}

TEST(FilesGltf, ReadsIndicesOfEverySize) {
  for (const int component : {5121, 5123, 5125}) {
    Builder b;
    const size_t p = b.accessor(kTriangle, "VEC3", 5126, 3);
    const size_t i = component == 5121   ? b.accessor(std::vector<uint8_t>{2, 0, 1}, "SCALAR", component, 3)
                     : component == 5123 ? b.accessor(std::vector<uint16_t>{2, 0, 1}, "SCALAR", component, 3)
                                         : b.accessor(std::vector<uint32_t>{2, 0, 1}, "SCALAR", component, 3);
    b.mesh(Json::array({Json{{"attributes", {{"POSITION", p}}}, {"indices", i}}}));
    const MeshFile file = b.read();  // no nodes at all: the meshes themselves
    EXPECT_EQ(file.surface.positions[0], Vec3(0, 1, 0));
    EXPECT_EQ(file.surface.positions[2], Vec3(1, 0, 0));
  }
}

TEST(FilesGltf, StripsAndFansKeepTheirOrientation) {
  std::vector<float> quad{0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0};
  for (const int mode : {5, 6}) {
    Builder b;
    if (mode == 6) quad = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0};
    const size_t p = b.accessor(quad, "VEC3", 5126, 4);
    b.mesh(Json::array({Json{{"attributes", {{"POSITION", p}}}, {"mode", mode}}}));
    const MeshFile file = b.read();
    ASSERT_EQ(file.surface.faceCount(), 2u);
    double area = 0;
    for (size_t f = 0; f < 2; ++f) {
      const auto c = file.surface.face(f);
      const auto& p3 = file.surface.positions;
      const Vec3 n = (p3[c[1]] - p3[c[0]]).cross(p3[c[2]] - p3[c[0]]);
      EXPECT_GT(n.z(), 0);
      area += n.z() / 2;
    }
    EXPECT_EQ(area, 1);
  }
}

TEST(FilesGltf, AppliesTheTransformsOfTheHierarchy) {
  Builder b = triangle();
  const double h = std::numbers::sqrt2 / 2;
  b.root["nodes"] =
      Json::array({Json{{"translation", {10, 0, 0}}, {"children", {1, 2}}},
                   Json{{"rotation", {0, 0, h, h}}, {"scale", {2, 3, 4}}, {"mesh", 0}},
                   Json{{"matrix", {-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 5, 6, 7, 1}}, {"mesh", 0}}});
  b.root["scenes"] = Json::array({Json{{"nodes", {0}}}});
  const MeshFile file = b.read();
  const auto& p = file.surface.positions;
  ASSERT_EQ(p.size(), 6u);
  EXPECT_LT((p[1] - Vec3(10, 2, 0)).norm(), 1e-14);  // x scaled by 2, turned to y
  EXPECT_LT((p[2] - Vec3(7, 0, 0)).norm(), 1e-14);   // y scaled by 3, turned to -x
  const auto c = file.surface.face(1);               // mirrored: still seen from +z
  EXPECT_EQ((p[c[1]] - p[c[0]]).cross(p[c[2]] - p[c[0]]), Vec3(0, 0, 1));
  EXPECT_EQ(p[c[0]], Vec3(15, 6, 7));
  EXPECT_EQ(file.surface.faceGroup, (std::vector<uint32_t>{0, 1}));
}

TEST(FilesGltf, ReadsNormalisedIntegersStridesAndSparse) {
  Builder b;
  // Quantised positions in rows of 8 bytes.
  const std::vector<int16_t> rows{0, 0, 0, 99, 32767, 0, 0, 99, 0, -32768, 0, 99};
  const size_t p = b.accessor(rows, "VEC3", 5122, 3, 8);
  b.root["accessors"][p]["normalized"] = true;
  const size_t uv = b.accessor(std::vector<uint8_t>{0, 255, 255, 0, 51, 0}, "VEC2", 5121, 3);
  b.root["accessors"][uv]["normalized"] = true;
  const size_t colour = b.accessor(std::vector<float>{1, 0, 0, 0, 1, 0, 0, 0, 0.5f}, "VEC3", 5126, 3);
  b.mesh(Json::array({Json{{"attributes", {{"POSITION", p}, {"TEXCOORD_0", uv}, {"COLOR_0", colour}}}}}));
  b.root["extensionsRequired"] = {"KHR_mesh_quantization"};
  const MeshFile file = b.read();
  EXPECT_EQ(file.surface.positions[1], Vec3(1, 0, 0));
  EXPECT_EQ(file.surface.positions[2], Vec3(0, -1, 0));  // -32768 is cut off at -1
  EXPECT_EQ(file.surface.cornerUvs[0], Vec2(0, 0));
  EXPECT_EQ(file.surface.cornerUvs[1], Vec2(1, 1));
  EXPECT_EQ(file.surface.cornerUvs[2], Vec2(0.2, 1));
  EXPECT_EQ(file.surface.vertexColours[2], Vec4f(0, 0, 0.5f, 1));

  Builder s = triangle();
  s.root["accessors"][0]["sparse"] = {
      {"count", 1},
      {"indices", {{"bufferView", s.view(std::vector<uint16_t>{2})}, {"componentType", 5123}}},
      {"values", {{"bufferView", s.view(std::vector<float>{7, 8, 9})}}}};
  EXPECT_EQ(s.read().surface.positions[2], Vec3(7, 8, 9));
  s.root["accessors"][0].erase("bufferView");  // the rest is zero then
  EXPECT_EQ(s.read().surface.positions[0], Vec3(0, 0, 0));
  EXPECT_EQ(s.read().surface.positions.size(), 2u);
}

TEST(FilesGltf, WeldsSeamsSoThatAClosedShapeIsClosed) {
  MeshFile file;
  file.surface = triangulatedCube();
  for (size_t f = 0; f < 12; ++f) {
    const auto c = file.surface.face(f);
    const auto& p = file.surface.positions;
    for (int k = 0; k < 3; ++k) {
      file.surface.cornerNormals.push_back((p[c[1]] - p[c[0]]).cross(p[c[2]] - p[c[0]]).normalized());
      file.surface.cornerUvs.emplace_back(0.25 * k, 0.125 * double(f));
    }
    file.surface.faceGroup.push_back(f < 4 ? 0 : 1);
  }
  file.surface.groupNames = {"ends", "sides"};
  for (int i = 0; i < 8; ++i) file.surface.vertexColours.emplace_back(0.125f * float(i), 0, 1, 1);
  TemporaryFolder folder;
  EXPECT_TRUE(writeMesh(folder / "a.glb", file).empty());
  const MeshFile back = readMesh(folder / "a.glb");
  EXPECT_EQ(back.format, MeshFormat::Glb);
  EXPECT_TRUE(isClosed(back.surface));
  EXPECT_NEAR(volumeOf(back.surface), 1, 1e-15);
  EXPECT_EQ(back.surface.positions.size(), 8u);
  EXPECT_TRUE(hasNote(back.notes, "welded 36 corners to 8 vertices"));
  EXPECT_EQ(back.surface.groupNames, file.surface.groupNames);
  EXPECT_EQ(back.surface.faceGroup, file.surface.faceGroup);
  EXPECT_EQ(back.surface.cornerNormals, file.surface.cornerNormals);
  EXPECT_EQ(back.surface.cornerUvs, file.surface.cornerUvs);
  for (size_t c = 0; c < 36; ++c)
    EXPECT_EQ(back.surface.vertexColours[back.surface.corners[c]],
              file.surface.vertexColours[file.surface.corners[c]]);
}

TEST(FilesGltf, WrittenFilesFollowTheFormat) {
  MeshFile file;
  file.surface = cube();
  file.surface.positions[7] = Vec3(1.5, 1, 1);
  TemporaryFolder folder;
  EXPECT_TRUE(hasNote(writeMesh(folder / "a.glb", file), "polygons were divided"));
  const std::string text = readTextFile(folder / "a.glb");
  auto word = [&](size_t at) {
    uint32_t v = 0;
    std::memcpy(&v, text.data() + at, 4);
    return v;
  };
  EXPECT_EQ(word(8), text.size());
  EXPECT_EQ(word(12) % 4, 0u);
  const Json root = readJson(text.substr(20, word(12)));
  const Json& primitive = root["meshes"][0]["primitives"][0];
  const Json& position = root["accessors"][primitive["attributes"]["POSITION"].whole()];
  EXPECT_EQ(position["max"], Json({1.5, 1.0, 1.0}));
  EXPECT_EQ(position["min"], Json({0.0, 0.0, 0.0}));
  EXPECT_EQ(root["scenes"][0]["nodes"], Json::array({0}));
  EXPECT_EQ(root["materials"][0]["pbrMetallicRoughness"]["metallicFactor"], 0.0);
  EXPECT_EQ(root["buffers"][0]["byteLength"].whole(), word(20 + word(12)));
}

TEST(FilesGltf, ExternalBuffersOnlyFromTheSameFolder) {
  TemporaryFolder folder;
  Builder b = triangle();
  writeFile(folder / "a b.bin", b.buffer);
  b.root["buffers"] = Json::array({Json{{"byteLength", b.buffer.size()}, {"uri", "a%20b.bin"}}});
  writeFile(folder / "a.gltf", b.root.text());
  EXPECT_EQ(readMesh(folder / "a.gltf").surface.faceCount(), 1u);
  for (const char* uri :
       {"../a b.bin", "/etc/passwd", "%2e%2e/x.bin", "..", "sub/a.bin", "file:///etc/passwd", "a\\b", ""}) {
    b.root["buffers"][0]["uri"] = uri;
    writeFile(folder / "a.gltf", b.root.text());
    const auto error = errorOf([&] { readMesh(folder / "a.gltf"); });
    ASSERT_TRUE(error) << uri;
    EXPECT_TRUE(contains(error->what(), "is not a file name in the same folder")) << error->what();
  }
  b.root["buffers"][0]["uri"] = "missing.bin";
  writeFile(folder / "a.gltf", b.root.text());
  EXPECT_EQ(errorOf([&] { readMesh(folder / "a.gltf"); })->kind(), ErrorKind::Missing);
}

TEST(FilesGltf, NamesTheTrouble) {
  auto expectError = [](const Builder& b, std::string_view message) {
    Builder copy = b;
    const auto error = errorOf([&] { copy.read(); });
    ASSERT_TRUE(error) << message;
    EXPECT_TRUE(contains(error->what(), message)) << error->what();
  };
  Builder b = triangle();
  b.root["nodes"][0]["children"] = {0};
  b.root["scenes"] = Json::array({Json{{"nodes", {0}}}});
  expectError(b, "node 0 is reached twice");

  b = triangle();
  b.root["accessors"][0]["count"] = 1000000000;
  expectError(b, "a.gltf:/accessors/0: 1000000000 elements of 12 bytes do not fit into a buffer view of 36");
  b.root["accessors"][0].erase("bufferView");
  expectError(b, "1000000000 elements without data");

  b = triangle();
  b.root["extensionsRequired"] = {"KHR_draco_mesh_compression"};
  expectError(b, "the file needs the extension 'KHR_draco_mesh_compression'");

  b = triangle();
  b.root["nodes"][0]["mesh"] = 4;
  expectError(b, "/nodes/0: refers to element 4 of meshes, which has 1");

  b = triangle();
  b.root["bufferViews"][0]["byteOffset"] = 1000;
  expectError(b, "/bufferViews/0: bytes 1000");

  b = triangle();
  b.root["bufferViews"][0]["byteStride"] = 4;
  expectError(b, "a stride of 4 for elements of 12 bytes");

  b = triangle();
  b.root["meshes"][0]["primitives"][0]["indices"] =
      b.accessor(std::vector<uint16_t>{0, 1, 3}, "SCALAR", 5123, 3);
  expectError(b, "a triangle refers to vertex 3, but there are only 3");

  b = triangle();
  b.root["asset"]["version"] = "1.0";
  expectError(b, "glTF version '1.0' is not read");

  Builder n;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const size_t p = n.accessor(std::vector<float>{0, 0, 0, 1, 0, 0, 0, nan, 0}, "VEC3", 5126, 3);
  n.mesh(Json::array({Json{{"attributes", {{"POSITION", p}}}}}));
  expectError(n, "coordinate is not finite");

  const auto error = errorOf([] { readGltf(bytesOf("{\"asset\": oops}"), "a.gltf", {}); });
  ASSERT_TRUE(error);
  EXPECT_EQ(std::string(error->what()), "a.gltf:byte 10: the JSON is broken here");
}

// A few hundred bytes of nodes must not become gigabytes.
TEST(FilesGltf, InstancesCannotExplode) {
  Builder b;
  const size_t count = 100000;
  const size_t p = b.accessor(std::vector<float>(9, 0.5f), "VEC3", 5126, 3);
  const size_t i = b.accessor(std::vector<uint8_t>(count * 3, uint8_t(1)), "SCALAR", 5121, count * 3);
  b.mesh(Json::array({Json{{"attributes", {{"POSITION", p}}}, {"indices", i}}}));
  for (int k = 0; k < 1000; ++k) b.root["nodes"].push_back({{"mesh", 0}});
  const auto error = errorOf([&] { b.read(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::Limit);
}

}  // namespace sunder::meshio::files
