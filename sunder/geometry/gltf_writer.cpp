// GLB: one mesh in one node, one primitive per group (named in its extras, where our reader finds it).
// Corners that differ in normal or texture coordinate become separate vertices, as the format demands.
#include "sunder/base/error.h"
#include "sunder/base/file.h"
#include "sunder/geometry/mesh_formats.h"
#include "sunder/geometry/soup_builder.h"

#include <algorithm>
#include <cstring>

#include <nlohmann/json.hpp>

namespace sunder::geometry {

namespace {

using Json = nlohmann::json;
constexpr int kFloat = 5126, kUnsignedShort = 5123, kUnsignedInt = 5125;
constexpr int kVertexTarget = 34962, kIndexTarget = 34963;

// What makes a GLB vertex: where it is, and what its corner carries.
struct VertexKey {
  uint32_t position = 0;
  float values[5] = {};  // normal, uv
  bool operator==(const VertexKey& other) const {
    return position == other.position && std::memcmp(values, other.values, sizeof values) == 0;
  }
};

struct VertexKeyHash {
  size_t operator()(const VertexKey& key) const {
    uint64_t h = key.position;
    for (const float v : key.values) {
      h = (h ^ std::bit_cast<uint32_t>(v)) * 0x9e3779b97f4a7c15u;
      h ^= h >> 32;
    }
    return static_cast<size_t>(h);
  }
};

// Numbers keys in order of first appearance; open addressing, at most half full.
class KeyTable {
 public:
  uint32_t add(const VertexKey& key) {
    if (2 * (keys.size() + 1) > slots_.size()) grow();
    size_t at = VertexKeyHash()(key) & (slots_.size() - 1);
    while (slots_[at] != kNoIndex) {
      if (keys[slots_[at]] == key) return slots_[at];
      at = (at + 1) & (slots_.size() - 1);
    }
    slots_[at] = static_cast<uint32_t>(keys.size());
    keys.push_back(key);
    return slots_[at];
  }
  std::vector<VertexKey> keys;

 private:
  void grow() {
    slots_.assign(std::max<size_t>(64, slots_.size() * 2), kNoIndex);
    for (size_t i = 0; i < keys.size(); ++i) {
      size_t at = VertexKeyHash()(keys[i]) & (slots_.size() - 1);
      while (slots_[at] != kNoIndex) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = static_cast<uint32_t>(i);
    }
  }
  std::vector<uint32_t> slots_;
};

class GlbBuilder {
 public:
  GlbBuilder(const PolygonSoup& soup, const TriMesh& mesh, const std::vector<uint32_t>& source,
             std::vector<Vec3f> positions)
      : soup_(soup), mesh_(mesh), source_(source), positions_(std::move(positions)) {}

  void addPrimitive(const std::vector<uint32_t>& triangles, const std::string* groupName);
  void write(OutputFile& out);

 private:
  template <class T>
  int addAccessor(const std::vector<T>& values, int components, int componentType, int target);
  VertexKey keyOf(uint32_t triangle, int corner) const;

  const PolygonSoup& soup_;
  const TriMesh& mesh_;
  const std::vector<uint32_t>& source_;
  std::vector<Vec3f> positions_;
  Json accessors_ = Json::array(), views_ = Json::array(), primitives_ = Json::array();
  std::string binary_;
};

template <class T>
int GlbBuilder::addAccessor(const std::vector<T>& values, int components, int componentType, int target) {
  static constexpr const char* kNames[] = {"", "SCALAR", "VEC2", "VEC3", "VEC4"};
  const size_t bytes = values.size() * sizeof(T);
  views_.push_back(
      {{"buffer", 0}, {"byteOffset", binary_.size()}, {"byteLength", bytes}, {"target", target}});
  binary_.append(reinterpret_cast<const char*>(values.data()), bytes);
  binary_.resize((binary_.size() + 3) / 4 * 4);
  accessors_.push_back({{"bufferView", views_.size() - 1},
                        {"componentType", componentType},
                        {"count", values.size() / size_t(components)},
                        {"type", kNames[components]}});
  return static_cast<int>(accessors_.size()) - 1;
}

VertexKey GlbBuilder::keyOf(uint32_t triangle, int corner) const {
  VertexKey key;
  key.position = mesh_.triangles[triangle][size_t(corner)];
  if (soup_.cornerNormals.empty() && soup_.cornerUvs.empty()) return key;
  const uint32_t face = source_[triangle];
  uint32_t c = soup_.faceOffsets[face];
  while (c + 1 < soup_.faceOffsets[face + 1] && soup_.corners[c] != key.position) ++c;
  if (!soup_.cornerNormals.empty()) {
    // The format wants unit length.
    const Vec3 n = soup_.cornerNormals[c];
    const double length = n.norm();
    const bool isUnit = std::abs(length - 1) < 1e-6;
    for (int k = 0; k < 3; ++k)
      key.values[k] = static_cast<float>(isUnit ? n[k] : length > 0 ? n[k] / length : (k == 1 ? 1.0 : 0.0));
  }
  if (!soup_.cornerUvs.empty()) {
    const Vec2 uv = soup_.cornerUvs[c].cwiseMax(-1e30).cwiseMin(1e30);
    key.values[3] = static_cast<float>(uv.x());
    key.values[4] = static_cast<float>(1 - uv.y());  // glTF counts v downwards
  }
  return key;
}

void GlbBuilder::addPrimitive(const std::vector<uint32_t>& triangles, const std::string* groupName) {
  KeyTable table;
  std::vector<uint32_t> indices;
  indices.reserve(3 * triangles.size());
  for (const uint32_t t : triangles)
    for (int k = 0; k < 3; ++k) indices.push_back(table.add(keyOf(t, k)));

  std::vector<float> positions, normals, uvs, colours;
  Vec3f lower = Vec3f::Constant(std::numeric_limits<float>::infinity()), upper = -lower;
  positions.reserve(3 * table.keys.size());
  for (const VertexKey& key : table.keys) {
    const Vec3f& p = positions_[key.position];
    lower = lower.cwiseMin(p);
    upper = upper.cwiseMax(p);
    positions.insert(positions.end(), p.data(), p.data() + 3);
    if (!soup_.cornerNormals.empty()) normals.insert(normals.end(), key.values, key.values + 3);
    if (!soup_.cornerUvs.empty()) uvs.insert(uvs.end(), key.values + 3, key.values + 5);
    if (!soup_.vertexColours.empty()) {
      const Vec4f& c = soup_.vertexColours[key.position];
      colours.insert(colours.end(), c.data(), c.data() + 4);
    }
  }
  Json attributes;
  const int position = addAccessor(positions, 3, kFloat, kVertexTarget);
  accessors_.back()["min"] = {lower.x(), lower.y(), lower.z()};
  accessors_.back()["max"] = {upper.x(), upper.y(), upper.z()};
  attributes["POSITION"] = position;
  if (!normals.empty()) attributes["NORMAL"] = addAccessor(normals, 3, kFloat, kVertexTarget);
  if (!uvs.empty()) attributes["TEXCOORD_0"] = addAccessor(uvs, 2, kFloat, kVertexTarget);
  if (!colours.empty()) attributes["COLOR_0"] = addAccessor(colours, 4, kFloat, kVertexTarget);
  int indexAccessor = 0;
  if (table.keys.size() < 65535) {
    indexAccessor =
        addAccessor(std::vector<uint16_t>(indices.begin(), indices.end()), 1, kUnsignedShort, kIndexTarget);
  } else {
    indexAccessor = addAccessor(indices, 1, kUnsignedInt, kIndexTarget);
  }
  Json primitive = {{"attributes", attributes}, {"indices", indexAccessor}, {"material", 0}};
  if (groupName) primitive["extras"] = {{"group", *groupName}};
  primitives_.push_back(std::move(primitive));
}

void GlbBuilder::write(OutputFile& out) {
  Json root = {{"asset", {{"version", "2.0"}, {"generator", "sunder"}}}, {"scene", 0}};
  if (primitives_.empty()) {
    root["scenes"] = Json::array({Json::object()});
  } else {
    root["scenes"] = Json::array({Json{{"nodes", Json::array({0})}}});
    root["nodes"] = Json::array({Json{{"mesh", 0}, {"name", "mesh"}}});
    root["meshes"] = Json::array({Json{{"primitives", std::move(primitives_)}}});
    const Json look = {
        {"baseColorFactor", {0.8, 0.8, 0.8, 1.0}}, {"metallicFactor", 0.0}, {"roughnessFactor", 0.6}};
    root["materials"] = Json::array({Json{{"name", "neutral"}, {"pbrMetallicRoughness", look}}});
    root["accessors"] = std::move(accessors_);
    root["bufferViews"] = std::move(views_);
    root["buffers"] = Json::array({Json{{"byteLength", binary_.size()}}});
  }
  // Names from other formats may not be UTF-8; a replacement character is better than no file.
  std::string json = root.dump(-1, ' ', false, Json::error_handler_t::replace);
  json.resize((json.size() + 3) / 4 * 4, ' ');
  const uint64_t total = 12 + 8 + json.size() + (binary_.empty() ? 0 : 8 + binary_.size());
  if (total > UINT32_MAX)
    throw Error(ErrorKind::Limit,
                "the mesh takes " + std::to_string(total) + " bytes, and a .glb file ends at 4 GiB")
        .hint("write .ply instead");
  auto put = [&](uint32_t value) { out.write(std::as_bytes(std::span(&value, 1))); };
  put(0x46546c67), put(2), put(static_cast<uint32_t>(total));
  put(static_cast<uint32_t>(json.size())), put(0x4e4f534a), out.write(json);
  if (binary_.empty()) return;
  put(static_cast<uint32_t>(binary_.size())), put(0x004e4942), out.write(binary_);
}

}  // namespace

std::vector<std::string> writeGlb(OutputFile& out, const MeshFile& file) {
  const PolygonSoup& soup = file.surface;
  std::vector<std::string> notes;
  std::vector<uint32_t> source;
  const TriMesh mesh = toTriMesh(soup, &source);
  if (mesh.triangles.size() != soup.faceCount())
    notes.emplace_back("GLB keeps only triangles: polygons were divided");
  GlbBuilder builder(soup, mesh, source, floatPositions(mesh.positions, "GLB", notes));

  const size_t groups = soup.faceGroup.empty() ? 1 : std::max<size_t>(1, soup.groupNames.size());
  std::vector<std::vector<uint32_t>> triangles(groups);
  for (uint32_t t = 0; t < mesh.triangles.size(); ++t) {
    const uint32_t group = soup.faceGroup.empty() ? 0 : soup.faceGroup[source[t]];
    triangles[std::min<size_t>(group, groups - 1)].push_back(t);
  }
  for (size_t g = 0; g < groups; ++g)
    if (!triangles[g].empty())
      builder.addPrimitive(triangles[g],
                           soup.faceGroup.empty() || soup.groupNames.empty() ? nullptr : &soup.groupNames[g]);
  builder.write(out);
  return notes;
}

}  // namespace sunder::geometry
